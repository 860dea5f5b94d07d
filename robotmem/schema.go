package robotmem

import (
	"reflect"
	"strconv"
	"strings"
	"time"
)

// InputSchema returns the JSON Schema (2020-12) of the request for models. Models read it in every
// conversation, so it omits references, limits that a description states, and the fields with a
// tool tag. Fields with the tag "-" are refused to models, those with "rare" are accepted.
func (o *Op) InputSchema() map[string]any { return (*Definitions)(nil).Input(o) }

// Definitions collects the JSON Schemas of structs for a document such as OpenAPI, where each
// schema is defined once and referenced by name. In such a document an object field accepts only
// an object; the schemas of MCP tools also accept a string that contains the object.
type Definitions struct {
	Prefix  string         // of a reference, such as #/components/schemas/
	Schemas map[string]any // by name; filled by Input
}

// Input returns the schema of the request. It refers to the schemas of its fields.
func (d *Definitions) Input(o *Op) map[string]any { return d.requestSchema(o.In) }

// Define stores a schema under a name and returns a reference to it.
func (d *Definitions) Define(name string, schema map[string]any) map[string]any {
	if d.Schemas == nil {
		d.Schemas = map[string]any{}
	}
	d.Schemas[name] = schema
	return map[string]any{"$ref": d.Prefix + name}
}

func (d *Definitions) requestSchema(t reflect.Type) map[string]any {
	props, required := map[string]any{}, []string{}

	for i := range t.NumField() {
		f := t.Field(i)
		name := jsonName(f)
		if name == "" || d == nil && f.Tag.Get("tool") != "" {
			continue
		}
		rules, items := rulesOf(f.Tag.Get("validate"))
		p := d.fieldSchema(f.Type, rules, items)
		p["description"] = f.Tag.Get("doc")
		if text := f.Tag.Get("default"); text != "" {
			p["default"] = defaultJSON(f.Type, text)
		}
		if isRequired(rules) {
			required = append(required, name)
		}
		if takesUID(t, name) {
			p = withUID(p)
		}
		props[name] = p
	}

	s := map[string]any{"type": "object", "properties": props}
	// Tools accept other names of their fields too, so a client must not refuse them.
	if d != nil {
		s["additionalProperties"] = false
	}
	if len(required) > 0 {
		s["required"] = required
	}

	return s
}

// IsRequired reports whether a request without the field is refused. A memory is named by a number or a uid, which
// are one field of JSON.
func IsRequired(f reflect.StructField) bool {
	rules, _ := rulesOf(f.Tag.Get("validate"))
	return isRequired(rules)
}

func isRequired(rules map[string]string) bool {
	_, always := rules["required"]
	_, orUID := rules["required_without"]

	return always || orUID
}

// withUID returns the schema of a field that takes the uid of a memory instead of its number.
func withUID(number map[string]any) map[string]any {
	description := number["description"]
	delete(number, "description")
	return map[string]any{"description": description, "anyOf": []any{number, map[string]any{"type": "string"}}}
}

// fieldSchema returns the schema of one request field. An object field accepts an
// object or a string that contains one. Each branch has a single type, because
// some MCP clients refuse a list of types.
func (d *Definitions) fieldSchema(t reflect.Type, rules, items map[string]string) map[string]any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}

	s := d.Scalar(t)
	lo, hi := "minimum", "maximum"

	switch {
	case t == reflect.TypeFor[time.Time](), t == reflect.TypeFor[[]byte]():
		// A tool also accepts words such as yesterday, which a client that checks the format would refuse.
		if d == nil {
			delete(s, "format")
		}
		return s
	case t == reflect.TypeFor[Object](), t.Kind() == reflect.Struct && d == nil:
		// The description shows the members by an example, which takes fewer tokens than their schema.
		if d == nil {
			return map[string]any{"anyOf": []any{map[string]any{"type": "object"}, map[string]any{"type": "string"}}}
		}
		// Code generators treat an object without properties as empty.
		return map[string]any{"type": "object", "additionalProperties": true}
	case t.Kind() == reflect.Struct:
		return d.Define(t.Name(), d.requestSchema(t))
	case t.Kind() == reflect.Slice:
		s, lo, hi = map[string]any{"type": "array", "items": d.fieldSchema(t.Elem(), items, nil)}, "minItems", "maxItems"
	case t.Kind() == reflect.String:
		lo, hi = "minLength", "maxLength"
	}

	if v, ok := rules["oneof"]; ok {
		s["enum"] = strings.Fields(v)
	}
	// The descriptions of the fields state the limits already.
	if d == nil {
		return s
	}

	for rule, key := range map[string]string{"min": lo, "max": hi} {
		if n, err := strconv.ParseFloat(rules[rule], 64); err == nil {
			s[key] = n
		}
	}

	if _, ok := rules["required"]; ok && s["type"] == "string" && s["minLength"] == nil {
		s["minLength"] = 1
	}

	return s
}

// Scalar returns the schema of a text, a number, a flag, a time or bytes, and nil for any other type.
func (d *Definitions) Scalar(t reflect.Type) map[string]any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[[]byte]():
		return map[string]any{"type": "string", "contentEncoding": "base64"}
	}

	switch t.Kind() {
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return map[string]any{"type": "integer"}
	}

	return nil
}
