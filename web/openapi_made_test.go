package web

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest"
)

// The description of the API is made from the operations and testdata/openapi_parts.json,
// which has all that does not follow from them.

var updateOpenAPI = flag.Bool("update", false, "write openapi.json from the operations")

// The file that the program serves is the one that the operations make now.
func TestOpenAPIIsMadeFromTheOperations(t *testing.T) {
	data, err := os.ReadFile("testdata/openapi_parts.json")
	if err != nil {
		t.Fatal(err)
	}
	var made bytes.Buffer
	enc := json.NewEncoder(&made)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t")
	if err := enc.Encode(describe(t, data)); err != nil {
		t.Fatal(err)
	}
	if *updateOpenAPI {
		if err := os.WriteFile("openapi.json", made.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(kept), made.String()); diff != "" {
		t.Errorf("run go test ./web -run OpenAPIIsMade -update\n%s", diff)
	}
	if got := OpenAPI("1.2.3").(map[string]any)["info"].(map[string]any)["version"]; got != "1.2.3" {
		t.Errorf("the version is %v", got)
	}
}

type object = map[string]any

// parts are what openapi_parts.json has of the description of the API: all that does not
// follow from the operations.
type parts struct {
	Document object // without the operations
	// Bytes are the responses of the routes that answer bytes, with ranges and an ETag
	// (RFC 9110) unless the Accept header names application/json.
	Bytes      map[string]object
	Conditions []any // the request headers of these routes
	// Groups are parts of paths with the tag of their operations. The last has all paths.
	Groups [][2]string
	// Examples and Bodies are an example request of each main operation: its parameters and
	// its body. TestOpenAPIExamplesWork sends them.
	Examples map[string]object
	Bodies   map[string]json.RawMessage
}

func describe(t *testing.T, partsFile []byte) object {
	t.Helper()
	d := &description{schemas: &robotmem.Definitions{Prefix: "#/components/schemas/"}}
	if err := json.Unmarshal(partsFile, &d.parts); err != nil {
		t.Fatal(err)
	}
	paths := d.Document["paths"].(object)
	for _, op := range robotmem.Ops() {
		item, ok := paths[op.Path()].(object)
		if !ok {
			item = object{}
			paths[op.Path()] = item
		}
		item[strings.ToLower(op.Method())] = d.operation(op)
	}
	maps.Copy(d.Document["components"].(object)["schemas"].(object), d.schemas.Schemas)
	return d.Document
}

// description is the document while it is made.
type description struct {
	parts
	schemas *robotmem.Definitions
}

func (d *description) operation(op *robotmem.Op) object {
	o := object{
		"operationId": op.Name, "summary": op.Title, "description": op.Doc,
		"tags":      []string{d.groupOf(op)},
		"responses": d.responses(op),
	}
	in := d.request(op)
	if in.parameters != nil {
		o["parameters"] = in.parameters
	}
	if body := in.body(); body != nil {
		o["requestBody"] = body
	}
	return o
}

// groupOf returns the tag of the first group that the operation's path is of.
func (d *description) groupOf(op *robotmem.Op) string {
	i := slices.IndexFunc(d.Groups, func(g [2]string) bool { return strings.Contains(op.Path()+"/", g[0]) })
	return d.Groups[i][1]
}

// guarded are the statuses of the guards before an operation.
var guarded = []int{http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusUnsupportedMediaType, http.StatusTooManyRequests}

// progressDoc describes the events of long operations in words. As a second media
// type of the response, it would give every generated client a choice of two types.
const progressDoc = ". If Accept names only text/event-stream: events, any number of progress with {done, total, unit, stage}, then result with the response or problem with the problem document."

func (d *description) responses(op *robotmem.Op) object {
	doc := op.Title
	if op.Hints.Progress {
		doc += progressDoc
	}
	out := object{"200": object{"description": doc, "content": object{"application/json": object{"schema": robotmemtest.ResponseSchema(d.schemas, op.Out)}}}}
	for _, code := range append(slices.Collect(maps.Values(status)), guarded...) {
		if code == http.StatusUnsupportedMediaType && op.Method() == http.MethodGet {
			continue // a body is not read
		}
		name := strings.ReplaceAll(http.StatusText(code), " ", "")
		out[strconv.Itoa(code)] = object{"$ref": "#/components/responses/" + name}
	}
	maps.Copy(out, d.Bytes[op.Name])
	return out
}

// request are the fields of a request by their place in the route.
type request struct {
	*description
	op         *robotmem.Op
	fields     object // by name
	required   []string
	parameters []any // those of the path first
	inBody     []string
}

func (d *description) request(op *robotmem.Op) *request {
	schema := d.schemas.Input(op)
	r := &request{description: d, op: op}
	r.fields, _ = schema["properties"].(object)
	r.required, _ = schema["required"].([]string)
	var query []any
	for _, name := range op.Fields() {
		switch {
		case strings.Contains(op.Path(), "{"+name+"}"):
			r.parameters = append(r.parameters, r.parameter("path", name))
		case op.Method() == http.MethodGet, op.Method() == http.MethodDelete:
			query = append(query, r.parameter("query", name))
		default:
			r.inBody = append(r.inBody, name)
		}
	}
	r.parameters = append(r.parameters, query...)
	if d.Bytes[op.Name] != nil {
		r.parameters = append(r.parameters, d.Conditions...)
	}
	return r
}

// parameter describes a field outside of the body, where an object is given as text.
func (r *request) parameter(in, name string) object {
	field := r.fields[name].(object)
	schema := maps.Clone(field)
	delete(schema, "description")
	if field["$ref"] != nil || field["type"] == "object" {
		schema = object{"type": "string", "contentMediaType": "application/json"}
	}
	p := object{"in": in, "name": name, "required": slices.Contains(r.required, name), "schema": schema}
	if doc, ok := field["description"].(string); ok {
		p["description"] = doc
	}
	if v := r.Examples[r.op.Name][name]; v != nil {
		p["example"] = v
	} else if in == "path" {
		p["example"] = 1 // the first memory
	}
	return p
}

func (r *request) body() object {
	if r.inBody == nil {
		return nil
	}
	schema := r.bodySchema(r.inBody)
	required := schema["required"] != nil
	content := object{"schema": r.schemas.Define(r.op.In.Name(), schema)}
	if example := r.Bodies[r.op.Name]; example != nil {
		content["example"] = example
	}
	forms := object{"application/json": content}
	if r.op.Name == "save_perception" {
		forms["multipart/form-data"] = r.uploadForm()
	}
	return object{"required": required, "content": forms}
}

func (r *request) bodySchema(names []string) object {
	props := object{}
	var required []string
	for _, name := range names {
		props[name] = r.fields[name]
		if slices.Contains(r.required, name) {
			required = append(required, name)
		}
	}
	schema := object{"type": "object", "properties": props, "additionalProperties": false}
	if required != nil {
		schema["required"] = required
	}
	return schema
}

// uploadForm describes the form with a payload as bytes: the fields as text, then the
// part file. OpenAPI 3.1 needs only the media type of bytes; the format is for
// generators that follow 3.0.
func (r *request) uploadForm() object {
	fields := slices.DeleteFunc(slices.Clone(r.inBody), func(name string) bool {
		return name == "data" || name == "data_base64" // the part file takes their place
	})
	schema := r.bodySchema(fields)
	schema["properties"].(object)["file"] = object{
		"type": "string", "format": "binary", "contentMediaType": "application/octet-stream",
		"description": "The payload. It must come after the fields to stream to the disk, in any size that the node accepts. Its content type is its media type. The part may also be called data.",
	}
	return object{
		"schema":   r.schemas.Define("PerceptionForm", schema),
		"encoding": object{"file": object{"contentType": "*/*"}},
	}
}
