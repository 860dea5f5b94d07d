package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

func describe(op *robotmem.Op, schemas *robotmem.Definitions) object {
	d := object{
		"operationId": op.Name, "summary": op.Title, "description": op.Doc,
		"tags":      []string{groupOf(op).name},
		"responses": responses(op, schemas),
	}
	in := requestIn(op, schemas)
	if params := in.parameters(); params != nil {
		d["parameters"] = params
	}
	if body := in.body(schemas); body != nil {
		d["requestBody"] = body
	}
	return d
}

func responses(op *robotmem.Op, schemas *robotmem.Definitions) object {
	answer := schemas.Output(op)
	doc := op.Title
	if op.Hints.Progress {
		doc += progressDoc
	}
	out := object{"200": object{"description": doc, "content": object{"application/json": object{"schema": answer}}}}
	for code, name := range problemNames() {
		out[code] = object{"$ref": "#/components/responses/" + name}
	}
	if op.Method() == http.MethodGet { // a body is not read
		delete(out, strconv.Itoa(http.StatusUnsupportedMediaType))
	}
	switch op.Name {
	case "data":
		binary(out, op, answer, "*/*")
	case "preview":
		binary(out, op, answer, "image/png", "image/jpeg", "image/svg+xml")
	}
	return out
}

// inQuery reports whether the route has its fields in the query.
func inQuery(op *robotmem.Op) bool {
	return op.Method() == http.MethodGet || op.Method() == http.MethodDelete
}

// described are the fields of a request by their place in the route.
type described struct {
	op       *robotmem.Op
	fields   object // by name
	required []string
	path     []string
	query    []string
	inBody   []string
}

func requestIn(op *robotmem.Op, schemas *robotmem.Definitions) *described {
	schema := schemas.Input(op)
	d := &described{op: op}
	d.fields, _ = schema["properties"].(object)
	d.required, _ = schema["required"].([]string)
	for _, name := range op.Fields() {
		switch {
		case strings.Contains(op.Path(), "{"+name+"}"):
			d.path = append(d.path, name)
		case inQuery(op):
			d.query = append(d.query, name)
		default:
			d.inBody = append(d.inBody, name)
		}
	}
	return d
}

func (d *described) parameters() []any {
	var out []any
	for _, name := range d.path {
		out = append(out, d.parameter("path", name))
	}
	for _, name := range d.query {
		out = append(out, d.parameter("query", name))
	}
	if d.op.Name == "data" || d.op.Name == "preview" {
		out = append(out, conditions()...)
	}
	return out
}

// parameter describes a field outside of the body, where an object is given as text.
func (d *described) parameter(in, name string) object {
	schema := object{}
	field, _ := d.fields[name].(object)
	for key, v := range field {
		if key != "description" {
			schema[key] = v
		}
	}
	if field["$ref"] != nil || field["type"] == "object" {
		schema = object{"type": "string", "contentMediaType": "application/json"}
	}
	p := object{"in": in, "name": name, "required": slices.Contains(d.required, name), "schema": schema}
	if doc, ok := field["description"].(string); ok {
		p["description"] = doc
	}
	if v := sampleValue(d.op, in, name); v != nil {
		p["example"] = v
	}
	return p
}

func (d *described) body(schemas *robotmem.Definitions) object {
	if d.inBody == nil {
		return nil
	}
	schema := d.bodySchema(d.inBody)
	required := schema["required"] != nil
	content := object{"schema": schemas.Define(d.op.In.Name(), schema)}
	if example := sampleBody(d); example != nil {
		content["example"] = example
	}
	forms := object{"application/json": content}
	if d.op.Name == "save_perception" {
		forms["multipart/form-data"] = d.uploadForm(schemas)
	}
	return object{"required": required, "content": forms}
}

func (d *described) bodySchema(names []string) object {
	props := object{}
	var required []string
	for _, name := range names {
		props[name] = d.fields[name]
		if slices.Contains(d.required, name) {
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
// part file.
func (d *described) uploadForm(schemas *robotmem.Definitions) object {
	fields := slices.DeleteFunc(slices.Clone(d.inBody), func(name string) bool {
		return name == "data" || name == "data_base64" // the part file takes their place
	})
	schema := d.bodySchema(fields)
	schema["properties"].(object)["file"] = rawBytes("application/octet-stream", "The payload. It must come after the fields to stream to the disk, in any size that the node accepts. Its content type is its media type. The part may also be called data.")
	return object{
		"schema":   schemas.Define("PerceptionForm", schema),
		"encoding": object{"file": object{"contentType": "*/*"}},
	}
}

// rawBytes is the schema of bytes. OpenAPI 3.1 needs only the media type; the format
// is for generators that follow 3.0.
func rawBytes(mediaType, doc string) object {
	s := object{"type": "string", "format": "binary", "contentMediaType": mediaType}
	if doc != "" {
		s["description"] = doc
	}
	return s
}

// binary adds the answers of a route that answers bytes, with ranges and an ETag (RFC
// 9110), unless the Accept header names application/json.
func binary(out object, op *robotmem.Op, answer object, mediaTypes ...string) {
	content := object{"application/json": object{"schema": answer}}
	part := object{"multipart/byteranges": object{"schema": rawBytes("multipart/byteranges", "")}}
	for _, t := range mediaTypes {
		raw := rawBytes(t, "")
		if t == "*/*" {
			raw["contentMediaType"] = "application/octet-stream"
		}
		content[t], part[t] = object{"schema": raw}, object{"schema": raw}
	}
	text := func(doc string) object {
		return object{"description": doc, "schema": object{"type": "string"}}
	}
	tag := text("Identifies the bytes; send it back as If-None-Match or If-Range.")
	out["200"] = object{
		"description": op.Title + ". Bytes, or the JSON response if Accept names application/json.", "content": content,
		"headers": object{"ETag": tag, "Accept-Ranges": text("bytes"), "Content-Disposition": text("attachment, for types in which a browser may run scripts.")},
	}
	out["206"] = object{
		"description": "The bytes of the range; several ranges come as parts.", "content": part,
		"headers": object{"ETag": tag, "Content-Range": text("The range, and the number of all bytes.")},
	}
	out["304"] = object{"description": "If-None-Match names the current bytes.", "headers": object{"ETag": tag}}
	out["412"] = object{"description": "If-Match names other bytes."}
	out["416"] = object{"description": "The range has no bytes.", "headers": object{"Content-Range": text("bytes */ and the number of all bytes.")},
		"content": object{"application/problem+json": object{"schema": object{"$ref": "#/components/schemas/Problem"}}}}
}

// conditions are the request headers of a route with bytes.
func conditions() []any {
	header := func(name, doc string) object {
		return object{"in": "header", "name": name, "required": false, "description": doc, "schema": object{"type": "string"}}
	}
	return []any{
		header("Range", "The range, such as bytes=0-1023 or bytes=-100."),
		header("If-None-Match", "An ETag: answer 304 if the bytes still have it."),
		header("If-Range", "An ETag: use Range only if the bytes still have it."),
	}
}
