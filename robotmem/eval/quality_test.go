package eval_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/eval"
)

// The floors lie a little under what is measured, so that only a change for
// the worse meets them. The sets are not part of the source: ROBOTMEM_BEIR
// names the folder that holds them.
func TestQualityFloors(t *testing.T) {
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
	for _, tt := range []struct {
		set, where     string
		hit1, recall10 float64
	}{
		{"locomo-dev", "category=1,2,3,4", 0.35, 0.60},
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
			m, err := robotmem.Open(t.Context(), robotmem.Options{Path: filepath.Join(t.TempDir(), "memory.db"), Durability: robotmem.DurabilityNormal})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			r, err := eval.Run(t.Context(), m, set, o)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("hit@1 %.3f, R@10 %.3f, MRR %.3f, nDCG@10 %.3f over %d queries", r.Hit1, r.Recall10, r.MRR, r.NDCG10, r.Queries)
			if r.Hit1 < tt.hit1 || r.Recall10 < tt.recall10 || r.Queries < 500 {
				t.Errorf("below the floor of hit@1 %.3f and R@10 %.3f", tt.hit1, tt.recall10)
			}
		})
	}
}
