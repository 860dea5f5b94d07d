package perception_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/examples/robotfailures"
	"github.com/robotmem/robotmem-go/perception"
)

// rawAccuracy is how often the nearest neighbour has the class of the trace in
// question when the 90 readings are compared by Euclidean distance.
var rawAccuracy = map[string]float64{"LP1": 0.864, "LP2": 0.681, "LP3": 0.702, "LP4": 0.880, "LP5": 0.683}

// meanAccuracy is what the features reach over the five sets, less 0.01.
const meanAccuracy = 0.832

type likePoint struct {
	kind   string
	vector []float32
	class  string
}

func likePoints(t testing.TB) map[string][]likePoint {
	t.Helper()
	sets := map[string][]likePoint{}
	for _, f := range failures(t) {
		kind, vector, ok := perception.Features(perception.Item{Data: f.CSV()})
		if !ok {
			t.Fatalf("%s %d has no features", f.Set, f.Index)
		}
		sets[f.Set] = append(sets[f.Set], likePoint{kind, vector, f.Label()})
	}
	return sets
}

// accuracy leaves out one point at a time and gives it the class of most of its
// k nearest, of the nearest among equals.
func accuracy(points []likePoint, k int, distance func(a, b likePoint) float64) float64 {
	right := 0
	type other struct {
		distance float64
		class    string
	}
	for i, p := range points {
		var others []other
		for j, q := range points {
			if i != j {
				others = append(others, other{distance(p, q), q.class})
			}
		}
		slices.SortStableFunc(others, func(a, b other) int {
			switch {
			case a.distance < b.distance:
				return -1
			case a.distance > b.distance:
				return 1
			}
			return 0
		})
		votes, best := map[string]int{}, ""
		for _, o := range others[:k] {
			votes[o.class]++
		}
		for _, o := range others[:k] {
			if votes[o.class] > votes[best] {
				best = o.class
			}
		}
		if best == p.class {
			right++
		}
	}
	return float64(right) / float64(len(points))
}

func byFeatures(a, b likePoint) float64 { return perception.Distance(a.kind, a.vector, b.vector) }

func TestNearestTraceHasTheSameClass(t *testing.T) {
	t.Parallel()
	sum := 0.0
	sets := likePoints(t)
	for _, set := range []string{"LP1", "LP2", "LP3", "LP4", "LP5"} {
		got := accuracy(sets[set], 1, byFeatures)
		t.Logf("%s: %.3f, raw %.3f", set, got, rawAccuracy[set])
		if got < rawAccuracy[set] {
			t.Errorf("%s: got accuracy %.4f, want at least %.3f", set, got, rawAccuracy[set])
		}
		sum += got
	}
	t.Logf("mean: %.4f", sum/5)
	if got := sum / 5; got < meanAccuracy {
		t.Errorf("got mean accuracy %.4f, want at least %.3f", got, meanAccuracy)
	}
}

// The advantage over raw readings does not hang on one neighbour or on all the
// data: it holds for a vote of three, and for halves drawn at random. These are
// the recordings that the features were chosen by, not others.
func TestTraceLikenessHoldsElsewhere(t *testing.T) {
	t.Parallel()
	raw := map[string][]likePoint{}
	for _, f := range failures(t) {
		p := likePoint{class: f.Label()}
		for _, sample := range f.Samples {
			for _, v := range sample {
				p.vector = append(p.vector, float32(v))
			}
		}
		raw[f.Set] = append(raw[f.Set], p)
	}
	euclid := func(a, b likePoint) float64 { return perception.Distance("raw", a.vector, b.vector) }
	rng := rand.New(rand.NewPCG(1, 2))
	var three, rawThree, half, rawHalf float64
	for set, points := range likePoints(t) {
		if got, want := accuracy(raw[set], 1, euclid), rawAccuracy[set]; math.Abs(got-want) > 0.0005 {
			t.Errorf("%s: got raw accuracy %.4f, want %.3f", set, got, want)
		}
		three += accuracy(points, 3, byFeatures) / 5
		rawThree += accuracy(raw[set], 3, euclid) / 5
		const draws = 10
		for range draws {
			var some, rawSome []likePoint
			for _, i := range rng.Perm(len(points))[:len(points)/2] {
				some, rawSome = append(some, points[i]), append(rawSome, raw[set][i])
			}
			half += accuracy(some, 1, byFeatures) / (5 * draws)
			rawHalf += accuracy(rawSome, 1, euclid) / (5 * draws)
		}
	}
	t.Logf("vote of three %.3f, raw %.3f; half the data %.3f, raw %.3f", three, rawThree, half, rawHalf)
	if three < rawThree+0.05 || half < rawHalf+0.03 {
		t.Errorf("got %.3f and %.3f, want well above the raw %.3f and %.3f", three, half, rawThree, rawHalf)
	}
}

// A blow recorded at 20 samples is nearest to the same blow at 15.
func TestTracesOfOtherLengthAreComparable(t *testing.T) {
	t.Parallel()
	points := likePoints(t)["LP1"]
	right := 0
	for i, f := range failures(t)[:len(points)] {
		kind, vector, _ := perception.Features(csvItem(stretched(f, 20)))
		best, nearest := -1, math.Inf(1)
		for j, p := range points {
			if d := perception.Distance(kind, vector, p.vector); d < nearest {
				best, nearest = j, d
			}
		}
		if best == i {
			right++
		}
	}
	if right < len(points)*95/100 {
		t.Errorf("%d of %d stretched traces are nearest to themselves", right, len(points))
	}
}

func stretched(f robotfailures.Failure, samples int) string {
	var b strings.Builder
	for i := range samples {
		at := float64(i) * (robotfailures.SampleCount - 1) / float64(samples-1)
		from := min(int(at), robotfailures.SampleCount-2)
		for c := range robotfailures.Channels {
			v := f.Samples[from][c]*(1-at+float64(from)) + f.Samples[from+1][c]*(at-float64(from))
			fmt.Fprintf(&b, "%s%g", map[bool]string{true: ","}[c > 0], v)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestTraceDistance(t *testing.T) {
	at := func(name, text string) (string, []float32) {
		kind, vector, ok := perception.Features(csvItem(text))
		if !ok {
			t.Fatalf("%s has no features", name)
		}
		return kind, vector
	}
	blow := "0,1\n0,1\n50,1\n0,1\n0,1\n0,1\n"
	tests := []struct {
		name, a, b string
		min, max   float64
	}{
		{"equal", blow, blow, 0, 0},
		{"equal readings of nothing", "0,0\n0,0\n", "0,0\n0,0\n0,0\n", 0, 0},
		{"one sample and many that are equal", "3,4\n", "3,4\n3,4\n3,4\n", 0, 1e-7},
		{"the same blow later", blow, "0,1\n0,1\n0,1\n50,1\n0,1\n0,1\n", 0.1, 0.4},
		{"no blow", blow, "0,1\n0,1\n0,1\n0,1\n0,1\n0,1\n", 0.45, 0.55},
		{"mirrored", "5,5\n", "-5,-5\n", math.Sqrt2 - 1e-6, math.Sqrt2 + 1e-6},
		{"huge", "1e30,-1e30\n0,0\n", "1,1\n2,2\n", 0.5, 2},
		{"the largest", "3.4e38,-3.4e38\n", "-3.4e38,3.4e38\n", math.Sqrt2 - 1e-6, math.Sqrt2 + 1e-6},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			kind, a := at("a", test.a)
			_, b := at("b", test.b)
			got := perception.Distance(kind, a, b)
			if !(got >= test.min && got <= test.max) {
				t.Errorf("got %v, want %v to %v", got, test.min, test.max)
			}
			if back := perception.Distance(kind, b, a); back != got {
				t.Errorf("got %v one way, %v the other", got, back)
			}
		})
	}
	kind, a := at("a", blow)
	for name, b := range map[string][]float32{"none": nil, "shorter": a[:64], "odd": a[:100]} {
		if got := perception.Distance(kind, a, b); !math.IsInf(got, 1) {
			t.Errorf("%s: got %v, want infinity", name, got)
		}
	}
	if got := perception.Distance("trace/v2/3", a, a); !math.IsInf(got, 1) {
		t.Errorf("another number of channels: got %v, want infinity", got)
	}
}

// A channel in other units, in both traces, changes nothing.
func TestTraceDistanceHasNoUnit(t *testing.T) {
	vector := func(scale float64, readings ...float64) []float32 {
		var b bytes.Buffer
		for i := 0; i < len(readings); i += 2 {
			fmt.Fprintf(&b, "%g,%g\n", readings[i], scale*readings[i+1])
		}
		_, v, _ := perception.Features(csvItem(b.String()))
		return v
	}
	a, b := []float64{1, 2, 3, -4, 5, 6}, []float64{1, 2, -1, 4, 2, 2}
	inN := perception.Distance("trace/v2/2", vector(1, a...), vector(1, b...))
	inMN := perception.Distance("trace/v2/2", vector(1e3, a...), vector(1e3, b...))
	if inN == 0 || math.Abs(inN-inMN) > 1e-6 {
		t.Errorf("got %v, and %v in thousandths", inN, inMN)
	}
}

func BenchmarkDistance(b *testing.B) {
	points := likePoints(b)["LP1"]
	i := 0
	for b.Loop() {
		perception.Distance(points[0].kind, points[i%88].vector, points[(i+7)%88].vector)
		i++
	}
}
