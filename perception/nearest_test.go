package perception_test

import (
	"math"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
)

// TestNearestFeaturesHaveTheSameClass leaves out one recording at a time and
// gives it the class of its nearest neighbour within the set. The figures are
// those of raw readings under Euclidean distance; a change of Features that
// lowers one makes perceptions less alike that are alike.
func TestNearestFeaturesHaveTheSameClass(t *testing.T) {
	type point struct {
		vector []float32
		class  string
	}
	sets := map[string][]point{}
	for _, f := range failures(t) {
		kind, vector, ok := perception.Features(perception.Item{Type: "tactile", Data: f.CSV()})
		if !ok || kind != "trace/6/15" {
			t.Fatalf("%s %d: got kind %q, %v", f.Set, f.Index, kind, ok)
		}
		sets[f.Set] = append(sets[f.Set], point{vector, f.Class})
	}
	for set, want := range map[string]float64{"LP1": 0.864, "LP2": 0.681, "LP3": 0.702, "LP4": 0.880, "LP5": 0.683} {
		points := sets[set]
		right := 0
		for i, p := range points {
			nearest, class := math.Inf(1), ""
			for j, q := range points {
				if d := distance(p.vector, q.vector); i != j && d < nearest {
					nearest, class = d, q.class
				}
			}
			if class == p.class {
				right++
			}
		}
		if got := float64(right) / float64(len(points)); math.Abs(got-want) > 0.0005 {
			t.Errorf("%s: got accuracy %.4f, want %.3f", set, got, want)
		}
	}
}

func distance(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		sum += d * d
	}
	return math.Sqrt(sum)
}
