package robotmemtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Lists of what a dashboard shows, on a file.
func TestLists(t *testing.T) {
	for _, c := range listCases {
		t.Run(c.name, func(t *testing.T) {
			e, err := local.Open(t.Context(), t.TempDir()+"/memory.db", local.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			c.run(t, e)
		})
	}
}

var listCases = []testCase{
	{"SessionsAreFilteredAndSorted", func(t *testing.T, s robotmem.Service) {
		var id []string
		name := map[string]string{}
		for i, e := range []struct {
			ctx     robotmem.Object
			outcome *float64
		}{
			{robotmem.Object{"robot": object{"id": "arm-7"}, "task": object{"name": "hold glass"}, "spatial": object{"position": []any{2, 1}, "room": "Kitchen"}}, new(0.0)},
			{robotmem.Object{"robot": "amr-2", "task": "climb ramp"}, new(0.9)},
			{robotmem.Object{"robot": object{"name": "arm-7"}, "task": object{"type": "climb ramp"}, "spatial": object{"position": []any{1, 1}}}, new(0.5)},
			{nil, nil},
		} {
			session := do(t, s.StartSession, &robotmem.StartSessionRequest{Context: e.ctx}).SessionID
			do(t, s.EndSession, &robotmem.EndSessionRequest{SessionID: session, OutcomeScore: e.outcome})
			id, name[session] = append(id, session), string(rune('a'+i))
		}
		list := func(r robotmem.SessionsRequest) (out string) {
			t.Helper()
			res := do(t, s.Sessions, &r)
			for _, e := range res.Sessions {
				out += name[e.SessionID]
			}
			equal(t, "total", res.Total, int64(len(out)))
			return out
		}
		day := time.Now().Add(24 * time.Hour)
		for want, r := range map[string]robotmem.SessionsRequest{
			"ca": {Robot: "arm-7"}, "cb": {Task: "climb ramp"}, "a": {Words: "kitchen"}, "": {After: &day},
			"dcba": {Before: &day}, "acbd": {Sort: "outcome"}, "bcad": {Sort: "robot"},
		} {
			equal(t, fmt.Sprintf("%+v", r), list(r), want)
		}
		equal(t, "by place", list(robotmem.SessionsRequest{Sort: "place"}), "cadb")
		equal(t, "by task", list(robotmem.SessionsRequest{Sort: "task"}), "cbad")
		for outcome, want := range map[string]string{"failure": "a", "success": "b", "partial": "c", "unknown": "d"} {
			equal(t, outcome, list(robotmem.SessionsRequest{Outcome: outcome}), want)
		}
		page := do(t, s.Sessions, &robotmem.SessionsRequest{Sort: "robot", Limit: 3, Page: 2})
		equal(t, "second page", []string{page.Sessions[0].SessionID, page.Next}, []string{id[3], ""})

		// An episode that does not know its task is found by what its facts say.
		told := start(t, s, "")
		noted(t, s, told, "the wet GLASS slipped at 9 N", object{"task": object{"name": "pick", "success": false}})
		name[told] = "e"
		gone := created(t, s, &robotmem.LearnRequest{Insight: "the steel plate slipped", SessionID: told, Context: robotmem.Object{"task": "carry"}})
		do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: gone, Reason: "it was another arm"})
		end(t, s, told)
		for want, r := range map[string]robotmem.SessionsRequest{"e": {Task: "pick"}, "": {Task: "carry"}, "cb": {Task: "climb ramp"}} {
			equal(t, fmt.Sprintf("%+v", r), list(r), want)
		}
		equal(t, "by the words of a fact", list(robotmem.SessionsRequest{Words: "wet glass"}), "e")
		equal(t, "by the words of a forgotten fact", list(robotmem.SessionsRequest{Words: "steel plate"}), "")
	}},
	{"Incidents", func(t *testing.T, s robotmem.Service) {
		task := object{"task": object{"name": "hold glass"}, "robot": object{"id": "arm-7"}}
		said := object{"task": object{"name": "hold glass", "success": false}, "robot": object{"id": "arm-7"}, "spatial": object{"position": []any{1.0, 2.0}}}
		var episodes []string
		for _, text := range []string{"wet glass slipped at 9.0 N", "wet glass slipped at 8.5 N"} {
			session := do(t, s.StartSession, &robotmem.StartSessionRequest{Context: task}).SessionID
			noted(t, s, session, text, said)
			do(t, s.EndSession, &robotmem.EndSessionRequest{SessionID: session, OutcomeScore: new(0.1)})
			episodes = append(episodes, session)
		}
		silent := start(t, s, "")
		do(t, s.EndSession, &robotmem.EndSessionRequest{SessionID: silent, OutcomeScore: new(0.0)})
		alone := learn(t, s, "the drawer jammed", object{"task": object{"success": false}})
		good := start(t, s, "")
		do(t, s.EndSession, &robotmem.EndSessionRequest{SessionID: good, OutcomeScore: new(0.9)})

		all := do(t, s.Incidents, &admin.IncidentsRequest{})
		equal(t, "incidents", all.Total, 4)
		equal(t, "robots", all.Robots, []string{"arm-7"})
		equal(t, "repeated", []int{len(all.Groups), all.Groups[0].Count, all.Groups[0].Open}, []int{1, 2, 2})
		second := do(t, s.Incidents, &admin.IncidentsRequest{SessionID: episodes[1]}).Incidents[0]
		equal(t, "of an episode", []any{second.Robot, second.Task, second.Said, second.Repeats, fmt.Sprint(second.Place)}, []any{"arm-7", "hold glass", "wet glass slipped at 8.5 N", 2, "map[position:[1 2]]"})
		equal(t, "by place", do(t, s.Incidents, &admin.IncidentsRequest{Sort: "place"}).Incidents[1].Place != nil, true)
		equal(t, "pages", len(do(t, s.Incidents, &admin.IncidentsRequest{Limit: 3, Page: 2}).Incidents), 1)
		equal(t, "no such page", do(t, s.Incidents, &admin.IncidentsRequest{Page: 9}).Incidents, []admin.Incident{})
		learn(t, s, "dry the glass first", object{"resolves": object{"session_id": episodes[1]}})
		learn(t, s, "oil the drawer", object{"resolves": object{"memory_id": alone}})
		equal(t, "open", do(t, s.Incidents, &admin.IncidentsRequest{Resolved: new(false)}).Total, 2)
		equal(t, "lesson", do(t, s.Incidents, &admin.IncidentsRequest{MemoryID: alone}).Incidents[0].Resolved.Lesson, "oil the drawer")
		refused(t, s.Incidents, &admin.IncidentsRequest{Sort: "colour"}, robotmem.Invalid, "sort", "")
	}},
}
