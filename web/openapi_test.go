package web_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
)

func TestOpenAPIDescribesEveryRoute(t *testing.T) {
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string
			Parameters  []struct {
				In, Name string
				Required bool
				Schema   map[string]any
			}
			RequestBody struct {
				Content map[string]struct{ Schema map[string]any }
			}
			Responses map[string]map[string]any
		}
		Components map[string]map[string]any
	}
	body := bodyOf(t, do(web.New(&stub{}, web.Options{}), "GET", "/api/openapi.json", ""))
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("openapi %q", doc.OpenAPI)
	}
	for _, op := range robotmem.Ops() {
		d := doc.Paths[op.Path()][strings.ToLower(op.Method())]
		if d.OperationID != op.Name || d.Responses["200"] == nil || d.Responses["404"] == nil {
			t.Errorf("%s: %+v", op.Name, d)
			continue
		}
		described := map[string]bool{}
		for _, p := range d.Parameters {
			described[p.Name] = true
			if p.Schema == nil || (p.In == "path") != strings.Contains(op.Path(), "{"+p.Name+"}") {
				t.Errorf("%s: parameter %+v", op.Name, p)
			}
		}
		props, _ := d.RequestBody.Content["application/json"].Schema["properties"].(map[string]any)
		for name := range props {
			described[name] = true
		}
		for _, name := range op.Fields() {
			if !described[name] {
				t.Errorf("%s: field %s is not described", op.Name, name)
			}
		}
	}
	for ref := range strings.SplitSeq(body, `"$ref":"#/components/`) {
		kind, rest, _ := strings.Cut(ref, "/")
		name, _, _ := strings.Cut(rest, `"`)
		if strings.HasPrefix(ref, "{") {
			continue // what stands before the first reference
		}
		if doc.Components[kind][name] == nil {
			t.Errorf("dangling reference to %s/%s", kind, name)
		}
	}
}
