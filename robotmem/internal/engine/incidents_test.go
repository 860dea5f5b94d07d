package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Episodes that failed, failed facts outside of them, repetition, paging and what resolves them.
func TestIncidents(t *testing.T) {
	t.Parallel()
	e := openAt(t, t.TempDir()+"/memory.db", local.Options{})
	day := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	episode := func(at time.Time, outcome string, facts ...string) string {
		id := must(e.StartSession(t.Context(), &robotmem.StartSessionRequest{Context: robotmem.Object{"robot": map[string]any{"id": "arm-7"}, "task": map[string]any{"name": "hold glass"}, "spatial": map[string]any{"position": []any{1, 2}}}}))(t).SessionID
		for i, f := range facts {
			must(e.Learn(t.Context(), &robotmem.LearnRequest{Insight: f, SessionID: id, ObservedAt: new(at.Add(time.Duration(i) * time.Second)), Context: robotmem.Object{"attempt": i, "task": map[string]any{"name": "hold glass"}}}))(t)
		}
		trace := must(e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "force", PerceptionType: "tactile", MediaType: "text/csv", Data: "t,fz\n0,1\n1,9\n", SessionID: id, ObservedAt: new(at.Add(-time.Second))}))(t)
		must(e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "camera", PerceptionType: "visual", Data: "x", SessionID: id, ObservedAt: &at}))(t)
		must(e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: id, Outcome: outcome}))(t)
		return fmt.Sprint(id, " ", trace.MemoryID)
	}
	first := episode(day, "failure", "the wet glass slipped at 9.0 N")
	episode(day.AddDate(0, 0, 1), "success", "12.5 N held the wet glass")
	second := episode(day.AddDate(0, 0, 6), "failure", "approached from above", "the wet glass slipped at 8.5 N")
	silent := must(e.StartSession(t.Context(), &robotmem.StartSessionRequest{Collection: "other"}))(t).SessionID
	must(e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: silent, Outcome: "failure"}))(t)
	alone := must(e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the wheel stalled on the ramp", Outcome: "failure", ObservedAt: new(day.AddDate(0, 0, 2))}))(t).MemoryID

	list := func(r admin.IncidentsRequest) (out []string, res *admin.IncidentsResponse) {
		res = must(e.Incidents(t.Context(), &r))(t)
		for _, i := range res.Incidents {
			line := fmt.Sprintf("%s %s|%s|%s|%d of %s", i.Kind, i.Said, i.Robot, i.Task, i.Repeats, i.FirstAt.Format("02"))
			if i.Resolved != nil {
				line += "|" + i.Resolved.Lesson
			}
			out = append(out, line)
		}
		return out, res
	}
	got, res := list(admin.IncidentsRequest{Collection: "default"})
	want := []string{"session the wet glass slipped at 8.5 N|arm-7|hold glass|2 of 01", "memory the wheel stalled on the ramp|||1 of 03", "session the wet glass slipped at 9.0 N|arm-7|hold glass|1 of 01"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || res.Total != 3 {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for k, of := range map[int]string{0: second, 2: first} {
		if i := res.Incidents[k]; fmt.Sprint(i.SessionID, " ", i.PerceptionID) != of || i.PerceptionType != "tactile" || i.Place == nil {
			t.Errorf("%+v, want %s", i, of)
		}
	}
	if len(res.Groups) != 1 || res.Groups[0].Count != 2 || res.Groups[0].Open != 2 || res.Groups[0].Said != "the wet glass slipped at 8.5 N" {
		t.Errorf("groups %+v", res.Groups)
	}
	if got, _ := list(admin.IncidentsRequest{Collection: "other"}); len(got) != 1 || !strings.HasPrefix(got[0], "session |") {
		t.Errorf("an episode without memories: %q", got)
	}
	for want, r := range map[int]admin.IncidentsRequest{
		2: {Robot: "arm-7"}, 4: {Sort: "place"}, 1: {MemoryID: alone}, 0: {Task: "none"}, 3: {After: new(day.AddDate(0, 0, 1))},
	} {
		if got, res := list(r); len(got) != want || res.Total != want {
			t.Errorf("%+v: %q, want %d", r, got, want)
		}
	}
	if got, _ := list(admin.IncidentsRequest{Words: "RAMP"}); len(got) != 1 {
		t.Errorf("by words: %q", got)
	}
	if got, res := list(admin.IncidentsRequest{Limit: 2, Page: 2, Collection: "default"}); len(got) != 1 || res.Total != 3 {
		t.Errorf("the second page: %q", got)
	}

	learn := func(insight string, resolves robotmem.Object) {
		must(e.Learn(t.Context(), &robotmem.LearnRequest{Insight: insight, Context: robotmem.Object{"resolves": resolves}}))(t)
	}
	learn("wet glass slips below 12 N: grip with 12.5 N", robotmem.Object{"session_id": strings.Fields(second)[0]})
	learn("the ramp needs 2 A", robotmem.Object{"memory_id": alone})
	got, _ = list(admin.IncidentsRequest{Collection: "default"})
	if !strings.HasSuffix(got[0], "|wet glass slips below 12 N: grip with 12.5 N") || !strings.HasSuffix(got[1], "|the ramp needs 2 A") || len(got) != 3 || !strings.HasSuffix(got[2], "1 of 01") {
		t.Errorf("resolved: %q", got)
	}
	if got, _ := list(admin.IncidentsRequest{Collection: "default", Resolved: new(false)}); len(got) != 1 {
		t.Errorf("open: %q", got)
	}
	learn("always grip glass with 12.5 N", robotmem.Object{"group": res.Incidents[0].Group})
	if got, _ := list(admin.IncidentsRequest{Collection: "default", Resolved: new(false)}); len(got) != 0 {
		t.Errorf("open: %q", got)
	}
}
