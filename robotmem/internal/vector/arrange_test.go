package vector_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bits-and-blooms/bitset"
	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// arranged holds all of s in the order of likeness.
func arranged(t testing.TB, s *set) *vector.Index {
	x := index(t, s)
	x.ArrangeFrom(s.len() / 2)
	must(t, x.Arrange(context.Background()))
	return x
}

// The order of the codes changes nothing while all groups are scanned: not a hit, also of a set that
// was read from a snapshot, or that was changed before or after.
func TestArrangedCodesAnswerTheSame(t *testing.T) {
	oneGoroutine(t)
	for _, dims := range []int{40, 384} {
		const members = 9000
		d := clustered(dims, 60, 3)
		s := makeSet(dims, members, d)
		x, y := index(t, s), index(t, s)
		y.ArrangeFrom(members / 2)
		change := func(from int64) {
			for id := from; id <= members; id += 7 {
				for _, of := range []*vector.Index{x, y} {
					if id%2 == 0 {
						of.Remove(id)
					} else {
						must(t, of.Put(id, s.vector(id%100+1)))
					}
				}
			}
		}
		some := bitset.New(members)
		for id := uint(1); id <= members; id += 1 + id%3 {
			some.Set(id)
		}
		same := func(step string) {
			t.Helper()
			again, err := read(saved(t, y))
			must(t, err)
			if x.Len() != y.Len() || x.Len() != again.Len() {
				t.Fatalf("%s: %d, %d and %d vectors", step, x.Len(), y.Len(), again.Len())
			}
			for _, q := range questions(20, d) {
				for _, within := range []*bitset.BitSet{nil, some} {
					want, err := x.Search(vector.Query{Vector: q, Within: within, N: 50}, s.load)
					must(t, err)
					for name, of := range map[string]*vector.Index{"in memory": y, "read": again} {
						got, err := of.Search(vector.Query{Vector: q, Within: within, N: 50}, s.load)
						must(t, err)
						if diff := cmp.Diff(want, got); diff != "" {
							t.Fatalf("%s, %s (-want +got):\n%s", step, name, diff)
						}
					}
				}
			}
		}
		change(1)
		must(t, y.Arrange(t.Context()))
		if groups, slots := y.Arranged(); groups != y.Len()/64 || slots != y.Len() {
			t.Errorf("%d groups, %d slots of %d vectors", groups, slots, y.Len())
		}
		same("arranged")
		change(2)
		same("changed")
		y.ArrangeFrom(1)
		for id := int64(3); id <= members/2; id++ { // so much changes that the order is made again
			x.Remove(id)
			y.Remove(id)
		}
		must(t, y.Arrange(t.Context()))
		if _, slots := y.Arranged(); slots != y.Len() {
			t.Errorf("%d slots of %d vectors", slots, y.Len())
		}
		same("arranged again")
	}
}

// The last chunks of a snapshot may be empty.
func TestLastVectorsAreRemoved(t *testing.T) {
	oneGoroutine(t)
	const members, left = 9000, 600
	s := makeSet(16, members, isotropic(16))
	x := index(t, s)
	for id := int64(left + 1); id <= members; id++ {
		x.Remove(id)
	}
	y, err := read(saved(t, x))
	must(t, err)
	for _, of := range []*vector.Index{x, y} {
		hits, err := of.Search(vector.Query{Vector: s.vector(7), N: 3}, s.load)
		if must(t, err); len(hits) != 3 || hits[0].ID != 7 {
			t.Errorf("found %v", hits)
		}
		must(t, of.Put(members, s.vector(members)))
		if of.Len() != left+1 || !of.Contains(members) {
			t.Errorf("%d vectors after another", of.Len())
		}
	}
}

// A half or a quarter of the codes has nearly all of the nearest, also of those that a filter admits,
// where vectors have topics.
func TestPartsHoldTheNearest(t *testing.T) {
	oneGoroutine(t)
	const members = 20_000
	d := clustered(128, 100, 3)
	s := makeSet(128, members, d)
	x := arranged(t, s)
	x.SetRescore(400)
	third := bitset.New(members)
	for id := uint(1); id <= members; id++ {
		third.SetTo(id, id%3 > 0)
	}
	for parts, least := range map[int]float64{1: 0.999, 2: 0.98, 4: 0.95} {
		x.SetParts(parts)
		for name, within := range map[string]*bitset.BitSet{"all": nil, "two thirds": third} {
			var found float64
			asked := questions(40, d)
			for _, q := range asked {
				got, err := x.Search(vector.Query{Vector: q, Within: within, N: 10}, s.load)
				must(t, err)
				found += recall(got, exact(s, q, 10, func(id int64) bool { return within == nil || within.Test(uint(id)) }))
			}
			if found /= float64(len(asked)); found < least {
				t.Errorf("%d parts, %s: %.4f of the nearest ten, want %v", parts, name, found, least)
			}
		}
	}
}

// What is put after the codes were arranged is found at once, wherever its groups are.
func TestPutAfterArrange(t *testing.T) {
	oneGoroutine(t)
	const members = 9000
	s := makeSet(64, members, clustered(64, 60, 3))
	x := arranged(t, s)
	x.SetParts(4)
	x.ArrangeFrom(members)
	for i, v := range questions(200, isotropic(64)) {
		id := int64(1 + i*40) // an old id and a new one
		if i%2 == 0 {
			id += members
			s.raw = append(s.raw, make([]byte, int(id)*vector.StoredSize(64)-len(s.raw))...)
		}
		copy(s.row(id), vector.Encode(v))
		must(t, x.Put(id, v))
		hits, err := x.Search(vector.Query{Vector: v, N: 1}, s.load)
		must(t, err)
		if len(hits) != 1 || hits[0].ID != id {
			t.Fatalf("memory %d found %v", id, hits)
		}
	}
}

// Tune leaves parts out where the vectors have topics and none where they have not.
func TestTuneChoosesParts(t *testing.T) {
	oneGoroutine(t)
	for name, test := range map[string]struct {
		of    draw
		parts []int
	}{
		"topics":    {clustered(128, 10, 3), []int{2, 4}},
		"no topics": {isotropic(128), []int{1}},
	} {
		s := makeSet(128, 12_000, test.of)
		for _, x := range []*vector.Index{index(t, s), arranged(t, s)} {
			tuning, err := x.Tune(64, s.load)
			must(t, err)
			want := test.parts
			if groups, _ := x.Arranged(); groups == 0 {
				want = []int{1}
			}
			if !slices.Contains(want, tuning.Parts) || x.Parts() != tuning.Parts {
				t.Errorf("%s: %+v, parts %d, want one of %d", name, tuning, x.Parts(), want)
			}
			if y, err := read(saved(t, x)); err != nil || y.Parts() != tuning.Parts {
				t.Errorf("%s: read with %d parts, %v", name, y.Parts(), err)
			}
		}
	}
}

func TestArrangeCanBeEnded(t *testing.T) {
	s := makeSet(16, 3000, isotropic(16))
	x := index(t, s)
	before := saved(t, x)
	x.ArrangeFrom(2000)
	ended, end := context.WithCancel(t.Context())
	end()
	if err := x.Arrange(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
	if !bytes.Equal(saved(t, x), before) {
		t.Error("an order that was not finished has changed the codes")
	}
	if x.Unsaved() {
		t.Error("an order that was not finished is to be saved")
	}
	if must(t, x.Arrange(t.Context())); !x.Unsaved() || bytes.Equal(saved(t, x), before) || x.Unsaved() {
		t.Error("nothing was arranged, or saving it is not noticed")
	}
}

// Searches, changes and snapshots go on while codes are arranged. Vectors that do not change are
// found at any time, by a search of half of the groups nearly always, and every snapshot has them.
func TestArrangeConcurrently(t *testing.T) {
	const dims, kept, moving = 32, 3000, 6000
	s := makeSet(dims, moving, clustered(dims, 40, 3))
	x := index(t, s)
	x.ArrangeFrom(1)
	x.SetParts(2)
	var changes, wait sync.WaitGroup
	var missed atomic.Int64 // of 300, and of 3,000 while nothing changes 11
	done := make(chan struct{})
	for w := range 2 {
		changes.Go(func() { putAndRemove(t, x, s, uint64(w), kept, 3000) })
		changes.Go(func() {
			for id := int64(1 + w); id <= kept; id += 20 {
				hits, err := x.Search(vector.Query{Vector: s.vector(id), N: 3}, s.load)
				if err != nil || len(hits) == 0 {
					t.Errorf("memory %d found %v, %v", id, hits, err)
				} else if hits[0].ID != id {
					missed.Add(1)
				}
			}
		})
	}
	until := func(work func()) {
		wait.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					work()
				}
			}
		})
	}
	until(func() {
		if err := x.Arrange(context.Background()); err != nil {
			t.Error(err)
		}
	})
	until(func() {
		y, err := read(saved(t, x))
		if err != nil {
			t.Error(err)
			return
		}
		for id := int64(1); id <= kept; id++ {
			if !y.Contains(id) {
				t.Errorf("a snapshot lacks memory %d", id)
				return
			}
		}
	})
	changes.Wait()
	close(done)
	wait.Wait()
	if n := missed.Load(); n > 15 {
		t.Errorf("%d of 300 vectors did not find themselves", n)
	}
	if got, want := x.Len(), int(x.IDs().Count()); got != want {
		t.Errorf("Len is %d, want %d, the number of IDs", got, want)
	}
	x.SetParts(1)
	for id := int64(1); id <= kept; id += 9 {
		hits, err := x.Search(vector.Query{Vector: s.vector(id), N: 1}, s.load)
		if must(t, err); len(hits) != 1 || hits[0].ID != id {
			t.Errorf("afterwards memory %d found %v", id, hits)
		}
	}
}
