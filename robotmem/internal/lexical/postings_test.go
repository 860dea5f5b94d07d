package lexical

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPostingsOfAnyGapAndCount(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		name  string
		gap   func() uint32
		count func() uint32
	}{
		{"every document", func() uint32 { return 1 }, func() uint32 { return 1 }},
		{"every document, repeated", func() uint32 { return 1 }, func() uint32 { return 2 }},
		{"narrow gaps", func() uint32 { return 1 + r.Uint32N(200) }, func() uint32 { return 1 + r.Uint32N(2) }},
		{"gaps of nine bits", func() uint32 { return 1 + r.Uint32N(512) }, func() uint32 { return 1 }},
		{"gaps of sixteen bits", func() uint32 { return 1 + r.Uint32N(1<<16) }, func() uint32 { return 1 + r.Uint32N(300) }},
		{"gaps of any width", func() uint32 { return 1 + r.Uint32N(1<<(1+r.Uint32N(22))) }, func() uint32 { return 1 }},
		{"one wide gap in many narrow ones", func() uint32 {
			if r.IntN(150) == 0 {
				return 1 << 27
			}
			return 1 + r.Uint32N(4)
		}, func() uint32 { return 1 }},
		{"counts to the largest", func() uint32 { return 3 }, func() uint32 { return math.MaxUint32 - r.Uint32N(2) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newPostingList()
			var want, got [][2]uint32
			doc := uint32(none)
			for range 5*blockSize + 77 {
				doc += tt.gap()
				want = append(want, [2]uint32{doc, tt.count()})
				l.add(doc, want[len(want)-1][1], 10)
			}
			var run decoded
			for i := range l.blockCount() {
				for j := range l.decode(i, &run) {
					got = append(got, [2]uint32{run.docs[j], run.repeats[j] + 1})
				}
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Fatalf("(-got +want):\n%s", diff)
			}
			checkFind(t, &l, want)
		})
	}
}

// checkFind looks for each document and for the one after it.
func checkFind(t *testing.T, l *postingList, postings [][2]uint32) {
	t.Helper()
	for i, p := range postings {
		if got := l.count(p[0]); got != p[1] {
			t.Fatalf("in(%d) = %d, want %d", p[0], got, p[1])
		}
		held := i+1 < len(postings) && postings[i+1][0] == p[0]+1
		if got := l.count(p[0] + 1); (got > 0) != held {
			t.Fatalf("in(%d) = %d, held %t", p[0]+1, got, held)
		}
		if got := l.find(i/blockSize, p[0]); got != i/blockSize {
			t.Fatalf("find(%d) = %d, want %d", p[0], got, i/blockSize)
		}
	}
}
