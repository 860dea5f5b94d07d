package vector_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bits-and-blooms/bitset"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// rounded lets similarities differ by the order in which they were summed.
var rounded = cmpopts.EquateApprox(0, 1e-12)

func TestSmallSetsAreExact(t *testing.T) {
	for name, test := range map[string]struct{ dims, members int }{
		"one dimension":    {1, 5},
		"two":              {2, 100},
		"odd":              {63, 300},
		"a word":           {64, 300},
		"a word and a bit": {65, 300},
		"common":           {384, 512},
		"most":             {vector.MaxDims, 40},
		"one vector":       {16, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := makeSet(test.dims, test.members, isotropic(test.dims))
			x := index(t, s)
			for _, n := range []int{1, 10, 200, 1000} {
				for _, q := range questions(5, isotropic(test.dims)) {
					got, err := x.Search(vector.Query{Vector: q, N: n}, s.load)
					must(t, err)
					if diff := cmp.Diff(exact(s, q, n, nil), got, rounded); diff != "" {
						t.Fatalf("n=%d (-want +got):\n%s", n, diff)
					}
				}
			}
		})
	}
}

// Every tier works for every number of words, and a stored vector as the query is
// always the first hit.
func TestEachFindsItself(t *testing.T) {
	oneGoroutine(t)
	for _, dims := range []int{24, 64, 100, 128, 192, 256, 320, 384, 768, 1000} {
		s := makeSet(dims, rounds.Of(1_000, 5_000), isotropic(dims))
		x := index(t, s)
		x.SetRescore(64)
		for id := int64(1); id <= int64(s.len()); id += 97 {
			got, err := x.Search(vector.Query{Vector: s.vector(id), N: 1}, s.load)
			must(t, err)
			if len(got) != 1 || got[0].ID != id {
				t.Errorf("%d dimensions: memory %d found %v", dims, id, got)
			}
		}
	}
}

func TestSearchWithin(t *testing.T) {
	oneGoroutine(t)
	const dims, members = 128, 20000
	s := makeSet(dims, members, clustered(dims, 100, 3))
	x := index(t, s)
	x.SetRescore(1024)
	r := rand.New(rand.NewPCG(5, 5))
	some := func(share float64, from, to int) *bitset.BitSet {
		b := bitset.New(0)
		for id := from; id <= to; id++ {
			if r.Float64() < share {
				b.Set(uint(id))
			}
		}
		return b
	}
	for name, within := range map[string]*bitset.BitSet{
		"none":              bitset.New(0),
		"none of a zero":    {},
		"strangers":         some(1, members+1, members+5000),
		"one":               some(1, 4711, 4711),
		"a thousandth":      some(0.001, 1, members),
		"a tenth":           some(0.1, 1, members),
		"nearly all":        some(0.99, 1, members),
		"all and strangers": some(1, 0, 2*members),
		"one chunk":         some(1, 4096, 8191),
		"ends within words": some(1, 4000, 12345),
	} {
		t.Run(name, func(t *testing.T) {
			var sum float64
			asked := questions(rounds.Of(4, 10), clustered(dims, 100, 3))
			for _, q := range asked {
				got, err := x.Search(vector.Query{Vector: q, Within: within, N: 10}, s.load)
				must(t, err)
				want := exact(s, q, 10, func(id int64) bool { return within.Test(uint(id)) })
				if within.Count() <= 2048 {
					if diff := cmp.Diff(want, got, rounded, cmpopts.EquateEmpty()); diff != "" {
						t.Fatalf("(-want +got):\n%s", diff)
					}
				}
				if len(got) != len(want) {
					t.Fatalf("%d hits, want %d", len(got), len(want))
				}
				for _, h := range got {
					if !within.Test(uint(h.ID)) {
						t.Fatalf("memory %d is outside of the filter", h.ID)
					}
				}
				sum += recall(got, want)
			}
			if got := sum / float64(len(asked)); got < 0.99 {
				t.Errorf("recall %.3f, want 0.99", got)
			}
		})
	}
}

func TestEqualVectorsTieByID(t *testing.T) {
	const dims, members = 96, 30000
	one := questions(1, isotropic(dims))[0]
	s := makeSet(dims, members, func(*rand.Rand) []float32 { return one })
	x := index(t, s)
	for _, n := range []int{1, 7, 300, 2000} {
		got, err := x.Search(vector.Query{Vector: one, N: n}, s.load)
		must(t, err)
		if len(got) != n {
			t.Fatalf("%d hits, want %d", len(got), n)
		}
		for i, h := range got {
			if h.ID != int64(i+1) {
				t.Fatalf("place %d of %d is memory %d, want %d", i, n, h.ID, i+1)
			}
		}
	}
}

// A set that was changed gives the same answers as one that was built in its final state.
func TestReplacedAndRemoved(t *testing.T) {
	const dims, members = 64, 9000
	s := makeSet(dims, members, isotropic(dims))
	x := index(t, s)
	r := rand.New(rand.NewPCG(6, 6))
	gone := map[int64]bool{}
	fresh := questions(2000, isotropic(dims))
	for _, v := range fresh {
		id := 1 + r.Int64N(members)
		if r.IntN(3) == 0 {
			x.Remove(id)
			gone[id] = true
			continue
		}
		must(t, x.Put(id, v))
		copy(s.row(id), vector.Encode(v))
		delete(gone, id)
	}
	if got, want := x.Len(), members-len(gone); got != want {
		t.Fatalf("Len is %d, want %d", got, want)
	}
	if got, want := int(x.IDs().Count()), x.Len(); got != want {
		t.Fatalf("%d IDs, want %d", got, want)
	}
	for id := int64(-1); id <= members+70; id++ {
		want := id >= 1 && id <= members && !gone[id]
		if x.Contains(id) != want || id >= 0 && x.IDs().Test(uint(id)) != want {
			t.Fatalf("memory %d: Contains %v, want %v", id, x.Contains(id), want)
		}
	}
	x.SetRescore(vector.MaxRescore)
	for _, q := range questions(20, isotropic(dims)) {
		got, err := x.Search(vector.Query{Vector: q, N: 10}, s.load)
		must(t, err)
		want := exact(s, q, 10, func(id int64) bool { return !gone[id] })
		if diff := cmp.Diff(want, got, rounded); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
}

func TestWhatIsNotStoredIsLeftOut(t *testing.T) {
	s := makeSet(32, 100, isotropic(32))
	x := index(t, s)
	even := func(ids []int64, each func(int64, []byte) error) error {
		for _, id := range ids {
			if id%2 == 0 {
				if err := each(id, s.row(id)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	q := questions(1, isotropic(32))[0]
	got, err := x.Search(vector.Query{Vector: q, N: 100}, even)
	must(t, err)
	want := exact(s, q, 100, func(id int64) bool { return id%2 == 0 })
	if diff := cmp.Diff(want, got, rounded); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRefusals(t *testing.T) {
	s := makeSet(8, 50, isotropic(8))
	x := index(t, s)
	good := s.vector(1)
	with := func(at int, f float32) []float32 {
		v := s.vector(1)
		v[at] = f
		return v
	}
	var nan float32
	nan /= nan
	broken := errors.New("disk gone")
	search := func(v []float32, n int, load vector.Source) error {
		_, err := x.Search(vector.Query{Vector: v, N: n}, load)
		return err
	}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"short":            {x.Put(1, good[:7]), "memory 1: a vector of 7 dimensions, want 8"},
		"long":             {x.Put(1, with(3, 2)), "of length 2."},
		"zero":             {x.Put(1, make([]float32, 8)), "of length 0, want 1"},
		"not a number":     {x.Put(1, with(7, nan)), "not a finite number"},
		"id zero":          {x.Put(0, good), "memory id 0"},
		"id below":         {x.Put(-1, good), "memory id -1"},
		"id above":         {x.Put(vector.MaxID+1, good), "memory id 2147483648"},
		"short question":   {search(good[:7], 1, s.load), "the question: a vector of 7 dimensions"},
		"infinite":         {search(with(0, 1/float32(0*good[0])), 1, s.load), "not a finite number"},
		"no hits":          {search(good, 0, s.load), "0 hits asked for"},
		"too many":         {search(good, vector.MaxN+1, s.load), "10001 hits asked for"},
		"source fails":     {search(good, 1, func([]int64, func(int64, []byte) error) error { return broken }), "disk gone"},
		"stored too short": {search(good, 1, func(ids []int64, each func(int64, []byte) error) error { return each(ids[0], s.row(1)[:11]) }), "memory 1: a vector of 11 bytes, want 12"},
		"stored no number": {search(good, 1, func(ids []int64, each func(int64, []byte) error) error { return each(9, vector.Encode(with(7, nan))) }), "memory 9: a component that is not a finite number"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, test.err, test.want)
		}
	}
	if err := search(good, 1, func([]int64, func(int64, []byte) error) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("%v does not wrap the source's error", err)
	}
	if got := x.Len(); got != 50 {
		t.Errorf("Len is %d after what was refused, want 50", got)
	}
}
