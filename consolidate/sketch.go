package consolidate

import (
	"hash/fnv"
	"math/bits"
)

// A sketch is one bit of each of 128 MinHashes (Broder 1997; b-bit minwise
// hashing, Li and König 2010, with b = 1): the bits of two sets agree with
// probability J + (1-J)/2. Two sketches rule a pair out in a nanosecond.

// Sketch summarises a set of terms in 128 bits.
type Sketch [2]uint64

const sketchBits = 128

// sketchSlack is the most differing bits of sets that may reach SimilarJaccard: at 0.70, 19.2
// are expected with a deviation of 4.0, and four deviations miss one such pair in 30,000.
const sketchSlack = 35

// NewSketch makes the sketch of a set.
func NewSketch(terms []string) Sketch {
	var least [sketchBits / 4]uint64 // four hashes each
	for i := range least {
		least[i] = ^uint64(0)
	}

	for _, t := range terms {
		h := fnv.New64a()
		_, _ = h.Write([]byte(t)) // never fails
		x := h.Sum64()
		// A mixed word is four hashes of 16 bits, which is enough for the terms of one text.
		for i := range least {
			least[i] = min4(least[i], mix(x^uint64(4*i+1)*0x9e3779b97f4a7c15))
		}
	}

	var s Sketch

	for i, m := range least {
		four := m&1 | m>>15&2 | m>>30&4 | m>>45&8
		s[i/16] |= four << (i % 16 * 4)
	}

	return s
}

// min4 returns the smaller of each of four numbers of 16 bits: a subtraction, with a borrow that the
// highest bit keeps in its number, compares the lower 15.
func min4(a, b uint64) uint64 {
	const high = 0x8000_8000_8000_8000
	// Its high bits: a is not below b, or the highest bits decide.
	lower := (a | high) - b&^high
	larger := (a&^b | ^(a^b)&lower) & high >> 15 * 0xffff
	return b&larger | a&^larger
}

// mix is the finalizer of splitmix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// MayMatch reports whether sets with these sketches and sizes may reach SimilarJaccard.
func MayMatch(a, b Sketch, sizeA, sizeB int) bool {
	if lo, hi := min(sizeA, sizeB), max(sizeA, sizeB); float64(lo) < SimilarJaccard*float64(hi) {
		return false
	}
	return a.Distance(b) <= sketchSlack
}

// Distance is the number of differing bits, 0 to 128. Similar sets have a small one.
func (s Sketch) Distance(t Sketch) int {
	return bits.OnesCount64(s[0]^t[0]) + bits.OnesCount64(s[1]^t[1])
}
