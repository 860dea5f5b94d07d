package robotmemtest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

const goal = "the arm picks the wet glass"

// Over MCP an advice stands in a fence, so the cases look for its words.

// tryOnce reports a try and how it went.
func tryOnce(t *testing.T, s robotmem.Service, changed, outcome string) *robotmem.AttemptResponse {
	t.Helper()
	return do(t, s.Attempt, &robotmem.AttemptRequest{Goal: goal, Changed: changed, Outcome: outcome})
}

var attemptCases = []testCase{
	{"TriesOfAGoal", func(t *testing.T, s robotmem.Service) {
		began := do(t, s.Attempt, &robotmem.AttemptRequest{
			Goal: goal, Criteria: []string{"ten picks without a slip"}, Context: object{"robot": object{"id": "arm7"}},
		})
		equal(t, "status", began.Status, "started")
		equal(t, "tries", len(began.Tries), 0)

		first := do(t, s.Attempt, &robotmem.AttemptRequest{
			Goal: "The arm  picks the wet glass", Changed: "lifting with grip_force 9 N", Result: "it slipped at 5 cm",
			Outcome: "failure", Context: object{"params": object{"grip_force": "9 N"}},
		})
		equal(t, "status", first.Status, "continued")
		equal(t, "episode", first.SessionID, began.SessionID)
		equal(t, "criteria", first.Criteria, began.Criteria)
		equal(t, "try", first.Number, 1)

		// A plan is not a try.
		asked := do(t, s.Attempt, &robotmem.AttemptRequest{Goal: goal, Changed: "lifting with grip_force 0.009 kN"})
		if asked.Number != 0 || len(asked.Tries) != 1 || !strings.Contains(asked.Advice, "try 1 already: failure") {
			t.Errorf("got %+v", asked)
		}
		asked = do(t, s.Attempt, &robotmem.AttemptRequest{Goal: goal, Changed: "grip_force 12.5 N"})
		if !strings.Contains(asked.Advice, "Not among the tries so far.") {
			t.Errorf("got %q", asked.Advice)
		}

		asked = do(t, s.Attempt, &robotmem.AttemptRequest{Goal: goal, Changed: "lifted with the grip_force 9 N"})
		if !strings.Contains(asked.Advice, "Much like try 1 (lifting with grip_force 9 N): failure") {
			t.Errorf("got %q", asked.Advice)
		}

		// The try is a fact with the caller's parameters and an outcome.
		m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: first.MemoryID})
		if m.Outcome != robotmem.OutcomeFailure || m.SessionID != began.SessionID ||
			!strings.Contains(m.Content, "grip_force 9 N") || !strings.Contains(m.Content, "it slipped at 5 cm") {
			t.Errorf("got %+v", m)
		}
		if v, _ := m.Context.At("params.grip_force"); v != "9 N" {
			t.Errorf("got %v", m.Context)
		}

		won := tryOnce(t, s, "grip_force 12.5 N", "success")
		equal(t, "status", won.Status, "ended")
		equal(t, "verdict", won.Verdict, "success")

		shown := do(t, s.Session, &robotmem.SessionRequest{SessionID: began.SessionID})
		if shown.Status != "ended" || shown.Attempt == nil || shown.Attempt.Verdict != "success" ||
			len(shown.Attempt.Tries) != 2 || shown.Attempt.Tries[0].Result != "it slipped at 5 cm" {
			t.Errorf("got %+v", shown.Attempt)
		}

		// The goal begins anew, and the new attempt is told what the old one has found.
		again := do(t, s.Attempt, &robotmem.AttemptRequest{Goal: goal})
		if again.Status != "started" || again.SessionID == began.SessionID || again.Briefing == nil ||
			!strings.Contains(again.Briefing.Text, "12.5 N") {
			t.Errorf("got %+v", again)
		}
	}},
	{"TriesWithoutProgress", func(t *testing.T, s robotmem.Service) {
		for i, progress := range []float64{0.2, 0.5, 0.5, 0.3} {
			res := do(t, s.Attempt, &robotmem.AttemptRequest{
				Goal: goal, Changed: fmt.Sprintf("approach angle %d degrees", 10*i), Outcome: "failure",
				Progress: &progress,
			})
			equal(t, "without progress", res.WithoutProgress, max(0, i-1))
			equal(t, "advice", res.Advice, "")
		}

		res := tryOnce(t, s, "approach angle 0 degrees", "failure")
		equal(t, "without progress", res.WithoutProgress, 3)

		for _, said := range []string{"3 tries without progress", "approach angle 10 degrees (failure)"} {
			if !strings.Contains(res.Advice, said) {
				t.Errorf("got %q, want %q", res.Advice, said)
			}
		}
		if got := strings.Join(res.Interpreted, " "); !strings.Contains(got, "the same as try 1") {
			t.Errorf("got %q", got)
		}

		// A session with this goal goes on with the attempt, and its briefing says what was tried.
		session := do(t, s.StartSession, &robotmem.StartSessionRequest{Goal: goal})
		equal(t, "status", session.Status, "continued")
		equal(t, "session", session.SessionID, res.SessionID)
		if !strings.Contains(session.Briefing.Text, "approach angle 30 degrees") {
			t.Errorf("got %q", session.Briefing.Text)
		}

		// Another session is told that there is an open attempt.
		other := do(t, s.StartSession, &robotmem.StartSessionRequest{Context: object{"task": object{"name": "dock"}}})
		if !strings.Contains(other.Briefing.Text, goal+": 5 tries") {
			t.Errorf("got %q", other.Briefing.Text)
		}

		ended := do(t, s.Attempt, &robotmem.AttemptRequest{Goal: goal, Verdict: "failure"})
		equal(t, "status", ended.Status, "ended")
		equal(t, "verdict", ended.Verdict, "failure")
		equal(t, "tries", len(ended.Tries), 5)
		if other := do(t, s.StartSession, &robotmem.StartSessionRequest{}); strings.Contains(other.Briefing.Text, "Open attempts") {
			t.Errorf("got %q", other.Briefing.Text)
		}
	}},
	{"TriesAreChecked", func(t *testing.T, s robotmem.Service) {
		both := []string{"go vet ./...", "go test ./..."}
		res := do(t, s.Attempt, &robotmem.AttemptRequest{
			Goal: goal, Criteria: both, Changed: "nil check", Checks: object{"1": 0, "go test ./...": 2},
		})
		equal(t, "outcome", res.Tries[0].Outcome, "partial")
		equal(t, "progress", *res.Tries[0].Progress, 0.5)

		// One of two criteria is not all of them.
		res = do(t, s.Attempt, &robotmem.AttemptRequest{Goal: goal, Changed: "none", Checks: object{"2": true}})
		equal(t, "outcome", res.Tries[1].Outcome, "partial")
		equal(t, "status", res.Status, "continued")

		failed, passed := 1, 0
		res = do(t, s.Attempt, &robotmem.AttemptRequest{Goal: goal, Changed: "a lock", ExitStatus: &failed})
		equal(t, "outcome", res.Tries[2].Outcome, "failure")
		res = do(t, s.Attempt, &robotmem.AttemptRequest{Goal: goal, Changed: "a channel", ExitStatus: &passed})
		equal(t, "outcome", res.Tries[3].Outcome, "success")
		equal(t, "status", res.Status, "ended")

		for _, c := range []struct {
			ask         *robotmem.AttemptRequest
			field, said string
		}{
			{&robotmem.AttemptRequest{}, "goal", ""},
			{&robotmem.AttemptRequest{Goal: goal, Result: "it slipped"}, "changed", "what this try changes"},
			{&robotmem.AttemptRequest{Goal: goal, Changed: "x", Checks: object{"7": 0}}, "checks", "no criterion"},
			{&robotmem.AttemptRequest{Goal: goal, Changed: "x", Checks: object{"1": "ok"}}, "checks.1", "exit status"},
			{&robotmem.AttemptRequest{Goal: goal, Changed: "x", Checks: object{"1": 0}, ExitStatus: &failed}, "exit_status", ""},
		} {
			refused(t, s.Attempt, c.ask, robotmem.Invalid, c.field, c.said)
		}
	}},
	{"OutcomesOfTriesAreStated", func(t *testing.T, s robotmem.Service) {
		// The words of a result are no outcome: most of these look like a success.
		for i, result := range []string{
			"success was not reached", "almost success", "3 of 10 picks succeeded", "held for 2 s then fell", "0 errors, 40 passed",
		} {
			res := do(t, s.Attempt, &robotmem.AttemptRequest{Goal: goal, Changed: fmt.Sprintf("plan %d", i), Result: result})
			if res.Status == "ended" || res.Tries[i].Outcome != "unknown" || !strings.Contains(strings.Join(res.Interpreted, " "), "outcome: not stated") {
				t.Errorf("%q: got %+v", result, res)
			}
		}

		// A word that is no content is a change all the same.
		tryOnce(t, s, "the", "failure")
		res := do(t, s.Attempt, &robotmem.AttemptRequest{Goal: goal, Changed: "The"})
		if !strings.Contains(res.Advice, "This was try 6 already: failure") {
			t.Errorf("got %q", res.Advice)
		}

		for _, pair := range [][2]string{{"use A instead of B", "use B instead of A"}, {"limit > 5", "limit < 5"}} {
			tryOnce(t, s, pair[0], "failure")
			if res := do(t, s.Attempt, &robotmem.AttemptRequest{Goal: goal, Changed: pair[1]}); !strings.Contains(res.Advice, "Not among") {
				t.Errorf("%s after %s: got %q", pair[1], pair[0], res.Advice)
			}
		}

		// The context of learn says it too, and a change with a verdict is the last try.
		other := goal + " twice"
		res = do(t, s.Attempt, &robotmem.AttemptRequest{Goal: other, Changed: "10 N", Context: object{"task": object{"success": false}}})
		equal(t, "outcome", res.Tries[0].Outcome, "failure")
		res = do(t, s.Attempt, &robotmem.AttemptRequest{Goal: other, Changed: "11 N", Verdict: "failure"})
		equal(t, "status", res.Status, "ended")
		equal(t, "tries", len(res.Tries), 2)

		// A question begins nothing, and knows the attempts that have ended.
		res = do(t, s.Attempt, &robotmem.AttemptRequest{Goal: other, Changed: "10 N"})
		equal(t, "status", res.Status, "none")
		equal(t, "session", res.SessionID, "")
		if !strings.Contains(res.Advice, "An earlier attempt at this goal has tried this on ") || !strings.Contains(res.Advice, ": failure.") {
			t.Errorf("got %q", res.Advice)
		}
		if briefing := do(t, s.StartSession, &robotmem.StartSessionRequest{}).Briefing.Text; strings.Contains(briefing, other+": ") || strings.Contains(briefing, "Current values") {
			t.Errorf("the question is an open attempt:\n%s", briefing)
		}

		passed := 0
		for _, c := range []*robotmem.AttemptRequest{
			{Goal: goal, Changed: "x", ExitStatus: &passed, Outcome: "failure"},
			{Goal: goal, Changed: "x", Verdict: "success", Outcome: "failure"},
			{Goal: "   ", Changed: "x"},
		} {
			if _, err := s.Attempt(t.Context(), c); !errors.Is(err, robotmem.Invalid) {
				t.Errorf("%+v: got %v", c, err)
			}
		}
	}},
	{"RepeatsOfATryLongAgo", func(t *testing.T, s robotmem.Service) {
		// An answer has the last ten tries; a repeat of an earlier one is named too.
		for i := range 12 {
			tryOnce(t, s, fmt.Sprintf("plan %d", i), "failure")
		}
		if got := strings.Join(tryOnce(t, s, "plan 0", "failure").Interpreted, " "); !strings.Contains(got, "the same as try 1") {
			t.Errorf("got %q", got)
		}
	}},
	{"AttemptsOfTwoRobots", func(t *testing.T, s robotmem.Service) {
		of := func(robot string) *robotmem.AttemptResponse {
			return do(t, s.Attempt, &robotmem.AttemptRequest{
				Goal: goal, Changed: "grip_force 9 N", Outcome: "failure", Context: object{"robot": object{"id": robot}},
			})
		}
		if a, b := of("arm7"), of("arm8"); a.SessionID == b.SessionID || b.Number != 1 {
			t.Errorf("got %+v and %+v", a, b)
		}
		if again := of("ARM7"); again.Number != 2 || again.Robot != "arm7" {
			t.Errorf("got %+v", again)
		}

		// Without a robot it is not known whose try it is.
		_, err := s.Attempt(t.Context(), &robotmem.AttemptRequest{Goal: goal, Changed: "10 N", Outcome: "failure"})
		if !errors.Is(err, robotmem.Conflict) || !strings.Contains(err.Error(), "arm7 and arm8") {
			t.Errorf("got %v", err)
		}
	}},
}
