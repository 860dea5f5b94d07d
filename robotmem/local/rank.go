package local

import (
	"cmp"
	"slices"

	"github.com/robotmem/robotmem-go/consolidate"
)

// rankStages is the whole of ranking after fusion, in order.
var rankStages = []struct {
	name string
	run  func(*question, []hit) []hit
}{
	{"diverse", diversify},    // only with diversity
	{"nearest", nearestFirst}, // only with a strict place
	{"top-n", topN},
	{"normalize", normalizeScores}, // best = 1.0
}

func nearestFirst(q *question, hits []hit) []hit {
	if !q.strict() {
		return hits
	}
	hits = slices.DeleteFunc(hits, func(h hit) bool { return h.distance == nil })
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(*a.distance, *b.distance), cmp.Compare(a.id, b.id)) })
	return hits
}

func topN(q *question, hits []hit) []hit { return hits[:min(q.N, len(hits))] }

// normalizeScores divides by the largest score, which is not always the first
// hit's.
func normalizeScores(_ *question, hits []hit) []hit {
	best := 0.0
	for _, h := range hits {
		best = max(best, h.score)
	}
	for i := range hits {
		if best > 0 {
			hits[i].score /= best
		}
	}
	return hits
}

// diversePool is how many of the best are compared with each other; those
// further down are not worth it.
const diversePool = 200

// diversify orders by maximal marginal relevance (Carbonell, Goldstein 1998):
// each next memory is the one with the best score less its likeness to those
// already chosen.
func diversify(q *question, hits []hit) []hit {
	if q.Diversity == 0 || q.strict() || len(hits) < 2 {
		return hits
	}
	best := hits[0].score
	rest := slices.Clone(hits[:min(diversePool, len(hits))])
	terms := map[int64][]string{}
	for _, h := range rest {
		if h.memory != nil {
			terms[h.id] = statementOf(h.memory.Content).Terms
		}
	}
	chosen := make([]hit, 0, len(hits))
	likeness := make([]float64, len(rest))
	for len(rest) > 0 && len(chosen) < q.N {
		pick, top := 0, 0.0
		for i, h := range rest {
			gain := (1-q.Diversity)*h.score/best - q.Diversity*likeness[i]
			if i == 0 || gain > top {
				pick, top = i, gain
			}
		}
		h := rest[pick]
		chosen = append(chosen, h)
		rest, likeness = slices.Delete(rest, pick, pick+1), slices.Delete(likeness, pick, pick+1)
		for i := range rest {
			likeness[i] = max(likeness[i], consolidate.Jaccard(terms[h.id], terms[rest[i].id]))
		}
	}
	return append(chosen, rest...)
}
