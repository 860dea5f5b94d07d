package robotmemtest

import (
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

var forgivingCases = []testCase{
	{"SpellingsAreTakenAndNoted", func(t *testing.T, s robotmem.Service) {
		call(t, s, "start_session", `{"session_id":"run 7/a"}`)
		equal(t, "started twice",
			call(t, s, "start_session", `{"session_id":"run 7/a"}`).(*robotmem.StartSessionResponse).Status,
			"continued")
		learnt := call(t, s, "learn",
			`{"text":"grip held","tags":"wet","session":"run 7/a","observed_at":"yesterday","context":{"f":12,"p":[1,2]},"source":""}`).(*robotmem.LearnResponse)
		if len(learnt.Interpreted) != 5 {
			t.Errorf("learn: got notes %q, want 5", learnt.Interpreted)
		}

		for _, request := range []string{
			`{"query":"grip","limit":"5","tags":"wet","after":"2 days ago","before":"today"}`, `{"query":"grip","collection":"all"}`, `{"query":"grip","filter":{"f":{"gt":10}}}`,
			`{"spatial_sort":{"field":"p","target":"1, 2","max_distance":"3 m"}}`, `{"session_id":"run 7/a"}`, `{"query":"what gripped yesterday?"}`, `{"query":"who knows yesterday?"}`,
		} {
			if found := call(t, s, "recall", request).(*robotmem.RecallResponse); len(found.Memories) != 1 {
				t.Errorf("%s: got %d memories, %q, %q", request, len(found.Memories), found.Degraded, found.Interpreted)
			}
		}

		for request, why := range map[string]string{
			`{"query":"grip","tags":["dry"]}`: "tags dry: no memory passes", `{"query":"grip","category":"nothing"}`: "category nothing: no memory passes; there are", `{"query":"grip","after":"today"}`: "time: no memory passes",
		} {
			found := call(t, s, "recall", request).(*robotmem.RecallResponse)
			if len(found.Memories) > 0 || !strings.Contains(strings.Join(found.Notes, "; "), why) {
				t.Errorf("%s: got %q, want %q", request, found.Notes, why)
			}
		}

		seen := call(t, s, "save_perception",
			`{"description":"a trace","modality":"force","data":[[0,1.5],[1,2]]}`).(*robotmem.SavePerceptionResponse)
		equal(t, "a list as data", seen.PerceptionType+" "+seen.MediaType, "tactile application/json")
		call(t, s, "end_session", `{"id":"run 7/a","score":"0.5"}`)
		refused(t, s.StartSession, &robotmem.StartSessionRequest{SessionID: "run 7/a"}, robotmem.Conflict, "session_id",
			"stays ended")
	}},
	{"ObviousCallsAreTaken", func(t *testing.T, s robotmem.Service) {
		learnt := call(t, s, "learn",
			`{"insight":"glass held","success":true,"params":{"force":"12 N"},"position":"x=1 y=2","robot":"arm7"}`).(*robotmem.LearnResponse)
		equal(t, "outcome", learnt.AutoInferred.Outcome, robotmem.OutcomeSuccess)
		call(t, s, "learn",
			`{"insight":"glass fell","outcome":"slipped","params":{"force":"31 N"},"position":[8,9],"robot":"arm8"}`)

		for _, request := range []string{
			`{"outcome":"worked"}`, `{"robot":"arm7"}`, `{"near":[1,2],"radius":1}`, `{"filter":{"params.force":"<15 N"}}`, `{"query":"held","days":2,"n":500,"outcome":true}`,
		} {
			found := call(t, s, "recall", request).(*robotmem.RecallResponse)
			if len(found.Memories) != 1 || found.Memories[0].MemoryID != learnt.MemoryID ||
				len(found.Interpreted) == 0 {
				t.Errorf("%s: got %d memories, %q", request, len(found.Memories), found.Interpreted)
			}
		}
	}},
}
