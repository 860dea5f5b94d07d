package mcp

import (
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A failure over HTTP has its code for every id of a request.
func TestCodeOfAFailureWithAnOddID(t *testing.T) {
	e, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, id := range []string{"7", `"seven"`, "true", "[]", "{}", "1e300"} {
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":`+id+`,"method":"resources/read","params":{"uri":"robotmem://memory/1"}}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		NewServer(e, Options{}).Handler().ServeHTTP(w, r)
		var answer struct {
			JSONRPC string
			Error   struct{ Code int }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.JSONRPC != "2.0" || answer.Error.Code != mcp.RESOURCE_NOT_FOUND {
			t.Errorf("id %s: %s, want the code %d", id, w.Body, mcp.RESOURCE_NOT_FOUND)
		}
	}
}

// A number out of range is a result of the tool over HTTP too, with its field.
func TestNumberOutOfRangeOverHTTP(t *testing.T) {
	ts := httptest.NewServer(NewServer(&fake{}, Options{}).Handler())
	defer ts.Close()
	arguments := `{"insight":"x","context":{"n":1e999}}`
	modern := map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "learn"}
	for name, tt := range map[string]struct {
		headers map[string]string
		message string
	}{
		"legacy": {nil, call(7, "learn", arguments)},
		"modern": {modern, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"learn","arguments":` + arguments + `,` + modernMeta + `}}`},
	} {
		res, body := post(t, ts.URL, tt.headers, tt.message)
		got := parse(t, body)
		if res.StatusCode != 200 || len(got) != 1 || got[0].ID != 7.0 || !got[0].Result.IsError || got[0].Result.Meta["robotmem/error"]["field"] != "context.n" {
			t.Errorf("%s: %s %s, want a result that names context.n", name, res.Status, body)
		}
	}
}
