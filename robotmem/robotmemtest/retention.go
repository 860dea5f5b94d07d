package robotmemtest

import (
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

var retentionCases = []testCase{
	{"ListsBeforeItTakes", func(t *testing.T, s robotmem.Service) {
		save := func(name string, from, n int, observed time.Duration) int64 {
			return do(t, s.SavePerception,
				&robotmem.SavePerceptionRequest{
					Description: name, DataBase64: noise(2 * n)[from : from+n], ObservedAt: at(observed),
				}).MemoryID
		}
		oldest, middle, newest := save("the oldest view", 0, 300_000, 0), save("the middle view", 7, 300_000,
			time.Hour), save("the newest view", 11, 300_000, 2*time.Hour)
		fact := learn(t, s, grip, nil)
		r := admin.RetainRequest{Budgets: []admin.Budget{{PerceptionType: "visual", MaxBytes: 350_000}}}
		plan := do(t, s.Retain, &r)

		var going []int64
		for _, e := range plan.Evictions {
			going = append(going, e.MemoryID)
			if e.Bytes < 300_000 || e.Reason == "" || e.Value == "" || e.PerceptionType != "visual" ||
				e.Collection != "default" {
				t.Errorf("eviction %+v", e)
			}
		}

		equal(t, "least valuable first", going, []int64{oldest, middle})
		if !plan.DryRun || plan.Count != 2 || plan.FreedBytes < 600_000 || plan.HeldBytes < 900_000 {
			t.Errorf("plan %+v", plan)
		}

		equal(t, "nothing has gone", do(t, s.Get, &robotmem.MemoryRequest{MemoryID: oldest}).Status, "active")
		r.Apply = true
		done := do(t, s.Retain, &r)
		plan.DryRun = false
		equal(t, "done as listed", done, plan)
		equal(t, "recalled", sortedIDs(recalled(t, s, &robotmem.RecallRequest{Query: "view grip_force", N: 10})),
			[]int64{newest, fact})
		refused(t, s.Data, &robotmem.MemoryRequest{MemoryID: oldest}, robotmem.NotFound, "memory_id")
		gone := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: oldest})
		if gone.Status == "active" || gone.Content != "the oldest view" || gone.Summary == "" {
			t.Errorf("got %+v, want its words to stay", gone)
		}
		if st, ok := try(t, s.Stats, &admin.StatsRequest{}); ok && (st.Evicted != 2 || st.EvictedBytes < 600_000) {
			t.Errorf("evicted %d, %d bytes", st.Evicted, st.EvictedBytes)
		}

		again := do(t, s.Retain, &r)
		if again.Count != 0 || len(again.Evictions) != 0 {
			t.Errorf("again: %+v, want nothing to do", again)
		}
	}},
	{"BadBudgetsAreRefused", func(t *testing.T, s robotmem.Service) {
		refused(t, s.Retain, &admin.RetainRequest{}, robotmem.Invalid, "budgets")
		refused(t, s.Retain, &admin.RetainRequest{Budgets: []admin.Budget{{MaxBytes: -1}}}, robotmem.Invalid,
			"budgets[0].max_bytes")
		refused(t, s.Retain, &admin.RetainRequest{Budgets: []admin.Budget{{PerceptionType: "smell", MaxBytes: 1}}},
			robotmem.Invalid, "budgets[0].perception_type")
		refused(t, s.Retain, &admin.RetainRequest{MinFreeBytes: -1}, robotmem.Invalid, "min_free_bytes")
	}},
}
