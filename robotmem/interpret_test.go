package robotmem_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// zoned is a Service with a clock and the collection arm7 alone.
type zoned struct{ robotmem.Service }

func (zoned) LocalNow() time.Time {
	return time.Date(2026, 11, 22, 15, 0, 0, 0, time.FixedZone("", 2*3600))
}

func (zoned) Collections(context.Context, *admin.CollectionsRequest) (*admin.CollectionsResponse, error) {
	return &admin.CollectionsResponse{Collections: []admin.CollectionCount{{Collection: "arm7"}}}, nil
}

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func TestForgivingInput(t *testing.T) {
	for _, tt := range []struct{ op, request, want, notes string }{
		{"recall", `{"query":"x","n":"5"}`, `"n":5`, `n: "5" taken as 5`},
		{"recall", `{"query":"x","n":8.0}`, `"n":8`, `n: 8.0 taken as 8`},
		{"recall", `{"query":"x","n":" 8 "}`, `"n":8`, `n: " 8 " taken as 8`},
		{"recall", `{"query":"x","limit":5}`, `"n":5`, `limit: taken as n`},
		{"recall", `{"query":"x","top_k":"7"}`, `"n":7`, `top_k: taken as n; n: "7" taken as 7`},
		{"recall", `{"q":"x"}`, `"query":"x"`, `q: taken as query`},
		{"recall", `{"query":"x","contextFilter":{"i":1}}`, `"context_filter":{"i":1}`, `contextFilter: taken as context_filter`},
		{"recall", `{"query":"x","explain":"True"}`, `"explain":true`, `explain: "True" taken as true`},
		{"recall", `{"query":"x","min_confidence":"0.5"}`, `"min_confidence":0.5`, `min_confidence: "0.5" taken as 0.5`},
		{"recall", `{"query":"x","tags":"wet"}`, `"tags":["wet"]`, `tags: "wet" taken as ["wet"]`},
		{"recall", `{"query":"x","tags":"wet, glass"}`, `"tags":["wet","glass"]`, `tags: "wet, glass" taken as ["wet","glass"]`},
		{"recall", `{"query":"x","tags":"[\"wet\"]"}`, `"tags":["wet"]`, `tags: "[\"wet\"]" taken as ["wet"]`},
		{"recall", `{"query":"x","category":"","tags":"","after":"","spatial_sort":"","n":""}`, `{"query":"x"}`, `after, category, n, spatial_sort, tags: empty, taken as not given`},
		{"recall", `{"query":"x","after":null,"n":null}`, `{"query":"x"}`, ``},
		{"recall", `{"query":"x","after":"2026-03-01"}`, `"after":"2026-03-01T00:00:00+02:00"`, `after: "2026-03-01" taken as 2026-03-01T00:00:00+02:00`},
		{"recall", `{"query":"x","after":"2026-03-01 14:05"}`, `"after":"2026-03-01T14:05:00+02:00"`, `after: "2026-03-01 14:05" taken as 2026-03-01T14:05:00+02:00`},
		{"recall", `{"query":"x","after":"2026-03-01T14:05:01.5"}`, `"after":"2026-03-01T14:05:01.5+02:00"`, `after: "2026-03-01T14:05:01.5" taken as 2026-03-01T14:05:01+02:00`},
		{"recall", `{"query":"x","after":"2026-03-01 10:00:00Z"}`, `"after":"2026-03-01T10:00:00Z"`, `after: "2026-03-01 10:00:00Z" taken as 2026-03-01T10:00:00Z`},
		{"recall", `{"query":"x","after":"yesterday","before":"today"}`, `"after":"2026-11-21T00:00:00+02:00","before":"2026-11-22T00:00:00+02:00"`, `after: "yesterday" taken as 2026-11-21T00:00:00+02:00; before: "today" taken as 2026-11-22T00:00:00+02:00`},
		{"recall", `{"query":"x","since":"昨天"}`, `"after":"2026-11-21T00:00:00+02:00"`, `since: taken as after; after: "昨天" taken as 2026-11-21T00:00:00+02:00`},
		{"recall", `{"query":"x","after":"2 hours ago"}`, `"after":"2026-11-22T13:00:00+02:00"`, `after: "2 hours ago" taken as 2026-11-22T13:00:00+02:00`},
		{"recall", `{"query":"x","after":"last 3 days"}`, `"after":"2026-11-19T15:00:00+02:00"`, `after: "last 3 days" taken as 2026-11-19T15:00:00+02:00`},
		{"recall", `{"query":"x","after":"last week"}`, `"after":"2026-11-09T00:00:00+02:00"`, `after: "last week" taken as 2026-11-09T00:00:00+02:00`},
		{"recall", `{"query":"x","after":"since monday"}`, `"after":"2026-11-16T00:00:00+02:00"`, `after: "since monday" taken as 2026-11-16T00:00:00+02:00`},
		{"recall", `{"query":"x","as_of":"14:05"}`, `"as_of":"2026-11-22T14:05:00+02:00"`, `as_of: "14:05" taken as 2026-11-22T14:05:00+02:00`},
		{"learn", `{"insight":"x","observed_at":"now"}`, `"observed_at":"2026-11-22T15:00:00+02:00"`, `observed_at: "now" taken as 2026-11-22T15:00:00+02:00`},
		{"recall", `{"query":"x","collection":"all"}`, `"collection":"*"`, `collection: "all" taken as *`},
		{"learn", `{"insight":"x","collection":"all"}`, `"collection":"all"`, ``},
		{"recall", `{"query":"x","context_filter":{"params.f":{"gt":10,"lt":"15 N"}}}`, `"params.f":{"$gt":10,"$lt":"15 N"}`, `context_filter: gt at params.f taken as $gt; context_filter: lt at params.f taken as $lt`},
		{"recall", `{"query":"x","context_filter":"{\"$or\":[{\"f\":{\">=\":10}},{\"i\":{\"in\":[1,2]}}]}"}`, `{"$or":[{"f":{"$gte":10}},{"i":{"$in":[1,2]}}]}`, `context_filter: >= at f taken as $gte; context_filter: in at i taken as $in`},
		{"recall", `{"query":"x","context_filter":{"range":{"lt":5,"name":"a"},"b":{"in":3},"c":{"exists":1},"d":{"gt":{"x":1}},"e":{}}}`, `"context_filter":{"b":{"in":3},"c":{"exists":1},"d":{"gt":{"x":1}},"e":{},"range":{"lt":5,"name":"a"}}`, ``},
		{"recall", `{"query":"x","context_filter":{"f":{"$eq":{"gt":10}}}}`, `{"f":{"$eq":{"gt":10}}}`, ``},
		{"recall", `{"spatial_sort":{"field":"p","target":["1","2"],"max_distance":"3 m"}}`, `{"field":"p","target":[1,2],"max_distance":3}`, `spatial_sort.max_distance: "3 m" taken as 3; spatial_sort.target: ["1","2"] taken as [1,2]`},
		{"recall", `{"near":{"path":"p","position":"1, 2","radius":"30 cm"}}`, `{"field":"p","target":[1,2],"max_distance":0.3}`, `near: taken as spatial_sort; spatial_sort.path: taken as field; spatial_sort.position: taken as target; spatial_sort.target: "1, 2" taken as [1,2]; spatial_sort.radius: taken as max_distance; spatial_sort.max_distance: "30 cm" taken as 0.3`},
		{"recall", `{"query":"x","perception_type":"Camera","type":"Perceptions"}`, `"type":"perception","perception_type":"visual"`, `perception_type: "Camera" taken as visual; type: "Perceptions" taken as perception`},
		{"save_perception", `{"description":"a trace","perception_type":"force"}`, `"perception_type":"tactile"`, `perception_type: "force" taken as tactile`},
		{"save_perception", `{"description":"a trace","data":[[0,1.5],[1,2]]}`, `"data":"[[0,1.5],[1,2]]"`, `data: [[0,1.5],[1,2]] taken as text`},
		{"save_perception", `{"description":"a note","data":"data: 1, 2"}`, `"data":"data: 1, 2"`, ``},
		{"save_perception", `{"description":"a word","data":"QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE="}`, `"data":"QUFBQUFB`, ``},
		{"save_perception", `{"description":"no bytes","data_base64":""}`, `"data_base64":""`, ``},
		{"get", `{"id":"7"}`, `{"memory_id":7}`, `id: taken as memory_id; memory_id: "7" taken as 7`},
		{"update", `{"id":7,"content":"y"}`, `{"memory_id":7,"new_content":"y"}`, `content: taken as new_content; id: taken as memory_id`},
		{"learn", `{"text":"x"}`, `"insight":"x"`, `text: taken as insight`},
		{"end_session", `{"id":"s","score":"1","used_memory_ids":7}`, `{"session_id":"s","outcome_score":1,"used_memory_ids":[7]}`, `id: taken as session_id; score: taken as outcome_score; outcome_score: "1" taken as 1; used_memory_ids: 7 taken as [7]`},
		{"end_session", `{"session_id":"s","used_memory_ids":"7, 8"}`, `"used_memory_ids":[7,8]`, `used_memory_ids: "7, 8" taken as [7,8]`},
		{"learn_batch", `{"items":[{"text":"x"},{"insight":"y","tags":"a"}],"keep_duplicates":"yes"}`, `{"items":[{"insight":"x"},{"insight":"y","tags":["a"]}],"keep_duplicates":true}`, `keep_duplicates: "yes" taken as true; items[0].text: taken as insight; items[1].tags: "a" taken as ["a"]`},
	} {
		op := robotmem.OpByName(tt.op)
		req := newRequest(tt.op)
		notes, err := op.Decode(t.Context(), zoned{}, json.RawMessage(tt.request), req)
		if err != nil {
			t.Errorf("%s %s: %v", tt.op, tt.request, err)
			continue
		}
		got, err := json.Marshal(req)
		if err != nil || !strings.Contains(string(got), tt.want) {
			t.Errorf("%s %s: got %s %v, want %s", tt.op, tt.request, got, err, tt.want)
		}
		if got := strings.Join(notes, "; "); got != tt.notes {
			t.Errorf("%s %s: got notes\n\t%s, want\n\t%s", tt.op, tt.request, got, tt.notes)
		}
	}
}

func newRequest(op string) any {
	return map[string]any{
		"recall": &robotmem.RecallRequest{}, "learn": &robotmem.LearnRequest{}, "save_perception": &robotmem.SavePerceptionRequest{}, "get": &robotmem.MemoryRequest{},
		"update": &robotmem.UpdateRequest{}, "end_session": &robotmem.EndSessionRequest{}, "learn_batch": &robotmem.LearnBatchRequest{},
	}[op]
}

func TestInputThatIsRefused(t *testing.T) {
	for _, tt := range []struct{ op, request, want string }{
		{"recall", `{"query":"x","n":"five"}`, `recall: n: must be a whole number, not string "five"`},
		{"recall", `{"query":"x","n":2.5}`, `recall: n: must be a whole number, not number 2.5`},
		{"recall", `{"query":"x","n":1e300}`, `recall: n: must be a whole number, not number 1e300`},
		{"recall", `{"query":"x","n":5,"limit":6}`, `recall: n: limit and n are names of the same field; give one`},
		{"recall", `{"query":"x","colection":"y"}`, `recall: colection: unknown field; did you mean collection? known are`},
		{"recall", `{"query":"x","contxt_filter":{}}`, `did you mean context_filter?`},
		{"recall", `{"query":"x","zzz":1}`, `recall: zzz: unknown field; known are`},
		{"recall", `{"query":"x","insight":"y"}`, `recall: insight: unknown field; known are`},
		{"recall", `{"query":"x","after":"tomorrow"}`, `recall: after: must be a time such as 2026-03-01T14:05:00Z (RFC 3339), a date, or words such as yesterday`},
		{"recall", `{"query":"x","after":"11/03"}`, `recall: after: must be a time`},
		{"recall", `{"query":"x","after":"2026-02-30"}`, `recall: after: must be a time`},
		{"recall", `{"query":"x","after":17}`, `recall: after: must be a time`},
		{"recall", `{"query":"x","after":"the crash"}`, `recall: after: must be a time`},
		{"recall", `{"query":"x","after":{"sec":17,"nanosec":0}}`, `recall: after: must be a time such as 2026-03-01T14:05:00Z (RFC 3339), a date, or words such as yesterday; 17 s is the clock of a simulation`},
		{"recall", `{"query":"x","after":{"sec":1778750000,"nanosec":1000000000}}`, `recall: after: must be a time`},
		{"recall", `{"query":"x","after":{"sec":1778750000}}`, `recall: after: must be a time`},
		{"recall", `{"spatial_sort":{"field":"p","target":[1,2],"heading":1,"orientation":[0,0,0,1]}}`, `recall: spatial_sort.heading: heading and orientation both name a direction`},
		{"recall", `{"spatial_sort":{"field":"p","target":[1,2],"orientation":[0,0,0,2]}}`, `recall: spatial_sort.orientation: must be a unit quaternion`},
		{"recall", `{"spatial_sort":{"field":"p","target":[1,2],"max_angle":1}}`, `recall: spatial_sort.max_angle: needs heading`},
		{"recall", `{"spatial_sort":{"field":"p","target":[1,2],"heading":1,"max_angle":90}}`, `recall: spatial_sort.max_angle: must be between 0 and 3.15`},
		{"recall", `{"spatial_sort":{"field":"p","target":["left",2]}}`, `recall: spatial_sort.target.0: must be a number, not string`},
		{"recall", `{"spatial_sort":{"field":"p","target":[1,"NaN"]}}`, `recall: spatial_sort.target.1: must be a number, not string`},
		{"recall", `{"spatial_sort":{"field":"p","target":[1,null]}}`, `recall: spatial_sort.target: holds null, perhaps for a number that is not finite`},
		{"recall", `{"spatial_sort":{"field":"p","target":[1,2],"max_distance":"3 kg"}}`, `recall: spatial_sort.max_distance: must be a number, not string "3 kg"`},
		{"recall", `{"spatial_sort":{"field":"p","target":[1,2],"max_distance":"near"}}`, `spatial_sort.max_distance: must be a number`},
		{"recall", `{"query":"x","min_confidence":"3 m"}`, `recall: min_confidence: must be a number`},
		{"recall", `{"query":"x","explain":"maybe"}`, `recall: explain: must be true or false`},
		{"learn", `{"insight":7}`, `learn: insight: must be a string, not number 7`},
		{"learn", `{"insight":["x"]}`, `learn: insight: must be a string, not array`},
		{"learn", `{"insight":"x","tags":[{"a":1}]}`, `learn: tags.0: must be a string, not object`},
		{"end_session", `{"session_id":"s","outcome_score":"good"}`, `end_session: outcome_score: must be a number, not string "good"`},
		{"end_session", `{"session_id":"s","outcome_score":"90%"}`, `end_session: outcome_score: must be a number`},
		{"save_perception", `{"description":"a trace","data_base64":"%%%"}`, `save_perception: data_base64:`},
		{"save_perception", `{"description":"a trace","data":7}`, `save_perception: data: must be a string, not number 7`},
	} {
		op := robotmem.OpByName(tt.op)
		_, err := op.Decode(t.Context(), zoned{}, json.RawMessage(tt.request), newRequest(tt.op))
		if err == nil || !strings.Contains(err.Error(), tt.want) || robotmem.KindOf(err) != robotmem.Invalid {
			t.Errorf("%s %s: got %v, want %s", tt.op, tt.request, err, tt.want)
		}
	}
}
