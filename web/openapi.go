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
		},
		"paths": paths,
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
		form := object{"file": object{"type": "string", "contentMediaType": "application/octet-stream", "description": "The payload; its content type is the media type."}}
		for name, p := range props {
			if name != "data_base64" {
				form[name] = p
			}
		}
		content["multipart/form-data"] = object{"schema": object{"type": "object", "properties": form, "required": still}}
	}
	return object{"required": still != nil, "content": content}
}

func responses(op *robotmem.Op) object {
	content := object{"application/json": object{"schema": op.OutputSchema()}}
	if op.Name == "data" {
		content["*/*"] = object{"schema": object{"type": "string", "contentMediaType": "application/octet-stream"}}
	}
	out := object{"200": object{"description": op.Title, "content": content}}
	for code, name := range problemNames() {
		out[code] = object{"$ref": "#/components/responses/" + name}
	}
	return out
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
