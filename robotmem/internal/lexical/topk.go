package lexical

import (
	"cmp"
	"slices"
)

// scoreSlack exceeds the relative difference of two sums of the same values in
// different order. A document is ruled out only if its bound is below the threshold
// even after rounding; a tie is not below it.
const scoreSlack = 1e-9

// topK keeps the k best hits: a heap with the worst on top once it is full.
type topK struct {
	k         int     // hits to keep
	threshold float64 // a hit with a lower score is not among them
	hits      []Hit
}

// reset empties b for a query with at most matches matches.
func (b *topK) reset(limit, matches int) {
	if limit <= 0 || limit > matches {
		limit = matches
	}
	b.k, b.threshold, b.hits = limit, 0, b.hits[:0]
}

// add adds a hit if it is among the best and reports whether the threshold rose.
func (b *topK) add(h Hit) bool {
	switch n := len(b.hits); {
	case n < b.k-1:
		b.hits = append(b.hits, h)
		return false
	case n < b.k:
		b.hits = append(b.hits, h)
		for i := n / 2; i >= 0; i-- {
			b.sink(i)
		}
	case !h.before(b.hits[0]):
		return false
	default:
		b.hits[0] = h
		b.sink(0)
	}
	threshold := b.hits[0].Score * (1 - scoreSlack)
	rose := threshold > b.threshold
	b.threshold = threshold
	return rose
}

func (b *topK) sink(i int) {
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(b.hits); child++ {
			if b.hits[worst].before(b.hits[child]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		b.hits[i], b.hits[worst] = b.hits[worst], b.hits[i]
		i = worst
	}
}

// before reports whether h ranks before o: by score, ties by the smaller ID.
func (h Hit) before(o Hit) bool { return h.Score > o.Score || h.Score == o.Score && h.ID < o.ID }

func compareHits(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) }

// sorted returns the hits in order, or nil if there are none.
func (b *topK) sorted() []Hit {
	return slices.SortedFunc(slices.Values(b.hits), compareHits)
}
