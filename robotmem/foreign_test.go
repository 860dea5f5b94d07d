package robotmem_test

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// surveyed is a Service with a clock and coordinates at some paths.
type surveyed struct {
	zoned
	fields []string
}

func (s surveyed) LocalNow() time.Time { return s.zoned.LocalNow() }

func (s surveyed) Places(context.Context, *robotmem.PlacesRequest) (*admin.PlacesResponse, error) {
	res := &admin.PlacesResponse{}
	for _, path := range s.fields {
		res.Fields = append(res.Fields, admin.PlaceField{Field: path})
	}
	return res, nil
}

// decoded decodes a request and returns it as JSON, with the remarks on how it was read.
func decoded(t *testing.T, s robotmem.Service, op, request string) (got, notes string, err error) {
	t.Helper()
	o := robotmem.OpByName(op)
	req := reflect.New(o.In).Interface()
	interpreted, err := o.Decode(t.Context(), s, json.RawMessage(request), req)
	if err != nil {
		return "", "", err
	}

	data, err := robotmem.EncodeJSON(req)
	if err != nil {
		t.Fatalf("%s %s: %v", op, request, err)
	}
	return string(data), strings.Join(interpreted, "; "), nil
}

// Calls that a language model would obviously write are taken, and the answer says how.
func TestForgivingObviousCalls(t *testing.T) {
	const ago3 = `"2026-11-19T15:00:00+02:00"`
	for _, tt := range []struct{ op, request, want, note string }{
		// The outcome, in other words.
		{"learn", `{"insight":"x","outcome":"worked"}`, `"outcome":"success"`, `outcome: "worked" taken as success`},
		{"learn", `{"insight":"x","outcome":"slipped"}`, `"outcome":"failure"`, `outcome: "slipped" taken as failure`},
		{"learn", `{"insight":"x","outcome":"Success"}`, `"outcome":"success"`, `taken as success`},
		{"learn", `{"insight":"x","outcome":true}`, `"outcome":"success"`, `outcome: true taken as success`},
		{"learn", `{"insight":"x","outcome":false}`, `"outcome":"failure"`, `outcome: false taken as failure`},
		{"learn", `{"insight":"x","outcome":0.4}`, `"outcome":"partial"`, `outcome: 0.4 taken as partial`},
		{"learn", `{"insight":"x","outcome":0.2}`, `"outcome":"failure"`, `outcome: 0.2 taken as failure`},
		{"learn", `{"insight":"x","outcome":"0.9"}`, `"outcome":"success"`, `taken as success`},
		{"learn", `{"insight":"x","outcome":"3/5"}`, `"outcome":"partial"`, `outcome: "3/5" taken as partial`},
		{"learn", `{"insight":"x","outcome":"60 %"}`, `"outcome":"partial"`, `taken as partial`},
		{"learn", `{"insight":"x","outcome":"purple"}`, `{"insight":"x"}`, `outcome: "purple" states no outcome and is ignored; give success, failure, partial or unknown`},
		{"learn", `{"insight":"x","outcome":7}`, `{"insight":"x"}`, `outcome: "7" states no outcome and is ignored`},
		{"learn", `{"insight":"x","success":true}`, `"outcome":"success"`, `success: true taken as outcome success`},
		{"learn", `{"insight":"x","success":false,"outcome":"failure"}`, `"outcome":"failure"`, `success: false taken as outcome failure`},
		{"learn", `{"insight":"x","success":"maybe"}`, `{"insight":"x"}`, `success: "maybe" states no outcome and is ignored`},
		{"learn", `{"insight":"x","type":"failure"}`, `"outcome":"failure"`, `type: "failure" taken as outcome failure`},
		{"learn", `{"insight":"x","type":"fact"}`, `{"insight":"x"}`, `type: not needed, learn stores facts`},

		// The situation, beside the context.
		{"learn", `{"insight":"x","params":{"force":3}}`, `"context":{"params":{"force":3}}`, `params: stored at context.params`},
		{"learn", `{"insight":"x","parameters":"{\"force\":3}"}`, `"context":{"params":{"force":3}}`, `parameters: stored at context.params`},
		{"learn", `{"insight":"x","params":{"force":3},"context":{"params":{"speed":1}}}`, `"context":{"params":{"force":3,"speed":1}}`, `stored at context.params`},
		{"learn", `{"insight":"x","params":{"force":3.0},"context":{"params":{"force":3}}}`, `"context":{"params":{"force":3}}`, `stored at context.params`},
		{"learn", `{"insight":"x","position":[1,2,0]}`, `"context":{"spatial":{"position":[1,2,0]}}`, `position: stored at context.spatial.position`},
		{"learn", `{"insight":"x","position":"x=1.0 y=2.0"}`, `"spatial":{"position":[1.0,2.0]}`, `position: "x=1.0 y=2.0" taken as [1.0,2.0], stored at context.spatial.position`},
		{"learn", `{"insight":"x","location":{"x":1,"y":2}}`, `"spatial":{"position":{"x":1,"y":2}}`, `stored at context.spatial.position`},
		{"learn", `{"insight":"x","location":"kitchen"}`, `"context":{"location":"kitchen"}`, `location: no coordinates, stored at context.location`},
		{"learn", `{"insight":"x","pose":{"position":[1,2,0],"orientation":[0,0,0,1]}}`, `"spatial":{"pose":{"orientation":[0,0,0,1],"position":[1,2,0]}}`, `pose: stored at context.spatial.pose`},
		{"learn", `{"insight":"x","context":{"spatial":{"position":"x: 1, y: 2, z: 3"}}}`, `"spatial":{"position":[1,2,3]}`, `context.spatial.position: "x: 1, y: 2, z: 3" taken as [1,2,3]`},
		{"learn", `{"insight":"x","metadata":{"a":1},"task":"pick","robot":"arm7","env":{"wet":true},"spatial":{"frame_id":"map"}}`, `"context":{"env":{"wet":true},"metadata":{"a":1},"robot":{"id":"arm7"},"spatial":{"frame_id":"map"},"task":"pick"}`, `task: stored at context.task`},
		{"learn", `{"insight":"x","task":"pick","context":{"task":{"success":true}}}`, `"task":{"name":"pick","success":true}`, `task: stored at context.task.name`},
		{"learn", `{"insight":"x","category":"grip failure"}`, `"tags":["grip_failure"]`, `category: stored as the tag grip_failure; the category is read from the text`},
		{"learn", `{"insight":"x","category":"grip","tags":"wet"}`, `"tags":["wet","grip"]`, `category: stored as the tag grip`},
		{"learn_batch", `{"items":[{"insight":"x","success":true,"params":{"f":1}},{"insight":"y","outcome":"slipped"}]}`, `{"items":[{"insight":"x","context":{"params":{"f":1}},"outcome":"success"},{"insight":"y","outcome":"failure"}]}`, `items[0].params: stored at context.params; items[0].success: true taken as outcome success; items[1].outcome: "slipped" taken as failure`},

		// Perceptions.
		{"save_perception", `{"description":"a trace","success":false,"position":[1,2]}`, `"context":{"outcome":"failure","spatial":{"position":[1,2]}}`, `success: false stored at context.outcome as failure`},
		{"save_perception", `{"description":"a trace","outcome":"held","metadata":{"rate_hz":100}}`, `"metadata":{"rate_hz":100},"context":{"outcome":"success"}`, `outcome: "held" stored at context.outcome as success`},
		{"save_perception", `{"description":"a dot","data":"data:image/png;base64,` + png + `"}`, `"data_base64":"` + png + `","media_type":"image/png"`, `data: a data: URL, taken as bytes of image/png`},
		{"save_perception", `{"description":"a dot","data_base64":"data:image/png;base64,` + png + `"}`, `"data_base64":"` + png + `","media_type":"image/png"`, `taken as bytes of image/png`},
		{"save_perception", `{"description":"a note","data":"data:text/plain;charset=utf-8,wet%20glass"}`, `"data_base64":"d2V0IGdsYXNz","media_type":"text/plain"`, `data: a data: URL`},

		// Episodes.
		{"start_session", `{"task":"pick","robot":"arm7"}`, `"context":{"robot":{"id":"arm7"},"task":"pick"}`, `robot: stored at context.robot.id`},
		{"start_session", `{"task":{"name":"pick"},"robot_id":"arm7","robot":"the blue one"}`, `"context":{"robot":{"id":"arm7","name":"the blue one"},"task":{"name":"pick"}}`, `robot: stored at context.robot.name`},
		{"end_session", `{"session_id":"s","success":true,"summary":"all glasses held"}`, `"outcome":"success"`, `summary: not stored, an episode has no such field; learn it as a fact with this session_id; success: true taken as outcome success`},
		{"end_session", `{"session_id":"s","outcome":0.4}`, `"outcome_score":0.4,"outcome":"partial"`, `outcome: 0.4 taken as partial; outcome_score: taken from the outcome`},
		{"end_session", `{"session_id":"s","memory_scores":{"#12":"helped"},"used_memory_ids":["#7",8]}`, `"used_memory_ids":[7,8],"memory_scores":{"12":"helped"}`, `memory_scores: #12 taken as 12`},

		// Questions.
		{"recall", `{"query":"x","outcome":"failed"}`, `"context_filter":{"outcome":"failure"}`, `outcome: "failed" taken as context_filter {"outcome":"failure"}`},
		{"recall", `{"query":"x","success":true,"filter":{"wet":true}}`, `"context_filter":{"outcome":"success","wet":true}`, `success: true taken as context_filter {"outcome":"success"}`},
		{"recall", `{"query":"x","outcome":["failure","partial"]}`, `"context_filter":{"outcome":{"$in":["failure","partial"]}}`, `taken as context_filter`},
		{"recall", `{"query":"x","outcome":"purple"}`, `"context_filter":{"outcome":"purple"}`, `"purple" is no outcome and matches nothing; there are success, failure, partial and unknown`},
		{"recall", `{"query":"x","context_filter":{"outcome":"purple"}}`, `"context_filter":{"outcome":"purple"}`, `context_filter: "purple" is no outcome and matches nothing; there are success, failure, partial and unknown`},
		{"recall", `{"query":"x","context_filter":{"outcome":{"in":["slipped","partial"]}}}`, `{"outcome":{"$in":["failure","partial"]}}`, `context_filter: "slipped" at outcome taken as failure`},
		{"recall", `{"query":"x","robot":"arm7"}`, `"context_filter":{"$or":[{"robot.id":"arm7"},{"robot.name":"arm7"},{"robot":"arm7"}]}`, `robot: "arm7" taken as context_filter on robot.id, robot.name or robot`},
		{"recall", `{"query":"x","robot":"arm7","filter":{"$or":[{"a":1},{"b":2}]}}`, `"context_filter":{"$and":[{"$or":[{"a":1},{"b":2}]},{"$or":[{"robot.id":"arm7"}`, `robot: "arm7" taken as context_filter`},
		{"recall", `{"query":"x","days":3}`, `"after":` + ago3, `days: 3 taken as after 2026-11-19T15:00:00+02:00`},
		{"recall", `{"query":"x","days":"3 days"}`, `"after":` + ago3, `days: "3 days" taken as after`},
		{"recall", `{"query":"x","after":"3 days"}`, `"after":` + ago3, `after: "3 days" taken as 2026-11-19T15:00:00+02:00`},
		{"recall", `{"query":"x","since":"24h"}`, `"after":"2026-11-21T15:00:00+02:00"`, `after: "24h" taken as`},
		{"recall", `{"query":"x","time_range":["2026-11-01","2026-11-02"]}`, `"after":"2026-11-01T00:00:00+02:00","before":"2026-11-02T00:00:00+02:00"`, `time_range: taken as after 2026-11-01T00:00:00+02:00, before 2026-11-02T00:00:00+02:00`},
		{"recall", `{"query":"x","time_range":{"from":"yesterday","to":null}}`, `"after":"2026-11-21T00:00:00+02:00"}`, `time_range: taken as after 2026-11-21T00:00:00+02:00`},
		{"recall", `{"query":"x","timeRange":"yesterday"}`, `"after":"2026-11-21T00:00:00+02:00","before":"2026-11-22T00:00:00+02:00"`, `timeRange: taken as after`},
		{"recall", `{"query":"x","sort":"newest"}`, `{"query":"x"}`, `sort: not used, results are ordered by relevance; leave query out to get the newest first`},
		{"recall", `{"sort":"newest","filter":{"a":1}}`, `{"context_filter":{"a":1}}`, `sort: not needed, without a query the newest are first`},
		{"recall", `{"query":"x","n":500}`, `"n":100`, `n: 500 taken as 100, the most of one call`},
		{"recall", `{"near":[1,2]}`, `"spatial_sort":{"field":"spatial.position","target":[1,2]}`, `near: taken as spatial_sort; spatial_sort.target: taken from [1,2]; spatial_sort.field: not given, taken as spatial.position`},
		{"recall", `{"near":{"x":1,"y":2,"radius":3}}`, `"spatial_sort":{"field":"spatial.position","target":[1,2],"max_distance":3}`, `spatial_sort.field: not given, taken as spatial.position`},
		{"recall", `{"position":"x=1.0 y=2.0","radius":"3 m"}`, `"spatial_sort":{"field":"spatial.position","target":[1,2],"max_distance":3}`, `position: taken as spatial_sort; spatial_sort.target: taken from "x=1.0 y=2.0"`},
		{"recall", `{"position":[1,2],"max_distance":2}`, `"target":[1,2],"max_distance":2`, `max_distance: taken as spatial_sort.max_distance`},
		{"recall", `{"spatial_sort":{"target":"x=1 y=2"}}`, `"field":"spatial.position","target":[1,2]`, `spatial_sort.target: "x=1 y=2" taken as [1,2]`},
		{"recall", `{"context_filter":{"params.force":"<25"}}`, `{"params.force":{"$lt":25}}`, `context_filter: "<25" at params.force taken as {"$lt":25}`},
		{"recall", `{"context_filter":{"observed_at":{"gt":"2026-05-01"}}}`, `{"observed_at":{"$gt":"2026-05-01T00:00:00+02:00"}}`, `context_filter: "2026-05-01" at observed_at taken as 2026-05-01T00:00:00+02:00`},
		{"recall", `{"context_filter":{"observed_at":{"$lt":1700000000}}}`, `{"observed_at":{"$lt":"2023-11-14T22:13:20Z"}}`, `"1700000000" at observed_at taken as`},
		{"recall", `{"context_filter":{"observed_at":{"$lt":"15 N"}}}`, `{"observed_at":{"$lt":"15 N"}}`, ``},
		{"recall", `{"where":"params.force<15N"}`, `{"context_filter":{"params.force":{"$lt":"15N"}}}`, `where: taken as context_filter; context_filter: "params.force<15N" taken as {"params.force":{"$lt":"15N"}}`},
		{"recall", `{"context_filter":["params.force ~ 10 N","wet=true"]}`, `{"$and":[{"params.force":{"$gte":"9 N","$lte":"11 N"}},{"wet":{"$eq":true}}]}`, `"params.force ~ 10 N and wet=true" taken as {"$and":`},
		{"aggregate", `{"context_filter":"n>=3"}`, `{"n":{"$gte":3}}`, `taken as`},
		{"recall", `{"query":"x","context_filter":[]}`, `{"query":"x"`, ``},
		{"recall", `{"context_filter":{"params.force":">= 3 N"}}`, `{"params.force":{"$gte":"3 N"}}`, `taken as {"$gte":"3 N"}`},
		{"recall", `{"context_filter":{"params.force":"10..20"}}`, `{"params.force":{"$gte":10,"$lte":20}}`, `context_filter: "10..20" at params.force taken as {"$gte":10,"$lte":20}`},
		{"recall", `{"context_filter":{"params.force":"1.5 .. 20 N"}}`, `{"params.force":{"$gte":"1.5 N","$lte":"20 N"}}`, `taken as`},

		// One memory.
		{"get", `{"ids":[7]}`, `{"memory_id":7}`, `ids: taken as memory_id 7`},
		{"get", `{"memory_id":"#12"}`, `{"memory_id":12}`, `memory_id: "#12" taken as 12`},
		{"forget", `{"id":"#12","why":"wrong"}`, `{"memory_id":12,"reason":"wrong"}`, `memory_id: "#12" taken as 12`},
		{"forget", `{"memory_id":7}`, `{"memory_id":7,"reason":"not given"}`, `reason: stored as "not given"`},
		{"update", `{"memory_id":7,"context":{"a":1}}`, `{"memory_id":7,"new_content":"","context":{"a":1}}`, `new_content: not given, the text stays`},
		{"update", `{"memory_id":7,"context":{"a":1},"outcome":"slipped"}`, `"context":{"a":1,"outcome":"failure"}`, `outcome: "slipped" stored at context.outcome as failure`},

		// What is as the schema says keeps its meaning.
		{"learn", `{"insight":"x","outcome":"partial","tags":["a"],"context":{"params":{"limit":"<25"}}}`, `{"insight":"x","context":{"params":{"limit":"<25"}},"tags":["a"],"outcome":"partial"}`, ``},
		{"recall", `{"query":"x","context_filter":{"a":{"$eq":"<25"},"b":"<none>","c":"a..b","d":"..","e":"<"}}`, `{"a":{"$eq":"<25"},"b":"<none>","c":"a..b","d":"..","e":"<"}`, ``},
	} {
		got, notes, err := decoded(t, surveyed{fields: []string{"spatial.position", "spatial.target"}}, tt.op, tt.request)
		if err != nil {
			t.Errorf("%s %s: %v", tt.op, tt.request, err)
			continue
		}

		if !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: got\n\t%s, want\n\t%s", tt.op, tt.request, got, tt.want)
		}
		if !strings.Contains(notes, tt.note) || tt.note == "" && notes != "" {
			t.Errorf("%s %s: got notes\n\t%s, want\n\t%s", tt.op, tt.request, notes, tt.note)
		}
	}
}

// A meaning that is not clear is refused, and the error names the field and the next step.
func TestForgivingRefusesWhatIsNotObvious(t *testing.T) {
	for _, tt := range []struct{ op, request, field, text string }{
		{"learn", `{"insight":"x","succes":true}`, "succes", "did you mean success?"},
		{"learn", `{"insight":"x","colour":"red"}`, "colour", "unknown field; known are"},
		{"learn", `{"insight":"x","success":true,"outcome":"failure"}`, "success", "leave one out"},
		{"learn", `{"insight":"x","params":{"force":3},"context":{"params":{"force":4}}}`, "params", "context.params.force"},
		{"learn", `{"insight":"x","position":[1,2],"context":{"spatial":{"position":[3,4]}}}`, "position", "context.spatial.position"},
		{"learn", `{"insight":"x","params":{"f":1},"parameters":{"f":2}}`, "params", "names of the same field"},
		{"learn", `{"insight":"x","type":"perception"}`, "type", "save_perception"},
		{"start_session", `{"robot":"arm7","context":{"robot":{"id":"arm8"}}}`, "robot", "context.robot.id"},
		{"recall", `{"query":"x","outcome":{"a":1}}`, "outcome", "success, failure, partial or unknown"},
		{"recall", `{"query":"x","days":-3}`, "days", "between 0 and 36500"},
		{"recall", `{"query":"x","context_filter":"wet"}`, "context_filter", "has no operator; a condition is PATH=VALUE"},
		{"recall", `{"query":"x","context_filter":["a=1 and b=2"]}`, "context_filter", "give each by itself"},
		{"recall", `{"query":"x","context_filter":[1]}`, "context_filter", ""},
		{"recall", `{"query":"x","days":"3 weeks"}`, "days", "or give after"},
		{"recall", `{"query":"x","days":3,"after":"yesterday"}`, "days", "give one"},
		{"recall", `{"query":"x","time_range":["yesterday","the crash"]}`, "time_range", "must be"},
		{"recall", `{"query":"x","time_range":["today","yesterday"]}`, "time_range", "later"},
		{"recall", `{"query":"x","radius":3}`, "radius", "near"},
		{"recall", `{"position":"the kitchen"}`, "position", "must be numbers"},
		{"recall", `{"near":[1,2],"position":[1,2]}`, "position", "give one"},
		{"get", `{"ids":[1,2]}`, "ids", "call get for each"},
		{"learn", `{"insight":"x","category":["a"]}`, "category", "must be a text"},
		{"get", `{"memory_id":"#x"}`, "memory_id", "must be a whole number"},
		{"update", `{"memory_id":7,"outcome":"failure"}`, "outcome", "give context"},
		{"save_perception", `{"description":"a dot","data":"data:image/png;base64,%%%"}`, "data", "base64"},
	} {
		_, _, err := decoded(t, surveyed{fields: []string{"spatial.position"}}, tt.op, tt.request)
		e, ok := err.(*robotmem.Error)
		if !ok || e.Kind != robotmem.Invalid || e.Field != tt.field || !strings.Contains(e.Detail(), tt.text) {
			t.Errorf("%s %s: got %v, want %s: %s", tt.op, tt.request, err, tt.field, tt.text)
		}
	}
}

// Without a field, the path of the coordinates must be obvious.
func TestForgivingFieldOfAPlace(t *testing.T) {
	for _, tt := range []struct{ fields, want string }{
		{"", "spatial.position"},
		{"dock", "dock"},
		{"dock spatial.position", "spatial.position"},
		{"dock shelf", "recall: spatial_sort.field: is required: there are coordinates at dock, shelf"},
	} {
		req := &robotmem.RecallRequest{}
		_, err := robotmem.OpByName("recall").Decode(t.Context(), surveyed{fields: strings.Fields(tt.fields)}, json.RawMessage(`{"near":[1,2]}`), req)
		got := cmp.Or(req.SpatialSort, &robotmem.SpatialSort{}).Field
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("coordinates at %q: got %s, want %s", tt.fields, got, tt.want)
		}
	}
}

// Forms, queries and flags name fields as text.
func TestForgivingFieldsOfAQuery(t *testing.T) {
	raw, err := robotmem.OpByName("learn").Request(map[string][]string{"insight": {"x"}, "success": {"true"}, "position": {"[1,2]"}, "robot": {"arm7"}})
	if err != nil {
		t.Fatal(err)
	}

	got, _, err := decoded(t, zoned{}, "learn", string(raw))
	if want := `{"insight":"x","context":{"robot":{"id":"arm7"},"spatial":{"position":[1,2]}},"outcome":"success"}`; err != nil || got != want {
		t.Errorf("got %s %v, want %s", got, err, want)
	}
}

// No value of a field that is read in another way ends in a panic, and errors name a field.
func TestForgivingOddValues(t *testing.T) {
	for op, fields := range map[string]string{
		"learn":           "outcome success type category metadata params position pose location task robot robot_id env spatial context",
		"save_perception": "outcome success data data_base64 position robot context", "update": "outcome success context",
		"start_session": "task robot robot_id env", "end_session": "outcome success summary memory_scores", "get": "ids memory_id",
		"recall": "outcome success robot days time_range sort near position radius n context_filter after",
	} {
		for name := range strings.FieldsSeq(fields) {
			for _, value := range []string{
				`7`, `-1`, `1e400`, `true`, `""`, `" "`, `"x"`, `"{"`, `"[1,2"`, `"#"`, `"<"`, `"data:a/b;base64,"`, `[]`, `[null]`, `["a"]`, `["1","2"]`, `[[1]]`, `[1,"x"]`,
				`{}`, `{"a":null}`, `{"id":[1]}`, `{"x":1,"y":2}`, `{"outcome":{"$in":[{}]}}`, `{"spatial":"x=1 y=2"}`, `{"from":7}`, `null`,
			} {
				_, _, err := decoded(t, surveyed{}, op, `{"`+name+`":`+value+`}`)
				if e, ok := err.(*robotmem.Error); err != nil && (!ok || e.Field == "") {
					t.Errorf("%s %s %s: %v names no field", op, name, value, err)
				}
			}
		}
	}
}
