package robotmemtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// noSession is a valid session id that does not exist.
const noSession = "0190163d-8694-739b-aea5-966c26f8ad90"

func start(t *testing.T, s robotmem.Service, collection string) string {
	t.Helper()
	res := do(t, s.StartSession, &robotmem.StartSessionRequest{Collection: collection})
	if len(res.SessionID) != 36 || res.SessionID[14] != '7' {
		t.Fatalf("session id %q, want a UUIDv7", res.SessionID)
	}
	return res.SessionID
}

func end(t *testing.T, s robotmem.Service, session string) *robotmem.EndSessionResponse {
	t.Helper()
	res := do(t, s.EndSession, &robotmem.EndSessionRequest{SessionID: session})
	if res.Status != "ended" || res.SessionID != session {
		t.Errorf("got %+v", res)
	}
	return res
}

var sessionCases = []testCase{
	{"StoredLater", storedLater},
	{"SeenAgain", seenAgain},
	{"Life", func(t *testing.T, s robotmem.Service) {
		learn(t, s, "known before", nil)
		rule := created(t, s, &robotmem.LearnRequest{Insight: "the arm must never exceed 20 N", Collection: "lab"})
		res := do(t, s.StartSession,
			&robotmem.StartSessionRequest{
				Collection: "lab", Context: robotmem.Object{"task": object{"name": "grip glass"}},
			})
		if res.Collection != "lab" || res.ActiveMemoriesCount != 1 || res.Briefing.Text == "" {
			t.Errorf("got %+v", res)
		}
		// A tool has a fence around it.
		if b := res.Briefing; !slices.Equal(b.MemoryIDs, []int64{rule}) ||
			!strings.Contains("\n"+b.Text, fmt.Sprintf("\nRules:\n- [%d] ", rule)) {
			t.Errorf("briefing %+v, want the rule of the collection", b)
		}

		in := created(t, s, &robotmem.LearnRequest{Insight: "learnt within", SessionID: res.SessionID})
		seen := do(t, s.SavePerception,
			&robotmem.SavePerceptionRequest{Description: "seen within", SessionID: res.SessionID})
		equal(t, "collection of a perception", seen.Collection, "lab")
		m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: in})
		if m.Collection != "lab" || m.SessionID != res.SessionID {
			t.Errorf("got %+v, want the session's collection", m)
		}

		done := do(t, s.EndSession,
			&robotmem.EndSessionRequest{SessionID: res.SessionID, OutcomeScore: new(0.0), UsedMemoryIDs: []int64{rule}})
		sum := done.Summary
		if done.Status != "ended" || sum.SessionID != res.SessionID || sum.Facts != 1 || sum.Perceptions != 1 ||
			sum.Used != 1 || sum.Text == "" {
			t.Errorf("got %+v", done)
		}
		if sum.OutcomeScore == nil || *sum.OutcomeScore != 0 {
			t.Errorf("outcome %v, want 0, which is not unset", sum.OutcomeScore)
		}
	}},
	{"ASessionIsCheckedWhereverItIsNamed", func(t *testing.T, s robotmem.Service) {
		open, ended := start(t, s, "lab"), start(t, s, "lab")
		end(t, s, ended)

		for name, tt := range map[string]struct {
			session, collection string
			kind                robotmem.Kind
			field               string
		}{
			"unknown":               {noSession, "", robotmem.NotFound, "session_id"},
			"no id at all":          {" first", "", robotmem.Invalid, "session_id"},
			"ended":                 {ended, "", robotmem.Conflict, "session_id"},
			"of another collection": {open, "default", robotmem.Invalid, "collection"},
		} {
			t.Run(name, func(t *testing.T) {
				refused(t, s.Learn,
					&robotmem.LearnRequest{Insight: "x", SessionID: tt.session, Collection: tt.collection}, tt.kind,
					tt.field)
				refused(t, s.SavePerception,
					&robotmem.SavePerceptionRequest{
						Description: "a view", SessionID: tt.session, Collection: tt.collection,
					},
					tt.kind, tt.field)
				if tt.collection == "" {
					refused(t, s.EndSession, &robotmem.EndSessionRequest{SessionID: tt.session}, tt.kind, tt.field)
				}
			})
		}

		created(t, s, &robotmem.LearnRequest{Insight: "named as it is", SessionID: open, Collection: "lab"})
		refused(t, s.Recall, &robotmem.RecallRequest{SessionID: noSession}, robotmem.NotFound, "session_id")
		refused(t, s.SessionMemories, &admin.SessionMemoriesRequest{SessionID: noSession}, robotmem.NotFound,
			"session_id")
	}},
	{"Limits", func(t *testing.T, s robotmem.Service) {
		refused(t, s.StartSession, &robotmem.StartSessionRequest{Collection: "*"}, robotmem.Invalid, "collection")
		refused(t, s.StartSession,
			&robotmem.StartSessionRequest{Context: robotmem.Object{"x": strings.Repeat("x", 64<<10)}},
			robotmem.TooLarge, "context")
		session := start(t, s, "")
		refused(t, s.EndSession, &robotmem.EndSessionRequest{SessionID: session, OutcomeScore: new(1.1)},
			robotmem.Invalid, "outcome_score")
		refused(t, s.EndSession, &robotmem.EndSessionRequest{SessionID: session, UsedMemoryIDs: []int64{0}},
			robotmem.Invalid, "used_memory_ids[0]")
		end(t, s, session)
	}},
	{"ReplayInTheOrderItWasLived", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")

		hour := map[int]int64{}
		for i, h := range []int{2, 0, 3, 1} {
			hour[h] = created(t, s,
				&robotmem.LearnRequest{
					Insight: "step", Context: robotmem.Object{"i": i}, SessionID: session,
					ObservedAt: at(time.Duration(h) * time.Hour),
				})
		}
		created(t, s, &robotmem.LearnRequest{Insight: "step of nobody", ObservedAt: at(0)})
		want := []int64{hour[0], hour[1], hour[2], hour[3]}
		res := recall(t, s, &robotmem.RecallRequest{SessionID: session})
		equal(t, "replay", ids(res.Memories), want)
		equal(t, "mode", res.Mode, "structured")
		equal(t, "the first two", recalled(t, s, &robotmem.RecallRequest{SessionID: session, N: 2}), want[:2])
		equal(t, "by words", sortedIDs(recalled(t, s, &robotmem.RecallRequest{SessionID: session, Query: "step"})),
			sortedIDs(want))
		if page, ok := try(t, s.SessionMemories,
			&admin.SessionMemoriesRequest{SessionID: session, Limit: 3, Page: 2}); ok {
			equal(t, "second page", ids(page.Memories), want[3:])
			equal(t, "total", page.Total, int64(4))
		}
	}},
	{"SessionsAreListed", func(t *testing.T, s robotmem.Service) {
		first := start(t, s, "a")
		second := start(t, s, "b")
		created(t, s, &robotmem.LearnRequest{Insight: "within", SessionID: first})
		end(t, s, first)
		list := func(r *robotmem.SessionsRequest) []string {
			t.Helper()

			out := []string{}
			for _, e := range do(t, s.Sessions, r).Sessions {
				out = append(out, e.SessionID+" "+e.Status)
			}

			return out
		}
		equal(t, "all, newest first", list(&robotmem.SessionsRequest{}), []string{second + " active", first + " ended"})
		equal(t, "ended", list(&robotmem.SessionsRequest{Status: "ended"}), []string{first + " ended"})
		equal(t, "of a collection", list(&robotmem.SessionsRequest{Collection: "b"}), []string{second + " active"})
		res := do(t, s.Sessions, &robotmem.SessionsRequest{Limit: 1, Page: 2})
		if res.Total != 2 || len(res.Sessions) != 1 || res.Sessions[0].MemoryCount != 1 ||
			res.Sessions[0].EndedAt == nil {
			t.Errorf("got %+v", res)
		}
	}},
	{"EndingSessionsFadesNothing", func(t *testing.T, s robotmem.Service) {
		id := learn(t, s, grip, nil)

		before := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}).Confidence
		for range 60 {
			if res := end(t, s, start(t, s, "")); res.DecayedCount != 0 {
				t.Fatalf("%d memories have decayed within seconds", res.DecayedCount)
			}
		}
		if after := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}).Confidence; after < before-1e-4 ||
			after > before {
			t.Errorf("confidence %v, was %v", after, before)
		}
	}},
	{"ARecallCanBeForASession", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		id := learn(t, s, grip, nil)
		equal(t, "not only of the session", recalled(t, s, &robotmem.RecallRequest{Query: grip, ForSession: session}),
			[]int64{id})
		res := do(t, s.EndSession, &robotmem.EndSessionRequest{SessionID: session, UsedMemoryIDs: []int64{id}})
		if res.Summary.Recalled != 1 || res.Summary.Used != 1 {
			t.Errorf("recalled %d, used %d; want 1 and 1", res.Summary.Recalled, res.Summary.Used)
		}
		refused(t, s.Recall, &robotmem.RecallRequest{Query: grip, ForSession: " mine"}, robotmem.Invalid, "for_session")
	}}, {"OriginContinues", func(t *testing.T, s robotmem.Service) {
		r := &robotmem.StartSessionRequest{
			Collection: "lab", Context: robotmem.Object{"task": object{"name": "grip"}}, Origin: "bag-2026-03-01",
		}
		first := do(t, s.StartSession, r)
		equal(t, "status", first.Status, "started")
		in := created(t, s, &robotmem.LearnRequest{Insight: "learnt within", SessionID: first.SessionID})
		again := do(t, s.StartSession, r)
		if again.Status != "continued" || again.SessionID != first.SessionID || again.Collection != "lab" ||
			again.ActiveMemoriesCount != 1 || again.Briefing.Text == "" {
			t.Errorf("got %+v, want %s continued", again, first.SessionID)
		}
		equal(t, "of the session",
			recalled(t, s, &robotmem.RecallRequest{SessionID: first.SessionID, Collection: "lab"}), []int64{in})
		elsewhere := do(t, s.StartSession, &robotmem.StartSessionRequest{Collection: "field", Origin: r.Origin})
		if elsewhere.Status != "started" || elsewhere.SessionID == first.SessionID {
			t.Errorf("in another collection: got %+v", elsewhere)
		}
		refused(t, s.StartSession, &robotmem.StartSessionRequest{Origin: strings.Repeat("x", 257)}, robotmem.Invalid,
			"origin")
	}},
}

// storedLater: an episode stands at the time that it is given, else, if all of its memories are
// older than it, at theirs; and lists have it there.
func storedLater(t *testing.T, s robotmem.Service) {
	day := time.Date(2025, 4, 1, 22, 0, 0, 0, time.UTC)
	now := start(t, s, "later")
	given := do(t, s.StartSession, &robotmem.StartSessionRequest{Collection: "later", StartedAt: new(day)}).SessionID
	refused(t, s.EndSession, &robotmem.EndSessionRequest{SessionID: given, EndedAt: new(day.Add(-time.Minute))},
		robotmem.Invalid, "ended_at")
	ended := do(t, s.EndSession, &robotmem.EndSessionRequest{SessionID: given, EndedAt: new(day.Add(time.Minute))})
	equal(t, "length of the given times", ended.Summary.DurationS, 60.0)

	told := start(t, s, "later")
	for i := range 3 {
		created(t, s,
			&robotmem.LearnRequest{
				Insight: fmt.Sprintf("door %d sticks", i), SessionID: told,
				ObservedAt: new(day.Add(time.Duration(i+1) * time.Hour)),
			})
	}

	ended = do(t, s.EndSession, &robotmem.EndSessionRequest{SessionID: told})
	equal(t, "length of the memories' times", ended.Summary.DurationS, 7200.0)
	if !strings.Contains(ended.Summary.Text, " in 2h0m0s") {
		t.Errorf("summary %q, want a length of 2 hours", ended.Summary.Text)
	}

	res := do(t, s.Sessions, &robotmem.SessionsRequest{Collection: "later", Limit: 2})
	next := do(t, s.Sessions, &robotmem.SessionsRequest{Collection: "later", Limit: 2, Cursor: res.Next})

	var got []string

	for _, e := range append(res.Sessions, next.Sessions...) {
		at := e.SessionID + " " + e.CreatedAt.UTC().Format(time.RFC3339)
		if e.SessionID == now {
			at = now
		} else if e.EndedAt != nil {
			at += " " + e.EndedAt.UTC().Format(time.RFC3339)
		}
		got = append(got, at)
	}

	want := []string{
		now, told + " 2025-04-01T23:00:00Z 2025-04-02T01:00:00Z", given + " 2025-04-01T22:00:00Z 2025-04-01T22:01:00Z",
	}
	if !slices.Equal(got, want) {
		t.Errorf("episodes %q, want %q", got, want)
	}
}

// A fact that an episode learns again is a sighting of the known one, and the episode lists it.
func seenAgain(t *testing.T, s robotmem.Service) {
	before := learn(t, s, "the tray sticks", nil)
	first, second := start(t, s, "default"), start(t, s, "default")
	in := func(session, text string, want string) int64 {
		t.Helper()
		res := do(t, s.Learn, &robotmem.LearnRequest{Insight: text, SessionID: session})
		equal(t, "status of "+text, res.Status, want)
		return res.MemoryID
	}

	stuck := in(first, "the lid jammed at 9 N", "created")
	for range 2 {
		equal(t, "the lid again", in(second, "the lid jammed at 9 N", "duplicate"), stuck)
	}
	equal(t, "the tray again", in(second, "the tray sticks", "duplicate"), before)
	own := in(second, "the lid opens at 12 N", "created")
	equal(t, "its own fact again", in(second, "the lid opens at 12 N", "duplicate"), own)

	lists := func(session string, r robotmem.RecallRequest) []int64 {
		t.Helper()
		r.SessionID, r.N = session, 9
		return sortedIDs(recalled(t, s, &r))
	}
	equal(t, "the first episode", lists(first, robotmem.RecallRequest{}), []int64{stuck})
	equal(t, "the second episode", lists(second, robotmem.RecallRequest{}), []int64{before, stuck, own})
	equal(t, "the second episode, by words", lists(second, robotmem.RecallRequest{Query: "lid"}), []int64{stuck, own})
	equal(t, "the second episode, failures",
		lists(second, robotmem.RecallRequest{ContextFilter: robotmem.Object{"outcome": "failure"}}), []int64{stuck})

	listed := do(t, s.List, &robotmem.ListRequest{SessionID: second})
	equal(t, "list of the second episode", ids(listed.Memories), []int64{own, stuck, before})
	shown := do(t, s.SessionMemories, &admin.SessionMemoriesRequest{SessionID: second})
	equal(t, "memories of the second episode", sortedIDs(ids(shown.Memories)), []int64{before, stuck, own})

	do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: before, Reason: "it was another tray"})
	listed = do(t, s.List, &robotmem.ListRequest{SessionID: second})
	equal(t, "list after a memory was forgotten", ids(listed.Memories), []int64{own, stuck})
	equal(t, "the second episode after a memory was forgotten", lists(second, robotmem.RecallRequest{}),
		[]int64{stuck, own})
}
