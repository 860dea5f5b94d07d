package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Of many facts with the same words those observed last come first, though ties are in the order of
// the ids and more of them than a list has.
func TestFactsOfTheSameWordsByTime(t *testing.T) {
	m := openTest(t, Options{})
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 150 {
		req := robotmem.LearnRequest{Insight: "pushed the puck to the goal", Context: robotmem.Object{"params": map[string]any{"force": i}}, ObservedAt: new(start.Add(time.Duration(i) * time.Hour))}
		if _, err := m.Learn(t.Context(), &req); err != nil {
			t.Fatal(err)
		}
	}
	res, err := m.Recall(t.Context(), &robotmem.RecallRequest{Query: "push the puck", N: 3})
	if err != nil {
		t.Fatal(err)
	}
	var got []any
	for _, a := range res.Memories {
		got = append(got, a.Context["params"].(map[string]any)["force"])
	}
	if fmt.Sprint(got) != "[149 148 147]" {
		t.Errorf("got %v, want 149, 148, 147", got)
	}
}
