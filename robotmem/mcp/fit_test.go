package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A model learns from the description of a tool how to call it, so the example must
// be a valid call.
func TestToolDescriptionsHoldAWorkingExample(t *testing.T) {
	for _, op := range robotmem.Ops() {
		if !op.Hints.Tool {
			continue
		}
		_, example, ok := strings.Cut(op.Doc, " Example: ")
		example, dot := strings.CutSuffix(example, ".")
		if !ok || !dot || !json.Valid([]byte(example)) {
			t.Errorf("%s: no example at the end of %q", op.Name, op.Doc)
			continue
		}
		var in struct {
			Properties map[string]struct{ Description string }
			Required   []string
		}
		if err := json.Unmarshal(schema(op.InputSchema()), &in); err != nil {
			t.Fatal(err)
		}
		for name, p := range in.Properties {
			if p.Description == "" {
				t.Errorf("%s: %s has no description", op.Name, name)
			}
		}
		var args map[string]any
		if err := json.Unmarshal([]byte(example), &args); err != nil {
			t.Fatal(err)
		}
		for _, name := range in.Required {
			if _, ok := args[name]; !ok {
				t.Errorf("%s: the example lacks %s", op.Name, name)
			}
		}
		// The example may name a memory that does not exist.
		res := callTool(t, connect(t, NewServer(engine(t, local.Options{}), Options{})), op.Name, args)
		if kind := res.Meta; res.IsError && !strings.Contains(fmt.Sprint(kind.AdditionalFields["robotmem/error"]), "not_found") {
			t.Errorf("%s: the example fails: %+v", op.Name, res.Content)
		}
	}
}

// A common client cuts a result off at 25,000 tokens.
func TestLargestAnswersFit(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: the race run has nothing to find in it")
	}
	const most = 82_000 // bytes of JSON, with what surrounds a shortened part
	e := engine(t, local.Options{})
	c := connect(t, NewServer(e, Options{}))
	// 16 KiB of file names, which are answered once more as scope_files.
	var files strings.Builder
	for i := 0; files.Len() < 16_000; i++ {
		fmt.Fprintf(&files, "f%d.py ", i)
	}
	text := strings.TrimSpace(files.String())
	large := map[string]any{"params": map[string]any{"trace": strings.Repeat("7", 90_000), "gain": 3}, "task": map[string]any{"success": false}}
	huge := map[string]any{"params": map[string]any{"trace": strings.Repeat("7", 900_000)}, "robot": "arm7"}
	keys := map[string]any{}
	for i := range 4000 {
		keys[fmt.Sprintf("key%d", i)] = strings.Repeat("v", 100)
	}
	structured := func(res *mcp.CallToolResult) map[string]any {
		t.Helper()
		data, _ := res.StructuredContent.(map[string]any)
		return data
	}
	ask := func(tool string, args map[string]any) *mcp.CallToolResult {
		t.Helper()
		res := callTool(t, c, tool, args)
		if got := size(res.StructuredContent); res.IsError || got > most || size(res.Content) > most+got/5 {
			t.Fatalf("%s: %d bytes, %d as text, error %v: %.200s", tool, got, size(res.Content), res.IsError, fmt.Sprint(res.Content))
		}
		return res
	}
	ids := map[string]any{}
	for name, context := range map[string]map[string]any{"large": large, "huge": huge, "keys": keys} {
		ids[name] = structured(ask("learn", map[string]any{"insight": text + " " + name, "context": context}))["memory_id"]
	}
	for name, want := range map[string]string{"large": "2 keys", "huge": "2 keys", "keys": "4000 keys"} {
		got := ask("get", map[string]any{"memory_id": ids[name]})
		data, err := robotmem.EncodeJSON(got.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		whole := fmt.Sprintf("robotmem://memory/%v", ids[name])
		if !strings.Contains(string(data), want) || !strings.Contains(string(data), whole) {
			t.Errorf("get of %s: want %s and the way to the rest: %.300s", name, want, data)
		}
	}
	for i := range 100 {
		learn(t, e, &robotmem.LearnRequest{Insight: fmt.Sprintf("must never %d %s", i, text[:2000]), Context: robotmem.Object{"params": map[string]any{"i": i, "trace": strings.Repeat("7", 9000)}, "task": map[string]any{"success": i%2 == 0}}})
	}
	ask("recall", map[string]any{"query": "must never", "n": 100, "explain": true})
	ask("update", map[string]any{"memory_id": ids["large"], "new_content": text + " anew"})
	ask("forget", map[string]any{"memory_id": ids["huge"], "reason": strings.Repeat("r", 1000)})
	session := structured(ask("start_session", map[string]any{"context": map[string]any{"task": text[:10_000]}}))["session_id"]
	ask("save_perception", map[string]any{"description": text, "data": trace(), "session_id": session})
	ask("end_session", map[string]any{"session_id": session})
}
