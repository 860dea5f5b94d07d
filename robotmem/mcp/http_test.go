package mcp

import (
	"net/http/httptest"
	"testing"
)

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
