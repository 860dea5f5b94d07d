package mcp

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestArgumentsDoNotPassThroughTheLibrary(t *testing.T) {
	wide := `"` + strings.Repeat("x", maxEnvelope) + `"`
	for _, tt := range []struct {
		name, message, arguments string
		ok                       bool
	}{
		{"a call", `{"id":1e400,"method":"tools/call","params":{"_meta":{"a":1},"name":"learn","arguments":{"insight":1.50}}}`, `{"insight":1.50}`, true},
		{"a large call", `{"id":1,"method":"tools/call","params":{"arguments":{"insight":` + wide + `},"name":"learn"}}`, `{"insight":` + wide + `}`, true},
		{"no arguments", `{"id":1,"method":"tools/call","params":{"name":"learn"}}`, "", true},
		{"another tool", `{"id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1}}}`, "", true},
		{"another method", `{"id":1,"method":"prompts/get","params":{"name":"learn","arguments":{"a":1}}}`, "", true},
		{"no message", `nope`, "", true},
		{"wide beside the arguments", `{"id":` + wide + `,"method":"tools/call","params":{"name":"learn","arguments":{}}}`, "", false},
		{"wide arguments of another method", `{"id":1,"method":"prompts/get","params":{"arguments":` + wide + `}}`, "", false},
	} {
		m, ok := openMessage([]byte(tt.message))
		if ok != tt.ok || string(m.arguments) != tt.arguments {
			t.Errorf("%s: %v, arguments %.60s", tt.name, ok, m.arguments)
		}
		if tt.arguments == "" {
			if string(m.envelope) != tt.message {
				t.Errorf("%s: changed to %.200s", tt.name, m.envelope)
			}
			continue
		}
		var rest struct {
			ID     json.RawMessage
			Params map[string]any
		}
		if err := json.Unmarshal(m.envelope, &rest); err != nil || len(rest.ID) == 0 || rest.Params["name"] != "learn" || rest.Params["arguments"] != nil {
			t.Errorf("%s: %v, envelope %.200s", tt.name, err, m.envelope)
		}
	}
	wideParams := `{"method":"ping","params":{"a":` + wide + `},"id":7}`
	if got := serve(t, NewServer(&fake{}, Options{}), wideParams+"\n"); len(got) != 1 || got[0].ID != 7.0 || got[0].Error == nil || !strings.Contains(got[0].Error.Message, "send large values as arguments") {
		t.Errorf("over stdio: %+v", got)
	}
}
