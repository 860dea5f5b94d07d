package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// TestIncidentLines: the incidents of a robot and task are one line, which tells its newest failed
// episode, and lines with failed episodes stand before those of single facts that are newer.
func TestIncidentLines(t *testing.T) {
	n := openAt(t, t.TempDir()+"/memory.db", local.Options{})
	began := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	learn := func(session, robot, said string, minute int) {
		t.Helper()
		at := began.Add(time.Duration(minute) * time.Minute)
		_, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: said, SessionID: session, ObservedAt: &at, Context: robotmem.Object{
			"robot": map[string]any{"id": robot}, "task": map[string]any{"name": "pick", "success": false},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		s, err := n.StartSession(t.Context(), &robotmem.StartSessionRequest{})
		if err != nil {
			t.Fatal(err)
		}
		learn(s.SessionID, "arm-7", fmt.Sprintf("the glass slipped at %d N", 7+i), i)
		if _, err := n.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: s.SessionID, Outcome: "failure"}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 4 {
		learn("", "arm-3", fmt.Sprintf("the mug slipped at %d N", i), 10+i)
	}
	learn("", "arm-7", "the plate slipped at 5 N", 30)

	res, err := n.Incidents(t.Context(), &admin.IncidentsRequest{Sort: "episodes"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range res.Lines {
		got = append(got, fmt.Sprintf("%s %s: %d episodes, %d facts, %d open, %s", l.Robot, l.Task, l.Episodes, l.Facts, l.Open, l.Last.Said))
	}
	want := "[arm-7 pick: 3 episodes, 1 facts, 4 open, the glass slipped at 9 N arm-3 pick: 0 episodes, 4 facts, 4 open, the mug slipped at 3 N]"
	if fmt.Sprint(got) != want {
		t.Errorf("lines %s, want %s", got, want)
	}
	for i, in := range res.Incidents {
		if want := []string{"session", "memory"}[min(i/3, 1)]; in.Kind != want {
			t.Errorf("incident %d is a %s, want %s", i, in.Kind, want)
		}
	}
}

// TestIncidentGroupsOfObjects: failures of different objects are no repeats of each other, although their texts
// share most words. An incident without an object belongs to the group with which it shares the most.
func TestIncidentGroupsOfObjects(t *testing.T) {
	n := openAt(t, t.TempDir()+"/memory.db", local.Options{})
	began := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	attempts := []struct {
		said, object string
		repeats      int
	}{
		{"the steel plate slipped at grip_force=19 N", "steel plate", 1},
		{"the wet glass slipped at grip_force=9 N", "wet glass", 1},
		{"the steel plate slipped at grip_force=20 N", "steel plate", 2},
		{"the wet glass slipped at grip_force=9.5 N", "", 2},
		{"it turned over while lifting", "steel plate", 1},
		{"it turned over while lifting", "wet glass", 1},
	}
	for i, a := range attempts {
		about := robotmem.Object{"attempt": i, "task": map[string]any{"name": "pick", "success": false}}
		if a.object != "" {
			about["object"] = a.object
		}
		_, err := n.Learn(t.Context(), &robotmem.LearnRequest{
			Insight: a.said, ObservedAt: new(began.Add(time.Duration(i) * time.Hour)), Context: about,
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	res, err := n.Incidents(t.Context(), &admin.IncidentsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Incidents) != len(attempts) {
		t.Fatalf("%d incidents, want %d", len(res.Incidents), len(attempts))
	}
	groups := map[string]bool{}
	for k, in := range res.Incidents { // newest first
		want := attempts[len(attempts)-1-k]
		if in.Said != want.said || in.Object != want.object || in.Repeats != want.repeats {
			t.Errorf("%q of %q is the %d. time, want %q of %q the %d.", in.Said, in.Object, in.Repeats, want.said, want.object, want.repeats)
		}
		groups[in.Group] = true
	}
	if len(groups) != 4 {
		t.Errorf("%d groups, want 4", len(groups))
	}
}
