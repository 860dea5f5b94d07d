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

// A failure over HTTP has its own code whatever the request calls itself.
func TestCodeOfAFailureWithAnOddID(t *testing.T) {
	e, err := local.Open(t.Context(), local.Options{Path: filepath.Join(t.TempDir(), "memory.db")})
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
