package web

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/robotmem/robotmem-go/robotmem"
)

// sampleSession is an id as start_session answers it.
const sampleSession = "01a1fc13-cae0-783e-84dd-4cdf355d436d"

// samplePerception is the id of the memory of the example of save_perception.
const samplePerception = 4

// samples are an example request of each main operation.
var samples = map[string]any{
	"learn": robotmem.LearnRequest{
		Insight:   "grip_force=12.5 N holds the wet glass",
		SessionID: sampleSession,
		Tags:      []string{"wet-glass"},
		Context: robotmem.Object{
			"params":  map[string]any{"grip_force": 12.5},
			"spatial": map[string]any{"object_position": []float64{0.42, 0.10, 0.05}, "frame_id": "table"},
			"task":    map[string]any{"name": "pick the wet glass", "success": true},
		},
	},
	"learn_batch": robotmem.LearnBatchRequest{Items: []robotmem.LearnRequest{
		{Insight: "grip_force=8 N lets the wet glass slip", Context: robotmem.Object{"task": map[string]any{"success": false}}},
		{Insight: "the glass weighs 0.31 kg"},
	}},
	"recall": robotmem.RecallRequest{
		Query:         "how hard to grip the wet glass",
		N:             3,
		ContextFilter: robotmem.Object{"task.success": true, "params.grip_force": map[string]any{"$lt": 15}},
		SpatialSort:   &robotmem.SpatialSort{Field: "spatial.object_position", Target: []float64{0.40, 0.10, 0.05}, MaxDistance: new(0.5)},
	},
	"search": robotmem.SearchRequest{Q: "wet glass", TopK: 3},
	"save_perception": robotmem.SavePerceptionRequest{
		Description: "finger force while the wet glass slipped", PerceptionType: "tactile", SessionID: sampleSession,
		Data: "t,Fz\n0.000,8.0\n0.001,7.6\n0.002,3.1\n", MediaType: "text/csv",
		Metadata: robotmem.Object{"rate_hz": 1000, "channels": []string{"Fz"}, "units": []string{"N"}},
	},
	"start_session": robotmem.StartSessionRequest{Context: robotmem.Object{
		"task": map[string]any{"name": "pick the wet glass"}, "robot": map[string]any{"id": "arm-1"},
	}},
	"end_session":      robotmem.EndSessionRequest{SessionID: sampleSession, OutcomeScore: new(0.8), UsedMemoryIDs: []int64{1}},
	"update":           robotmem.UpdateRequest{MemoryID: 1, NewContent: "grip_force=12.5 N holds the wet glass for 30 s"},
	"forget":           robotmem.ForgetRequest{MemoryID: 1, Reason: "the glass there was dry"},
	"restore":          robotmem.RestoreRequest{MemoryID: 1},
	"data":             robotmem.DataRequest{MemoryID: samplePerception},
	"preview":          robotmem.PreviewRequest{MemoryID: samplePerception, Width: 320},
	"list":             robotmem.ListRequest{Limit: 50, Category: "constraint"},
	"recent_failures":  robotmem.RecentFailuresRequest{Days: 7},
	"retain":           robotmem.RetainRequest{Budgets: []robotmem.Budget{{PerceptionType: "visual", MaxBytes: 1_000_000_000}}},
	"samples":          robotmem.SamplesRequest{MemoryID: samplePerception},
	"paths":            robotmem.PathsRequest{Path: "params.grip_force"},
	"places":           robotmem.PlacesRequest{Field: "spatial.object_position", FrameID: "table"},
	"audit":            robotmem.AuditRequest{Action: "updated", Limit: 20},
	"pin":              robotmem.PinRequest{MemoryID: 1},
	"activity":         robotmem.ActivityRequest{Days: 7},
	"session":          robotmem.SessionRequest{SessionID: sampleSession},
	"session_memories": robotmem.SessionMemoriesRequest{SessionID: sampleSession},
}

// sampleFields returns the fields of the operation's example by name.
func sampleFields(op *robotmem.Op) map[string]json.RawMessage {
	fields := map[string]json.RawMessage{}
	data, err := json.Marshal(samples[op.Name])
	if err != nil || json.Unmarshal(data, &fields) != nil {
		return nil // the operation has no example
	}
	return fields
}

// sampleValue returns a field of the example, or for a path some valid value.
func sampleValue(op *robotmem.Op, in, field string) any {
	switch v := sampleFields(op)[field]; {
	case v != nil:
		return v
	case in != "path":
		return nil
	case field == "session_id":
		return sampleSession
	case groupOf(op).name == "Perceptions":
		return samplePerception
	}
	return 1 // the first memory
}

// sampleBody returns the part of the example that belongs into the body, in the order
// of the fields, nil if there is none.
func sampleBody(d *described) json.RawMessage {
	fields := sampleFields(d.op)
	var b bytes.Buffer
	for _, name := range d.inBody {
		if fields[name] == nil {
			continue
		}
		separator := byte(',')
		if b.Len() == 0 {
			separator = '{'
		}
		b.WriteByte(separator)
		fmt.Fprintf(&b, "%q:%s", name, fields[name])
	}
	if b.Len() == 0 {
		return nil
	}
	return append(b.Bytes(), '}')
}
