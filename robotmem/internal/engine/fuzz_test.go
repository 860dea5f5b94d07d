package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// FuzzRequest decodes any JSON as a request of every operation and runs it on a small
// memory. This covers each request's decoder, filters, queries (as typed, with times and
// quantities), cursors and places. Errors must be errors of the caller, never internal
// ones.
func FuzzRequest(f *testing.F) {
	ops := robotmem.Ops()
	index := func(name string) uint8 { return uint8(slices.Index(ops, robotmem.OpByName(name))) }
	for i := range ops {
		f.Add(uint8(i), `{}`)
	}
	for _, seed := range [][2]string{
		{"learn", `{"insight":"grip_force=12.5 N holds wet glass","context":{"params":{"grip_force":12.5},"spatial":{"position":[1,2]}},"tags":["red"],"observed_at":"2026-03-01T14:05:00Z"}`},
		{"learn", `{"insight":"总是","context":"{\"task\":{\"success\":false}}","pinned":true}`},
		{"learn_batch", `{"items":[{"insight":"a"},{"insight":3},7],"keep_duplicates":true}`},
		{"recall", `{"query":"wet gla","as_you_type":true,"parse_time":true,"explain":true,"diversity":0.5,"min_relevance":0.1}`},
		{"recall", `{"query":"before the crash at 14:05 yesterday 昨天 NEAR(\"a\" OR b*)","parse_time":true}`},
		{"recall", `{"context_filter":{"$or":[{"params.grip_force":{"$lt":"15 N"}},{"$not":{"task.success":{"$in":[true,null,[1]]}}}],"a.b":{"$exists":false}},"collection":"*"}`},
		{"recall", `{"spatial_sort":{"field":"spatial.position","target":[0,1e308],"max_distance":2,"mode":"fused"},"query":"x","as_of":"2026-02-29T00:00:00Z"}`},
		{"recall", `{"like":{"data":"t,fz\n0,1\n1,2","media_type":"text/csv"},"after":"1678-01-01T00:00:00Z"}`},
		{"recall", `{"q":"x","limit":"5.0","since":"2 hours ago","before":"昨天","collection":"all","filter":{"f":{">=":"3 m"},"$not":{"i":{"in":[1]}}},"near":{"path":"p","position":"1, 2","radius":"3 m"},"tags":"a,b","category":""}`},
		{"save_perception", `{"text":"a trace","modality":"force","data":[[0,1.5],[1,2]]}`},
		{"save_perception", `{"description":"a photo","data":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ","data_base64":""}`},
		{"end_session", `{"id":"run 7/a","score":"0.5","used_memory_ids":"1, 2"}`},
		{"list", `{"cursor":"eyJvIjoibGlzdCIsImYiOjEsImkiOjF9","limit":1}`},
		{"sessions", `{"cursor":"bnVsbA"}`},
		{"places", `{"field":"spatial.position","min":[0,0],"max":[1,1],"grid":256}`},
		{"save_perception", `{"description":"a trace of force","data":"t,fz\n0,1.5\n0.01,NaN","perception_type":"tactile","metadata":{"rate_hz":100}}`},
		{"update", `{"memory_id":1,"new_content":"never","context":{}}`},
		{"forget", `{"memory_id":9223372036854775808,"reason":"x"}`},
		{"retain", `{"budgets":[{"max_bytes":1,"max_age_days":1e308}],"apply":true}`},
		{"samples", `{"memory_id":2,"from":-1e308,"to":1e308,"points":16}`},
		{"changes", `{"since":9223372036854775807,"wait_ms":60000}`},
	} {
		f.Add(index(seed[0]), seed[1])
	}
	e := smallMemory(f)
	f.Fuzz(func(t *testing.T, op uint8, request string) {
		o := ops[int(op)%len(ops)]
		if o.Name == "repair" {
			t.Skip("takes no fields, and long")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		res, err := o.Call(ctx, e, json.RawMessage(request))
		if err != nil {
			checkRefusal(t, o, err)
			return
		}
		if _, err := robotmem.EncodeJSON(res); err != nil {
			t.Errorf("%s answers what cannot be sent: %v", o.Name, err)
		}
		if learnt, ok := res.(*robotmem.LearnResponse); ok && learnt.Status == "created" {
			holds(t, e, learnt.MemoryID, request)
		}
	})
}

func checkRefusal(t *testing.T, o *robotmem.Op, err error) {
	t.Helper()
	e, ok := errors.AsType[*robotmem.Error](err)
	if !ok {
		t.Fatalf("%s: %T: %v", o.Name, err, err)
	}
	caller := []robotmem.Kind{robotmem.Invalid, robotmem.Forbidden, robotmem.NotFound, robotmem.Conflict, robotmem.TooLarge, robotmem.Unavailable}
	if !slices.Contains(caller, e.Kind) || e.Op == "" || e.Detail() == "" {
		t.Errorf("%s: %s: %v (%v)", o.Name, e.Kind, e, errors.Unwrap(e.Err))
	}
	if strings.Contains(e.Error(), "SELECT ") || strings.Contains(e.Error(), "robotmem.") || strings.Contains(e.Error(), ".go:") {
		t.Errorf("%s: %v speaks of what is inside", o.Name, e)
	}
}

// smallMemory returns a memory with one record of each kind. It is opened before the
// fuzzing starts, because a slow input counts as one that hangs.
func smallMemory(f *testing.F) *local.Node {
	f.Helper()
	e, err := local.Open(context.Background(), filepath.Join(f.TempDir(), "memory.db"), local.Options{Durability: local.DurabilityNormal})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = e.Close() }) // what it holds is thrown away
	for op, request := range map[string]string{
		"learn":           `{"insight":"grip_force=12.5 N holds wet glass","context":{"params":{"grip_force":"12.5 N"},"spatial":{"position":[1,2]},"task":{"success":true}}}`,
		"save_perception": `{"description":"a trace of force","data":"t,fz\n0,1.5\n0.01,9.8\n","perception_type":"tactile"}`,
		"start_session":   `{}`,
	} {
		if _, err := robotmem.OpByName(op).Call(context.Background(), e, json.RawMessage(request)); err != nil {
			f.Fatal(err)
		}
	}
	return e
}

// holds checks that the stored text equals the given one, byte for byte.
func holds(t *testing.T, e *local.Node, id int64, request string) {
	t.Helper()
	var said struct {
		Insight string `json:"insight"`
	}
	if err := json.Unmarshal([]byte(request), &said); err != nil {
		return // said with names in another case, or twice
	}
	got, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: id})
	if err != nil || got.Content != strings.TrimSpace(said.Insight) {
		t.Errorf("memory %d holds %q, want %q, %v", id, got.Content, said.Insight, err)
	}
}
