package vector_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/bits-and-blooms/bitset"
	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// A scan that is split over goroutines gives the same answer as one that is not.
func TestSplitScanAnswersTheSame(t *testing.T) {
	const dims, members = 16, 270_000
	d := clustered(dims, 50, 3)
	s := makeSet(dims, members, d)
	x := index(t, s)
	r := rand.New(rand.NewPCG(2, 2))
	most := bitset.New(members + 1)
	for id := range uint(members + 1) {
		most.SetTo(id, r.IntN(10) > 0)
	}
	cores := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(cores) })
	for _, within := range []*bitset.BitSet{nil, most} {
		for _, q := range questions(10, d) {
			var answers [][]vector.Hit
			for _, cores := range []int{1, 3} {
				runtime.GOMAXPROCS(cores)
				hits, err := x.Search(vector.Query{Vector: q, Within: within, N: 20}, s.load)
				must(t, err)
				answers = append(answers, hits)
			}
			if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
				t.Fatalf("(-one core +three):\n%s", diff)
			}
		}
	}
}

// All operations run concurrently under the race detector. Vectors that do not change
// must be found at any time.
func TestConcurrentUse(t *testing.T) {
	const dims, kept, moving = 32, 2000, 6000
	d := isotropic(dims)
	s := makeSet(dims, moving, d)
	x := index(t, s)
	x.SetRescore(50)
	var wait sync.WaitGroup
	for w := range 2 {
		wait.Go(func() { putAndRemove(t, x, s, uint64(w), kept, 2000) })
		wait.Go(func() {
			for id := int64(1); id <= 300; id++ {
				hits, err := x.Search(vector.Query{Vector: s.vector(id), N: 3}, s.load)
				if err != nil || len(hits) == 0 || hits[0].ID != id {
					t.Errorf("memory %d found %v, %v", id, hits, err)
				}
			}
		})
	}
	wait.Go(func() {
		for range 20 {
			if _, err := read(saved(t, x)); err != nil {
				t.Error(err)
			}
			x.SetRescore(50 + x.Len()%2)
			x.IDs()
			x.Memory()
		}
	})
	wait.Wait()
	if got, want := x.Len(), int(x.IDs().Count()); got != want {
		t.Errorf("Len is %d, want %d, the number of IDs", got, want)
	}
}

// putAndRemove changes vectors after the first kept of s at random.
func putAndRemove(t *testing.T, x *vector.Index, s *set, seed uint64, kept int64, changes int) {
	r := rand.New(rand.NewPCG(seed, 4))
	for range changes {
		id := 1 + kept + r.Int64N(int64(s.len())-kept)
		if r.IntN(2) == 0 {
			x.Remove(id)
		} else if err := x.Put(id, s.vector(id)); err != nil {
			t.Error(err)
		}
	}
}
