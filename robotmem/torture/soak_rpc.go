package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// frame is a JSON-RPC message. id is "" when no answer may come, or it cannot
// be told which it is the answer to.
type frame struct {
	data     []byte
	id       string
	tool     string
	fields   map[string]any
	answered bool // that id is to be answered once
}

// frame makes a message of the Model Context Protocol: a call of a tool with the
// fields of its operation, another method, or what is none.
func (a *asker) frame(id string) frame {
	class := one(a.rand, "valid", "valid", "edge", "other", "other", "broken")
	message := map[string]any{"jsonrpc": "2.0", "id": id}
	f := frame{id: id, answered: true}
	switch class {
	case "valid", "edge":
		op := a.api.operation(one(a.rand, "learn", "recall", "get", "save_perception", "update", "start_session", "preview", "forget", "end_session"))
		c := a.call(op, class)
		f.tool, f.fields = op.ID, c.fields
		if f.fields == nil {
			f.fields = map[string]any{}
		}
		for _, p := range op.Params {
			if p.In == "path" && op.ID != "forget" || p.Name == "memory_id" {
				f.fields[p.Name] = (&maker{asker: a, edges: class == "edge"}).value(p.Name, p.Schema, 0)
			}
		}
		message["method"], message["params"] = "tools/call", map[string]any{"name": op.ID, "arguments": f.fields}
		if op.ID == "update" {
			id, _ := strconv.ParseInt(fmt.Sprint(f.fields["memory_id"]), 10, 64) // one that is no number finds no memory
			text, _ := f.fields["new_content"].(string)
			a.node.told(id, text)
		}
	default:
		message["method"] = one(a.rand, "ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list", "initialize", "nowhere", "server/discover", "tools/call", "prompts/get", "completion/complete", "resources/read", "logging/setLevel", "")
		message["params"] = one(a.rand, any(nil), any(map[string]any{}), any(map[string]any{"name": "learn", "arguments": 3}), any(map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "soak", "version": "1"}}),
			any(map[string]any{"uri": "robotmem://perception/1/data"}), any(map[string]any{"name": "nobody"}), any([]any{1}), any(map[string]any{"_meta": map[string]any{"progressToken": "p"}}))
	}
	f.data, _ = json.Marshal(message) // values of ours
	if class == "broken" {
		f.answered = false
		f.data = a.brokenFrame(message, f.data)
	}
	return f
}

// brokenFrame is a message whose sender is not owed an answer that it can tell
// apart: a notification, a batch, an id that is none, half a message.
func (a *asker) brokenFrame(message map[string]any, data []byte) []byte {
	switch a.rand.IntN(8) {
	case 0:
		return data[:a.rand.IntN(len(data))]
	case 1:
		return []byte("[" + string(data) + "," + string(data) + "]")
	case 2:
		message["id"] = one(a.rand, any(nil), any(1.5), any([]any{}), any(map[string]any{}), any(true), any(json.Number("1e400")), any(strings.Repeat("i", 10_000)))
	case 3:
		delete(message, "id")
		message["method"] = one(a.rand, "notifications/cancelled", "notifications/initialized", "notifications/nowhere")
		message["params"] = map[string]any{"requestId": one(a.rand, any("x"), any(7), any(nil))}
	case 4:
		message["jsonrpc"] = one(a.rand, any("1.0"), any(2), any(nil))
	case 5:
		return []byte(one(a.rand, "null", "[]", "{}", "\"x\"", "\xff\xfe", strings.Repeat("[", 100_000), `{"jsonrpc":"2.0","method":"ping"`, "nonsense", `{"id":1}`))
	case 6:
		message["params"] = json.RawMessage(strings.Repeat(`{"a":`, 3000) + "1" + strings.Repeat("}", 3000))
	default:
		return append(data, '}')
	}
	spoilt, err := json.Marshal(message)
	if err != nil {
		return data[:len(data)/2]
	}
	return spoilt
}

// rpcAnswer is what comes back.
type rpcAnswer struct {
	ID     json.RawMessage
	Method string
	Error  *struct {
		Code    int
		Message string
	}
	Result *struct {
		IsError           bool            `json:"isError"`
		StructuredContent json.RawMessage `json:"structuredContent"`
		Meta              struct {
			Error struct{ Kind string } `json:"robotmem/error"`
		} `json:"_meta"`
	}
}

// judgeRPC compares the answer to a message with what the operation promises,
// and says what is wrong with it.
func (a *asker) judgeRPC(f frame, data []byte) string {
	var res rpcAnswer
	if err := json.Unmarshal(data, &res); err != nil {
		return "no JSON-RPC: " + err.Error()
	}
	const internalError = -32603
	switch {
	case res.Error != nil && res.Error.Code == internalError && !strings.Contains(res.Error.Message, "not found"):
		return "a fault of the node's own"
	case res.Error != nil:
		a.count("rpc refused", 0)
		a.fault()
	case f.tool == "" || res.Result == nil:
	case res.Result.IsError:
		a.fault()
		if kind := res.Result.Meta.Error.Kind; kind == "" || kind == "internal" || kind == "corrupt" {
			return "a fault of the node's own"
		}
	case f.tool != "preview":
		v, err := a.conform(a.api.operation(f.tool).conforms, res.Result.StructuredContent)
		if err != nil {
			return err.Error()
		}
		a.node.seen(v)
		a.remember(f.tool, f.fields, res.Result.StructuredContent)
	}
	return ""
}

// rpc sends one message over HTTP.
func (a *asker) rpc(ctx context.Context) {
	f := a.frame(fmt.Sprint("h", a.rand.Uint64()))
	ctx, cancel := context.WithTimeout(ctx, soakPatience)
	defer cancel()
	req, err := a.node.newRequest(ctx, one(a.rand, http.MethodPost, http.MethodPost, http.MethodPost, http.MethodPost, http.MethodGet, http.MethodDelete), "/mcp", strings.NewReader(string(f.data)))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", one(a.rand, "application/json", "application/json", "application/json", "text/plain"))
	req.Header.Set("Accept", one(a.rand, "application/json, text/event-stream", "application/json, text/event-stream", "application/json", "text/html"))
	if version := one(a.rand, "", "2025-06-18", "2026-07-28", "2024-11-05", "nonsense"); version != "" {
		req.Header.Set("Mcp-Protocol-Version", version)
	}
	if a.rand.IntN(4) == 0 {
		req.Header.Set("Mcp-Session-Id", one(a.rand, "x", strings.Repeat("s", 5000), "mcp-session-1"))
	}
	began := time.Now()
	res, err := a.node.client.Do(req)
	if err != nil {
		if hung(err) {
			a.broken("%s: /mcp gave no answer to %.200q within %v", a.node.name, f.data, time.Since(began))
		}
		return
	}
	body, err := readBody(res)
	if err != nil {
		return
	}
	a.count("rpc", res.StatusCode)
	why := ""
	switch {
	case ownFault(res.StatusCode):
		why = "a fault of the node's own"
	case strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream"):
		for line := range strings.SplitSeq(string(body), "\n") {
			if data, ok := strings.CutPrefix(line, "data: "); ok && strings.Contains(data, f.id) {
				why = a.judgeRPC(f, []byte(data))
			}
		}
	case res.StatusCode == http.StatusOK && len(body) > 0 && req.Method == http.MethodPost:
		why = a.judgeRPC(f, body)
	}
	if why != "" {
		a.broken("%s: /mcp answered %d to %.300q: %s: %.300q", a.node.name, res.StatusCode, f.data, why, body)
	}
}
