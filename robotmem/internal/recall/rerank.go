package recall

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem"
)

// rerankPool is the number of best hits that a reranker orders. It reads each text with the query, which
// takes a thousand times as long as a search.
const rerankPool = 20

// Rerank exchanges the first hits of a query with a reranker, so that no snapshot is held while it works: a
// Run without Scores sets Candidates, and a second one orders these by their Scores.
type Rerank struct {
	By         string            // the name of the model, for notes
	Candidates []Candidate       // best first; set by Run if the order is by relevance
	Scores     map[int64]float64 // by memory id; nil in the first Run
}

// Candidate is a memory to be judged.
type Candidate struct {
	ID   int64
	Text string
}

// ByRelevance reports whether the order of the answers depends only on how well their texts answer the query, so
// that a reranker can judge it: there is a finished query, and neither a place nor a perception counts.
func (q *Query) ByRelevance() bool {
	return q.Query != "" && !q.AsYouType && q.SpatialSort == nil && q.Like == nil
}

// rerank orders the best hits by the scores of the reranker, or names them as its candidates.
func (r *run) rerank(ctx context.Context, hits []hit) ([]hit, error) {
	if !r.ByRelevance() || r.newest || len(hits) < 2 {
		return hits, nil
	}

	pool, rest, err := r.first(ctx, hits, rerankPool, anyHit)
	if err != nil {
		return nil, err
	}

	if r.Rerank.Scores == nil {
		for i := range pool {
			r.Rerank.Candidates = append(r.Rerank.Candidates, Candidate{pool[i].id, pool[i].memory.Content})
		}
		return append(pool, rest...), nil
	}

	// A hit that is new since the first Run keeps its place. Every place keeps its score, because the reranker's
	// scores have no scale.
	judged := make([]hit, 0, len(pool))
	places := make([]int, 0, len(pool))

	scores := make([]float64, len(pool))
	for i := range pool {
		scores[i] = pool[i].score
		if _, known := r.Rerank.Scores[pool[i].id]; known {
			judged = append(judged, pool[i])
			places = append(places, i)
		}
	}

	slices.SortStableFunc(judged, func(a, b hit) int {
		return cmp.Compare(r.Rerank.Scores[b.id], r.Rerank.Scores[a.id])
	})

	for rank, at := range places {
		h := &judged[rank]
		// A text that the service left out has the score -Inf, which JSON cannot encode.
		if score := r.Rerank.Scores[h.id]; r.Explain && !math.IsInf(score, 0) {
			h.found = append(h.found, robotmem.ListEntry{List: ListRerank, Rank: rank, Value: score})
		}
		pool[at] = *h
	}

	for i := range pool {
		pool[i].score = scores[i]
	}

	r.reranked = len(judged) > 0
	if r.reranked {
		r.notes = append(r.notes, fmt.Sprintf("rerank: the first %d hits were "+
			"reranked by %s", len(judged), r.Rerank.By))
	}

	return append(pool, rest...), nil
}
