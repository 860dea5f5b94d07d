package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzMessages sends random bytes as messages over stdio and over HTTP. Over stdio
// every line of the output is a message, and every complete request has one answer,
// also at the end of the input. Over HTTP no answer is an internal error.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\r\n" + `{"jsonrpc":"2.0","id":"a","method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"learn","arguments":{"insight":"x"},"_meta":{"progressToken":1}}}` + "\n" + `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"recall","arguments":{"query":"x"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"robotmem://memory/1"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"prompts/get","params":{"name":"x","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":6,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`,
		`[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}", `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":null}`, "\n\n{", "null",
		`{"jsonrpc":"2.0","id":10,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"y","value":"z"}}}`,
		`{"jsonrpc":"2.0","id":11,"result":{}}`, `{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"panic","arguments":{}}}`,
	} {
		f.Add([]byte(seed), "2025-06-18")
		f.Add([]byte(seed), "2026-07-28")
	}
	memory := &fake{}
	s := NewServer(memory, Options{MaxMessage: 1 << 20})
	f.Fuzz(func(t *testing.T, input []byte, version string) {
		memory.texts = nil
		var out bytes.Buffer
		if err := s.ServeStdio(t.Context(), bytes.NewReader(input), &out); err != nil {
			t.Fatal(err)
		}
		asked, cancels := requestsIn(input)
		for id, want := range asked {
			if got := answersTo(t, out.String(), id); got != want && !(cancels && got < want) {
				t.Errorf("%d answers to the %d requests of id %s:\n%s", got, want, id, out.String())
			}
		}
		answersTo(t, out.String(), "")
		overHTTP(t, s, input, version)
	})
}

// requestsIn counts the valid requests by their ids, and reports whether any may have
// been cancelled.
func requestsIn(input []byte) (asked map[string]int, cancels bool) {
	asked = map[string]int{}
	for line := range bytes.SplitSeq(input, []byte("\n")) {
		var m struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Method  string          `json:"method"`
		}
		cancels = cancels || bytes.Contains(bytes.ToLower(line), []byte("cancel")) || bytes.Contains(line, []byte(`\u`))
		if json.Unmarshal(bytes.TrimSpace(line), &m) != nil || m.Version != "2.0" || m.Method == "" {
			continue
		}
		var number int32
		var text string
		if json.Unmarshal(m.ID, &number) == nil && string(m.ID) != "null" || json.Unmarshal(m.ID, &text) == nil && text != "" {
			asked[string(m.ID)]++
		}
	}
	return asked, cancels
}

// answersTo counts the answers to an id. Every line must be a message.
func answersTo(t *testing.T, out, id string) (n int) {
	t.Helper()
	for line := range strings.Lines(out) {
		var m struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Method  string          `json:"method"`
			Result  json.RawMessage `json:"result"`
			Error   json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" || !strings.HasSuffix(line, "\n") {
			t.Fatalf("not a message: %q, %v", line, err)
		}
		if m.Method == "" && (m.Result == nil) == (m.Error == nil) {
			t.Errorf("neither a result nor an error, or both: %s", line)
		}
		if m.Method == "" && same(m.ID, id) {
			n++
		}
	}
	return n
}

// same compares ids, which are texts or whole numbers.
func same(a json.RawMessage, b string) bool {
	var x, y any
	return b != "" && json.Unmarshal(a, &x) == nil && json.Unmarshal([]byte(b), &y) == nil && x == y
}

func overHTTP(t *testing.T, s *Server, body []byte, version string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/mcp", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", version)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	res := w.Result()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= http.StatusInternalServerError {
		t.Errorf("%d %v: %s", res.StatusCode, err, answer)
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") && len(answer) > 0 && !json.Valid(answer) {
		t.Errorf("no JSON: %q", answer)
	}
}
