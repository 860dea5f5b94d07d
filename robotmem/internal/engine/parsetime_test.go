package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

func TestTimeWordsBecomeBounds(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones on this machine")
	}
	now := time.Date(2026, 3, 11, 15, 30, 0, 0, berlin)
	e := openTest(t, Options{Clock: func() time.Time { return now }, Location: berlin})
	for i, at := range []time.Time{
		now.Add(-time.Minute), now.Add(-90 * time.Minute), now.AddDate(0, 0, -1), now.AddDate(0, 0, -1).Add(-16 * time.Hour), now.AddDate(0, 0, -8),
	} {
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the gripper slipped", Context: robotmem.Object{"i": i}, ObservedAt: &at}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		query, rest string
		want        []int64
	}{
		{"what slipped yesterday", "what slipped", []int64{3}},
		{"slipped before the crash at 14:05", "slipped the crash", []int64{2, 3, 4, 5}},
		{"slipped this shift", "slipped", []int64{1, 2}},
		{"last week", "", []int64{5}},
		{"昨天", "", []int64{3}},
		{"上周 slipped", "slipped", []int64{5}},
	} {
		res, ids := recalled(t, e, &robotmem.RecallRequest{Query: tt.query, ParseTime: new(true), N: 10})
		slices.Sort(ids)
		if !slices.Equal(ids, tt.want) || len(res.Times) == 0 || !strings.Contains(tt.query, res.Times[0].Text) {
			t.Errorf("%q: ids %v, want %v; read as %+v, degraded %v", tt.query, ids, tt.want, res.Times, res.Degraded)
		}
	}
	// With parse_time false a time expression is an ordinary word.
	if res, ids := recalled(t, e, &robotmem.RecallRequest{Query: "what slipped yesterday", ParseTime: new(false), N: 10}); len(ids) != 5 || res.Times != nil {
		t.Errorf("without parse_time: %v, %v", ids, res.Times)
	}
	// The request's own bounds apply too.
	early := now.AddDate(0, 0, -1)
	if _, ids := recalled(t, e, &robotmem.RecallRequest{Query: "slipped last 30 days", ParseTime: new(true), Before: &early, N: 10}); !slices.Equal(ids, []int64{4, 5}) && !slices.Equal(ids, []int64{5, 4}) {
		t.Errorf("with before: %v", ids)
	}
	// Contradictory expressions set no bounds, and a note reports them.
	if res, _ := recalled(t, e, &robotmem.RecallRequest{Query: "slipped today yesterday", ParseTime: new(true)}); len(res.Notes) == 0 || !strings.HasPrefix(res.Notes[0], "parse_time: ") {
		t.Errorf("a contradiction: %+v", res.Notes)
	}
}
