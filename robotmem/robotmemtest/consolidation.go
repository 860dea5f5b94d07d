package robotmemtest

import (
	"fmt"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// within an episode, the same text with another note in the context: by the rules for
// duplicates a new memory, which consolidation may merge.
func noted(t *testing.T, s robotmem.Service, session, insight string, ctx object) int64 {
	t.Helper()
	return created(t, s, &robotmem.LearnRequest{Insight: insight, Context: robotmem.Object(ctx), SessionID: session})
}

func note(word string, more object) object {
	ctx := object{"note": word}
	for k, v := range more {
		ctx[k] = v
	}
	return ctx
}

var words = []string{"alpha", "beta", "gamma", "delta"}

const slip = "the rubber gripper slips from the wet glass cup"

var consolidationCases = []testCase{
	{"NearCopiesMergeAndStayReadable", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		var all []int64
		for _, w := range words[:3] {
			all = append(all, noted(t, s, session, slip, note(w, nil)))
		}
		other := noted(t, s, session, "battery warm after climb", nil)
		res := end(t, s, session)
		c := res.Consolidated
		if c.MergedGroups != 1 || c.SupersededCount != 2 || c.CompressionRatio <= 0 || c.CompressionRatio > 1 || c.AvgSimilarity <= 0.5 || c.AvgSimilarity > 1 {
			t.Errorf("got %+v, want one group with two superseded", c)
		}
		left := recalled(t, s, &robotmem.RecallRequest{Query: slip, N: 10})
		if len(left) != 1 {
			t.Fatalf("recall finds %v, want the representative alone", left)
		}
		for _, id := range all {
			m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id})
			if id == left[0] {
				equal(t, "the representative", m.Status, "active")
				continue
			}
			if m.Status != "superseded" || m.SupersededBy != left[0] || m.Content != slip {
				t.Errorf("memory %d: got %+v, want it superseded by %d", id, m, left[0])
			}
			if h, ok := try(t, s.History, &robotmem.MemoryRequest{MemoryID: id}); ok && (len(h.Versions) != 2 || h.Versions[0].Change != "superseded") {
				t.Errorf("memory %d: history %+v", id, h.Versions)
			}
			if _, ok := try(t, s.Restore, &robotmem.MemoryRequest{MemoryID: id}); ok {
				equal(t, "restored", do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}).Status, "active")
			}
		}
		equal(t, "what is not like them", do(t, s.Get, &robotmem.MemoryRequest{MemoryID: other}).Status, "active")
	}},
	{"FourGripForcesStayFour", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		for _, f := range []string{"10", "11", "12", "12.5"} {
			noted(t, s, session, fmt.Sprintf("grip_force=%s N holds wet glass", f), nil)
		}
		keeps(t, s, session, "holds wet glass", 4)
	}},
	{"NumbersOfTheContextCount", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		for f := range 4 {
			noted(t, s, session, slip, object{"params": object{"grip_force": 10 + f}})
		}
		keeps(t, s, session, slip, 4)
	}},
	{"PlacesCount", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		for x := range 4 {
			noted(t, s, session, slip, object{"spatial": object{"position": []any{x, 0, 0}}})
			noted(t, s, session, slip, object{"spatial": object{"room": words[x]}})
		}
		keeps(t, s, session, slip, 8)
	}},
	{"OppositeOutcomesNeverMerge", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		for i, w := range words {
			noted(t, s, session, slip, note(w, object{"task": object{"success": i == 3}}))
		}
		res := end(t, s, session)
		equal(t, "superseded", res.Consolidated.SupersededCount, 2)
		for _, success := range []bool{true, false} {
			equal(t, fmt.Sprint("success ", success), len(recalled(t, s, &robotmem.RecallRequest{Query: slip, ContextFilter: robotmem.Object{"task.success": success}})), 1)
		}
	}},
	{"NegationNeverMerges", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		for _, w := range words[:2] {
			noted(t, s, session, "the rubber gripper can hold the wet glass cup", note(w, nil))
			noted(t, s, session, "the rubber gripper cannot hold the wet glass cup", note(w, nil))
		}
		end(t, s, session)
		yes := recall(t, s, &robotmem.RecallRequest{Query: "rubber gripper wet glass", N: 10})
		texts := map[string]bool{}
		for _, m := range yes.Memories {
			texts[m.Content] = true
		}
		if len(texts) != 2 {
			t.Errorf("left are %v, want both", texts)
		}
	}},
	{"ProtectedOnesStay", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		for _, w := range words {
			// Unpin it, so that only the category protects it.
			created(t, s, &robotmem.LearnRequest{Insight: "the arm must never exceed the limit near people", Context: note(w, nil), SessionID: session, Pinned: new(false)})
			created(t, s, &robotmem.LearnRequest{Insight: slip, Context: note(w, nil), SessionID: session, Pinned: new(true)})
			do(t, s.SavePerception, &robotmem.SavePerceptionRequest{Description: slip, Context: note(w, nil), SessionID: session})
		}
		keeps(t, s, session, "rubber gripper slips", 8)
		equal(t, "constraints", len(recalled(t, s, &robotmem.RecallRequest{Query: "exceed limit people", N: 10})), 4)
	}},
	{"FewerThanThreeStay", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		for _, w := range words[:2] {
			noted(t, s, session, slip, note(w, nil))
		}
		keeps(t, s, session, slip, 2)
	}},
	{"OneSessionDoesNotTouchAnother", func(t *testing.T, s robotmem.Service) {
		first, second := start(t, s, ""), start(t, s, "")
		for i, w := range words {
			noted(t, s, []string{first, second}[i%2], slip, note(w, nil))
		}
		keeps(t, s, first, slip, 4)
		keeps(t, s, second, slip, 4)
	}},
}

// keeps ends a session and checks that nothing was merged.
func keeps(t *testing.T, s robotmem.Service, session, query string, want int) {
	t.Helper()
	res := end(t, s, session)
	if c := res.Consolidated; c.MergedGroups != 0 || c.SupersededCount != 0 {
		t.Errorf("consolidated %+v, want nothing", c)
	}
	equal(t, "left", len(recalled(t, s, &robotmem.RecallRequest{Query: query, N: 100})), want)
}
