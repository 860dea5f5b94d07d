//go:build !windows

package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand"
	"slices"

	"github.com/coder/hnsw"
)

// hnswEngine is the graph of coder/hnsw with its defaults (M 16, EfSearch 20), with
// searches for ten and for more results. Larger parameters improve the recall little:
// with 20,000 rows, M 64 and EfSearch 400 it is 14 %, with ten times the load time.
// The library has no filter.
type hnswEngine struct {
	graph *hnsw.Graph[int]
}

// hnswMissing is empty, because this program contains the library.
const hnswMissing = ""

func newHNSW() engine { return &hnswEngine{} }

const (
	hnswSeed = 1
	// hnswWide is the number of results that the second way requests to keep ten. In
	// this library, the requested number limits the search.
	hnswWide = 200
)

func (e *hnswEngine) load(ctx context.Context, c *corpus, clock *clock) error {
	e.graph = hnsw.NewGraph[int]()
	e.graph.Rng = rand.New(rand.NewSource(hnswSeed))
	e.graph.Distance = func(a, b hnsw.Vector) float32 { return 1 - dot(a, b) } // both have length 1
	own := c.ownVectors()
	for row := range c.len() {
		e.graph.Add(hnsw.MakeNode(row, own(row)))
		if (row+1)%1000 == 0 {
			clock.progress("added", row+1, c.len())
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *hnswEngine) ways() []way {
	return []way{
		{"vectors, graph", byMeaning, false, e.asker(ten)},
		{fmt.Sprintf("vectors, graph, best of %d", hnswWide), byMeaning, false, e.asker(hnswWide)},
	}
}

// asker returns a search for a number of neighbours. It sorts them, because the
// library does not.
func (e *hnswEngine) asker(wide int) func(context.Context, *question) ([]int, error) {
	return func(_ context.Context, q *question) ([]int, error) {
		type hit struct {
			row        int
			similarity float32
		}
		var hits []hit
		for _, node := range e.graph.Search(q.vector, wide) {
			hits = append(hits, hit{node.Key, dot(node.Value, q.vector)})
		}
		slices.SortFunc(hits, func(x, y hit) int {
			return cmp.Or(cmp.Compare(y.similarity, x.similarity), cmp.Compare(x.row, y.row))
		})
		rows := make([]int, min(ten, len(hits)))
		for i := range rows {
			rows[i] = hits[i].row
		}
		return rows, nil
	}
}

func (e *hnswEngine) close() error { return nil }
