package robotmemtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// tick is longer than the resolution of the clock on any platform.
const tick = 20 * time.Millisecond

var changeCases = []testCase{
	{"AUidNamesAMemoryToo", func(t *testing.T, s robotmem.Service) {
		other, id := learn(t, s, "the other one", nil), learn(t, s, "a glass is held", nil)
		uid := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}).UID
		named := &robotmem.MemoryRequest{UID: uid}

		equal(t, "get", do(t, s.Get, named).MemoryID, id)
		if res, ok := try(t, s.History, named); ok {
			equal(t, "history", res.MemoryID, id)
		}
		if res, ok := try(t, s.Pin, &admin.PinRequest{UID: uid, Pinned: new(true)}); ok {
			equal(t, "pin", res.MemoryID, id)
		}
		equal(t, "update",
			do(t, s.Update, &robotmem.UpdateRequest{UID: uid, NewContent: "a wet glass is held"}).MemoryID, id)
		equal(t, "forget", do(t, s.Forget, &robotmem.ForgetRequest{UID: uid, Reason: "a test"}).MemoryID, id)
		if res, ok := try(t, s.Restore, named); ok {
			equal(t, "restore", res.MemoryID, id)
		}
		equal(t, "the other one", do(t, s.Get, &robotmem.MemoryRequest{MemoryID: other}).Status, "active")

		refused(t, s.Get, &robotmem.MemoryRequest{UID: "01890a5d-ac96-774b-bcce-b302099a8057"}, robotmem.NotFound,
			"memory_id", "uid")
	}},
	{"AUidNamesAPerceptionToo", func(t *testing.T, s robotmem.Service) {
		saved := do(t, s.SavePerception, &robotmem.SavePerceptionRequest{
			Description: "a trace of the gripper", Data: "t,fx\n1,2\n2,3\n", PerceptionType: "tactile",
		})
		if res, ok := try(t, s.Data, &robotmem.MemoryRequest{UID: saved.UID}); ok {
			equal(t, "data", string(res.DataBase64), "t,fx\n1,2\n2,3\n")
		}
		if res, ok := try(t, s.Samples, &robotmem.SamplesRequest{UID: saved.UID}); ok {
			equal(t, "samples", res.MemoryID, saved.MemoryID)
		}
		if res, ok := try(t, s.Preview, &admin.PreviewRequest{UID: saved.UID}); ok {
			equal(t, "preview", res.MemoryID, saved.MemoryID)
		}
	}},
	{"ForgetAndRestore", func(t *testing.T, s robotmem.Service) {
		text := "é glass: " + strings.Repeat("日本", 100)
		id := learn(t, s, text, object{"i": 1})
		res := do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: id, Reason: "measured wrongly"})
		if res.Status != "forgotten" || res.MemoryID != id || res.Reason != "measured wrongly" ||
			!strings.HasPrefix(res.Content, string([]rune(text)[:99])) || len([]rune(res.Content)) > 101 {
			t.Errorf("got %+v", res)
		}

		for name, r := range map[string]*robotmem.RecallRequest{
			"words": {Query: "glass"}, "filter": {ContextFilter: robotmem.Object{"i": 1}},
			"everywhere": {Query: "glass", Collection: "*"},
		} {
			equal(t, "after forget, by "+name, recalled(t, s, r), []int64{})
		}

		if m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}); m.Status != "invalidated" || m.Content != text {
			t.Errorf("got %+v", m)
		}

		refused(t, s.Forget, &robotmem.ForgetRequest{MemoryID: id, Reason: "again"}, robotmem.Conflict, "memory_id")
		if res, ok := try(t, s.Restore, &robotmem.MemoryRequest{MemoryID: id}); ok {
			if res.Status != "restored" || res.MemoryID != id {
				t.Errorf("got %+v", res)
			}
			equal(t, "after restore", recalled(t, s, &robotmem.RecallRequest{Query: "glass"}), []int64{id})
			refused(t, s.Restore, &robotmem.MemoryRequest{MemoryID: id}, robotmem.Conflict, "memory_id")
		}
	}},
	{"UnknownIsNotFound", func(t *testing.T, s robotmem.Service) {
		const no = 4711
		refused(t, s.Get, &robotmem.MemoryRequest{MemoryID: no}, robotmem.NotFound, "memory_id", "4711")
		refused(t, s.Forget, &robotmem.ForgetRequest{MemoryID: no, Reason: "x"}, robotmem.NotFound, "memory_id")
		refused(t, s.Restore, &robotmem.MemoryRequest{MemoryID: no}, robotmem.NotFound, "memory_id")
		refused(t, s.Update, &robotmem.UpdateRequest{MemoryID: no, NewContent: "x"}, robotmem.NotFound, "memory_id")
		refused(t, s.History, &robotmem.MemoryRequest{MemoryID: no}, robotmem.NotFound, "memory_id")
		refused(t, s.Data, &robotmem.MemoryRequest{MemoryID: no}, robotmem.NotFound, "memory_id")
	}},
	{"ForgetTakesAReason", func(t *testing.T, s robotmem.Service) {
		id := learn(t, s, grip, nil)
		refused(t, s.Forget, &robotmem.ForgetRequest{MemoryID: id, Reason: strings.Repeat("x", 1001)}, robotmem.Invalid,
			"reason")
		equal(t, "still there", recalled(t, s, &robotmem.RecallRequest{Query: grip}), []int64{id})
		equal(t, "without one", do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: id, Reason: "  "}).Reason,
			"not given")
	}},
	{"UpdateNamesWhatTheContextKeeps", func(t *testing.T, s robotmem.Service) {
		id := learn(t, s, "grip_force=12.5 N held it", object{"params": object{"grip_force": "12.5 N", "speed": 3}})
		res := do(t, s.Update, &robotmem.UpdateRequest{MemoryID: id, NewContent: "grip_force=13 N held it"})
		equal(t, "notes", res.Notes, []string{"context: params.grip_force is still 12.5 N, and the text says 13 N now; " +
			"update with a context that has the new value"})
		res = do(t, s.Update, &robotmem.UpdateRequest{
			MemoryID: id, NewContent: "grip_force=14 N held it",
			Context: robotmem.Object{"params": map[string]any{"grip_force": "14 N"}},
		})
		equal(t, "notes with a context", len(res.Notes), 0)
	}},
	{"ForgivingUpdateOfTheContextAlone", func(t *testing.T, s robotmem.Service) {
		id := learn(t, s, grip, object{"i": 1})
		res := do(t, s.Update, &robotmem.UpdateRequest{MemoryID: id, Context: robotmem.Object{"i": 2}})
		equal(t, "the text", res.NewContent+", "+res.OldContent, grip+", "+grip)
		m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id})
		equal(t, "the text stays", m.Content, grip)
		equal(t, "the context is new", any(object(m.Context)), asJSON(t, object{"i": 2}))
	}},
	{"UpdateKeepsTheID", func(t *testing.T, s robotmem.Service) {
		id := learn(t, s, grip, object{"i": 1})
		old := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id})
		res := do(t, s.Update, &robotmem.UpdateRequest{MemoryID: id, NewContent: " the arm must never exceed 15 N "})
		if res.Status != "updated" || res.MemoryID != id || res.Version != 2 || res.OldContent != grip ||
			res.NewContent != "the arm must never exceed 15 N" || res.AutoInferred.Category != "constraint" {
			t.Errorf("got %+v", res)
		}
		m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id})
		if m.Content != "the arm must never exceed 15 N" || m.UID != old.UID || m.Category != "constraint" ||
			m.Version != 2 || m.Status != "active" {
			t.Errorf("got %+v", m)
		}
		equal(t, "context is kept", any(object(m.Context)), asJSON(t, object{"i": 1}))
		equal(t, "the old words", recalled(t, s, &robotmem.RecallRequest{Query: "wet glass"}), []int64{})
		equal(t, "the new words", recalled(t, s, &robotmem.RecallRequest{Query: "exceed"}), []int64{id})
		res = do(t, s.Update,
			&robotmem.UpdateRequest{MemoryID: id, NewContent: "third", Context: robotmem.Object{"i": 3}})
		equal(t, "version", res.Version, 3)
		equal(t, "context is replaced", any(object(do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}).Context)),
			asJSON(t, object{"i": 3}))
		refused(t, s.Update, &robotmem.UpdateRequest{MemoryID: id, NewContent: " "}, robotmem.Invalid, "new_content")
		refused(t, s.Update, &robotmem.UpdateRequest{MemoryID: id, NewContent: strings.Repeat("x", 16385)},
			robotmem.TooLarge, "new_content")
	}},
	{"UpdatedTextIsWhatDuplicatesAreMeasuredBy", func(t *testing.T, s robotmem.Service) {
		id := learn(t, s, grip, nil)
		do(t, s.Update, &robotmem.UpdateRequest{MemoryID: id, NewContent: "the camera is calibrated"})
		if res := do(t, s.Learn, &robotmem.LearnRequest{Insight: "the camera is calibrated"}); res.Status != "duplicate" ||
			res.ExistingID != id {
			t.Errorf("got %+v, want a duplicate of %d", res, id)
		}
		learn(t, s, grip, nil)
	}},
	{"HistoryHoldsEveryState", func(t *testing.T, s robotmem.Service) {
		id := learn(t, s, "first", object{"i": 1})
		do(t, s.Update, &robotmem.UpdateRequest{MemoryID: id, NewContent: "second"})
		do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: id, Reason: "no longer so"})
		do(t, s.Restore, &robotmem.MemoryRequest{MemoryID: id})
		res := do(t, s.History, &robotmem.MemoryRequest{MemoryID: id})

		got := ""
		for i, v := range res.Versions {
			got += fmt.Sprintf("%s %s %s %s; ", v.Content, v.Status, v.Change, v.Reason)
			if last := i == len(res.Versions)-1; (v.To == nil) != last {
				t.Errorf("state %d ends %v", i, v.To)
			}
			if i > 0 && !v.From.Equal(*res.Versions[i-1].To) {
				t.Errorf("state %d begins %v, the one before ends %v", i, v.From, res.Versions[i-1].To)
			}
		}
		equal(t, "states", got,
			"first active updated ; second active forgotten no longer so; second invalidated restored ; second active  ; ")
		equal(t, "context", any(object(res.Versions[0].Context)), asJSON(t, object{"i": 1}))
	}},
	{"AsOfAnswersAsBelievedThen", func(t *testing.T, s robotmem.Service) {
		moment := func() *time.Time {
			time.Sleep(tick)
			now := time.Now()
			time.Sleep(tick)
			return &now
		}
		before := moment()
		id := learn(t, s, "the door opens inwards", object{"i": 1})
		gone := learn(t, s, "the lift is broken", object{"i": 2})
		first := moment()
		do(t, s.Update,
			&robotmem.UpdateRequest{
				MemoryID: id, NewContent: "the door opens outwards", Context: robotmem.Object{"i": 3},
			})
		do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: gone, Reason: "mended"})

		second := moment()
		for name, tt := range map[string]struct {
			r    robotmem.RecallRequest
			want []int64
		}{
			"before all":             {robotmem.RecallRequest{Query: "door", AsOf: before}, []int64{}},
			"old words then":         {robotmem.RecallRequest{Query: "inwards", AsOf: first}, []int64{id}},
			"new words then":         {robotmem.RecallRequest{Query: "outwards", AsOf: first}, []int64{}},
			"old words later":        {robotmem.RecallRequest{Query: "inwards", AsOf: second}, []int64{}},
			"new words later":        {robotmem.RecallRequest{Query: "outwards", AsOf: second}, []int64{id}},
			"forgotten, but not yet": {robotmem.RecallRequest{Query: "lift", AsOf: first}, []int64{gone}},
			"forgotten by then":      {robotmem.RecallRequest{Query: "lift", AsOf: second}, []int64{}},
			"the old context then": {
				robotmem.RecallRequest{ContextFilter: robotmem.Object{"i": 1}, AsOf: first}, []int64{id},
			},
			"the new context not then": {
				robotmem.RecallRequest{ContextFilter: robotmem.Object{"i": 3}, AsOf: first}, []int64{},
			},
			"the new context later": {
				robotmem.RecallRequest{ContextFilter: robotmem.Object{"i": 3}, AsOf: second}, []int64{id},
			},
			"without as_of, as of now ": {robotmem.RecallRequest{Query: "inwards lift"}, []int64{}},
		} {
			equal(t, name, recalled(t, s, &tt.r), tt.want)
		}

		res := recall(t, s, &robotmem.RecallRequest{Query: "inwards", AsOf: first})
		if len(res.Memories) == 1 && res.Memories[0].Content != "the door opens inwards" {
			t.Errorf("content %q, want what was believed then", res.Memories[0].Content)
		}
	}},
}
