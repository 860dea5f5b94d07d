package engine_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// tries is a memory of attempts, one an hour.
type tries struct {
	*local.Node
	t testing.TB
	n int
}

var firstTry = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

func newTries(t testing.TB) *tries {
	t.Helper()
	m, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "m.db"), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return &tries{Node: m, t: t}
}

// add learns so many attempts with the same context.
func (m *tries) add(times int, success bool, context robotmem.Object) {
	m.t.Helper()
	for range times {
		m.n++
		at := firstTry.Add(time.Duration(m.n) * time.Hour)
		c := robotmem.Object{"task": map[string]any{"name": "grasp", "success": success}}
		for key, v := range context {
			c[key] = v
		}
		if _, err := m.Learn(m.t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("grasp number %d", m.n), ObservedAt: &at, Context: c}); err != nil {
			m.t.Fatal(err)
		}
	}
}

func (m *tries) advise(r robotmem.AdviseRequest) *robotmem.AdviseResponse {
	m.t.Helper()
	res, err := m.Advise(m.t.Context(), &r)
	if err != nil {
		m.t.Fatal(err)
	}
	return res
}

func withForce(force any) robotmem.Object {
	return robotmem.Object{"params": map[string]any{"grip_force": force}}
}

// 9 N held 12 times and then failed; 12 N failed first and has held since.
func TestAdviseForgets(t *testing.T) {
	t.Parallel()
	m := newTries(t)
	m.add(12, true, withForce("9 N"))
	m.add(4, false, withForce("12 N"))
	m.add(6, false, withForce("9 N"))
	m.add(4, true, withForce("12 N"))
	res := m.advise(robotmem.AdviseRequest{Query: "grasp"})
	t.Log(show(res))
	g := res.Suggestion
	if g.Parameters["params.grip_force"] != "12 N" || res.Evidence != "weak" || !strings.HasSuffix(g.Text, "worked 4 of 8, the last 4 in a row, last failure 21 Nov") {
		t.Errorf("got %s, evidence %s", g.Text, res.Evidence)
	}
	if !strings.Contains(strings.Join(res.Notes, "; "), "recent attempts weigh more: half-life ") {
		t.Errorf("notes %q", res.Notes)
	}
	for i, want := range []float64{18, 8} {
		if v := res.Parameters[0].Values[i]; v.Attempts != want || *v.Successes != []float64{12, 4}[i] {
			t.Errorf("counts of %v: %+v", v.Value, v.Estimate)
		}
	}
	if best := res.Parameters[0].Best; best.Value != 12.0 {
		t.Errorf("best %+v", best)
	}
	if c := res.Combination; c.Parameters["params.grip_force"] != "12 N" || c.Attempts != 8 {
		t.Errorf("best combination %+v", c)
	}

	// A question about the time before that is answered as it would have been then.
	noon := firstTry.Add(12*time.Hour + time.Minute)
	before, after := m.advise(robotmem.AdviseRequest{Before: &noon}), m.advise(robotmem.AdviseRequest{After: &noon})
	if before.Attempts != 12 || before.Suggestion.Parameters["params.grip_force"] != "9 N" || after.Attempts != 14 || after.Suggestion.Parameters["params.grip_force"] != "12 N" {
		t.Errorf("before: %s\nafter: %s", show(before), show(after))
	}
}

func TestAdviseGivenStates(t *testing.T) {
	t.Parallel()
	m := newTries(t)
	for i := range 90 { // the grip must be firmer where the object is heavier
		mass, force := 100+10*(i*37%90), []int{9, 12, 15}[i%3]
		m.add(1, force == 9+3*(i*37%90/30), robotmem.Object{
			"params": map[string]any{"grip_force": fmt.Sprintf("%d N", force), "retry": true},
			"object": map[string]any{"mass": fmt.Sprintf("%d g", mass), "kind": []string{"box", "bag"}[i/2%2]}, "tool": map[string]any{"edges": i % 7}})
	}
	for _, c := range []struct {
		name  string
		given robotmem.Object
		want  any // nil for no suggestion
		note  string
	}{
		{"light", robotmem.Object{"object.mass": "0.2 kg"}, "9 N", "attempts in other states were left out"},
		{"medium", robotmem.Object{"object": map[string]any{"mass": map[string]any{"value": 540, "unit": "g"}}}, "12 N", "attempts in other states were left out"},
		{"heavy", robotmem.Object{"object.mass": 900}, "15 N", "given: a number without a unit at object.mass is taken in g, as most quantities there"},
		{"heavy bag", robotmem.Object{"object.mass": "900 g", "object.kind": "bag"}, "15 N", "attempts in other states were left out"},
		{"no such object", robotmem.Object{"object.kind": "ball"}, nil, "given: no attempt is near object.kind ball; they have "},
		{"much heavier", robotmem.Object{"object.mass": "5 kg"}, nil, "given: no attempt is near object.mass 5000 g; they have 100 to 990 g"},
		{"no such path", robotmem.Object{"object.colour": "red"}, "12 N", "given: no attempt has a number, text or truth value at object.colour; the advice does not depend on it"},
		{"another spelling", robotmem.Object{"Object.Mass": "0.2 kg"}, "9 N", "given: Object.Mass is stored as object.mass"},
		{"of no effect", robotmem.Object{"object.mass": "0.2 kg", "retry": true}, "9 N", "attempts in other states were left out"},
	} {
		res := m.advise(robotmem.AdviseRequest{Query: "grasp", Given: c.given})
		notes := strings.Join(res.Notes, "; ")
		var got any
		if res.Suggestion != nil {
			got = res.Suggestion.Parameters["params.grip_force"]
		}
		if got != c.want && c.name != "no such path" || !strings.Contains(notes, c.note) {
			t.Errorf("%s: suggests %v, want %v; notes %q", c.name, got, c.want, notes)
		}
		if c.name == "no such path" && res.Evidence == "good" {
			t.Error("the evidence is good without the state that was asked for")
		}
		if _, advised := c.given["retry"]; advised && slices.ContainsFunc(res.Parameters, func(p robotmem.ParameterAdvice) bool { return p.Path == "params.retry" }) {
			t.Errorf("%s: what is given is advised", c.name)
		}
	}

	for name, given := range map[string]robotmem.Object{"needs a number": {"object.mass": []any{1, 2}}, "at most 8": {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1, "h": 1, "i": 1}} {
		_, err := m.Advise(t.Context(), &robotmem.AdviseRequest{Given: given})
		if !errors.Is(err, robotmem.Invalid) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "given") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestAdviseSpelling(t *testing.T) {
	t.Parallel()
	m := newTries(t)
	m.add(5, true, robotmem.Object{"params": map[string]any{"grip_force": 12, "speed": 1}})
	m.add(3, false, robotmem.Object{"params": map[string]any{"grip_force": 9, "speed": 2}})
	m.add(2, true, robotmem.Object{"params": map[string]any{"gripForce": 12}})
	for _, c := range []struct {
		name, want string
		notes      string
	}{
		{"grip_force", "params.grip_force", "parameters: params.grip_force is also spelt params.gripForce, which does not count"},
		{"gripForce", "params.gripForce", "parameters: params.gripForce is also spelt params.grip_force, which does not count"},
		{"grip force", "params.grip_force", "parameters: grip force is stored as params.grip_force"},
		{"params.Grip_Force", "params.grip_force", "parameters: params.Grip_Force is stored as params.grip_force"},
		{"Speed", "params.speed", "parameters: Speed is stored as params.speed"},
	} {
		res := m.advise(robotmem.AdviseRequest{Query: "grasp", Parameters: []string{c.name}})
		if len(res.Parameters) != 1 || res.Parameters[0].Path != c.want || !strings.Contains(strings.Join(res.Notes, "; "), c.notes) {
			t.Errorf("%s: got %s", c.name, show(res))
		}
	}
}

// Parameters and states that only the context of a session states are found as well.
func TestAdviseSpellingInSessions(t *testing.T) {
	t.Parallel()
	m := newTries(t)
	for i := range 12 {
		begun, err := m.StartSession(t.Context(), &robotmem.StartSessionRequest{Context: robotmem.Object{"params": map[string]any{"grip_force": 9 + i%2*3, "height": i % 3}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("grasp %d", i), SessionID: begun.SessionID}); err != nil {
			t.Fatal(err)
		}
		outcome := []string{robotmem.OutcomeFailure, robotmem.OutcomeSuccess}[i%2]
		if _, err := m.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: begun.SessionID, Outcome: outcome}); err != nil {
			t.Fatal(err)
		}
	}
	res := m.advise(robotmem.AdviseRequest{Parameters: []string{"gripForce"}, Given: robotmem.Object{"Height": 1}})
	if len(res.Parameters) != 1 || res.Parameters[0].Path != "params.grip_force" || !slices.Contains(res.Notes, "given: Height is stored as params.height") {
		t.Errorf("got %s", show(res))
	}
}
