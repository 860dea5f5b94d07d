package engine_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A read-only caller is counted and has no other effect: neither on a session nor on the
// order of eviction.
func TestReadersGiveNoCredit(t *testing.T) {
	t.Parallel()
	e := openAt(t, t.TempDir()+"/m.db", local.Options{})
	if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "grip_force=12.5 N holds wet glass"}); err != nil {
		t.Fatal(err)
	}
	s, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	question := json.RawMessage(fmt.Sprintf(`{"query":"glass","for_session":%q}`, s.SessionID))
	recalled := func() int {
		t.Helper()
		got, err := e.Session(t.Context(), &robotmem.SessionRequest{SessionID: s.SessionID})
		if err != nil {
			t.Fatal(err)
		}
		return len(got.Recalled)
	}
	for _, op := range robotmem.Ops() {
		if op.Name != "recall" {
			continue
		}
		if _, err := op.Call(robotmem.WithCaller(t.Context(), robotmem.Caller{ReadOnly: true}), e, question); err != nil {
			t.Fatal(err)
		}
		if n := recalled(); n != 0 {
			t.Errorf("%d memories were recalled for the episode by who may only read", n)
		}
		if _, err := op.Call(t.Context(), e, question); err != nil {
			t.Fatal(err)
		}
	}
	if n := recalled(); n != 1 {
		t.Errorf("%d memories were recalled for the episode, want 1", n)
	}
	end, err := e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: s.SessionID})
	if err != nil || end.Summary.Recalled != 1 {
		t.Errorf("%+v, %v", end, err)
	}
	if m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: 1}); err != nil || m.ReturnCount != 1 {
		t.Errorf("returned %d times, %v; want once", m.ReturnCount, err)
	}
	if st, err := e.Stats(t.Context(), &admin.StatsRequest{}); err != nil || st.Recalls != 2 {
		t.Errorf("%d recalls, %v; want both counted", st.Recalls, err)
	}
}

// A read-only caller is refused every write operation before its request is validated.
func TestReadOnlyCallersChangeNothing(t *testing.T) {
	t.Parallel()
	e := openNode(t, local.Options{})
	ctx := robotmem.WithCaller(t.Context(), robotmem.Caller{ReadOnly: true})
	refused := 0
	for _, op := range robotmem.Ops() {
		_, err := op.Call(ctx, e, []byte(`{"no such field":1}`))
		if forbidden := robotmem.KindOf(err) == robotmem.Forbidden; forbidden == op.Hints.ReadOnly {
			t.Errorf("%s: %v", op.Name, err)
		} else if forbidden {
			refused++
		}
	}
	if refused < 9 {
		t.Errorf("%d operations were refused", refused)
	}
}
