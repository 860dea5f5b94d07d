package vector

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A set that is large enough to be sampled first gives the same codes as a comparison one by one,
// also where the sample holds all that are near.
func TestScanAfterSample(t *testing.T) {
	const members = workerShare * 5 / 2
	r := rand.New(rand.NewPCG(15, 16))
	for _, misleading := range []bool{false, true} {
		x := New(64, nil)
		s := newScratch(64, x.words)
		s.signs[0] = r.Uint64()
		want := make([]candidate, 0, members)
		for id := int64(1); id <= members; id++ {
			c, slot := x.chunkFor(id), int(id&chunkMask)
			c.present[slot/64] |= 1 << (slot % 64)
			c.count++
			x.count++
			c.signs[slot] = r.Uint64()
			if misleading && slot/64%sampleStep == 0 {
				c.signs[slot] = s.signs[0]
			}
			want = append(want, candidate{int32(id), int32(hamming(s.signs, c.signs[slot:]))})
		}
		slices.SortStableFunc(want, func(a, b candidate) int { return int(a.distance - b.distance) })
		want = want[:members/8]
		slices.SortFunc(want, func(a, b candidate) int { return int(a.id - b.id) })
		if got := x.scan(s, nil, members, len(want)); !slices.Equal(got, want) {
			t.Errorf("misleading sample %v: the scan differs from comparing each", misleading)
		}
	}
}
