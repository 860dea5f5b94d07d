package web

import (
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// described are the fields of a request by where its route takes them.
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

// parameter describes a field outside the body. What is an object there comes as
// the text of one.
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

// uploadForm describes the form that carries a payload as bytes: the fields as
// text, then the part file.
func (d *described) uploadForm(schemas *robotmem.Definitions) object {
	fields := slices.DeleteFunc(slices.Clone(d.inBody), func(name string) bool {
		return name == "data" || name == "data_base64" // the payload is a part of its own
	})
	schema := d.bodySchema(fields)
	schema["properties"].(object)["file"] = rawBytes("application/octet-stream", "The payload, after the fields: then it streams to the disk, in any size that the node takes. Its content type is its media type. The part may also be called data.")
	return object{
		"schema":   schemas.Define("PerceptionForm", schema),
		"encoding": object{"file": object{"contentType": "*/*"}},
	}
}
