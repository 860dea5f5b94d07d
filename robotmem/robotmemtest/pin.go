package robotmemtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

var pinCases = []testCase{
	{"PinnedNeverFades", func(t *testing.T, s robotmem.Service) {
		id := learn(t, s, grip, nil)
		before := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id})
		if before.Pinned || before.DecayRate == 0 {
			t.Fatalf("got %+v, want one that decays", before)
		}

		for _, again := range []string{"first", "again"} {
			res := do(t, s.Pin, &admin.PinRequest{MemoryID: id})
			equal(t, again, *res, admin.PinResponse{Status: "pinned", MemoryID: id, Pinned: true})
		}

		m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id})
		if !m.Pinned || m.DecayRate != 0 || m.Content != before.Content || m.Version != before.Version {
			t.Errorf("got %+v", m)
		}

		brief := do(t, s.StartSession, &robotmem.StartSessionRequest{}).Briefing
		if !slices.Contains(brief.MemoryIDs, id) || !strings.HasPrefix(brief.Text, "Rules:\n- [") {
			t.Errorf("briefing %+v, want the pinned one among its rules", brief)
		}

		res := do(t, s.Pin, &admin.PinRequest{MemoryID: id, Pinned: new(false)})
		equal(t, "let go", *res, admin.PinResponse{Status: "unpinned", MemoryID: id})
		m = do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id})
		if m.Pinned || m.DecayRate != before.DecayRate || m.LastAccessed == nil {
			t.Errorf("got %+v, want it to decay from now on", m)
		}

		refused(t, s.Pin, &admin.PinRequest{MemoryID: 4711}, robotmem.NotFound, "memory_id", "4711")
	}},
	{"PinnedIsNeverMerged", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		for _, text := range repeated {
			do(t, s.Pin, &admin.PinRequest{MemoryID: noted(t, s, session, text, nil)})
		}
		equal(t, "superseded", end(t, s, session).Consolidated.SupersededCount, 0)
	}},
}
