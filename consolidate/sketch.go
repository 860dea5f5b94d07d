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
	var least [sketchBits]uint16
	for i := range least {
		least[i] = ^uint16(0)
	}
	for _, t := range terms {
		h := fnv.New64a()
		_, _ = h.Write([]byte(t)) // never fails
		x := h.Sum64()
		// A mixed word is four hashes of 16 bits, which is enough for the terms of one text.
		for i := 0; i < sketchBits; i += 4 {
			m := mix(x ^ uint64(i+1)*0x9e3779b97f4a7c15)
			for j := range 4 {
				least[i+j] = min(least[i+j], uint16(m>>(16*j)))
			}
		}
	}
	var s Sketch
	for i, m := range least {
		s[i/64] |= uint64(m&1) << (i % 64)
	}
	return s
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
