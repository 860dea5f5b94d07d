package vector

import (
	"math/rand/v2"
	"testing"
)

func TestBelow6(t *testing.T) {
	if !hasPopcnt {
		t.Skip("this processor has no POPCNT")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var q [6]uint64
		codes := make([]uint64, 64*6)
		for i := range q {
			q[i] = r.Uint64()
		}
		for i := range codes {
			codes[i] = q[i%6] ^ r.Uint64()&r.Uint64()
		}
		bound := int64(r.IntN(386))
		mask := below6(&codes[0], &q, bound)
		for slot := range 64 {
			if want := int64(hamming(q[:], codes[slot*6:])) < bound; want != (mask>>slot&1 == 1) {
				t.Fatalf("code %d, bound %d: below is %v", slot, bound, !want)
			}
		}
	}
}
