package recall

import (
	"cmp"
	"context"
	"slices"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// RRFK is the constant k of reciprocal rank fusion. A larger k reduces the
// difference between the first ranks (Cormack, Clarke, Büttcher 2009).
const RRFK = 60

// fuse merges the lists by reciprocal rank fusion: score = Σ w/(k + rank + 1) with
// the weight w of each list, times RealWeight for memories from the real world. The
// result is sorted best first, ties by time of observation, newest first, then by id.
func (r *run) fuse() []hit {
	at := make(map[int64]int, r.listDepth()) // index in hits by memory id
	hits := make([]hit, 0, r.listDepth())

	// If only lists of weight 0 have results, they count with weight 1.
	weighted := slices.ContainsFunc(r.lists, func(l list) bool {
		return len(l.items) > 0 && r.weight(l) > 0 && !l.part
	})
	for _, l := range r.lists {
		weight := r.weight(l)
		switch {
		case l.part:
			weight = 0
		case !weighted:
			weight = 1
		case weight == 0 && !(r.Strict() && l.name == ListPlace):
			// A list of weight 0 is skipped, except that nearestFirst needs the distances of places.
			continue
		}

		// Equal scores of words share a rank.
		sharesRanks := l.name == ListWords || l.name == ListText
		rank := 0

		for n, item := range l.items {
			if n == 0 || !sharesRanks || item.Value == 0 || item.Value != l.items[n-1].Value {
				rank = n
			}
			i, ok := at[item.ID]
			if !ok {
				i = len(hits)
				at[item.ID] = i
				hits = append(hits, hit{id: item.ID})
			}
			hits[i].score += weight / float64(RRFK+rank+1)

			switch l.name {
			case ListPlace:
				hits[i].distance = &item.Value
			case ListVector:
				hits[i].cosine = &item.Value
			case ListWords:
				hits[i].words = item.Value
			}
			if r.Explain {
				hits[i].found = append(hits[i].found, robotmem.ListEntry{List: l.name, Rank: rank, Value: item.Value})
			}
		}
	}

	for i := range hits {
		h := &hits[i]
		h.Row = r.src.Row(h.id)

		// combine has looked up the scores of every hit in both lists. Without it, a hit has those of the lists
		// that hold it.
		if cosine, ok := r.cosines[h.id]; ok {
			h.words, h.cosine, h.text = r.scores[h.id], &cosine, r.texts[h.id]
		} else if h.cosine != nil {
			h.text = r.usual.share() * max(0, r.usual.lift(*h.cosine))
		}

		// No weight changes an order by distance or by time.
		if h.Real && !r.stopOnly[h.id] && !r.byDistance() && !r.newest {
			h.score *= r.RealWeight
		}
		if len(r.lifts) > 0 && !r.byDistance() && r.lifted(h.Observed) {
			h.score *= timeBoost
		}
	}

	// The only list of an order by time is sorted already, also among equal times.
	if !r.timeOrder() && !r.newest {
		slices.SortFunc(hits, func(a, b hit) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.Observed, a.Observed), cmp.Compare(a.id, b.id))
		})
	}

	return hits
}

// weight returns the weight of a list.
func (r *run) weight(l list) float64 {
	if l.name == ListVector && len(l.items) > 0 {
		return r.weightOf(ListVector, vectorWeight(adjusted(l.items[0].Value, r.usual.Mean)))
	}
	return r.weightOf(l.name, 1)
}

// weightOf returns the configured weight of a name, or the usual one.
func (c *Config) weightOf(name string, usual float64) float64 {
	if w, set := c.Weights[name]; set {
		return w
	}
	return usual
}

// vectorWeight is the default weight of the list of vectors, as a function of the adjusted cosine
// of its first entry. It is usually small, so that vectors add what the words have missed and keep
// the order of the others: adjacent ranks differ little in reciprocal rank fusion. It approaches 1
// if a memory says nearly the same as the query. Its parameters: docs/explanation/recall.md.
func vectorWeight(nearest float64) float64 {
	const least = 0.1
	return least + (1-least)*logistic{-15, 20}.at(nearest)
}

// stages are the steps between fusion and the cut to n, in order.
var stages = []struct {
	name string
	run  func(context.Context, *run, []hit) ([]hit, error)
}{
	{"instructions", instructionsLast},
	{"evidence", byEvidence},
	{"diverse", diversify},    // only with diversity
	{"nearest", nearestFirst}, // only with a strict spatial_sort
}

func nearestFirst(_ context.Context, r *run, hits []hit) ([]hit, error) {
	if !r.Strict() {
		return hits, nil
	}
	hits = slices.DeleteFunc(hits, func(h hit) bool { return h.distance == nil })
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(*a.distance, *b.distance), cmp.Compare(a.id, b.id))
	})

	return hits, nil
}

// diversePool is the number of best hits among which diversify chooses.
const diversePool = 200

// diversify chooses n hits by maximal marginal relevance (Carbonell, Goldstein 1998): the
// next memory is the one with the largest score minus its similarity to the most
// similar memory already chosen. It loads only the memories that can be chosen: scores
// fall, and a similarity is never negative.
func diversify(ctx context.Context, r *run, hits []hit) ([]hit, error) {
	if r.Diversity == 0 || r.Strict() || len(hits) < 2 {
		return hits, nil
	}

	best := hits[0].score
	rest := slices.Clone(hits[:min(diversePool, len(hits))])
	chosen := []hit{}

	// By memory id. similarity is the largest one to the first compared memories of chosen, so that each pair is
	// compared once.
	terms := map[int64][]string{}
	compared := map[int64]int{}
	similarity := map[int64]float64{}

	for len(chosen) < r.N {
		pick, top := -1, 0.0

		for i := range rest {
			h := &rest[i]
			gain := (1 - r.Diversity) * h.score / best

			// Without its similarity this is the most that the hit can gain, and the next hits gain no more because
			// scores fall. In an order by time they need not fall.
			if pick >= 0 && gain <= top && !r.timeOrder() {
				break
			}
			if ok, err := r.loadAhead(ctx, rest, i, r.N); err != nil {
				return nil, err
			} else if !ok {
				continue
			}
			if terms[h.id] == nil {
				terms[h.id] = text.Stems(h.memory.Content)
			}

			for ; compared[h.id] < len(chosen); compared[h.id]++ {
				other := chosen[compared[h.id]].id
				similarity[h.id] = max(similarity[h.id], consolidate.Jaccard(terms[other], terms[h.id]))
			}
			if gain -= r.Diversity * similarity[h.id]; pick < 0 || gain > top {
				pick, top = i, gain
			}
		}
		if pick < 0 {
			break
		}
		chosen = append(chosen, rest[pick])
		rest = slices.Delete(rest, pick, pick+1)
	}

	return chosen, nil
}

// normalizeScores divides all scores by the largest, which is not always that of the first hit.
func normalizeScores(hits []hit) {
	best := 0.0
	for _, h := range hits {
		best = max(best, h.score)
	}

	for i := range hits {
		if best > 0 {
			hits[i].score /= best
		}
	}
}
