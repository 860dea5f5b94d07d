package robotmem

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// InputSchema is the JSON Schema (2020-12) of the request.
func (o *Op) InputSchema() map[string]any { return requestSchema(o.In) }

// OutputSchema is the JSON Schema (2020-12) of the response.
func (o *Op) OutputSchema() map[string]any { return responseSchema(o.Out) }

func requestSchema(t reflect.Type) map[string]any {
	props, required := map[string]any{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		name := jsonName(f)
		if name == "" {
			continue
		}
		rules, items := rulesOf(f.Tag.Get("validate"))
		p := fieldSchema(f.Type, rules, items)
		p["description"] = f.Tag.Get("doc")
		if d := f.Tag.Get("default"); d != "" {
			p["default"] = defaultValue(f.Type, d)
		}
		if _, ok := rules["required"]; ok {
			required = append(required, name)
		}
		props[name] = p
	}
	s := map[string]any{"type": "object", "properties": props, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// fieldSchema describes one request field. JSON-valued fields accept an object
// or a string that holds one; each branch has a single type, because some
// clients refuse a list of types.
func fieldSchema(t reflect.Type, rules, items map[string]string) map[string]any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s := map[string]any{}
	lo, hi := "minimum", "maximum"
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[Object]():
		return orString(map[string]any{"type": "object"})
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[LearnRequest]():
		return orString(requestSchema(t))
	case t.Kind() == reflect.Struct:
		return requestSchema(t)
	case t == reflect.TypeFor[[]byte]():
		return map[string]any{"type": "string", "contentEncoding": "base64"}
	case t.Kind() == reflect.Slice:
		s["type"], lo, hi = "array", "minItems", "maxItems"
		s["items"] = fieldSchema(t.Elem(), items, nil)
	case t.Kind() == reflect.String:
		s["type"], lo, hi = "string", "minLength", "maxLength"
	case t.Kind() == reflect.Bool:
		s["type"] = "boolean"
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		s["type"] = "integer"
	case t.Kind() == reflect.Float64:
		s["type"] = "number"
	}
	for rule, key := range map[string]string{"min": lo, "max": hi} {
		if n, err := strconv.ParseFloat(rules[rule], 64); err == nil {
			s[key] = n
		}
	}
	if _, ok := rules["required"]; ok && s["type"] == "string" && s["minLength"] == nil {
		s["minLength"] = 1
	}
	if v, ok := rules["oneof"]; ok {
		s["enum"] = strings.Fields(v)
	}
	return s
}

func orString(object map[string]any) map[string]any {
	return map[string]any{"anyOf": []any{object, map[string]any{"type": "string"}}}
}

func defaultValue(t reflect.Type, s string) any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return s
	case reflect.Bool:
		return s == "true"
	}
	return json.Number(s)
}

func responseSchema(t reflect.Type) map[string]any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[[]byte]():
		return map[string]any{"type": "string", "contentEncoding": "base64"}
	}
	switch t.Kind() {
	case reflect.Interface:
		return anyValue()
	case reflect.Map:
		s := map[string]any{"type": "object"}
		if t.Elem().Kind() != reflect.Interface {
			s["additionalProperties"] = responseSchema(t.Elem())
		}
		return s
	case reflect.Slice:
		return map[string]any{"type": "array", "items": responseSchema(t.Elem())}
	case reflect.Struct:
		return structSchema(t)
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	}
	return map[string]any{"type": "integer"}
}

// anyValue is a section of the caller's context, which may hold any JSON value.
// It is spelt out, because some clients warn of a schema that says nothing.
func anyValue() map[string]any {
	var types []any
	for _, t := range []string{"object", "array", "string", "number", "boolean", "null"} {
		types = append(types, map[string]any{"type": t})
	}
	return map[string]any{"anyOf": types}
}

func structSchema(t reflect.Type) map[string]any {
	props, required := map[string]any{}, []string{}
	var add func(t reflect.Type, optional bool)
	add = func(t reflect.Type, optional bool) {
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Anonymous {
				e := f.Type
				if e.Kind() == reflect.Pointer {
					e = e.Elem()
				}
				add(e, f.Type.Kind() == reflect.Pointer)
				continue
			}
			name := jsonName(f)
			if name == "" {
				continue
			}
			p := responseSchema(f.Type)
			if d := f.Tag.Get("doc"); d != "" {
				p["description"] = d
			}
			props[name] = p
			if !optional && !strings.Contains(f.Tag.Get("json"), ",omitempty") {
				required = append(required, name)
			}
		}
	}
	add(t, false)
	s := map[string]any{"type": "object", "properties": props}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}
