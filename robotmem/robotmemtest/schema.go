package robotmemtest

import (
	"reflect"
	"strings"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/robotmem"
)

// ResponseSchema returns the JSON Schema of a response type, or a reference to it if it
// is a struct, whose schema d collects.
func ResponseSchema(d *robotmem.Definitions, t reflect.Type) map[string]any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}

	if t == reflect.TypeFor[perception.Numbers]() {
		return object{
			"type": "array", "items": object{"anyOf": []any{object{"type": "number"}, object{"type": "null"}}},
		}
	}
	if s := d.Scalar(t); s != nil {
		return s
	}

	switch t.Kind() {
	case reflect.Interface:
		return object{}
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return object{"type": "object", "additionalProperties": true}
		}
		return object{"type": "object", "additionalProperties": ResponseSchema(d, t.Elem())}
	case reflect.Slice:
		return object{"type": "array", "items": ResponseSchema(d, t.Elem())}
	case reflect.Struct:
		return d.Define(t.Name(), structSchema(d, t))
	}

	return object{"type": "integer"}
}

func structSchema(d *robotmem.Definitions, t reflect.Type) object {
	props, required := object{}, []string{}

	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" || name == "-" {
			continue
		}
		p := ResponseSchema(d, f.Type)
		if doc := f.Tag.Get("doc"); doc != "" {
			p["description"] = doc
		}
		if f.Tag.Get("schema") == "or line" { // the compact form
			p["items"] = object{"anyOf": []any{p["items"], ResponseSchema(d, reflect.TypeFor[robotmem.MemoryLine]())}}
		}
		props[name] = p
		optional := len(f.Index) > 1 && t.Field(f.Index[0]).Type.Kind() == reflect.Pointer
		if !optional && !strings.Contains(f.Tag.Get("json"), ",omit") {
			required = append(required, name)
		}
	}

	s := object{"type": "object", "properties": props}
	if len(required) > 0 {
		s["required"] = required
	}

	return s
}
