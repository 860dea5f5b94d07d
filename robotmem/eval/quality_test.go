package eval_test

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/eval"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

var update = flag.Bool("update", false, "rewrite testdata/golden.txt")

const golden = "testdata/golden.txt"

// Every change of ranking shows as a change of testdata/golden.txt, which
// -update writes. The floors are what no change may go below. The sets are not
// part of the source: ROBOTMEM_BEIR names the folder that holds them. The vectors are those
// of all-MiniLM-L6-v2, see .ci/vectors.
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
	vectors := readVectors(t)
	sets := []struct {
		set        string
		categories []string // of the queries; all if nil
		// Least hit@1 and R@10 of words, hybrid, and hybrid with neighbours.
		words, hybrid, around [2]float64
	}{
		{"locomo-dev", []string{"1", "2", "3", "4"}, [2]float64{0.37, 0.62}, [2]float64{0.385, 0.69}, [2]float64{0.39, 0.71}},
		{"xquad-en", nil, [2]float64{0.935, 0.985}, [2]float64{0.95, 0.99}, [2]float64{0.95, 0.99}},
		{"xquad-zh", nil, [2]float64{0.935, 0.985}, [2]float64{0.935, 0.985}, [2]float64{0.935, 0.985}}, // the model does not know Chinese
	}
	lines := make([]string, len(sets))
	t.Run("sets", func(t *testing.T) {
		for i, tt := range sets {
			t.Run(tt.set, func(t *testing.T) {
				t.Parallel()
				set, err := eval.Load(filepath.Join(folder, tt.set))
				if err != nil {
					t.Fatal(err)
				}
				set.Queries = slices.DeleteFunc(set.Queries, func(q eval.Item) bool {
					return len(tt.categories) > 0 && !slices.Contains(tt.categories, fmt.Sprint(q.Meta["category"]))
				})
				var o eval.Options
				path := filepath.Join(t.TempDir(), "memory.db")
				open := func(weights map[string]float64) *local.Node {
					m, err := local.Open(t.Context(), path, local.Options{Durability: local.DurabilityNormal, Embedder: vectors, Weights: weights})
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = m.Close() })
					return m
				}
				m := open(nil)
				nodes := []*local.Node{m}
				for _, list := range eval.Alone {
					nodes = append(nodes, open(list.Weights))
					o.Lists = append(o.Lists, eval.List{Name: list.Name, Service: nodes[len(nodes)-1]})
				}
				o.Learnt = func(ctx context.Context) error {
					if err := m.Reembed(ctx, func(int64, int64) {}); err != nil {
						return err
					}
					for _, node := range nodes {
						if err := node.Warm(ctx); err != nil {
							return err
						}
					}
					return nil
				}
				r, err := eval.Run(t.Context(), m, set, o)
				if err != nil {
					t.Fatal(err)
				}
				words, alone, hybrid := r.Lists[0], r.Lists[1], r.Lists[2]
				for _, f := range append(r.Lists, eval.ListFigures{Name: "hybrid+neighbours", Figures: r.Figures}) {
					lines[i] += fmt.Sprintf("%-10s  %-17s  hit@1 %.4f  R@10 %.4f  MRR %.4f  nDCG@10 %.4f\n", tt.set, f.Name, f.Hit1, f.Recall10, f.MRR, f.NDCG10)
				}
				for name, got := range map[string]struct {
					eval.Figures
					least [2]float64
				}{"words": {words.Figures, tt.words}, "hybrid": {hybrid.Figures, tt.hybrid}, "neighbours": {r.Figures, tt.around}} {
					if got.Hit1 < got.least[0] || got.Recall10 < got.least[1] || r.Queries < 500 {
						t.Errorf("%s: below the floor of hit@1 %.3f and R@10 %.3f", name, got.least[0], got.least[1])
					}
				}
				const worse = 0.005
				best := eval.Figures{Hit1: max(words.Hit1, alone.Hit1), Recall10: max(words.Recall10, alone.Recall10), NDCG10: max(words.NDCG10, alone.NDCG10)}
				for name, got := range map[string]eval.Figures{"hybrid": hybrid.Figures, "neighbours": r.Figures} {
					if got.Hit1 < best.Hit1-worse || got.Recall10 < best.Recall10-worse || got.NDCG10 < best.NDCG10-worse {
						t.Errorf("%s is below the best of its lists", name)
					}
				}
			})
		}
	})
	got := strings.Join(lines, "")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("ranking has changed; if that is meant, run the test with -update and commit %s (-want +got):\n%s", golden, diff)
	}
}

// storedVectors is an embedder with the vectors of a file, by the hash of a text.
type storedVectors map[uint64][]float32

func readVectors(t *testing.T) storedVectors {
	t.Helper()
	data, err := os.ReadFile("testdata/minilm.bin")
	if err != nil {
		t.Fatal(err)
	}
	const dims = 384
	out := storedVectors{}
	for row := range slices.Chunk(data, 8+4+dims) {
		v, scale := make([]float32, dims), math.Float32frombits(binary.LittleEndian.Uint32(row[8:]))
		for i := range v {
			v[i] = float32(int8(row[12+i])) * scale
		}
		out[binary.LittleEndian.Uint64(row)] = v
	}
	return out
}

func (s storedVectors) State() robotmem.EmbedderState {
	return robotmem.EmbedderState{Model: "all-MiniLM-L6-v2"}
}

func (s storedVectors) Embed(_ context.Context, _ robotmem.Purpose, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		h := fnv.New64a()
		_, _ = h.Write([]byte(strings.Join(strings.Fields(text), " ")))
		if out[i] = s[h.Sum64()]; out[i] == nil {
			return nil, fmt.Errorf("no vector of %q; run .ci/vectors -update", text)
		}
	}
	return out, nil
}
