package robotmemtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var wireCases = []testCase{
	{"EmptyRequestNamesItsField", func(t *testing.T, s robotmem.Service) {
		for _, op := range robotmem.Ops() {
			required, _ := op.InputSchema()["required"].([]string)
			field := ""

			switch {
			case op.Name == "recall":
				field = "query"
			case op.Name == "retain":
				field = "budgets"
			case len(required) > 0:
				field = required[0]
			}

			res, err := op.Call(t.Context(), s, json.RawMessage(`{}`))
			switch {
			case field != "":
				t.Run(op.Name, func(t *testing.T) { checkRefused(t, err, robotmem.Invalid, field) })
			case errors.Is(err, ErrNotOffered):
			case err != nil:
				t.Errorf("%s {}: %v, want an answer", op.Name, err)
			default:
				fitsSchema(t, op, res)
			}
		}
	}},
	{"UnknownFieldIsRefusedByName", func(t *testing.T, s robotmem.Service) {
		for _, op := range robotmem.Ops() {
			_, err := op.Call(t.Context(), s, json.RawMessage(`{"colection":"x"}`))
			t.Run(op.Name, func(t *testing.T) { checkRefused(t, err, robotmem.Invalid, "colection") })
		}
		_, err := robotmem.OpByName("recall").Call(t.Context(), s,
			json.RawMessage(`{"spatial_sort":{"field":"a","target":[0,0],"limit":1}}`))
		checkRefused(t, err, robotmem.Invalid, "spatial_sort.limit")
	}},
	{"BadRequestsAreInvalid", func(t *testing.T, s robotmem.Service) {
		for _, tt := range []struct{ op, request, field string }{
			{"learn", `[]`, ""},
			{"learn", `"x"`, ""},
			{"learn", `{"insight":"x"} {}`, ""},
			{"learn", `{"insight":`, ""},
			{"learn", `{"insight":7}`, "insight"},
			{"learn", `{"insight":"x","context":[1]}`, "context"},
			{"learn", `{"insight":"x","context":"no object"}`, "context"},
			{"learn", `{"insight":"x","context":{"n":1e999}}`, "context.n"},
			{"learn", `{"insight":"x","observed_at":"tomorrow"}`, "observed_at"},
			{"learn", `{"insight":"x","tags":{"a":1}}`, "tags"},
			{"learn", `{"insight":"half of a pair \ud800"}`, "insight"},
			{"learn", `{"insight":"x","context":{"note":"\udc00"}}`, "context"},
			{"recall", `{"query":"\ud800"}`, "query"},
			{"recall", `{"query":"x","n":"five"}`, "n"},
			{"recall", `{"query":"x","n":2.5}`, "n"},
			{"recall", `{"query":"x","min_confidence":"high"}`, "min_confidence"},
			{"get", `{"memory_id":"seven"}`, "memory_id"},
			{"get", `{"memory_id":-1}`, "memory_id"},
			{"save_perception", `{"description":"a trace","data_base64":"%%%"}`, "data_base64"},
		} {
			_, err := robotmem.OpByName(tt.op).Call(t.Context(), s, json.RawMessage(tt.request))
			t.Run(tt.op+" "+tt.request, func(t *testing.T) { checkRefused(t, err, robotmem.Invalid, tt.field) })
		}
	}},
	{"JSONValuedFieldsMayBeStrings", func(t *testing.T, s robotmem.Service) {
		call(t, s, "learn", `{"insight":"grip at the sink","context":"{\"i\":1,\"spatial\":{\"position\":[1,2]}}"}`)
		call(t, s, "save_perception",
			`{"description":"trace of the grip","metadata":"{\"rate_hz\":100}","context":"{\"i\":2}"}`)

		for _, request := range []string{
			`{"context_filter":"{\"i\":1}"}`,
			`{"context_filter":{"i":1}}`,
			`{"spatial_sort":"{\"field\":\"spatial.position\",\"target\":[0,0]}"}`,
		} {
			res, ok := call(t, s, "recall", request).(*robotmem.RecallResponse)
			if !ok || len(res.Memories) != 1 || res.Memories[0].Content != "grip at the sink" {
				t.Errorf("%s: got %+v", request, res)
			}
		}

		res, ok := call(t, s, "recall", `{"context_filter":"{\"i\":2}"}`).(*robotmem.RecallResponse)
		if !ok || len(res.Memories) != 1 {
			t.Fatalf("got %+v", res)
		}

		m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: res.Memories[0].MemoryID})
		equal(t, "metadata", m.Metadata, robotmem.Object{"rate_hz": json.Number("100")})
	}},
	{"AnswersFitTheirSchemas", func(t *testing.T, s robotmem.Service) {
		session := do(t, s.StartSession, &robotmem.StartSessionRequest{}).SessionID
		for i, step := range []struct{ op, request string }{
			{"start_session", `{"context":{"task":{"name":"grip"}}}`},
			{
				"learn",
				fmt.Sprintf(`{"insight":"grip_force=12.5 N holds wet glass","session_id":%q,"context":{"task":{"success":true},"spatial":{"position":[0,0]}}}`, session),
			},
			{
				"learn",
				fmt.Sprintf(`{"insight":"grip_force=12.5 N holds wet glass","session_id":%q,"context":{"task":{"success":true},"spatial":{"position":[0,0]}}}`, session),
			},
			{"learn_batch", `{"items":[{"insight":"a trace of slip"},{}]}`},
			{"recall", `{"query":"wet glass","explain":true}`},
			{"recall", `{"query":"nothing like it"}`},
			{"recall", `{"spatial_sort":{"field":"spatial.position","target":[0,1]}}`},
			{"search", `{"q":"glass"}`},
			{"advise", `{"goal":"success"}`}, {"aggregate", `{"group_by":["outcome"]}`},
			{"save_perception", fmt.Sprintf(`{"description":"force trace","data":"0.1,0.2","session_id":%q}`, session)},
			{"update", `{"memory_id":1,"new_content":"grip_force=13 N holds wet glass"}`},
			{"get", `{"memory_id":1}`},
			{"history", `{"memory_id":1}`},
			{"forget", `{"memory_id":1,"reason":"measured again"}`},
			{"restore", `{"memory_id":1}`},
			{"end_session", fmt.Sprintf(`{"session_id":%q,"outcome_score":1,"used_memory_ids":[1]}`, session)},
			{"start_session", `{}`},
			{"pin", `{"memory_id":1}`}, {"session", fmt.Sprintf(`{"session_id":%q}`, session)},
			{"list", `{"limit":1}`}, {"sessions", `{}`}, {
				"session_memories", fmt.Sprintf(`{"session_id":%q}`, session),
			},
			{"collections", `{}`}, {"categories", `{}`}, {"paths", `{}`}, {"paths", `{"path":"task.success"}`}, {
				"places", `{"field":"spatial.position","grid":4}`,
			}, {"recent_failures", `{}`}, {"incidents", `{}`},
			{"audit", `{"limit":2}`}, {"audit", `{"memory_id":1,"action":"updated"}`},
			{"stats", `{}`}, {"activity", `{}`}, {"changes", `{"since":0}`}, {"doctor", `{}`}, {"repair", `{}`},
		} {
			op := robotmem.OpByName(step.op)
			res, err := op.Call(t.Context(), s, json.RawMessage(step.request))
			if errors.Is(err, ErrNotOffered) {
				continue
			}
			if err != nil {
				t.Errorf("step %d, %s %s: %v", i, step.op, step.request, err)
				continue
			}
			fitsSchema(t, op, res)
		}
	}},
}

func call(t *testing.T, s robotmem.Service, op, request string) any {
	t.Helper()
	res, err := robotmem.OpByName(op).Call(t.Context(), s, json.RawMessage(request))
	if errors.Is(err, ErrNotOffered) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatalf("%s %s: %v", op, request, err)
	}

	return res
}

// fitsSchema checks a response against the schema that clients get, without names that the
// schema does not have. A strict client refuses a response with null for a list.
func fitsSchema(t *testing.T, op *robotmem.Op, res any) {
	t.Helper()
	defined := robotmem.Definitions{Prefix: "#/$defs/"}
	root := asObject(t, ResponseSchema(&defined, op.Out))

	root["$defs"] = asObject(t, defined.Schemas)
	for _, schema := range root["$defs"].(object) {
		schema.(object)["additionalProperties"] = false
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("response.json", root); err != nil {
		t.Fatal(err)
	}
	if err := c.MustCompile("response.json").Validate(asObject(t, res)); err != nil {
		t.Errorf("%s: %v\nanswer: %v", op.Name, err, res)
	}
}

func asObject(t *testing.T, v any) object {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}

	var out object
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}

	return out
}
