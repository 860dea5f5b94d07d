package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/robotmem/robotmem-go/robotmem"
)

// connect returns the library's client, speaking to s over pipes.
func connect(t *testing.T, s *Server) *client.Client {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- s.ServeStdio(context.WithoutCancel(t.Context()), toServer, fromServer)
		_ = fromServer.Close()
	}()
	c := client.NewClient(transport.NewIO(toClient, fromClient, io.NopCloser(strings.NewReader(""))))
	if err := c.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	var init mcp.InitializeRequest
	init.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	init.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	res, err := c.Initialize(t.Context(), init)
	if err != nil {
		t.Fatal(err)
	}
	if res.ServerInfo.Name != "robotmem" || !strings.Contains(res.Instructions, "recall") {
		t.Errorf("server info %+v, instructions %q", res.ServerInfo, res.Instructions)
	}
	t.Cleanup(func() {
		_ = c.Close()
		_ = fromClient.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return c
}

func callTool(t *testing.T, c *client.Client, name string, args any) *mcp.CallToolResult {
	t.Helper()
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = name, args
	res, err := c.CallTool(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func textOf(t *testing.T, res *mcp.CallToolResult) string {
	t.Helper()
	if len(res.Content) != 1 {
		t.Fatalf("%d contents, want 1", len(res.Content))
	}
	c, ok := res.Content[0].(mcp.TextContent)
	if !ok {
		t.Fatalf("content is %T", res.Content[0])
	}
	return c.Text
}

func TestToolsDescribeThemselves(t *testing.T) {
	c := connect(t, NewServer(&fake{}, Options{}))
	res, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, tool := range res.Tools {
		got[tool.Name] = true
		a, op := tool.Annotations, robotmem.OpByName(tool.Name)
		if a.ReadOnlyHint == nil || a.DestructiveHint == nil || a.IdempotentHint == nil || a.OpenWorldHint == nil {
			t.Errorf("%s: a hint is missing: %+v", tool.Name, a)
			continue
		}
		if *a.ReadOnlyHint != op.Hints.ReadOnly || *a.DestructiveHint != op.Hints.Destructive || *a.IdempotentHint != op.Hints.Idempotent || *a.OpenWorldHint {
			t.Errorf("%s: hints %v %v %v %v", tool.Name, *a.ReadOnlyHint, *a.DestructiveHint, *a.IdempotentHint, *a.OpenWorldHint)
		}
		if tool.Title == "" || tool.Description != op.Doc || tool.InputSchema.Type != "object" || tool.OutputSchema.Type != "" {
			t.Errorf("%s: title %q, schemas %q %q", tool.Name, tool.Title, tool.InputSchema.Type, tool.OutputSchema.Type)
		}
	}
	want := map[string]bool{"about": true, "advise": true, "attempt": true, "learn": true, "recall": true, "save_perception": true, "forget": true, "update": true, "start_session": true, "end_session": true, "get": true, "timeline": true, "preview": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

// A model with few tools is told of no others.
func TestMinimalTools(t *testing.T) {
	c := connect(t, NewServer(&fake{}, Options{Minimal: true}))
	res, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tool := range res.Tools {
		got = append(got, tool.Name)
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(MinimalTools))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}

	text := told(true)
	for _, name := range []string{"timeline", "preview", "get returns"} {
		if strings.Contains(text, name) {
			t.Errorf("the instructions speak of %s: %s", name, text)
		}
	}
	for _, name := range MinimalTools {
		if !strings.Contains(text, name) {
			t.Errorf("the instructions do not speak of %s", name)
		}
	}
}

// Some clients refuse a list of types and an object without properties.
func TestSchemasHaveSingleTypes(t *testing.T) {
	var check func(path string, v any)
	check = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if list, ok := v["type"].([]any); ok {
				t.Errorf("%s: a list of types %v", path, list)
			}
			for k := range v {
				check(path+"."+k, v[k])
			}
		case []any:
			for _, e := range v {
				check(path, e)
			}
		}
	}
	for _, op := range robotmem.Ops() {
		var in any
		if err := json.Unmarshal(tool(op).RawInputSchema, &in); err != nil {
			t.Fatal(err)
		}
		check(op.Name, in)
	}
}

func TestSuccessIsStructuredAndText(t *testing.T) {
	c := connect(t, newServer(&fake{}, Options{}, server.WithOutputSchemaValidation()))
	res := callTool(t, c, "learn", map[string]any{"insight": "force < 12 N & more"})
	if res.IsError {
		t.Fatal(textOf(t, res))
	}
	var fromText any
	if err := json.Unmarshal([]byte(textOf(t, res)), &fromText); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(res.StructuredContent, fromText); diff != "" {
		t.Errorf("text and structured content differ:\n%s", diff)
	}
	res = callTool(t, c, "recall", map[string]any{"query": "force"})
	if got := textOf(t, res); !strings.Contains(got, "force < 12 N & more") {
		t.Errorf("got %s", got)
	}
}

func TestErrorsAreResults(t *testing.T) {
	var log bytes.Buffer
	c := connect(t, NewServer(&fake{}, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}))
	for _, tt := range []struct {
		name, tool string
		args       any
		text       string
		kind       string
		field      string
	}{
		{"field", "learn", map[string]any{"insight": ""}, "learn: insight: is required", "invalid", "insight"},
		{"unknown field", "learn", map[string]any{"insigth": "x"}, "learn: insigth: unknown field; did you mean insight? known are insight,", "invalid", "insigth"},
		{"no arguments", "learn", nil, "learn: insight: is required", "invalid", "insight"},
		{"no object", "learn", []string{"x"}, "learn: the request must be one JSON object", "invalid", ""},
		{"ours to mend", "learn", map[string]any{"insight": "secret"}, "learn: internal error; the node's log has the cause", "internal", ""},
		{"panic", "learn", map[string]any{"insight": "panic"}, "learn: internal error; the node's log has the cause", "internal", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := callTool(t, c, tt.tool, tt.args)
			if !res.IsError || res.StructuredContent != nil || !strings.HasPrefix(textOf(t, res), tt.text) {
				t.Errorf("isError %v, structured %v, text %q", res.IsError, res.StructuredContent, textOf(t, res))
			}
			parts, _ := res.Meta.AdditionalFields["robotmem/error"].(map[string]any)
			if parts["kind"] != tt.kind || parts["field"] != tt.field || parts["op"] != tt.tool {
				t.Errorf("_meta %v", parts)
			}
		})
	}
	for _, want := range []string{"no such table", "out of tune"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q", want)
		}
	}
}

func hits(n int, content string, ctx robotmem.Object) []robotmem.Memory {
	out := make([]robotmem.Memory, n)
	for i := range out {
		out[i] = robotmem.Memory{MemoryID: int64(i + 1), UID: strings.Repeat("u", 36), Type: "fact", Content: content, Summary: strings.Repeat("s", 300), Tags: []string{"a", "b"}, Context: ctx, Params: ctx["params"], Collection: "default"}
	}
	return out
}

func TestRecallAnswersStaySmall(t *testing.T) {
	big := robotmem.Object{"params": map[string]any{"trace": strings.Repeat("7", 5000)}}
	for _, tt := range []struct {
		name string
		hits []robotmem.Memory
	}{
		{"long contents", hits(5, strings.Repeat("é", 16000), nil)},
		{"large contexts", hits(20, "short", big)},
		{"many of both", hits(100, strings.Repeat("é", 16000), big)},
		{"one huge context", append(hits(1, "short", robotmem.Object{"params": strings.Repeat("9", 1<<20)}), hits(4, "short", robotmem.Object{"i": json.Number("12.50")})...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := connect(t, NewServer(&fake{hits: tt.hits}, Options{}))
			text := textOf(t, callTool(t, c, "recall", map[string]any{"query": "x"}))
			if len(text) > 82_000 || !utf8.ValidString(text) {
				t.Errorf("%d bytes, valid UTF-8 %v", len(text), utf8.ValidString(text))
			}
			var res robotmem.RecallResponse
			if err := json.Unmarshal([]byte(text), &res); err != nil {
				t.Fatal(err)
			}
			if len(res.Memories) != len(tt.hits) {
				t.Fatalf("%d memories, want %d", len(res.Memories), len(tt.hits))
			}
			if got := res.Memories[0]; !strings.Contains(text, `get {\"memory_id\":1}`) {
				t.Errorf("no hint how to read the rest: %+v", got)
			}
		})
	}
	t.Run("a small neighbour keeps its context", func(t *testing.T) {
		in := &robotmem.RecallResponse{Memories: append(hits(1, "short", robotmem.Object{"params": strings.Repeat("9", 1<<20)}), hits(1, "short", robotmem.Object{"i": json.Number("12.50")})...)}
		data, err := shorten(in)
		var out robotmem.RecallResponse
		if err := errors.Join(err, json.Unmarshal(data, &out)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(robotmem.Object{"i": json.Number("12.50")}, out.Memories[1].Context); diff != "" {
			t.Error(diff)
		}
		if len(in.Memories[0].Params.(string)) != 1<<20 {
			t.Error("the caller's answer was changed")
		}
	})
}

func TestShortTextCutsAtACharacter(t *testing.T) {
	if got := shortText("日本語", 3, "7"); got != "日本語" {
		t.Errorf("got %q", got)
	}
	want := `日本… [2 of 3 characters; read all of it with get {"memory_id":7}]`
	if got := shortText("日本語", 2, "7"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHandlerServesToolsOverHTTP(t *testing.T) {
	ts := httptest.NewServer(NewServer(&fake{}, Options{MaxMessage: 4096}).Handler())
	defer ts.Close()
	c, err := client.NewStreamableHttpClient(ts.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var init mcp.InitializeRequest
	init.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	if _, err := c.Initialize(t.Context(), init); err != nil {
		t.Fatal(err)
	}
	if res := callTool(t, c, "learn", map[string]any{"insight": "over HTTP"}); res.IsError {
		t.Fatal(textOf(t, res))
	}
	if got := textOf(t, callTool(t, c, "recall", map[string]any{"query": "over"})); !strings.Contains(got, "over HTTP") {
		t.Errorf("got %s", got)
	}
	long := call(1, "learn", `{"insight":"`+strings.Repeat("x", 5000)+`"}`)
	for name, body := range map[string]io.Reader{"length declared": strings.NewReader(long), "chunked": io.MultiReader(strings.NewReader(long))} {
		res, err := http.Post(ts.URL, "application/json", body)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("a message over the limit, %s: %s", name, res.Status)
		}
	}
}

// A client names its program. The name of the caller comes from the transport.
func TestClientsNameTheirProgramOnly(t *testing.T) {
	ctx := robotmem.WithCaller(t.Context(), robotmem.Caller{Who: "arm-7", Tool: robotmem.ToolREST, Client: "node"})
	if got, want := robotmem.CallerOf(withCaller(ctx, nil)), (robotmem.Caller{Who: "arm-7", Tool: "mcp", Client: "node"}); got != want {
		t.Errorf("without a name: %+v, want %+v", got, want)
	}
	meta := &mcp.Meta{}
	meta.SetClientInfo(mcp.Implementation{Name: "claude-code", Version: "2.0.1"})
	if got, want := robotmem.CallerOf(withCaller(ctx, meta)), (robotmem.Caller{Who: "arm-7", Tool: "mcp", Client: "claude-code/2.0.1"}); got != want {
		t.Errorf("with one: %+v, want %+v", got, want)
	}
}

// elsewhere is a memory whose node has another time.
type elsewhere struct {
	fake
	asked *robotmem.RecallRequest
}

func (*elsewhere) LocalNow() time.Time {
	return time.Date(2019, 5, 7, 12, 0, 0, 0, time.FixedZone("", 9*3600))
}

func (e *elsewhere) Recall(ctx context.Context, r *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	e.asked = r
	return e.fake.Recall(ctx, r)
}

func TestWordsOfTimeCountFromTheNode(t *testing.T) {
	e := &elsewhere{}
	callTool(t, connect(t, NewServer(e, Options{})), "recall", map[string]any{"query": "the cup", "as_of": "yesterday"})
	if want := time.Date(2019, 5, 6, 0, 0, 0, 0, time.FixedZone("", 9*3600)); e.asked == nil || e.asked.AsOf == nil || !e.asked.AsOf.Equal(want) {
		t.Errorf("asked for %+v, want as of %v", e.asked, want)
	}
}
