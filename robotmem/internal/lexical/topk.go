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
		// With k hits the list becomes a heap, and a threshold exists.
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

// bucketHits is the mean number of hits in a bucket.
const bucketHits = 4

// sorted returns the hits in order, or nil if there are none. They are first
// distributed over buckets by score, and each bucket is sorted.
func (b *topK) sorted() []Hit {
	n := len(b.hits)
	if n == 0 {
		return nil
	}

	out := make([]Hit, n)

	top, bottom := b.hits[0].Score, b.hits[0].Score
	for _, h := range b.hits {
		top, bottom = max(top, h.Score), min(bottom, h.Score)
	}

	buckets := n/bucketHits + 1
	scale := float64(buckets-1) / max(top-bottom, top*scoreSlack)
	// Subtraction, multiplication and truncation are monotonic, so every hit of a bucket ranks before the next bucket.
	bucket := func(h Hit) int { return int((top - h.Score) * scale) }

	ends := make([]int, buckets+1)
	for _, h := range b.hits {
		ends[bucket(h)+1]++
	}

	for i := range buckets {
		ends[i+1] += ends[i]
	}

	for _, h := range b.hits {
		i := bucket(h)
		out[ends[i]] = h
		ends[i]++
	}

	start := 0
	for _, end := range ends[:buckets] {
		slices.SortFunc(out[start:end], compareHits)
		start = end
	}

	return out
}
