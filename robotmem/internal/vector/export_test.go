package vector

import (
	"math/bits"

	"github.com/bits-and-blooms/bitset"
)

// Contains reports whether memory id has a vector in the index.
func (x *Index) Contains(id int64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.contains(id)
}

// IDs returns a copy of the set of memories that have a vector in the index.
func (x *Index) IDs() *bitset.BitSet {
	x.mu.RLock()
	defer x.mu.RUnlock()
	words := make([]uint64, len(x.chunks)*len(chunk{}.present))
	for i, c := range x.chunks {
		if c != nil {
			copy(words[i*len(c.present):], c.present[:])
		}
	}
	return bitset.From(words)
}

// Memory is the size of the codes in bytes: 8 more than the code for each id of a
// chunk that is in use, whether the id has a vector or not.
func (x *Index) Memory() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	n := len(x.chunks) * bits.UintSize / 8
	for _, c := range x.chunks {
		if c != nil {
			n += 8*len(c.signs) + 8*len(c.lows) + 4*len(c.terms) + 8*len(c.present)
		}
	}
	return n
}

// Measure returns the recall of searches as the index is set.
func (x *Index) Measure(questions int, load Source) (float64, error) {
	tests, err := x.recallTests(questions, load)
	if err != nil {
		return 0, err
	}
	return x.measure(tests, x.Rescore(), load)
}
