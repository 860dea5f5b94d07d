package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
)

type sampledOperation struct {
	Parameters []struct {
		In, Name string
		Example  any
	}
	RequestBody struct {
		Content map[string]struct{ Example json.RawMessage }
	}
}

// Readers copy the examples of the document, so each must be a valid request.
func TestOpenAPIExamplesWork(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]sampledOperation
	}
	e, _ := serveEngine(t, local.Options{}, web.Options{})
	h := web.NewServer(e, web.Options{}).Handler
	if err := json.Unmarshal([]byte(bodyOf(t, do(h, "GET", "/api/openapi.json", ""))), &doc); err != nil {
		t.Fatal(err)
	}
	run := func(name, episode string) map[string]any {
		t.Helper()
		op := robotmem.OpByName(name)
		path, body := sampleOf(op, doc.Paths[op.Path()][strings.ToLower(op.Method())], episode)
		res := do(h, op.Method(), path, body, "Accept: application/json")
		text := bodyOf(t, res)
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s %s %s: %s %s", op.Method(), path, body, res.Status, text)
		}
		answer := map[string]any{}
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return answer
	}
	episode := fmt.Sprint(run("start_session", "")["session_id"])
	for _, op := range robotmem.Ops() {
		if op.Name != "start_session" {
			run(op.Name, episode)
		}
	}
	if found := run("recall", episode); fmt.Sprint(found["total"]) != "1" {
		t.Errorf("recall finds %v, want the fact of learn", found)
	}
}

// sampleOf is the path and body of an operation's examples, of this episode.
func sampleOf(op *robotmem.Op, d sampledOperation, episode string) (path, body string) {
	path = op.Path()
	query := url.Values{}
	for _, p := range d.Parameters {
		value := fmt.Sprint(p.Example)
		if p.Name == "session_id" {
			value = episode
		}
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", value)
		case p.In == "query" && p.Example != nil:
			query.Set(p.Name, value)
		}
	}
	body = string(d.RequestBody.Content["application/json"].Example)
	var fields map[string]any
	if json.Unmarshal([]byte(body), &fields) == nil && fields["session_id"] != nil {
		body = strings.ReplaceAll(body, fmt.Sprint(fields["session_id"]), episode)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path, body
}
