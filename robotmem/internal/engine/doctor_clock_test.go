package engine

import (
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

func TestDoctorNamesOddClocks(t *testing.T) {
	now := time.Date(2026, 5, 14, 9, 0, 0, 0, time.UTC)
	e := openTest(t, Options{Clock: func() time.Time { return now }})
	codes := func() (all []string) {
		t.Helper()
		d, err := e.Doctor(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range d.Checks {
			if c.Name == "clock" {
				all = append(all, c.Code)
			}
		}
		return all
	}
	learn := func(text string, at time.Time) {
		t.Helper()
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: text, ObservedAt: &at}); err != nil {
			t.Fatal(err)
		}
	}

	learn("the door jams", now.Add(-24*time.Hour))
	learn("the door is oiled", now.Add(30*time.Minute))
	if got := codes(); got != nil {
		t.Errorf("right clocks give %q", got)
	}

	learn("the lift stops", time.Unix(12, 500).UTC())
	learn("the lift runs", now.Add(26*time.Hour))
	now = now.Add(-3 * time.Hour)
	if got := codes(); len(got) != 3 || got[0] != "clock_set_back" || got[1] != "sources_ahead" || got[2] != "clock_not_set" {
		t.Errorf("odd clocks give %q", got)
	}
}
