package vector

import (
	"fmt"
	"math"

	"github.com/bits-and-blooms/bitset"
)

// Sample holds some of the stored vectors, evenly spread. The cosines of a question with them show which cosines are
// usual.
type Sample struct {
	of    int // members when it was drawn
	ids   []int64
	has   [][]float32
	pairs Scale // of the cosines of two of them
}

// pairedMost is the number of vectors of a sample that are compared with each other.
const pairedMost = 64

// Draw reads about n members, or all if there are fewer.
func (x *Index) Draw(n int, load Source) (*Sample, error) {
	drawn, err := x.spread(n, load)
	if err != nil {
		return nil, err
	}

	var pairs []float64

	paired := drawn.has[:min(pairedMost, len(drawn.has))]
	for i, v := range paired {
		for _, w := range paired[:i] {
			pairs = append(pairs, product(v, w))
		}
	}
	drawn.pairs = ScaleOf(pairs)

	return drawn, nil
}

// spread reads evenly spread members, without those whose vectors were damaged since.
func (x *Index) spread(n int, load Source) (*Sample, error) {
	var s scratch
	x.mu.RLock()
	x.listMembers(&s, nil)
	x.mu.RUnlock()
	drawn := &Sample{of: len(s.ids)}
	n = min(n, len(s.ids))

	some := make([]int64, n)
	for i := range some {
		some[i] = s.ids[i*len(s.ids)/n]
	}

	err := load(some, func(id int64, raw []byte) error {
		if len(raw) != StoredSize(x.dims) {
			return x.wrongSize(id, raw)
		}
		if v := Decode(raw); x.checkUnit(v) == nil {
			drawn.ids = append(drawn.ids, id)
			drawn.has = append(drawn.has, v)
		}

		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("vector: reading stored vectors: %w", err)
	}

	return drawn, nil
}

func product(v, w []float32) (sum float64) {
	for i, f := range v {
		sum += float64(f * w[i])
	}
	return sum
}

// Of returns the number of members when the sample was drawn.
func (s *Sample) Of() int { return s.of }

// Scale is the mean and the standard deviation of some cosines, and their number.
type Scale struct {
	Mean, Spread float64
	Of           int
}

// Pairs returns the scale of the cosines of stored vectors with each other, which depends on the model and the texts.
func (s *Sample) Pairs() Scale { return s.pairs }

// Scale compares a question with the vectors of the sample that are in a set, or with all if fewer than least are in
// it.
func (s *Sample) Scale(unit []float32, within *bitset.BitSet, least int) Scale {
	some, all := make([]float64, 0, len(s.ids)), make([]float64, 0, len(s.ids))
	for i, v := range s.has {
		cosine := product(v, unit)
		all = append(all, cosine)
		if within == nil || within.Test(uint(s.ids[i])) {
			some = append(some, cosine)
		}
	}
	if len(some) < least {
		some = all
	}

	return ScaleOf(some)
}

// ScaleOf returns the scale of cosines.
func ScaleOf(cosines []float64) Scale {
	s := Scale{Of: len(cosines)}
	for _, c := range cosines {
		s.Mean += c / float64(len(cosines))
	}

	for _, c := range cosines {
		s.Spread += (c - s.Mean) * (c - s.Mean) / float64(len(cosines))
	}
	s.Spread = math.Sqrt(s.Spread)

	return s
}
