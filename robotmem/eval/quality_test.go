package eval_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem/eval"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

var update = flag.Bool("update", false, "rewrite testdata/golden.txt")

const golden = "testdata/golden.txt"

// Every change of ranking shows as a change of testdata/golden.txt, which
// -update writes. The floors are what no change may go below. The sets are not
// part of the source: ROBOTMEM_BEIR names the folder that holds them.
func TestQuality(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine and thousands of questions: nothing for -race")
	}
	folder := os.Getenv("ROBOTMEM_BEIR")
	if folder == "" && os.Getenv("CI") != "" {
		t.Fatal("CI must not skip: ROBOTMEM_BEIR names no folder")
	}
	if folder == "" {
		t.Skip("set ROBOTMEM_BEIR to a folder with locomo-dev, xquad-en and xquad-zh in the BEIR layout")
	}
	var lines strings.Builder
	for _, tt := range []struct {
		set, where     string
		hit1, recall10 float64
	}{
		{"locomo-dev", "category=1,2,3,4", 0.37, 0.62},
		{"xquad-en", "", 0.935, 0.985},
		{"xquad-zh", "", 0.935, 0.985},
	} {
		t.Run(tt.set, func(t *testing.T) {
			set, err := eval.Load(filepath.Join(folder, tt.set))
			if err != nil {
				t.Fatal(err)
			}
			var o eval.Options
			if tt.where != "" {
				c, err := eval.ParseCondition(tt.where)
				if err != nil {
					t.Fatal(err)
				}
				o.Where = append(o.Where, c)
			}
			m, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{Durability: local.DurabilityNormal})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			o.Learnt = m.Warm
			r, err := eval.Run(t.Context(), m, set, o)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&lines, "%-10s %4d queries  hit@1 %.4f  R@10 %.4f  MRR %.4f  nDCG@10 %.4f\n", tt.set, r.Queries, r.Hit1, r.Recall10, r.MRR, r.NDCG10)
			if r.Hit1 < tt.hit1 || r.Recall10 < tt.recall10 || r.Queries < 500 {
				t.Errorf("below the floor of hit@1 %.3f and R@10 %.3f", tt.hit1, tt.recall10)
			}
		})
	}
	if *update {
		if err := os.WriteFile(golden, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), lines.String()); diff != "" {
		t.Errorf("ranking has changed; if that is meant, run the test with -update and commit %s (-want +got):\n%s", golden, diff)
	}
}
