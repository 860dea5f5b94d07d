package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Of two memories with the same words, the one whose neighbour in the episode has the others
// comes first. The order is that of observation, and it follows changes.
func TestNeighboursLendTheirScore(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	off := openTest(t, Options{Weights: map[string]float64{"neighbours": 0}})
	for _, n := range []*Engine{e, off} {
		s, err := n.StartSession(t.Context(), &robotmem.StartSessionRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range []struct {
			text, session string
			minute        int
		}{
			{"the gripper lost the plate again", "", 50},         // 1: newest, first by words alone
			{"the gripper lost the bottle here", s.SessionID, 9}, // 2
			{"nothing else happened", s.SessionID, 30},           // 3
			{"finger two was loose", s.SessionID, 10},            // 4: just after 2, though learnt later
		} {
			at := time.Date(2026, 1, 1, 0, f.minute, 0, 0, time.UTC)
			res, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: f.text, SessionID: f.session, ObservedAt: &at})
			if err != nil || res.MemoryID != int64(i+1) {
				t.Fatal(res, err)
			}
		}
	}
	ask := &robotmem.RecallRequest{Query: "gripper lost loose finger two", N: 3, ContextWindow: 2}
	res, ids := recalled(t, e, ask)
	if !slices.Equal(ids, []int64{4, 2, 1}) {
		t.Errorf("with neighbours: %v", ids)
	}
	if m := res.Memories[1]; len(m.Before) != 0 || len(m.After) != 2 || m.After[0] != (robotmem.Neighbour{MemoryID: 4}) || m.After[1].Text != "nothing else happened" {
		t.Errorf("around memory 2: before %+v, after %+v", m.Before, m.After)
	}
	if _, ids = recalled(t, off, ask); !slices.Equal(ids, []int64{4, 1, 2}) {
		t.Errorf("without neighbours: %v", ids)
	}
	if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: 4, Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	if res, ids = recalled(t, e, ask); !slices.Equal(ids, []int64{1, 2}) || len(res.Memories[1].After) != 1 {
		t.Errorf("without the neighbour: %v, %+v", ids, res.Memories)
	}
}
