package vector

import (
	"math/bits"
	"unsafe"

	"github.com/bits-and-blooms/bitset"
)

// Contains reports whether memory id has a vector in the index.
func (x *Index) Contains(id int64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	_, held := x.slot(id)
	return held
}

// IDs returns a copy of the set of memories that have a vector in the index.
func (x *Index) IDs() *bitset.BitSet {
	x.mu.RLock()
	defer x.mu.RUnlock()
	words := make([]uint64, len(x.pages)*len(page{}.present))
	for i, p := range x.pages {
		if p != nil {
			copy(words[i*len(p.present):], p.present[:])
		}
	}
	return bitset.From(words)
}

// Memory is the size of the codes and of what belongs to them in bytes: for each slot of a chunk in
// use 4 and a bit more than the code, for each id of a page in use as much.
func (x *Index) Memory() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	size := func(c *codes) int { return 8*len(c.signs) + 8*len(c.lows) + 4*len(c.terms) }
	n := (len(x.pages)+len(x.chunks))*bits.UintSize/8 + size(&x.centres)
	for _, p := range x.pages {
		if p != nil {
			n += int(unsafe.Sizeof(*p))
		}
	}
	for _, c := range x.chunks {
		n += int(unsafe.Sizeof(*c)) + size(&c.codes)
	}
	return n
}

// Measure returns the recall of searches as the index is set.
func (x *Index) Measure(questions int, load Source) (float64, error) {
	tests, err := x.recallTests(questions, load)
	if err != nil {
		return 0, err
	}
	return x.measure(tests, x.Rescore(), int(x.parts.Load()), load)
}

// ArrangeFrom makes sets of n members large ones.
func (x *Index) ArrangeFrom(n int) { x.large = n }

// Arranged is the number of groups that have a centre, and of slots that are in use or free.
func (x *Index) Arranged() (groups, slots int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.centres.terms) / 2, x.next
}

// SetParts changes of how many parts of the groups a search scans the nearest.
func (x *Index) SetParts(n int) { x.parts.Store(int64(n)) }

// Parts is what Tune has found.
func (x *Index) Parts() int { return int(x.parts.Load()) }
