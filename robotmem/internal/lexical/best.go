package lexical

import (
	"cmp"
	"slices"
)

// slack is by how much two sums of the same parts may differ, and more than
// that. What a bound rules out must score less even after rounding, and a tie
// is not less.
const slack = 1e-9

// best keeps the best hits so far: a heap with the worst on top once it is full.
type best struct {
	limit int     // hits to keep
	cut   float64 // what scores less is not among them
	hits  []Hit
}

// reset empties b for a question with at most so many matches.
func (b *best) reset(limit, matches int) {
	if limit <= 0 || limit > matches {
		limit = matches
	}
	b.limit, b.cut, b.hits = limit, 0, b.hits[:0]
}

// add takes a hit in if it is among the best, and tells whether the cut rose.
func (b *best) add(h Hit) bool {
	switch n := len(b.hits); {
	case n < b.limit-1:
		b.hits = append(b.hits, h)
		return false
	case n < b.limit:
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
	cut := b.hits[0].Score * (1 - slack)
	rose := cut > b.cut
	b.cut = cut
	return rose
}

// sink moves the i-th hit down to its place.
func (b *best) sink(i int) {
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

// before tells whether h ranks before o: by score, ties by the smaller ID.
func (h Hit) before(o Hit) bool { return h.Score > o.Score || h.Score == o.Score && h.ID < o.ID }

func compareHits(a, b Hit) int {
	switch {
	case a.Score > b.Score:
		return -1
	case a.Score < b.Score:
		return 1
	}
	return cmp.Compare(a.ID, b.ID)
}

const (
	// fewHits are sorted faster without buckets.
	fewHits = 200

	// bucketHits is the mean number of hits in a bucket.
	bucketHits = 4
)

// ranked returns the hits in order, or nil if there are none. Whole lists are
// long: they are put in buckets by their score first, each of which is in order
// with the next and soon sorted in itself.
func (b *best) ranked() []Hit {
	n := len(b.hits)
	if n == 0 {
		return nil
	}
	out := make([]Hit, n)
	if n <= fewHits {
		copy(out, b.hits)
		slices.SortFunc(out, compareHits)
		return out
	}
	top, bottom := b.hits[0].Score, b.hits[0].Score
	for _, h := range b.hits {
		top, bottom = max(top, h.Score), min(bottom, h.Score)
	}
	buckets := n / bucketHits
	scale := float64(buckets-1) / max(top-bottom, top*slack)
	// Subtraction, multiplication and truncation keep the order.
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
