package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// factsSeed is arbitrary; what matters is that it does not change.
const factsSeed = 20261101

// placeSide is the edge of the square, in metres, that places lie in.
const placeSide = 100.0

// Facts makes facts as robots leave them, and questions about them: a sentence
// from one of a few templates with its own numbers and names, and a context with
// parameters, a place, an outcome and a robot. The seed is fixed, so that two
// machines measure the same.
type Facts struct {
	rng   *rand.Rand
	names []string // made-up part names, so that the vocabulary is thousands of words
}

// NewFacts returns a maker that begins with the first fact.
func NewFacts() *Facts {
	f := &Facts{rng: rand.New(rand.NewPCG(factsSeed, factsSeed))}
	for len(f.names) < 4000 {
		f.names = append(f.names, f.word())
	}
	return f
}

var syllables = strings.Fields("ba ko ri ten mar sul vex lo dan pir qua zem fol gri hub nep tor wil yas cor del fin gam har jol kim lun mos nov ost")

func (f *Facts) word() string {
	var b strings.Builder
	for range 2 + f.rng.IntN(2) {
		b.WriteString(syllables[f.rng.IntN(len(syllables))])
	}
	return b.String()
}

// Common words first: each is drawn by Zipf's law, as in texts.
var (
	benchObjects  = strings.Fields("cup bottle glass plate box drawer door handle peg socket cable connector tray bin pallet screw gear bearing valve hose lid jar spoon towel panel")
	benchActions  = strings.Fields("grasping lifting placing inserting pushing pulling rotating pouring opening closing screwing wiping stacking sliding handing docking")
	benchSurfaces = strings.Fields("wet dry smooth rough dusty oily cold warm shiny soft hard curved flat narrow slippery")
	benchPlaces   = strings.Fields("kitchen corridor dock workbench shelf lab warehouse lift charger table conveyor cell gate ramp storage")
	benchFaults   = strings.Fields("slip collision timeout stall overshoot drift jam overload dropout misalignment vibration backlash")
	benchRobots   = []string{"arm-1", "arm-2", "arm-3", "amr-1", "amr-2", "humanoid-1", "drone-1", "gantry-1"}
)

func zipf(rng *rand.Rand, words []string) string {
	n := float64(len(words))
	// The inverse of a continuous 1/x density on [1, n+1).
	return words[min(int(math.Pow(n+1, rng.Float64()))-1, len(words)-1)]
}

// templates say what robots learn. Each takes its words from the maker.
var templates = []func(f *Facts) string{
	func(f *Facts) string {
		return fmt.Sprintf("%s the %s %s with grip_force=%.1f N at %.2f m/s works on the %s", f.action(), f.surface(), f.object(), f.num(2, 40), f.num(0.05, 1), f.name())
	},
	func(f *Facts) string {
		return fmt.Sprintf("the gripper slips on the %s %s of %s below %.1f N", f.surface(), f.object(), f.name(), f.num(2, 20))
	},
	func(f *Facts) string {
		return fmt.Sprintf("found a %s while %s the %s near the %s: torque reached %.2f Nm on joint %d of %s", f.fault(), f.action(), f.object(), f.place(), f.num(1, 30), 1+f.rng.IntN(7), f.name())
	},
	func(f *Facts) string {
		return fmt.Sprintf("the %s at %s needs an approach angle of %.0f deg and an offset of %.1f mm for the %s", f.object(), f.name(), f.num(0, 90), f.num(0.5, 12), f.place())
	},
	func(f *Facts) string {
		return fmt.Sprintf("battery of the %s unit fell to %.0f %% after %d trips between the %s and the %s", f.name(), f.num(5, 60), 2+f.rng.IntN(40), f.place(), f.place())
	},
	func(f *Facts) string {
		return fmt.Sprintf("lidar returns on the %s %s are unreliable beyond %.1f m near %s", f.surface(), f.object(), f.num(1, 12), f.name())
	},
	func(f *Facts) string {
		return fmt.Sprintf("camera exposure of %.1f ms makes the %s %s of %s visible in the %s", f.num(1, 60), f.surface(), f.object(), f.name(), f.place())
	},
	func(f *Facts) string {
		return fmt.Sprintf("%s the %s failed because of a %s at the %s: %s moved %.1f cm before contact", f.action(), f.object(), f.fault(), f.place(), f.name(), f.num(0.2, 15))
	},
	func(f *Facts) string {
		return fmt.Sprintf("impedance stiffness=%.0f N/m and damping=%.2f keep %s from a %s when %s the %s", f.num(100, 3000), f.num(0.3, 1.2), f.name(), f.fault(), f.action(), f.object())
	},
	func(f *Facts) string {
		return fmt.Sprintf("the path from the %s to the %s past %s is blocked between %02d:00 and %02d:30, the detour takes %.0f s", f.place(), f.place(), f.name(), f.rng.IntN(24), f.rng.IntN(24), f.num(10, 300))
	},
	func(f *Facts) string {
		return fmt.Sprintf("peg %s enters the %s after a spiral search of %.1f mm with %.1f N down force", f.name(), f.object(), f.num(0.5, 6), f.num(2, 25))
	},
	func(f *Facts) string {
		return fmt.Sprintf("temperature of motor %d rose to %.1f C while %s the %s %s, %s had to wait %.0f s", 1+f.rng.IntN(7), f.num(40, 95), f.action(), f.surface(), f.object(), f.name(), f.num(10, 200))
	},
	func(f *Facts) string {
		return fmt.Sprintf("wheel odometry drifts %.2f %% on the %s floor of the %s, correct it with marker %s", f.num(0.1, 4), f.surface(), f.place(), f.name())
	},
	func(f *Facts) string {
		return fmt.Sprintf("the operator %s prefers %s the %s at %.2f m/s when people stand in the %s", f.name(), f.action(), f.object(), f.num(0.05, 0.5), f.place())
	},
	func(f *Facts) string {
		return fmt.Sprintf("must never exceed %.0f N while %s the %s %s of batch %s", f.num(10, 80), f.action(), f.surface(), f.object(), f.name())
	},
}

func (f *Facts) object() string  { return zipf(f.rng, benchObjects) }
func (f *Facts) action() string  { return zipf(f.rng, benchActions) }
func (f *Facts) surface() string { return zipf(f.rng, benchSurfaces) }
func (f *Facts) place() string   { return zipf(f.rng, benchPlaces) }
func (f *Facts) fault() string   { return zipf(f.rng, benchFaults) }
func (f *Facts) name() string    { return zipf(f.rng, f.names) }

func (f *Facts) num(lo, hi float64) float64 { return lo + f.rng.Float64()*(hi-lo) }

// Fact makes the i-th fact. One in a thousand is of the rare trial, which the
// filtered questions ask for.
func (f *Facts) Fact(i int) robotmem.LearnRequest {
	trial := "routine"
	if i%1000 == 7 {
		trial = "rare"
	}
	env := "sim"
	if f.rng.IntN(3) == 0 {
		env = "real"
	}
	return robotmem.LearnRequest{
		Insight: templates[f.rng.IntN(len(templates))](f),
		Context: robotmem.Object{
			"params":  map[string]any{"grip_force": round(f.num(2, 40)), "speed": round(f.num(0.05, 1)), "attempt": i},
			"spatial": map[string]any{"position": f.point()},
			"robot":   map[string]any{"id": benchRobots[f.rng.IntN(len(benchRobots))]},
			"task":    map[string]any{"name": zipf(f.rng, benchActions), "success": f.rng.IntN(4) > 0, "trial": trial},
			"env":     map[string]any{"sim_or_real": env, "site": zipf(f.rng, benchPlaces)},
		},
		Source: "bench",
	}
}

// Near asks for what lies nearest to a place among the facts.
func (f *Facts) Near() *robotmem.SpatialSort {
	return &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{f.num(0, placeSide), f.num(0, placeSide), f.num(0, placeSide/10)}}
}

func (f *Facts) point() []any {
	return []any{round(f.num(0, placeSide)), round(f.num(0, placeSide)), round(f.num(0, placeSide/10))}
}

func round(x float64) float64 { return math.Round(x*1000) / 1000 }

// Query is a question of 3 to 6 words, some common and some rare.
func (f *Facts) Query() string {
	draw := []func() string{f.object, f.surface, f.name, f.action, f.place, f.fault}
	f.rng.Shuffle(len(draw), func(i, j int) { draw[i], draw[j] = draw[j], draw[i] })
	var words []string
	for _, d := range draw[:3+f.rng.IntN(4)] {
		words = append(words, d())
	}
	return strings.Join(words, " ")
}
