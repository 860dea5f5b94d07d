package vector_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

func TestTuneReachesItsRecall(t *testing.T) {
	oneGoroutine(t)
	members := rounds.Of(2_000, 12_000)
	for name, test := range map[string]struct {
		dims int
		of   draw
	}{
		"clustered":     {128, clustered(128, 200, 3)},
		"large topics":  {384, clustered(384, 10, 3)},
		"off centre":    {128, offCentre(128, clustered(128, 200, 3))},
		"skewed":        {200, skewed(200, 200, 3)},
		"isotropic":     {64, isotropic(64)},
		"many of a few": {6, isotropic(6)},
	} {
		t.Run(name, func(t *testing.T) {
			s := makeSet(test.dims, members, test.of)
			x := index(t, s)
			tuning, err := x.Tune(64, s.load)
			must(t, err)
			if tuning.Recall < 0.99 || tuning.Rescore != x.Rescore() {
				t.Errorf("%+v, rescore %d", tuning, x.Rescore())
			}
			// What was measured holds, within what 400 neighbours can tell, for
			// questions that are not in the set.
			var sum float64
			asked := questions(40, test.of)
			for _, q := range asked {
				got, err := x.Search(vector.Query{Vector: q, N: 10}, s.load)
				must(t, err)
				sum += recall(got, exact(s, q, 10, nil))
			}
			if got := sum / float64(len(asked)); got < 0.97 {
				t.Errorf("recall %.4f at a rescore of %d, want 0.97", got, tuning.Rescore)
			}
			t.Logf("%+v, other questions %.4f", tuning, sum/float64(len(asked)))
		})
	}
}

// Measure recognises a rescore that is too small, and agrees with a comparison by brute
// force.
func TestMeasure(t *testing.T) {
	oneGoroutine(t)
	const dims, members = 64, 5000
	s := makeSet(dims, members, isotropic(dims))
	x := index(t, s)
	for rescore, want := range map[int]struct{ low, high float64 }{20: {0.4, 0.8}, vector.MaxRescore: {1, 1}} {
		x.SetRescore(rescore)
		got, err := x.Measure(100, s.load)
		must(t, err)
		if got < want.low || got > want.high {
			t.Errorf("recall %.3f at a rescore of %d, want %.1f to %.1f", got, rescore, want.low, want.high)
		}
		var sum float64
		for i := range int64(100) {
			id, towards := 1+i*members/100, 1+(i+50)%100*members/100
			q := s.vector(id)
			if i%2 == 0 {
				towards = id
			} else {
				q = leaning(q, s.vector(towards))
			}
			hits, err := x.Search(vector.Query{Vector: q, N: 12}, s.load)
			must(t, err)
			hits = slices.DeleteFunc(hits, func(h vector.Hit) bool { return h.ID == id || h.ID == towards })
			others := func(other int64) bool { return other != id && other != towards }
			sum += recall(hits[:10], exact(s, q, 10, others))
		}
		if other := sum / 100; math.Abs(got-other) > 0.0025 {
			t.Errorf("recall %v at a rescore of %d, counted by hand %v", got, rescore, other)
		}
	}
}

// leaning is a query with a cosine of 0.75 to v in the plane of v and w.
func leaning(v, w []float32) []float32 {
	var cosine float64
	for i, f := range v {
		cosine += float64(f) * float64(w[i])
	}
	side := make([]float32, len(v))
	for i, f := range v {
		side[i] = w[i] - float32(cosine)*f
	}
	unit(side)
	for i, f := range v {
		side[i] = float32(0.75*float64(f) + math.Sqrt(1-0.75*0.75)*float64(side[i]))
	}
	return unit(side)
}

func TestTuneRefusals(t *testing.T) {
	s := makeSet(16, 3000, isotropic(16))
	x := index(t, s)
	x.SetRescore(77)
	broken := errors.New("disk gone")
	calls := 0
	fails := func(ids []int64, each func(int64, []byte) error) error {
		if calls++; calls > 3 { // after what Measure reads beforehand
			return broken
		}
		return s.load(ids, each)
	}
	if _, err := x.Tune(64, fails); !errors.Is(err, broken) {
		t.Errorf("%v, want the source's error", err)
	}
	if got := x.Rescore(); got != 77 {
		t.Errorf("rescore is %d after a failure, want what it was, 77", got)
	}
	nothing := func([]int64, func(int64, []byte) error) error { return nil }
	for name, test := range map[string]struct {
		x    *vector.Index
		load vector.Source
		want string
	}{
		"no vectors": {vector.New(16, nil), s.load, "too few"},
		"not stored": {x, nothing, "none of the members is stored"},
	} {
		if _, err := test.x.Measure(64, test.load); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func TestSetRescoreStaysInRange(t *testing.T) {
	x := vector.New(8, nil)
	for n, want := range map[int]int{-5: 1, 0: 1, 300: 300, 1 << 30: vector.MaxRescore} {
		if x.SetRescore(n); x.Rescore() != want {
			t.Errorf("SetRescore(%d) set %d, want %d", n, x.Rescore(), want)
		}
	}
}
