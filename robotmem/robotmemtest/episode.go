package robotmemtest

import (
	"fmt"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

var episodeCases = []testCase{
	{"WholeWhileItRunsAndAfter", func(t *testing.T, s robotmem.Service) {
		known := created(t, s, &robotmem.LearnRequest{Insight: grip, Collection: "lab"})
		other := created(t, s, &robotmem.LearnRequest{Insight: "the camera is calibrated", Collection: "lab"})
		session := do(t, s.StartSession,
			&robotmem.StartSessionRequest{
				Collection: "lab", Context: robotmem.Object{"task": object{"name": "grip"}},
			}).SessionID
		res := do(t, s.Session, &robotmem.SessionRequest{SessionID: session})
		if res.SessionID != session || res.Status != "active" || res.Collection != "lab" || res.Summary != nil ||
			res.Recalled == nil || len(res.Recalled) > 0 {
			t.Errorf("at its beginning: %+v", res)
		}

		created(t, s,
			&robotmem.LearnRequest{
				Insight: "it broke", SessionID: session, Context: robotmem.Object{"task": object{"success": false}},
			})
		recall(t, s, &robotmem.RecallRequest{Query: "wet glass", Collection: "lab", ForSession: session})
		recall(t, s, &robotmem.RecallRequest{Query: "camera", Collection: "lab", ForSession: session})
		res = do(t, s.Session, &robotmem.SessionRequest{SessionID: session})
		if res.MemoryCount != 1 || res.Summary == nil || res.Summary.Facts != 1 || res.Summary.Failures != 1 ||
			res.Summary.Recalled != 2 || res.Summary.EndedAt != nil {
			t.Errorf("while it runs: %+v, summary %+v", res, res.Summary)
		}

		do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: other, Reason: "no longer so"})
		ended := do(t, s.EndSession,
			&robotmem.EndSessionRequest{SessionID: session, OutcomeScore: new(0.25), UsedMemoryIDs: []int64{known}})
		res = do(t, s.Session, &robotmem.SessionRequest{SessionID: session})
		if res.Status != "ended" || res.EndedAt == nil || res.OutcomeScore == nil || *res.OutcomeScore != 0.25 ||
			res.MemoryCount != 1 {
			t.Errorf("after its end: %+v", res)
		}

		equal(t, "summary", *res.Summary, ended.Summary)

		var got []string
		for _, m := range res.Recalled {
			got = append(got,
				fmt.Sprint(m.MemoryID, m.Status, m.Type, m.Used, m.Summary != "", m.Category != "", m.Confidence > 0))
		}

		equal(t, "recalled, the useful first", got,
			[]string{
				fmt.Sprint(known, "active", "fact", true, true, true, true),
				fmt.Sprint(other, "invalidated", "fact", false, true, true, true),
			})
		refused(t, s.Session, &robotmem.SessionRequest{SessionID: noSession}, robotmem.NotFound, "session_id")
		refused(t, s.Session, &robotmem.SessionRequest{SessionID: " first"}, robotmem.Invalid, "session_id")
	}},
	{"RecalledPerceptionsAreNamedByTheirDescription", func(t *testing.T, s robotmem.Service) {
		seen := do(t, s.SavePerception,
			&robotmem.SavePerceptionRequest{
				Description: slip, PerceptionType: "tactile", Data: "Fx,Fy,Fz\n0,0,9.8\n0,4,9.1\n",
				MediaType: "text/csv",
			})
		if seen.Summary == slip {
			t.Fatalf("the summary of its data is %q, the description itself", seen.Summary)
		}
		session := do(t, s.StartSession, &robotmem.StartSessionRequest{}).SessionID
		recall(t, s, &robotmem.RecallRequest{Query: slip, ForSession: session})
		got := do(t, s.Session, &robotmem.SessionRequest{SessionID: session}).Recalled
		if len(got) != 1 || got[0].MemoryID != seen.MemoryID || got[0].Summary != slip {
			t.Errorf("recalled %+v, want [%d] %q alone", got, seen.MemoryID, slip)
		}
	}},
}
