package engine_test

import (
	"math"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A memory that was pinned for a year has not decayed, and decays from the moment it is
// unpinned.
func TestUnpinnedFadesFromThenOn(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	e := openAt(t, t.TempDir()+"/m.db", local.Options{Clock: func() time.Time { return now }})
	l, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "grip_force=12.5 N holds wet glass"})
	if err != nil {
		t.Fatal(err)
	}
	sure := l.AutoInferred.Confidence
	check := func(when string, want float64) {
		t.Helper()
		m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: l.MemoryID})
		if err != nil || math.Abs(m.Confidence-want) > 1e-6 {
			t.Errorf("%s: confidence %v, %v; want %v", when, m.Confidence, err, want)
		}
		// A filter by confidence uses the confidence of the response.
		res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "glass", MinConfidence: new(want - 1e-3)})
		if err != nil || res.Total != 1 {
			t.Errorf("%s: recall from %v finds %+v, %v", when, want, res, err)
		}
		res, err = e.Recall(t.Context(), &robotmem.RecallRequest{Query: "glass", MinConfidence: new(want + 1e-3)})
		if err != nil || res.Total != 0 {
			t.Errorf("%s: recall above %v finds %+v, %v", when, want, res, err)
		}
	}
	pin := func(to bool) {
		t.Helper()
		if _, err := e.Pin(t.Context(), &admin.PinRequest{MemoryID: l.MemoryID, Pinned: &to}); err != nil {
			t.Fatal(err)
		}
	}
	check("new", sure)
	pin(true)
	now = now.AddDate(1, 0, 0)
	check("pinned for a year", sure)
	pin(false)
	check("let go", sure)
	now = now.AddDate(0, 0, 10)
	check("ten days later", sure*math.Pow(0.99, 10))
}

// An unpinned memory stays unpinned until a request pins it: neither an update nor
// another sighting pins it, though constraints are pinned when they are stored.
func TestUnpinnedStaysUnpinned(t *testing.T) {
	t.Parallel()
	e := openAt(t, t.TempDir()+"/m.db", local.Options{})
	rule := &robotmem.LearnRequest{Insight: "The arm must never cross the yellow line"}
	l, err := e.Learn(t.Context(), rule)
	if err != nil {
		t.Fatal(err)
	}
	check := func(when string, want bool) {
		t.Helper()
		m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: l.MemoryID})
		if err != nil || m.Pinned != want || m.Category != "constraint" {
			t.Errorf("%s: %s, pinned %v, %v; want %v", when, m.Category, m.Pinned, err, want)
		}
	}
	again := func(r *robotmem.LearnRequest) {
		t.Helper()
		if res, err := e.Learn(t.Context(), r); err != nil || res.Status != "duplicate" {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	check("learnt", true)
	if _, err := e.Pin(t.Context(), &admin.PinRequest{MemoryID: l.MemoryID, Pinned: new(false)}); err != nil {
		t.Fatal(err)
	}
	check("let go", false)
	again(rule)
	check("seen again", false)
	if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: l.MemoryID, NewContent: "The arm must never cross the red line"}); err != nil {
		t.Fatal(err)
	}
	check("corrected", false)
	again(&robotmem.LearnRequest{Insight: "The arm must never cross the red line", Pinned: new(true)})
	check("seen again, to be pinned", true)
}
