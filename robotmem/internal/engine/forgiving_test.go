package engine

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// recallJSON runs a recall that is given as JSON.
func recallJSON(t *testing.T, e *Engine, request string) *robotmem.RecallResponse {
	t.Helper()
	res, err := robotmem.OpByName("recall").Call(t.Context(), e, json.RawMessage(request))
	if err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	return res.(*robotmem.RecallResponse)
}

// The zone of the node decides what a date and a word for a time mean, also in a query.
func TestTimesAreOfTheNodesZone(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("UTC+9", 9*3600)
	now := time.Date(2026, 3, 11, 1, 0, 0, 0, zone) // still the tenth in UTC
	e := openTest(t, Options{Clock: func() time.Time { return now }, Location: zone})
	for _, at := range []time.Time{now.Add(-30 * time.Minute), now.Add(-2 * time.Hour), now.AddDate(0, -10, 0)} {
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the gripper slipped in may 2019", Context: robotmem.Object{"at": at.String()}, ObservedAt: &at}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		request string
		want    []int64
		note    string
	}{
		{`{"query":"slipped","after":"today"}`, []int64{1}, ""},
		{`{"query":"slipped","after":"2026-03-10","before":"2026-03-11"}`, []int64{2}, ""},
		{`{"query":"what slipped today?"}`, []int64{1}, ""},
		{`{"query":"what slipped yesterday?"}`, []int64{2}, ""},
		{`{"query":"slipped yesterday","parse_time":false}`, []int64{1, 2, 3}, ""},
		{`{"query":"anything interesting yesterday"}`, []int64{2}, `time: no memory has the words "anything interesting"; these are the memories of "yesterday"`},
		{`{"query":"slipped last week"}`, []int64{1, 2, 3}, `time: no memory of "last week" has a word of the question; the answer is from all times`},
		{`{"query":"slipped in May 2019"}`, []int64{1, 2, 3}, `time: no memory of "in May 2019" has a word of the question; the answer is from all times`},
		{`{"query":"slipped 在 2000 年之前"}`, []int64{1, 2, 3}, ""}, // read as 2,000 years ago, which no memory can be
		{`{"query":"slipped in May 2019","parse_time":true}`, []int64{1, 2, 3}, "time: no memory of"},
	} {
		res := recallJSON(t, e, tt.request)
		got := idsOf(res.Memories)
		slices.Sort(got)
		if !slices.Equal(got, tt.want) || !strings.Contains(strings.Join(res.Notes, "; "), tt.note) {
			t.Errorf("%s: got %v %q, want %v %q", tt.request, got, res.Notes, tt.want, tt.note)
		}
	}
}

func TestEmptyAnswersSayWhy(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for i, text := range []string{"grip holds", "lens fogs", "door sticks"} {
		context := robotmem.Object{"i": i}
		if i == 0 {
			context["p"] = map[string]any{"grip_force": "12 N", "wet": true, "task": "Load Lathe"}
		}
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: text, Tags: []string{"t" + text[:1]}, Context: context}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{SessionID: "quiet"}); err != nil {
		t.Fatal(err)
	}
	for request, want := range map[string]string{
		`{"query":"x","category":"gotchas"}`:                                "category gotchas: no memory passes; there are observation",
		`{"query":"x","tags":["tg","tl"]}`:                                  "tags tg tl: no memory passes",
		`{"query":"x","collection":"arm9"}`:                                 "collection: arm9 is empty, other collections hold 3 memories; use * for all",
		`{"query":"x","context_filter":{"j":1}}`:                            "context_filter: no memory has j",
		`{"query":"x","context_filter":{"i":7}}`:                            "context_filter: no memory passes",
		`{"query":"x","context_filter":{"i":"0,5"}}`:                        `context_filter: "0,5" at i is no number and no quantity (did you mean "0.5"?); i is stored in numbers`,
		`{"query":"x","context_filter":{"i":{"$lt":"5 N"}}}`:                "context_filter: the numbers at i have no unit; compare with a number without one, not with N",
		`{"query":"x","context_filter":{"gripforce":9}}`:                    "context_filter: no memory has gripforce; did you mean p.grip_force?",
		`{"query":"x","context_filter":{"p.grip_force":"2 kg"}}`:            "context_filter: p.grip_force is stored in N, and kg is no unit of the same kind",
		`{"query":"x","context_filter":{"p.wet":"yes"}}`:                    `context_filter: p.wet is true or false, and "yes" is a text; write true or false without quotes`,
		`{"query":"x","context_filter":{"$and":[{"p.task":"load lathe"}]}}`: `context_filter: no memory has "load lathe" at p.task; did you mean "Load Lathe"?`,
		`{"query":"x","context_filter":{"p.task":"mill"}}`:                  `context_filter: no memory has "mill" at p.task; there are Load Lathe`,
		`{"session_id":"quiet","collection":"default"}`:                     "session_id: no memory passes; the episode has none",
		`{"query":"grip","tags":["tg"],"context_filter":{"i":{"$gte":1}}}`:  "filters: no memory passes all; of 3 pass tags tg 1, context_filter 2",
		`{"query":"unrelated"}`:                                             "unknown: no memory has any of the words unrelated",
		`{"query":"x","perception_type":"lidar"}`:                           "perception_type spatial: no memory passes",
		`{"query":"x","before":"2000-01-01"}`:                               "time: no memory passes; none was observed then",
		`{"spatial_sort":{"field":"spatial.position","target":[1,2]}}`:      "spatial_sort: no memory has coordinates at spatial.position",
	} {
		res := recallJSON(t, e, request)
		if got := strings.Join(res.Notes, "; "); len(res.Memories) > 0 || !strings.HasPrefix(got, want) || len(res.Degraded) > 0 {
			t.Errorf("%s: got %d memories and %q, want %q", request, len(res.Memories), got, want)
		}
	}
}

// A filter is answered by what passes it, also if nothing shares a word with the question.
func TestAFilterAnswersWithoutAWord(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for i := range 3 {
		learnWith(t, e, "grip holds", robotmem.Object{"i": i, "task": map[string]any{"name": "load mill"}})
	}
	res := recallJSON(t, e, `{"query":"unrelated","context_filter":{"i":{"$gte":1}}}`)
	if got := idsOf(res.Memories); !slices.Equal(got, []int64{2, 3}) || !named(res.Notes, "no memory that passes the filters shares a word") {
		t.Errorf("got %v %q, want what passes the filter", got, res.Notes)
	}
	// What stands in the context is found by words.
	if res = recallJSON(t, e, `{"query":"load mill"}`); len(res.Memories) != 3 {
		t.Errorf("load mill finds %d memories, want 3", len(res.Memories))
	}
}

func TestTypeOfAPerceptionFollowsItsData(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	npy := "{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976, 3), }"
	npy = "\x93NUMPY\x01\x00" + string(rune(len(npy))) + "\x00" + npy
	for _, tt := range []struct{ data, mediaType, want, summary string }{
		{"RIFF\x2c\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00\x80>\x00\x00\x02\x00\x10\x00data\x08\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00", "", "auditory", ""},
		{"\x89PNG\r\n\x1a\n\x00", "", "visual", "not read: "},
		{"# .PCD v0.7\nVERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 1\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 1\nDATA ascii\n0 0 0\n", "", "spatial", ""},
		{"fx,fy,fz,tx,ty,tz\n0,0,1,0,0,0\n0,0,2,0,0,0\n", "", "tactile", ""},
		{"t,current\n0,1\n1,2\n", "", "proprioceptive", ""},
		{"the glass was wet", "", "procedural", ""},
		{npy, "", "visual", "the .npy shape is larger than any array that is read here"},
		{"\x00\x01\xff", "", "visual", ""},
	} {
		res, err := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "what was seen", MediaType: tt.mediaType, DataBase64: []byte(tt.data)})
		if err != nil {
			t.Fatal(err)
		}
		if res.PerceptionType != tt.want || !strings.Contains(res.Summary, tt.summary) {
			t.Errorf("%.20q: got %s, %q, want %s, %q", tt.data, res.PerceptionType, res.Summary, tt.want, tt.summary)
		}
	}
}

func TestOwnSessionIDs(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for i, tt := range []struct{ id, collection, origin, want string }{
		{"任务/7 a", "arm", "", "started 任务/7 a in arm"},
		{"任务/7 a", "", "", "continued 任务/7 a in arm"},
		{"任务/7 a", "leg", "", `start_session: collection: is "leg", but the session "任务/7 a" is open in "arm"; leave collection out, or choose another session_id`},
		{"b", "", "o", "started b in default"},
		{"", "", "o", "continued b in default"},
		{"c", "", "o", `start_session: session_id: is "c", but the session of this origin is "b"; give one of session_id and origin`},
		{"..", "", "", "start_session: session_id: must be 1 to 128 characters"},
		{"a\nb", "", "", "start_session: session_id: must be 1 to 128 characters"},
		{strings.Repeat("x", 129), "", "", "start_session: session_id: must be 1 to 128 characters"},
	} {
		got := ""
		if res, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{SessionID: tt.id, Collection: tt.collection, Origin: tt.origin}); err != nil {
			got = err.Error()
		} else {
			got = res.Status + " " + res.SessionID + " in " + res.Collection
		}
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%d: got %s, want %s", i, got, tt.want)
		}
	}
}

// callJSON runs an operation with a request in JSON.
func callJSON[Response any](t *testing.T, e *Engine, op, request string) *Response {
	t.Helper()
	res, err := robotmem.OpByName(op).Call(t.Context(), e, json.RawMessage(request))
	if err != nil {
		t.Fatalf("%s %s: %v", op, request, err)
	}
	return res.(*Response)
}

// What obvious calls store is what obvious questions find.
func TestForgivingCallsFindEachOther(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for i, request := range []string{
		`{"insight":"glass held by the rim","success":true,"params":{"force":"12 N"},"position":"x=1 y=2","robot":"arm7","category":"grip"}`,
		`{"insight":"glass fell at the rim","outcome":"掉落","params":{"force":"31 N"},"position":[8,9],"robot":{"name":"arm8"},"task":"pick"}`,
		`{"insight":"cup in between","outcome":"2/4","params":{"force":"20 N"},"location":{"x":1,"y":3}}`,
		`{"insight":"a bowl, and nobody looked","outcome":"purple"}`,
	} {
		res := callJSON[robotmem.LearnResponse](t, e, "learn", request)
		if want := []string{robotmem.OutcomeSuccess, robotmem.OutcomeFailure, robotmem.OutcomePartial, robotmem.OutcomeUnknown}[i]; res.AutoInferred.Outcome != want || len(res.Interpreted) == 0 {
			t.Errorf("%s: got %s %q, want %s and remarks", request, res.AutoInferred.Outcome, res.Interpreted, want)
		}
	}
	callJSON[robotmem.SavePerceptionResponse](t, e, "save_perception", `{"description":"force while it slipped","outcome":"failed","task":"pick","data":"data:text/csv;base64,dCxmegowLDEKMSwyCg=="}`)

	for _, tt := range []struct {
		request string
		want    []int64
	}{
		{`{"outcome":"worked"}`, []int64{1}},
		{`{"outcome":["slipped","partial"]}`, []int64{2, 3, 5}},
		{`{"success":false,"type":"fact"}`, []int64{2}},
		{`{"outcome":"purple"}`, nil},
		{`{"query":"rim","robot":"arm7"}`, []int64{1}},
		{`{"robot":"arm8"}`, []int64{2}},
		{`{"filter":{"params.force":"<15 N"}}`, []int64{1}},
		{`{"filter":{"params.force":"12..20 N"}}`, []int64{1, 3}},
		{`{"near":[1,2],"radius":"1.5 m"}`, []int64{1, 3}},
		{`{"position":{"x":8,"y":9},"max_distance":1}`, []int64{2}},
		{`{"tags":"grip","days":1,"n":500,"sort":"newest"}`, []int64{1}},
		{`{"filter":{"task":"pick"}}`, []int64{2, 5}},
	} {
		res := recallJSON(t, e, tt.request)
		got := idsOf(res.Memories)
		slices.Sort(got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v %q %q, want %v", tt.request, got, res.Interpreted, res.Notes, tt.want)
		}
	}
}

func TestForgivingChanges(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	learnWith(t, e, "grip holds", robotmem.Object{"i": 1})

	updated := callJSON[robotmem.UpdateResponse](t, e, "update", `{"memory_id":"#1","context":{"i":2},"outcome":"slipped"}`)
	if updated.NewContent != "grip holds" || updated.AutoInferred.Outcome != robotmem.OutcomeFailure {
		t.Errorf("update: got %+v", updated)
	}
	if m := callJSON[robotmem.Memory](t, e, "get", `{"ids":["#1"]}`); m.Content != "grip holds" || m.Version != 2 {
		t.Errorf("get: got %+v", m)
	}
	if _, err := robotmem.OpByName("update").Call(t.Context(), e, json.RawMessage(`{"memory_id":1}`)); err == nil || !strings.Contains(err.Error(), "update: new_content: is required") {
		t.Errorf("update without a text and a context: got %v", err)
	}

	episode := callJSON[robotmem.StartSessionResponse](t, e, "start_session", `{"task":"pick","robot_id":"arm7"}`).SessionID
	ended := callJSON[robotmem.EndSessionResponse](t, e, "end_session", `{"session_id":"`+episode+`","success":true,"summary":"it held"}`)
	if !named(ended.Interpreted, "summary: not stored") {
		t.Errorf("end_session: got %q", ended.Interpreted)
	}
	found := callJSON[robotmem.SessionsResponse](t, e, "sessions", `{"robot":"arm7","task":"pick","outcome":"worked"}`)
	if len(found.Sessions) != 1 || *found.Sessions[0].OutcomeScore != 1 {
		t.Errorf("sessions: got %+v", found.Sessions)
	}

	if gone := callJSON[robotmem.ForgetResponse](t, e, "forget", `{"id":"#1"}`); gone.Reason != "not given" {
		t.Errorf("forget: got %+v", gone)
	}
}
