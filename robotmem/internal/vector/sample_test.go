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
		s.question.set(noise(r, 64))
		want := make([]estimated, 0, members)
		for id := int64(1); id <= members; id++ {
			slot := x.next
			x.take(slot, id)
			c, at := x.code(int32(slot))
			c.signs[at] = r.Uint64()
			if misleading && slot/64%sampleStep == 0 {
				c.signs[at] = s.question.signs[0]
			}
			c.terms[2*at] = 1
			want = append(want, estimated{int32(id), int32(slot), s.question.glance(c.signs[at:], c.terms[2*at:])})
		}
		slices.SortFunc(want, order)
		want = want[:members/8]
		x.selectGroups(s, nil, members, 1)
		got := x.scan(s, len(want))
		if slices.SortFunc(got, order); !slices.Equal(got, want) {
			t.Errorf("misleading sample %v: the scan differs from comparing each", misleading)
		}
	}
}
