package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Get lists the conflicts of a memory, regardless of how many conflicting ones were
// forgotten since.
func TestConflictsBeyondForgottenOnes(t *testing.T) {
	t.Parallel()
	e := openAt(t, t.TempDir()+"/m.db", local.Options{})
	learn := func(force int) int64 {
		t.Helper()
		l, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("grip_force=%d N holds wet glass", force)})
		if err != nil {
			t.Fatal(err)
		}
		return l.MemoryID
	}
	first, other := learn(10), learn(11)
	for force := range 12 {
		id := learn(20 + force)
		if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: id, Reason: "wrong"}); err != nil {
			t.Fatal(err)
		}
	}
	conflicts := func(id int64) (ids []int64) {
		t.Helper()
		m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: id})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range m.Conflicts {
			ids = append(ids, c.MemoryID)
		}
		return ids
	}
	if got := conflicts(first); !slices.Equal(got, []int64{other}) {
		t.Errorf("%v contradict memory %d, want %d", got, first, other)
	}
	if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: other, NewContent: "grip_force=10 N holds wet glass"}); err != nil {
		t.Fatal(err)
	}
	if got := conflicts(first); len(got) > 0 {
		t.Errorf("%v contradict memory %d, though the other was corrected", got, first)
	}
}
