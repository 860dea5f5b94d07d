package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
)

var wildcard = regexp.MustCompile(`\{\w+\}`)

const schemaPrefix = "#/components/schemas/"

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
				Content map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					}
				}
			}
			Responses map[string]map[string]any
			Tags      []string
		}
		Components map[string]map[string]map[string]any
	}
	body := bodyOf(t, do(web.NewServer(&stub{}, web.Options{}).Handler, "GET", "/api/openapi.json", ""))
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
		if len(d.Tags) != 1 {
			t.Errorf("%s: tags %v, want one", op.Name, d.Tags)
		}
		ref := d.RequestBody.Content["application/json"].Schema.Ref
		props, _ := doc.Components["schemas"][strings.TrimPrefix(ref, schemaPrefix)]["properties"].(map[string]any)
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

func TestOpenAPIDescribesBytes(t *testing.T) {
	type schema struct {
		Ref              string `json:"$ref"`
		Properties       map[string]any
		Required         []string
		ContentMediaType string
	}
	type media map[string]struct{ Schema schema }
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters  []struct{ In, Name string }
			RequestBody struct{ Content media }
			Responses   map[string]struct {
				Content media
				Headers map[string]any
			}
		}
		Components struct{ Schemas map[string]schema }
	}
	body := bodyOf(t, do(web.NewServer(&stub{}, web.Options{}).Handler, "GET", "/api/openapi.json", ""))
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		t.Fatal(err)
	}
	named := func(s schema) schema { return doc.Components.Schemas[strings.TrimPrefix(s.Ref, schemaPrefix)] }
	save := doc.Paths["/api/perceptions"]["post"].RequestBody.Content
	form := named(save["multipart/form-data"].Schema)
	if form.Properties["file"] == nil || form.Properties["data_base64"] != nil || !slices.Equal(form.Required, []string{"description"}) {
		t.Errorf("form: %+v", form)
	}
	for name := range named(save["application/json"].Schema).Properties {
		if name != "data" && name != "data_base64" && form.Properties[name] == nil {
			t.Errorf("form: field %s is not described", name)
		}
	}
	for path, types := range map[string][]string{
		"/api/memory/{memory_id}/data": {"*/*"}, "/api/memory/{memory_id}/preview": {"image/png", "image/jpeg", "image/svg+xml"},
	} {
		d := doc.Paths[path]["get"]
		for _, mediaType := range types {
			for _, code := range []string{"200", "206"} {
				if d.Responses[code].Content[mediaType].Schema.ContentMediaType == "" {
					t.Errorf("%s: %s has no %s", path, code, mediaType)
				}
			}
		}
		if named(d.Responses["200"].Content["application/json"].Schema).Properties["data_base64"] == nil {
			t.Errorf("%s: the JSON response is not described", path)
		}
		for code, headers := range map[string][]string{"200": {"ETag", "Accept-Ranges"}, "206": {"ETag", "Content-Range"}, "304": {"ETag"}, "416": {"Content-Range"}} {
			for _, h := range headers {
				if d.Responses[code].Headers[h] == nil {
					t.Errorf("%s: %s does not describe %s", path, code, h)
				}
			}
		}
		heeded := map[string]bool{}
		for _, p := range d.Parameters {
			heeded[p.In+" "+p.Name] = true
		}
		for _, want := range []string{"header Range", "header If-None-Match", "header If-Range", "path memory_id"} {
			if !heeded[want] {
				t.Errorf("%s: no parameter %s", path, want)
			}
		}
	}
	for _, path := range []string{"/api/memory/{memory_id}/preview", "/api/retain"} {
		if doc.Paths[path] == nil {
			t.Errorf("%s is not described", path)
		}
	}
}

func TestOpenAPIDescribesAccess(t *testing.T) {
	var doc struct {
		Security []map[string][]string
		Paths    map[string]map[string]struct {
			Security  []map[string][]string
			Responses map[string]struct{ Description string }
		}
		Components struct {
			SecuritySchemes map[string]struct{ Type, In string }
		}
	}
	if err := json.Unmarshal([]byte(bodyOf(t, do(web.NewServer(&stub{}, web.Options{}).Handler, "GET", "/api/openapi.json", ""))), &doc); err != nil {
		t.Fatal(err)
	}
	for _, way := range doc.Security {
		for name := range way {
			if doc.Components.SecuritySchemes[name].Type == "" {
				t.Errorf("no security scheme %s", name)
			}
		}
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			for _, code := range []string{"401", "429"} {
				if _, ok := op.Responses[code]; !ok {
					t.Errorf("%s %s: no %s", method, path, code)
				}
			}
		}
	}
	if login := doc.Paths["/login"]["post"]; login.Security == nil || len(login.Security) != 0 {
		t.Errorf("the login asks for %v", login.Security)
	}
	for _, path := range []string{"/logout", "/api/whoami", "/api/events", "/api/backups", "/api/tokens", "/api/tokens/{name}"} {
		if doc.Paths[path] == nil {
			t.Errorf("%s is not described", path)
		}
	}
	for _, op := range robotmem.Ops() {
		streams := strings.Contains(doc.Paths[op.Path()][strings.ToLower(op.Method())].Responses["200"].Description, "text/event-stream")
		if streams != op.Hints.Progress {
			t.Errorf("%s: described with events: %v, tells of its progress: %v", op.Name, streams, op.Hints.Progress)
		}
	}
}

// A route that reads a body refuses one that is not JSON, with a status of the
// description.
func TestOpenAPIDescribesRefusedMediaTypes(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]any
		}
	}
	node := web.NewServer(&stub{}, web.Options{ManageTokens: &list{}}).Handler
	if err := json.Unmarshal([]byte(bodyOf(t, do(node, "GET", "/api/openapi.json", ""))), &doc); err != nil {
		t.Fatal(err)
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			r := httptest.NewRequest(strings.ToUpper(method), wildcard.ReplaceAllString(path, "7"), strings.NewReader("x=1"))
			r.Host = "localhost"
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			if path == "/api/events" {
				continue // it has no end
			}
			w := httptest.NewRecorder()
			node.ServeHTTP(w, r)
			_, described := op.Responses["415"]
			if refused := w.Code == http.StatusUnsupportedMediaType; refused != described {
				t.Errorf("%s %s answers a form with %d, and describes 415: %v", method, path, w.Code, described)
			}
		}
	}
}
