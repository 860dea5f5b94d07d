package engine

import (
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// A clock that goes a year forth and back loses nothing but payloads under a budget by age:
// what decayed meanwhile is found again, and what was learnt meanwhile too.
func TestAClockAYearForthAndBack(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	now := time.Date(2026, 11, 2, 6, 0, 0, 0, time.UTC)
	e := openTest(t, Options{Clock: func() time.Time { return now }})
	found := func(query string) int {
		t.Helper()
		res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: query})
		if err != nil {
			t.Fatal(err)
		}
		return res.Total
	}
	if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the charger is at dock 2"}); err != nil {
		t.Fatal(err)
	}
	frame := savePayload(t, e, noise(1, 300_000), nil)
	session, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(year)
	if n := found("charger dock"); n != 0 {
		t.Errorf("%d found a year later, although it has decayed", n)
	}
	if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the ramp is wet in winter", SessionID: session.SessionID}); err != nil {
		t.Fatal(err)
	}
	if n := found("wet ramp"); n != 1 {
		t.Errorf("%d found of what was just learnt", n)
	}
	score := 0.5
	if _, err := e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: session.SessionID, OutcomeScore: &score}); err != nil {
		t.Fatal(err)
	}
	budget := admin.Retention{Budgets: []admin.Budget{{MaxAgeDays: 30}}}
	if res, err := e.maintenance.Retain(t.Context(), budget, true); err != nil || res.Count != 1 {
		t.Errorf("a budget of 30 days would evict %+v, %v; want the frame", res, err)
	}
	now = now.Add(-year)
	for query, want := range map[string]int{"charger dock": 1, "wet ramp": 1} {
		if n := found(query); n != want {
			t.Errorf("back again: %d found for %q, want %d", n, query, want)
		}
	}
	if res, err := e.maintenance.Retain(t.Context(), budget, true); err != nil || res.Count != 0 {
		t.Errorf("back again, a budget of 30 days would evict %+v, %v", res, err)
	}
	if _, err := e.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: frame.MemoryID}); err != nil {
		t.Error(err)
	}
	if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: 3, NewContent: "the ramp is wet in winter and spring"}); err != nil {
		t.Error(err)
	}
	h, err := e.History(t.Context(), &robotmem.MemoryRequest{MemoryID: 3})
	if err != nil || len(h.Versions) != 2 || h.Versions[1].Content != "the ramp is wet in winter and spring" {
		t.Errorf("history %+v, %v", h, err)
	}
	if d, err := e.Doctor(t.Context(), &admin.DoctorRequest{Deep: true}); err != nil || !d.Healthy {
		t.Errorf("doctor %+v, %v", d, err)
	}
}
