package web

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

type object = map[string]any

// openAPI describes every route in OpenAPI 3.1, from the same table that
// serves them.
func openAPI(version string) object {
	paths := object{}
	for _, op := range robotmem.Ops() {
		item, ok := paths[op.Path()].(object)
		if !ok {
			item = object{}
			paths[op.Path()] = item
		}
		item[strings.ToLower(op.Method())] = describe(op)
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title":       "robotmem",
			"version":     cmp.Or(version, "dev"),
			"description": "A memory for robots. Fields of a JSON body may also be given in the query.",
			"license":     object{"name": "Apache 2.0", "identifier": "Apache-2.0"},
		},
		"servers":  []any{object{"url": "/"}}, // wherever this document was read
		"security": []any{},                   // whoever reaches the node may use it
		"paths":    paths,
		"components": object{
			"schemas":   object{"Problem": problemSchema()},
			"responses": problemResponses(),
		},
	}
}

func describe(op *robotmem.Op) object {
	schema := op.InputSchema()
	props, _ := schema["properties"].(object)
	required, _ := schema["required"].([]string)
	isRequired := map[string]bool{}
	for _, name := range required {
		isRequired[name] = true
	}
	var params []any
	inBody := object{}
	for _, name := range op.Fields() {
		p, _ := props[name].(object)
		switch {
		case strings.Contains(op.Path(), "{"+name+"}"):
			params = append(params, parameter("path", name, p, true))
		case op.Method() == http.MethodGet, op.Method() == http.MethodDelete:
			params = append(params, parameter("query", name, p, isRequired[name]))
		default:
			inBody[name] = p
		}
	}
	d := object{
		"operationId": op.Name, "summary": op.Title, "description": op.Doc,
		"responses": responses(op),
	}
	if op.Name == "data" || op.Name == "preview" {
		params = append(params, conditions()...)
	}
	if params != nil {
		d["parameters"] = params
	}
	if len(inBody) > 0 {
		d["requestBody"] = requestBody(op, inBody, required)
	}
	return d
}

func parameter(in, name string, schema object, required bool) object {
	p := object{"in": in, "name": name, "required": required, "schema": schema}
	if doc, ok := schema["description"].(string); ok {
		p["description"] = doc
	}
	return p
}

func requestBody(op *robotmem.Op, props object, required []string) object {
	schema := object{"type": "object", "properties": props, "additionalProperties": false}
	var still []string
	for _, name := range required {
		if _, ok := props[name]; ok {
			still = append(still, name)
		}
	}
	if still != nil {
		schema["required"] = still
	}
	content := object{"application/json": object{"schema": schema}}
	if op.Name == "save_perception" {
		content["multipart/form-data"] = uploadForm(props, still)
	}
	return object{"required": still != nil, "content": content}
}

// uploadForm describes the form that carries a payload as bytes: the fields as
// text, then the part file.
func uploadForm(props object, required []string) object {
	form := object{"file": object{"contentMediaType": "application/octet-stream", "description": "The payload, after the fields: then it streams to the disk, in any size that the node takes. Its content type is its media type. The part may also be called data."}}
	for name, p := range props {
		if name != "data" && name != "data_base64" { // the payload is a part of its own
			form[name] = p
		}
	}
	return object{
		"schema":   object{"type": "object", "properties": form, "required": required},
		"encoding": object{"file": object{"contentType": "*/*"}},
	}
}

func responses(op *robotmem.Op) object {
	out := object{"200": object{"description": op.Title, "content": object{"application/json": object{"schema": op.OutputSchema()}}}}
	for code, name := range problemNames() {
		out[code] = object{"$ref": "#/components/responses/" + name}
	}
	switch op.Name {
	case "data":
		binary(out, op, "*/*")
	case "preview":
		binary(out, op, "image/png", "image/jpeg", "image/svg+xml")
	}
	return out
}

// binary adds the answers of a route that answers bytes, unless application/json
// is asked for by name. They have ranges and a tag, as RFC 9110 has them.
func binary(out object, op *robotmem.Op, mediaTypes ...string) {
	content := object{"application/json": object{"schema": op.OutputSchema()}}
	part := object{"multipart/byteranges": object{}}
	for _, t := range mediaTypes {
		raw := object{"contentMediaType": t}
		if t == "*/*" {
			raw["contentMediaType"] = "application/octet-stream"
		}
		content[t], part[t] = object{"schema": raw}, object{"schema": raw}
	}
	text := func(doc string) object {
		return object{"description": doc, "schema": object{"type": "string"}}
	}
	tag := text("Changes with the bytes; send it back as If-None-Match or If-Range.")
	out["200"] = object{
		"description": op.Title + ". Bytes, or the JSON response if Accept names application/json.", "content": content,
		"headers": object{"ETag": tag, "Accept-Ranges": text("bytes"), "Content-Disposition": text("attachment, for types that a browser might run.")},
	}
	out["206"] = object{
		"description": "The bytes that Range asks for; several ranges come as parts.", "content": part,
		"headers": object{"ETag": tag, "Content-Range": text("Which bytes, and of how many.")},
	}
	out["304"] = object{"description": "If-None-Match names the present bytes.", "headers": object{"ETag": tag}}
	out["412"] = object{"description": "If-Match names other bytes."}
	out["416"] = object{"description": "No byte lies in the range.", "headers": object{"Content-Range": text("bytes */ and how many there are.")},
		"content": object{"application/problem+json": object{"schema": object{"$ref": "#/components/schemas/Problem"}}}}
}

// conditions are the headers that a route of bytes heeds.
func conditions() []any {
	header := func(name, doc string) object {
		return object{"in": "header", "name": name, "required": false, "description": doc, "schema": object{"type": "string"}}
	}
	return []any{
		header("Range", "Which bytes, such as bytes=0-1023 or bytes=-100."),
		header("If-None-Match", "A tag: answer 304 if it is still that of the bytes."),
		header("If-Range", "A tag: heed Range only if it is still that of the bytes."),
	}
}

// problemNames maps the statuses of the table to the names of their responses.
func problemNames() map[string]string {
	names := map[string]string{}
	for _, code := range status {
		names[strconv.Itoa(code)] = strings.ReplaceAll(http.StatusText(code), " ", "")
	}
	return names
}

func problemResponses() object {
	out := object{}
	for code, name := range problemNames() {
		n, _ := strconv.Atoi(code)
		out[name] = object{
			"description": http.StatusText(n),
			"content":     object{"application/problem+json": object{"schema": object{"$ref": "#/components/schemas/Problem"}}},
		}
	}
	return out
}

func problemSchema() object {
	kinds := []string{}
	for kind := range status {
		kinds = append(kinds, string(kind))
	}
	text := func(doc string) object { return object{"type": "string", "description": doc} }
	kind := text("The class of the error.")
	slices.Sort(kinds)
	kind["enum"] = kinds
	return object{
		"type": "object",
		"properties": object{
			"type":   text("about:blank: status and kind say it all."),
			"title":  text("The status in words."),
			"status": object{"type": "integer"},
			"kind":   kind,
			"field":  text("The request field at fault."),
			"detail": text("What failed, what is allowed, and what to do next."),
			"op":     text("The operation."),
		},
		"required": []string{"type", "title", "status", "kind", "detail"},
	}
}
