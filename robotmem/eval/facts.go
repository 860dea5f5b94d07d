package eval

import (
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// factsSeed is arbitrary but must not change.
const factsSeed = 20261101

// placeSide is the edge in metres of the square that has the places.
const placeSide = 100.0

// Facts makes facts like those of robots, and questions about them: a sentence from a template with
// its own numbers and names, and a context with parameters, a place, an outcome and a robot. The seed
// is fixed, so that two machines measure the same.
type Facts struct {
	rng   *rand.Rand
	words map[string][]string // by kind; names are made up, so that there are thousands of words
}

// NewFacts returns a maker that begins with the first fact.
func NewFacts() *Facts {
	f := &Facts{rng: rand.New(rand.NewPCG(factsSeed, factsSeed)), words: map[string][]string{}}
	for kind, words := range kinds {
		f.words[kind] = strings.Fields(words)
	}

	for range 4000 {
		f.words["name"] = append(f.words["name"], f.word())
	}

	return f
}

var syllables = strings.Fields("ba ko ri ten mar sul vex lo dan pir qua zem fol gri hub " +
	"nep tor wil yas cor del fin gam har jol kim lun mos nov ost")

func (f *Facts) word() string {
	var b strings.Builder
	for range 2 + f.rng.IntN(2) {
		b.WriteString(syllables[f.rng.IntN(len(syllables))])
	}
	return b.String()
}

// kinds lists the words of each kind, the common ones first. They are drawn by Zipf's law, as in texts.
var kinds = map[string]string{
	"object":  "cup bottle glass plate box drawer door handle peg socket cable connector tray bin pallet screw gear bearing valve hose lid jar spoon towel panel",
	"action":  "grasping lifting placing inserting pushing pulling rotating pouring opening closing screwing wiping stacking sliding handing docking",
	"surface": "wet dry smooth rough dusty oily cold warm shiny soft hard curved flat narrow slippery",
	"place":   "kitchen corridor dock workbench shelf lab warehouse lift charger table conveyor cell gate ramp storage",
	"fault":   "slip collision timeout stall overshoot drift jam overload dropout misalignment vibration backlash",
	"robot":   "arm-1 arm-2 arm-3 amr-1 amr-2 humanoid-1 drone-1 gantry-1",
}

func zipf(rng *rand.Rand, words []string) string {
	// This is the inverse of a continuous 1/x density on [1, n+1).
	n := float64(len(words))
	return words[min(int(math.Pow(n+1, rng.Float64()))-1, len(words)-1)]
}

// templateLines holds a sentence that robots learn in each line. Braces hold a kind of word, or the
// smallest and the largest number and their format.
//
//go:embed facts.txt
var templateLines string

var templates = strings.Split(strings.TrimSpace(templateLines), "\n")

var blanks = regexp.MustCompile(`{[^}]*}`)

// sentence fills the blanks of a template from left to right.
func (f *Facts) sentence(template string) string {
	return blanks.ReplaceAllStringFunc(template, func(blank string) string {
		words := strings.Fields(strings.Trim(blank, "{}"))
		if len(words) < 3 {
			return f.draw(words[0])
		}

		lo, _ := strconv.ParseFloat(words[0], 64)
		hi, _ := strconv.ParseFloat(words[1], 64)
		format := words[2]
		if strings.HasSuffix(format, "d") {
			return fmt.Sprintf(format, int(lo)+f.rng.IntN(int(hi-lo)+1))
		}

		return fmt.Sprintf(format, f.num(lo, hi))
	})
}

// draw returns a word of a kind.
func (f *Facts) draw(kind string) string { return zipf(f.rng, f.words[kind]) }

func (f *Facts) num(lo, hi float64) float64 { return lo + f.rng.Float64()*(hi-lo) }

// Fact makes the i-th fact. One in a thousand is of the rare trial, which the
// filtered questions ask for.
func (f *Facts) Fact(i int) robotmem.LearnRequest {
	// The order of the draws below must not change: the same seed then gives other facts.
	trial := "routine"
	if i%1000 == 7 {
		trial = "rare"
	}

	env := "sim"
	if f.rng.IntN(3) == 0 {
		env = "real"
	}

	return robotmem.LearnRequest{
		Insight: f.sentence(templates[f.rng.IntN(len(templates))]),
		Context: robotmem.Object{
			"params":  map[string]any{"grip_force": round(f.num(2, 40)), "speed": round(f.num(0.05, 1)), "attempt": i},
			"spatial": map[string]any{"position": f.point()},
			"robot":   map[string]any{"id": f.words["robot"][f.rng.IntN(len(f.words["robot"]))]},
			"task":    map[string]any{"name": f.draw("action"), "success": f.rng.IntN(4) > 0, "trial": trial},
			"env":     map[string]any{"sim_or_real": env, "site": f.draw("place")},
		},
		Source: "bench",
	}
}

// Near sorts by the distance to a random place.
func (f *Facts) Near() *robotmem.SpatialSort {
	return &robotmem.SpatialSort{
		Field:  "spatial.position",
		Target: []float64{f.num(0, placeSide), f.num(0, placeSide), f.num(0, placeSide/10)},
	}
}

func (f *Facts) point() []any {
	return []any{round(f.num(0, placeSide)), round(f.num(0, placeSide)), round(f.num(0, placeSide/10))}
}

func round(x float64) float64 { return math.Round(x*1000) / 1000 }

// Query is a question of 3 to 6 words, some common and some rare.
func (f *Facts) Query() string {
	kinds := []string{"object", "surface", "name", "action", "place", "fault"}
	f.rng.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })

	var words []string
	for _, kind := range kinds[:3+f.rng.IntN(4)] {
		words = append(words, f.draw(kind))
	}

	return strings.Join(words, " ")
}
