package robotmemtest

import (
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

var compactCases = []testCase{
	{"CompactSaysWhatMatters", func(t *testing.T, s robotmem.Service) {
		id := created(t, s,
			&robotmem.LearnRequest{
				Insight: grip,
				Context: robotmem.Object{
					"params": object{"speed": 0.05}, "task": object{"success": true},
					"spatial": object{"position": []any{1, 2.5}},
				},
			})
		created(t, s, &robotmem.LearnRequest{Insight: strings.Repeat("glass far away ", 90)})

		for detail, want := range map[string]string{
			robotmem.DetailIDs: "", robotmem.DetailCompact: "success, speed=0.05, ",
		} {
			m := recall(t, s, &robotmem.RecallRequest{Query: "wet glass", Detail: detail}).Memories[0]
			if m.MemoryID != id || (m.Score == nil) != (detail == robotmem.DetailCompact) || m.Content != "" ||
				m.UID != "" || !strings.HasPrefix(m.Line, want) ||
				(detail == robotmem.DetailCompact) != strings.HasSuffix(m.Line, grip) {
				t.Errorf("%s: got %+v", detail, m)
			}
		}
		res := recall(t, s, &robotmem.RecallRequest{Query: "glass", Detail: robotmem.DetailFull, MaxTokens: 400})
		if res.Total != 1 || res.More != 1 || len(res.Memories) != 1 {
			t.Errorf("within 400 tokens: %d and %d more", res.Total, res.More)
		}
		refused(t, s.Recall, &robotmem.RecallRequest{Query: "glass", Detail: "brief"}, robotmem.Invalid, "detail")
		refused(t, s.Recall, &robotmem.RecallRequest{Query: "glass", MaxTokens: 99}, robotmem.Invalid, "max_tokens")
	}},
	{"TimelineIsWhatHappenedAround", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "lab")

		var ids []int64
		for i, in := range []string{session, "", session, session, session} {
			ids = append(ids,
				created(t, s,
					&robotmem.LearnRequest{
						Insight: "step " + string(rune('a'+i)), Collection: "lab", SessionID: in,
						ObservedAt: at(time.Duration(i) * time.Minute),
					}))
		}
		res := do(t, s.Timeline, &robotmem.TimelineRequest{MemoryID: ids[3], Before: new(1), After: new(0)})
		m := recall(t, s, &robotmem.RecallRequest{Query: "step c", Collection: "lab", N: 1, ContextWindow: 1}).Memories[0]
		if len(m.Before) != 1 || m.Before[0].Text != "step a" || len(m.After) != 1 || m.After[0].MemoryID != ids[3] ||
			res.Of != "session "+session || len(res.Memories) != 2 || res.Memories[0].MemoryID != ids[2] ||
			!strings.HasSuffix(res.Memories[1].Line, ": step d") {
			t.Errorf("got %+v, and around %+v", res, m)
		}
		if res = do(t, s.Timeline, &robotmem.TimelineRequest{MemoryID: ids[1]}); res.Of != "collection lab" ||
			len(res.Memories) != 5 {
			t.Errorf("without a session: %+v", res)
		}
		refused(t, s.Timeline, &robotmem.TimelineRequest{MemoryID: 4711}, robotmem.NotFound, "memory_id")
	}},
}
