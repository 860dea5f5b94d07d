package consolidate

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// say builds a statement from words; name=value:unit makes a quantity, and
// "not" negates.
func say(s string) Statement {
	st := Statement{Sequence: strings.Fields(s)}
	for _, w := range st.Sequence {
		switch name, value, isQuantity := strings.Cut(w, "="); {
		case isQuantity:
			value, unit, _ := strings.Cut(value, ":")
			st.Quantities = append(st.Quantities, Quantity{name, value, unit})
			st.Terms = append(st.Terms, value)
			if name != "" {
				st.Terms, st.Words = append(st.Terms, name), append(st.Words, name)
			}
		case w == "not":
			st.Negated = !st.Negated
			st.Terms = append(st.Terms, w)
		default:
			st.Terms, st.Words = append(st.Terms, w), append(st.Words, w)
		}
	}
	st.Core = slices.DeleteFunc(slices.Clone(st.Sequence), func(w string) bool { return w == "again" })
	slices.Sort(st.Terms)
	slices.Sort(st.Words)
	st.Terms, st.Words = slices.Compact(st.Terms), slices.Compact(st.Words)
	return st
}

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		name, a, b string
		want       Verdict
	}{
		{"same words", "gripper holds wet glass", "gripper holds wet glass", Duplicate},
		{"another order", "wet glass gripper holds", "gripper holds wet glass", Different},
		{"one word more", "gripper holds wet glass on table slowly", "gripper holds wet glass on table", Different},
		{"another word", "a b c d e f g h i", "a b c d e f g h j", Different},
		{"no word", "", "", Different},
		{"a number differs", "grip_force=12.5:N holds wet glass", "grip_force=12:N holds wet glass", Contradicts},
		{"a unit differs", "grip_force=12:N holds wet glass", "grip_force=12:kN holds wet glass", Different},
		{"an unnamed number differs", "trial =12 lifted cup up", "trial =13 lifted cup up", Different},
		{"one unnamed quantity differs", "never exceed =20:N wet glass", "never exceed =30:N wet glass", Contradicts},
		{"an unnamed quantity about something else", "never exceed =20:N wet glass", "never exceed =30:N dry steel", Different},
		{"one number more", "speed=1 wheel slips here", "speed=1 wheel slips here =3", Different},
		{"numbers in another order", "x=1 y=2 moves arm left", "y=2 x=1 moves arm left", Different},
		{"negated", "gripper can hold wet glass", "gripper can not hold wet glass", Contradicts},
		{"negated twice", "not gripper holds glass not", "gripper holds glass", Different},
		{"negated about something else", "gripper holds wet glass", "gripper not holds dry paper", Different},
		{"other subject, same parameter", "grip_force=12:N wet glass table", "grip_force=10:N steel bolt conveyor", Different},
		{"other parameter", "speed=12 wet glass holds", "accel=14 wet glass holds", Different},
		{"nothing but the parameter", "max_speed=1", "max_speed=2", Contradicts},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, sim := Compare(say(tt.a), say(tt.b)); got != tt.want {
				t.Errorf("got %v (%.2f), want %v", got, sim, tt.want)
			}
		})
	}
}

func TestRepeats(t *testing.T) {
	for _, tt := range []struct {
		name, a, b string
		want       bool
	}{
		{"the same", "gripper holds glass", "gripper holds glass", true},
		{"seen again", "gripper holds glass again", "gripper holds glass", true},
		{"a narrower statement", "gripper holds wet glass", "gripper holds glass", false},
		{"a longer statement", "hold glass", "hold glass lid", false},
		{"another order", "glass holds gripper", "gripper holds glass", false},
		{"a negation more", "gripper not holds glass", "gripper holds glass", false},
		{"nothing said", "", "", false},
	} {
		if got := Repeats(say(tt.a), say(tt.b)); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestSketchMissesNothingNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		return string(rune('a'+rng.IntN(26))) + string(rune('a'+rng.IntN(26))) + string(rune('a'+rng.IntN(26)))
	}
	near, missed, far, passed := 0, 0, 0, 0
	for range 20_000 {
		n := 8 + rng.IntN(16)
		a := make([]string, n)
		for i := range a {
			a[i] = word()
		}
		b := slices.Clone(a)
		for range rng.IntN(4 * n) {
			b[rng.IntN(n)] = word()
		}
		slices.Sort(a)
		slices.Sort(b)
		a, b = slices.Compact(a), slices.Compact(b)
		may := MayMatch(NewSketch(a), NewSketch(b), len(a), len(b))
		switch j := Jaccard(a, b); {
		case j >= SimilarJaccard:
			near++
			if !may {
				missed++
			}
		case j < 0.2:
			far++
			if may {
				passed++
			}
		}
	}
	if near < 1000 || far < 1000 {
		t.Fatalf("only %d near and %d far pairs: the test tests nothing", near, far)
	}
	if missed > near/1000 {
		t.Errorf("%d of %d near pairs ruled out", missed, near)
	}
	if passed > far/100 {
		t.Errorf("%d of %d far pairs not ruled out", passed, far)
	}
}

func TestPlan(t *testing.T) {
	t0 := time.Unix(1_700_000_000, 0)
	cand := func(id int64, text string, change func(*Candidate)) Candidate {
		c := Candidate{ID: id, Category: "code", Confidence: 0.85, CreatedAt: t0.Add(time.Duration(id) * time.Second), Statement: say(text)}
		if change != nil {
			change(&c)
		}
		return c
	}
	three := func(change func(int64, *Candidate)) []Candidate {
		var cs []Candidate
		for id := int64(1); id <= 3; id++ {
			cs = append(cs, cand(id, "gripper holds wet glass", func(c *Candidate) {
				if change != nil {
					change(id, c)
				}
			}))
		}
		return cs
	}
	for _, tt := range []struct {
		name string
		in   []Candidate
		want []Group
	}{
		{"narrower and longer ones stay", []Candidate{cand(1, "gripper holds wet glass", nil), cand(2, "gripper holds glass", nil), cand(3, "holds wet glass", nil)}, nil},
		{"seen again", []Candidate{cand(1, "gripper holds glass", nil), cand(2, "gripper holds glass again", nil), cand(3, "the lid is red", nil)},
			[]Group{{Keep: 2, Supersede: []int64{1}, Similarity: 0.75}}},
		{"the newest represents equals", three(nil), []Group{{Keep: 3, Supersede: []int64{1, 2}, Similarity: 1}}},
		{"the surest represents", three(func(id int64, c *Candidate) {
			if id == 2 {
				c.Confidence = 0.9
			}
		}), []Group{{Keep: 2, Supersede: []int64{1, 3}, Similarity: 1}}},
		{"fewer than three", three(nil)[:2], nil},
		{"other categories", three(func(id int64, c *Candidate) { c.Category = string(rune('a' + id)) }), nil},
		{"four grip forces stay four", []Candidate{
			cand(1, "grip_force=10:N holds glass", nil), cand(2, "grip_force=11:N holds glass", nil),
			cand(3, "grip_force=12:N holds glass", nil), cand(4, "grip_force=13:N holds glass", nil)}, nil},
		{"contexts differ", three(func(id int64, c *Candidate) { c.Context = string(rune('0' + id/3)) }), []Group{{Keep: 2, Supersede: []int64{1}, Similarity: 1}}},
		{"negated stays apart", []Candidate{cand(1, "gripper holds wet glass", nil), cand(2, "gripper holds wet glass", nil), cand(3, "gripper not holds wet glass", nil)},
			[]Group{{Keep: 2, Supersede: []int64{1}, Similarity: 1}}},
		{"protected categories", three(func(_ int64, c *Candidate) { c.Category = "gotcha" }), nil},
		{"pinned", three(func(_ int64, c *Candidate) { c.Pinned = true }), nil},
		{"sure ones", three(func(_ int64, c *Candidate) { c.Confidence = 0.95 }), nil},
		{"perceptions", three(func(_ int64, c *Candidate) { c.Perception = true }), nil},
		{"similar is not the same", []Candidate{cand(1, "a b c d e", nil), cand(2, "b c d e f", nil), cand(3, "e d c b a", nil)}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, _ := Plan(tt.in)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSimilarGroups(t *testing.T) {
	var in []Candidate
	for i, s := range []string{"a b c d e", "b c d e f", "c d e f g", "a b c d", "x y z", "x y w"} { // 1-2, 2-3 and 1-4 are near, 1-3 is not, 5-6 is exactly half
		in = append(in, Candidate{ID: int64(i + 1), Statement: say(s)})
	}
	for i := range 30 {
		in = append(in, Candidate{ID: int64(100 + i), Category: "many", Statement: say("one two three four five " + string(rune('a'+i)))})
	}
	_, got, _ := Plan(in)
	if len(got) != 4 || !slices.Equal(got[0], []int64{1, 4}) || !slices.Equal(got[1], []int64{2, 3}) || len(got[2])+len(got[3]) != 30 || max(len(got[2]), len(got[3])) != maxSimilarMembers {
		t.Errorf("got %v, want 1 and 4, 2 and 3, and two groups of the 30 with at most %d", got, maxSimilarMembers)
	}
}

func TestNow(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name         string
		stored, rate float64
		since        time.Duration
		want         float64
	}{
		{"fresh", 0.9, 0.01, 0, 0.9},
		{"a day", 0.9, 0.01, day, 0.891},
		{"half a day", 0.9, 0.01, day / 2, 0.9 * math.Sqrt(0.99)},
		{"a hundred days", 0.9, 0.01, 100 * day, 0.9 * math.Pow(0.99, 100)},
		{"no rate", 0.9, 0, 1000 * day, 0.9},
		{"the clock ran backwards", 0.9, 0.01, -day, 0.9},
		{"all at once", 0.9, 1, day, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Now(tt.stored, tt.rate, tt.since); math.Abs(got-tt.want) > 1e-12 {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestAtLeastAgreesWithNow(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		stored, rate, floor := rng.Float64(), rng.Float64()*0.2, rng.Float64()
		since := time.Duration(rng.Int64N(int64(400 * 24 * time.Hour)))
		if got, want := AtLeast(stored, rate, since, floor), Now(stored, rate, since) >= floor; got != want {
			t.Fatalf("AtLeast(%v, %v, %v, %v) = %v", stored, rate, since, floor, got)
		}
	}
}

// Sketches are stored: they must stay what they are.
func TestSketchStays(t *testing.T) {
	if got, want := NewSketch([]string{"grip", "forc", "hold", "wet", "glass"}), (Sketch{0xec22d6a90904c16b, 0x23566b83f5fb2ce6}); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		a, b, want := rng.Uint64(), rng.Uint64(), uint64(0)
		if rng.IntN(2) == 0 {
			b = a ^ 1<<rng.IntN(64)
		}
		for i := 0; i < 64; i += 16 {
			want |= uint64(min(uint16(a>>i), uint16(b>>i))) << i
		}
		if got := min4(a, b); got != want {
			t.Fatalf("of %#x and %#x: %#x, want %#x", a, b, got, want)
		}
	}
}
