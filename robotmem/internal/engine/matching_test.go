package engine

import (
	"fmt"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// "How often" is answered by a count of all that match, not of what fits the answer.
func TestHowOftenCountsAllThatMatch(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for i := range 9 {
		learnWith(t, e, fmt.Sprintf("GPS fix lost at WT-03 for %d s", i+2), robotmem.Object{"i": i, "task": map[string]any{"success": false}})
	}
	learnWith(t, e, "GPS antenna of the base replaced", nil)
	learnWith(t, e, "the van is low on fuel", nil)

	res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "how many times was the GPS fix lost at WT-03"})
	if err != nil || res.Total != 5 || res.Matching != 9 || res.Counts["failure"] != 9 {
		t.Errorf("got %d of %d, %v (%v), want 5 of 9 failures", res.Total, res.Matching, res.Counts, err)
	}
	res, err = e.Recall(t.Context(), &robotmem.RecallRequest{Collection: "default"})
	if err != nil || res.Matching != 11 || res.Counts["unknown"] != 2 {
		t.Errorf("without a query: %d, %v (%v), want 11 with 2 unknown", res.Matching, res.Counts, err)
	}
	if res, err = e.Recall(t.Context(), &robotmem.RecallRequest{Query: "GPS fix"}); err != nil || res.Matching != 0 {
		t.Errorf("another question counts %d (%v)", res.Matching, err)
	}
}

// Two incidents at two times of day do not contradict each other.
func TestTwoIncidentsAreNoConflict(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	learnWith(t, e, "CV-4 jammed at 9:15", nil)
	res, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "CV-4 jammed at 11:20"})
	if err != nil || res.Status != "created" || len(res.Conflicts) > 0 {
		t.Errorf("got %+v (%v), want it created without a conflict", res, err)
	}
	learnWith(t, e, "the camera offset is 12 mm", nil)
	res, err = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the camera offset is 15 mm"})
	if err != nil || len(res.Conflicts) != 1 {
		t.Errorf("got %+v (%v), want the other value named", res, err)
	}
}
