package web_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
)

// The page may load files of this node only, and runs no script of its own and no
// eval.
func TestReferencePage(t *testing.T) {
	h := web.NewServer(&stub{}, web.Options{}).Handler
	page := do(h, "GET", "/api/reference", "")
	body := bodyOf(t, page)
	if page.StatusCode != 200 || page.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("%s %v", page.Status, page.Header)
	}
	links := regexp.MustCompile(` (?:href|src)="([^"]+)"`).FindAllStringSubmatch(body, -1)
	loaded := map[string]bool{}
	for _, m := range links {
		loaded[m[1]] = true
	}
	for path, mediaType := range map[string]string{
		"/api/reference/swagger-ui-bundle.js": "text/javascript; charset=utf-8",
		"/api/reference/swagger-ui.css":       "text/css; charset=utf-8",
		"/api/reference/start.js":             "text/javascript; charset=utf-8",
		"/api/reference/style.css":            "text/css; charset=utf-8",
	} {
		res := do(h, "GET", path, "")
		if !loaded[path] || res.StatusCode != 200 || res.Header.Get("Content-Type") != mediaType {
			t.Errorf("%s: in the page %t, %s %v", path, loaded[path], res.Status, res.Header)
		}
		policy := res.Header.Get("Content-Security-Policy")
		if policy != page.Header.Get("Content-Security-Policy") || !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "style-src 'self'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if res.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, res.Header)
		}
	}
	for path := range loaded {
		if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
			t.Errorf("the page leads to %s", path)
		}
	}
	for _, banned := range []string{"<script>", " style=", " onclick", "<style"} {
		if strings.Contains(body, banned) {
			t.Errorf("the page has %s", banned)
		}
	}
	start := bodyOf(t, do(h, "GET", "/api/reference/start.js", ""))
	if !strings.Contains(start, `"/api/openapi.json"`) || !strings.Contains(start, "validatorUrl: null") {
		t.Errorf("the page starts with %s", start)
	}
}

// The document that the page shows has every operation with its fields, an
// example, and the introduction.
func TestReferenceShowsEveryOperation(t *testing.T) {
	h := web.NewServer(&stub{}, web.Options{Version: "v1.2.3"}).Handler
	type schema struct {
		Properties map[string]any
		Ref        string `json:"$ref"`
	}
	var doc struct {
		Info  struct{ Version, Description string }
		Paths map[string]map[string]struct {
			Summary, Description string
			Tags                 []string
			Parameters           []struct{ Name string }
			Responses            map[string]any
			RequestBody          struct {
				Content map[string]struct {
					Schema  schema
					Example json.RawMessage
				}
			}
		}
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal([]byte(bodyOf(t, do(h, "GET", "/api/openapi.json", ""))), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Info.Version != "v1.2.3" {
		t.Errorf("version %q", doc.Info.Version)
	}
	for _, want := range []string{"application/problem+json", "POST /api/recall?n=3", "Authorization: Bearer"} {
		if !strings.Contains(doc.Info.Description, want) {
			t.Errorf("the introduction has no %s", want)
		}
	}
	for _, op := range robotmem.Ops() {
		d, ok := doc.Paths[op.Path()][strings.ToLower(op.Method())]
		if !ok || d.Summary != op.Title || len(d.Tags) != 1 {
			t.Errorf("%s: %+v", op.Name, d)
		}
		known := map[string]bool{}
		for _, p := range d.Parameters {
			known[p.Name] = true
		}
		body := d.RequestBody.Content["application/json"].Schema
		if name := strings.TrimPrefix(body.Ref, "#/components/schemas/"); name != "" {
			body = doc.Components.Schemas[name]
		}
		for name := range body.Properties {
			known[name] = true
		}
		for _, field := range op.Fields() {
			if !known[field] {
				t.Errorf("%s: field %s is not there", op.Name, field)
			}
		}
	}
	if example := doc.Paths["/api/recall"]["post"].RequestBody.Content["application/json"].Example; !strings.Contains(string(example), `"query"`) {
		t.Errorf("the example of recall is %s", example)
	}
	recall := doc.Paths["/api/recall"]["post"]
	n, _ := doc.Components.Schemas["RecallRequest"].Properties["n"].(map[string]any)
	if n == nil {
		n, _ = recall.RequestBody.Content["application/json"].Schema.Properties["n"].(map[string]any)
	}
	if n["minimum"] != 1.0 || n["maximum"] != 100.0 || n["default"] != 5.0 {
		t.Errorf("n of recall is %v, want 1 to 100, default 5", n)
	}
	if recall.Responses["409"] == nil {
		t.Errorf("recall answers %v, want also 409", recall.Responses)
	}
	if _, ok := doc.Paths["/api/perceptions"]["post"].RequestBody.Content["multipart/form-data"]; !ok {
		t.Error("save_perception takes no multipart/form-data")
	}
}
