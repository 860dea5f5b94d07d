package perception_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
)

func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// family is the one of that name.
func family[F any](t *testing.T, families map[string]F, name string) F {
	t.Helper()
	f, ok := families[name]
	if !ok {
		t.Fatalf("no family %q", name)
	}
	return f
}

// leaveOneOut gives each member the family of its nearest neighbour, by
// Distance, and returns the share that is right.
func leaveOneOut(t *testing.T, members map[string][]perception.Item, wantKind string) float64 {
	t.Helper()
	type described struct {
		family string
		vector []float32
	}
	var all []described
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for i, item := range members[name] {
			kind, vector, ok := perception.Features(item)
			if !ok || kind != wantKind {
				t.Fatalf("%s %d: got features %q, %v, want %q", name, i, kind, ok, wantKind)
			}
			all = append(all, described{name, vector})
		}
	}
	right := 0
	for i, a := range all {
		nearest, found := math.Inf(1), ""
		for j, b := range all {
			if d := perception.Distance(wantKind, a.vector, b.vector); i != j && d < nearest {
				nearest, found = d, b.family
			}
		}
		if found == a.family {
			right++
		} else {
			t.Logf("a %s is taken for a %s", a.family, found)
		}
	}
	return float64(right) / float64(len(all))
}

// cloudFamilies are surfaces around the origin, a metre or so large.
var cloudFamilies = map[string]func(r *rand.Rand) [3]float64{
	"plane": func(r *rand.Rand) [3]float64 { return [3]float64{3*r.Float64() - 1.5, 3*r.Float64() - 1.5, 0} },
	"box":   func(r *rand.Rand) [3]float64 { return onBox(r, 1, 0.8, 0.6) },
	"pole":  func(r *rand.Rand) [3]float64 { return onBox(r, 0.1, 0.1, 3) },
	"sphere": func(r *rand.Rand) [3]float64 {
		x, y, z := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
		n := math.Sqrt(x*x + y*y + z*z)
		return [3]float64{x / n, y / n, z / n}
	},
	"cylinder": func(r *rand.Rand) [3]float64 {
		a := 2 * math.Pi * r.Float64()
		return [3]float64{0.5 * math.Cos(a), 0.5 * math.Sin(a), 2*r.Float64() - 1}
	},
	"cone": func(r *rand.Rand) [3]float64 {
		a, h := 2*math.Pi*r.Float64(), math.Sqrt(r.Float64())
		return [3]float64{h * math.Cos(a), h * math.Sin(a), -1.2 * h}
	},
	"torus": func(r *rand.Rand) [3]float64 {
		a, b := 2*math.Pi*r.Float64(), 2*math.Pi*r.Float64()
		return [3]float64{(1 + 0.3*math.Cos(b)) * math.Cos(a), (1 + 0.3*math.Cos(b)) * math.Sin(a), 0.3 * math.Sin(b)}
	},
	"corner": func(r *rand.Rand) [3]float64 { // two walls
		if r.IntN(2) == 0 {
			return [3]float64{2 * r.Float64(), 0, 1.5 * r.Float64()}
		}
		return [3]float64{0, 2 * r.Float64(), 1.5 * r.Float64()}
	},
	"stairs": func(r *rand.Rand) [3]float64 {
		step := float64(r.IntN(5))
		if r.IntN(2) == 0 {
			return [3]float64{0.3 * (step + r.Float64()), r.Float64(), 0.2 * step}
		}
		return [3]float64{0.3 * step, r.Float64(), 0.2 * (step - r.Float64())}
	},
}

func onBox(r *rand.Rand, a, b, c float64) [3]float64 {
	p := [3]float64{a * (r.Float64() - 0.5), b * (r.Float64() - 0.5), c * (r.Float64() - 0.5)}
	sides := [3]float64{b * c, a * c, a * b}
	pick := r.Float64() * (sides[0] + sides[1] + sides[2])
	for axis, size := range [3]float64{a, b, c} {
		if pick -= sides[axis]; pick < 0 {
			p[axis] = math.Copysign(size/2, r.Float64()-0.5)
			break
		}
	}
	return p
}

func TestNearestCloudHasTheSameShape(t *testing.T) {
	t.Parallel()
	members := map[string][]perception.Item{}
	r := newRandom(11)
	for _, name := range sortedKeys(cloudFamilies) {
		for range 10 {
			sin, cos := math.Sincos(2 * math.Pi * r.Float64())
			scale, noise := 0.8+0.5*r.Float64(), 0.02*r.Float64()
			move := [3]float64{20 * r.Float64(), -20 * r.Float64(), 3 * r.Float64()}
			item := asciiPCD(800+r.IntN(6000), func(int) [3]float64 {
				p := cloudFamilies[name](r)
				x, y := scale*(cos*p[0]-sin*p[1]), scale*(sin*p[0]+cos*p[1])
				return [3]float64{x + move[0] + noise*r.NormFloat64(), y + move[1] + noise*r.NormFloat64(), scale*p[2] + move[2] + noise*r.NormFloat64()}
			})
			members[name] = append(members[name], item)
		}
	}
	const want = 0.95
	if got := leaveOneOut(t, members, "cloud/v2"); got < want {
		t.Errorf("got accuracy %.3f, want %.2f", got, want)
	} else {
		t.Logf("accuracy %.3f", got)
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func TestCloudWithoutAShapeHasNoFeatures(t *testing.T) {
	for name, item := range map[string]perception.Item{
		"few":   asciiPCD(15, room),
		"point": asciiPCD(100, func(int) [3]float64 { return [3]float64{1, 2, 3} }),
	} {
		if kind, _, ok := perception.Features(item); ok {
			t.Errorf("%s: got features %s", name, kind)
		}
	}
}

// room is points on the floor, the walls and a table of a room of 5 by 4 m.
func room(i int) [3]float64 {
	r := newRandom(uint64(i))
	u, v := r.Float64(), r.Float64()
	switch i % 6 {
	case 0, 1:
		return [3]float64{5*u - 1, 4*v - 1, 0.01 * r.NormFloat64()}
	case 2:
		return [3]float64{5*u - 1, -1 + 0.01*r.NormFloat64(), 2.5 * v}
	case 3:
		return [3]float64{-1 + 0.01*r.NormFloat64(), 4*u - 1, 2.5 * v}
	case 4:
		return [3]float64{1 + 1.2*u, 1 + 0.7*v, 0.75}
	}
	return [3]float64{4 + 0.01*r.NormFloat64(), 4*u - 1, 2.5 * v}
}
