package advise

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// times adds n attempts with the same score and values.
func (b *table) times(n int, score float64, values ...any) {
	for range n {
		b.add(score, values...)
	}
}

// What worked until lately and then failed is not suggested; what has worked since is.
func TestSuggestionForgets(t *testing.T) {
	const held, slipped = 1, 0
	const none = ""
	for _, c := range []struct {
		name  string
		fill  func(b *table)
		want  any
		notes string
	}{
		{"the other value failed in between", func(b *table) {
			b.times(12, held, 9.0)
			b.times(4, slipped, 12.0)
			b.times(6, slipped, 9.0)
			b.times(4, held, 12.0)
		}, 12.0, "recent attempts weigh more: half-life"},
		{"the other value failed first", func(b *table) {
			b.times(4, slipped, 12.0)
			b.times(12, held, 9.0)
			b.times(6, slipped, 9.0)
			b.times(4, held, 12.0)
		}, 12.0, "recent attempts weigh more: half-life"},
		{"taking turns", func(b *table) {
			for i := range 12 {
				b.add(held, 9.0)
				if i%3 == 2 {
					b.add(slipped, 12.0)
				}
			}
			for i := range 6 {
				b.add(slipped, 9.0)
				if i > 1 {
					b.add(held, 12.0)
				}
			}
		}, 12.0, "recent attempts weigh more: half-life"},
		{"texts", func(b *table) {
			b.times(4, slipped, "side")
			b.times(12, held, "top")
			b.times(6, slipped, "top")
			b.times(4, held, "side")
		}, "side", "recent attempts weigh more: half-life"},
		{"another parameter separates", func(b *table) {
			for i := range 52 {
				at, phase := []float64{9, 12}[i%2], i >= 32
				score := 0.0
				if (at == 9) != phase && i%4 < 2 {
					score = held
				}
				b.add(score, at, []any{"slow", "fast"}[i%4/2])
			}
		}, 12.0, "recent attempts weigh more: half-life"},
		{"nothing changed", func(b *table) {
			for i := range 24 {
				b.add(float64(min(1, i%4)), 9.0)
				b.add(float64(i%2), 12.0)
			}
		}, 9.0, none},
		{"too few to tell", func(b *table) {
			b.times(5, held, 9.0)
			b.times(4, slipped, 9.0)
		}, 9.0, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b table
			c.fill(&b)
			res := b.advise(robotmem.AdviseRequest{NMin: 3}, nil)
			notes := strings.Join(res.Notes, "; ")
			if got := res.Suggestion.Parameters["params.p0"]; got != c.want {
				t.Errorf("suggests %v, want %v (%s; %s)", got, c.want, res.Suggestion.Text, notes)
			}
			if !strings.Contains(notes, c.notes) || c.notes == none && notes != none {
				t.Errorf("notes %q, want %q", notes, c.notes)
			}
			attempts := 0.0
			for _, v := range res.Parameters[0].Values {
				attempts += v.Attempts
			}
			if attempts != float64(len(b.attempts)) {
				t.Errorf("%v attempts in the values, want all %d", attempts, len(b.attempts))
			}
			t.Log(res.Suggestion.Text, res.Evidence, notes)
		})
	}
}

// The latest attempts are those that were observed last, whatever their ids.
func TestForgetsInTheOrderOfObservation(t *testing.T) {
	var b table
	b.times(6, 0, 9.0)
	b.times(4, 1, 12.0)
	b.times(12, 1, 9.0)
	b.times(4, 0, 12.0)
	for i := range b.attempts {
		b.attempts[i].Observed = int64((i + 16) % 26) // the first ten are the last
	}
	if g := b.advise(robotmem.AdviseRequest{NMin: 3}, nil).Suggestion; g.Parameters["params.p0"] != 12.0 {
		t.Errorf("got %s", g.Text)
	}
}

// stationary is n attempts at random values whose success rates do not change.
func stationary(n int, seed uint64, values []any, rates []float64) *table {
	r, b := rand.New(rand.NewPCG(seed, 11)), new(table)
	for range n {
		v, score := r.IntN(len(values)), 0.0
		if r.Float64() < rates[v] {
			score = 1
		}
		b.add(score, values[v])
	}
	return b
}

// Where nothing changes, forgetting chooses the best value hardly less often.
func TestForgettingIsHarmlessWhereNothingChanges(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []any
		rates  []float64
	}{
		{"numbers", []any{8.0, 10.0, 12.0, 14.0}, []float64{0.2, 0.5, 0.7, 0.9}},
		{"numbers, the best inside", []any{8.0, 10.0, 12.0, 14.0}, []float64{0.2, 0.7, 0.9, 0.5}},
		{"texts", []any{"a", "b", "c", "d"}, []float64{0.2, 0.5, 0.7, 0.9}},
	} {
		const runs = 300
		forgetful, plain, forgot := 0, 0, 0
		for seed := range uint64(runs) {
			b := stationary(30, seed, c.values, c.rates)
			best := c.values[0]
			for i, v := range c.values {
				if c.rates[i] == 0.9 {
					best = v
				}
			}
			res := b.advise(robotmem.AdviseRequest{NMin: 3}, nil)
			if res.Suggestion.Parameters["params.p0"] == best {
				forgetful++
			}
			if strings.Contains(fmt.Sprint(res.Notes), "half-life") {
				forgot++
			}
			s := scaled(b.attempts, "success")
			if newJoint(b.columns, b.attempts, &s, nil).best().Parameters["params.p0"] == best {
				plain++
			}
		}
		t.Logf("%s: the best value in %d of %d, without forgetting in %d; forgets in %d", c.name, forgetful, runs, plain, forgot)
		if float64(plain-forgetful) > 0.02*runs {
			t.Errorf("%s: the best value in %d of %d, without forgetting in %d", c.name, forgetful, runs, plain)
		}
	}
}

func TestSuggestionSaysHowItWent(t *testing.T) {
	day := func(month, day int) int64 { return int64((30*(month-1) + day - 1)) * int64(halfAge) / 90 } // about
	for _, c := range []struct {
		name     string
		fill     func(b *table)
		want     string
		evidence string
	}{
		{"never failed", func(b *table) { b.times(6, 1, 9.0); b.times(2, 0, 30.0) }, "nearby; worked 6 of 6", "good"},
		{"failed once", func(b *table) {
			b.times(5, 1, 9.0)
			b.add(0, 9.0)
			b.attempts[5].Observed = day(1, 20)
			b.times(3, 1, 9.0)
			for i := range 3 {
				b.attempts[6+i].Observed = day(1, 21)
			}
		}, "nearby; worked 8 of 9, the last 3 in a row, last failure 20 Jan", "good"},
		{"failed in another year", func(b *table) {
			b.add(0, 9.0)
			b.times(8, 1, 9.0)
			for i := range 8 {
				b.attempts[1+i].Observed = day(15, 21)
			}
		}, "nearby; worked 8 of 9, the last 8 in a row, last failure 1 Jan 1970", "good"},
		{"failed lately", func(b *table) { b.times(20, 1, 9.0); b.times(3, 0, 9.0) },
			"nearby; the last 3 attempts with it failed; worked 20 of 23, last failure 1 Jan", "weak"},
		{"failed lately nearby", func(b *table) {
			for i := range 20 {
				b.add(1, 9+float64(i%5)/10)
			}
			b.times(9, 0, 30.0)
			b.times(3, 0, 9.201)
		}, "the last 3 attempts with it failed", "weak"},
		{"failed lately elsewhere", func(b *table) { b.times(12, 1, 9.0); b.times(6, 0, 30.0) }, "nearby; worked 12 of 12", "good"},
		{"failed twice", func(b *table) { b.times(20, 1, 9.0); b.times(2, 0, 9.0) }, "nearby; worked 20 of 22, last failure 1 Jan", "good"},
	} {
		var b table
		c.fill(&b)
		res := b.advise(robotmem.AdviseRequest{NMin: 3}, nil)
		if !strings.Contains(res.Suggestion.Text, c.want) || res.Evidence != c.evidence {
			t.Errorf("%s: got %q with %s evidence, want %q with %s", c.name, res.Suggestion.Text, res.Evidence, c.want, c.evidence)
		}
	}
}

// Each parameter alone looks best at 12 N and fast, which never worked together.
func TestBestCombination(t *testing.T) {
	var b table
	b.times(6, 1, 12.0, "slow")
	b.times(3, 0, 12.0, "fast")
	b.times(5, 1, 9.0, "fast")
	b.times(4, 0, 9.0, "slow")
	b.add(1, 14.0, "slow")
	b.columns[0].Unit, b.columns[0].Quoted = "N", true
	got := b.advise(robotmem.AdviseRequest{NMin: 3}, nil).Combination
	if got == nil || got.Parameters["params.p0"] != "12 N" || got.Parameters["params.p1"] != "slow" || got.Attempts != 6 || *got.Successes != 6 || len(got.MemoryIDs) != 3 || got.MemoryIDs[0] != 6 {
		t.Errorf("got %+v", got)
	}

	var once, failed table
	for i := range 8 {
		once.add(1, float64(i))
		failed.add(0, 9.0)
	}
	for name, b := range map[string]*table{"never twice": &once, "only failed": &failed} {
		if got := b.advise(robotmem.AdviseRequest{NMin: 3}, nil).Combination; got != nil {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// A worn tool needs more force; the question is about one tool.
func TestGivenStatesCondition(t *testing.T) {
	worn := func() *table {
		b := new(table)
		for i := range 120 {
			force, edges := []float64{9, 12, 15}[i%3], float64(i*37%120)*4 // 0 to 476
			need := 9 + 3*float64(int(edges)/160)
			b.add(map[bool]float64{true: 1}[force == need], force, edges, []any{"steel", "wood"}[i%2])
		}
		b.columns[1].Path, b.columns[2].Path, b.columns[0].Unit = "tool.edges", "surface", "N"
		return b
	}
	for _, c := range []struct {
		name  string
		given map[int]any
		want  any // nil for no suggestion
		note  string
	}{
		{"new tool", map[int]any{1: 60.0}, 9.0, "attempts in other states were left out"},
		{"used tool", map[int]any{1: 240.0}, 12.0, "attempts in other states were left out"},
		{"old tool", map[int]any{1: 450.0}, 15.0, "attempts in other states were left out"},
		{"old tool on wood", map[int]any{1: 450.0, 2: "wood"}, 15.0, "attempts in other states were left out"},
		{"unknown surface", map[int]any{2: "ice"}, nil, "given: no attempt is near surface ice; they have steel, wood"},
		{"far away", map[int]any{1: 5000.0}, nil, "given: no attempt is near tool.edges 5000; they have 0 to 476"},
	} {
		b := worn()
		for k := range 3 {
			if v, stated := c.given[k]; stated {
				b.states = append(b.states, State{Column: k, Value: v})
			}
		}
		r := robotmem.AdviseRequest{NMin: 3, Goal: "success"}
		res := Advise(b.attempts, b.columns, 1, nil, b.states, &r, rand.New(rand.NewPCG(1, 1)))
		var got any
		if res.Suggestion != nil {
			got = res.Suggestion.Parameters["params.p0"]
		}
		notes := strings.Join(res.Notes, "; ")
		if got != c.want || !strings.Contains(notes, c.note) || c.want == nil && res.Evidence != "none" {
			t.Errorf("%s: suggests %v with %s evidence, notes %q; want %v and %q", c.name, got, res.Evidence, notes, c.want, c.note)
		}
	}
}
