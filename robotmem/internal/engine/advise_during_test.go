package engine

import (
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// An error that was said during a goal is not a second attempt beside the goal.
func TestWhatHappensDuringAGoalIsNoAttempt(t *testing.T) {
	e := openTest(t, Options{})
	learn := func(text, outcome string, event robotmem.Object) {
		t.Helper()
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{
			Insight: text, Outcome: outcome, Context: robotmem.Object{"task": map[string]any{"name": "dock"}, "event": map[string]any(event)},
		}); err != nil {
			t.Fatal(err)
		}
	}
	learn("dock succeeded", robotmem.OutcomeSuccess, robotmem.Object{"rule": "action-goal"})
	learn("dock aborted: the wheel slips", robotmem.OutcomeFailure, robotmem.Object{"rule": "action-goal"})
	learn("controller: the wheel slips", robotmem.OutcomeFailure, robotmem.Object{"rule": "ros2-log", "during": "dock"})
	learn("drive: overcurrent", robotmem.OutcomeFailure, robotmem.Object{"rule": "diagnostics", "during": "dock"})

	learn("passed x=1 y=2 without a failure", robotmem.OutcomeSuccess, robotmem.Object{"rule": "danger-passed"})

	res, err := e.Advise(t.Context(), &robotmem.AdviseRequest{Task: "dock"})
	if err != nil || res.Attempts != 2 || res.Overall == nil || res.Overall.Rate != 0.5 {
		t.Errorf("%+v, %v", res, err)
	}
}
