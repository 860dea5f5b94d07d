package robotmem

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// decode decodes one request strictly in its names and leniently in the spelling of values
// (interpret.go). It reads the foreign fields that the request takes (foreign.go), and refuses other
// unknown fields, other types and bytes after the object. The error names the field.
func (r *requestReader) decode(data []byte, req any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}")
	}
	if !utf8.Valid(data) {
		return Errorf(Invalid, "", "the request is not UTF-8")
	}

	var fields map[string]View
	if err := jsonv2.Unmarshal(data, &fields, lenient); err != nil {
		return Errorf(Invalid, "", "the request must be one JSON object: %s", jsonReason(err))
	}

	v := reflect.ValueOf(req).Elem()
	given := map[string]string{} // the name in the request, by field

	var others map[string]foreign

	// A batch decodes many items with one reader, so these may be left from the item before.
	r.score, r.mediaType = nil, ""

	// Sorted, so that notes and errors do not depend on the order of the map.
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		f, known := fieldNamed(v.Type(), name)
		field := jsonName(f)
		// Foreign fields wait until all own fields are read, because they complete them.
		if !known {
			var isForeign bool
			if field, isForeign = foreignNamed(v.Type(), name); !isForeign {
				return unknownField(name, v.Type())
			}
		}

		// Models fill optional fields with null or "". Two fields have a meaning when empty: a payload of no bytes,
		// and a query that matches any memory.
		switch string(fields[name]) {
		case "null":
			continue
		case `""`:
			if field != "data_base64" && field != "query" {
				r.empty = append(r.empty, r.within+name)
				continue
			}
		}

		if other, twice := given[field]; twice {
			return Errorf(Invalid, name, "%s and %s are names of the same field; give one", other, name)
		}
		given[field] = name

		if !known {
			value, err := fields[name].any()
			if err != nil {
				return namedError(name, err)
			}
			if others == nil {
				others = map[string]foreign{}
			}
			others[field] = foreign{name, value, fields[name]}

			continue
		}

		if name != field {
			r.note(name, "taken as %s", field)
		}
		if readUID(v, field, fields[name]) {
			continue
		}
		if err := r.field(v.FieldByIndex(f.Index), f, fields[name]); err != nil {
			return namedError(field, err)
		}
	}

	// Foreign fields come last, because they must not replace what the request's own fields say.
	if c, ok := req.(completer); ok {
		return c.complete(r, others)
	}

	return nil
}

// selfReader is implemented by types that decode themselves.
type selfReader interface {
	read(*requestReader, []byte) error
}

// View is a JSON value that stays a part of the data that it is decoded from, because a
// copy of a payload takes time and memory.
type View []byte

func (v *View) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	raw, err := d.ReadValue()
	*v = View(raw)
	return err
}

// lenient holds the options with which encoding/json decodes: the last of several members
// with the same name counts, a lone surrogate is replaced, and base64 may have line breaks.
var lenient = jsonv2.JoinOptions(
	jsontext.AllowDuplicateNames(true),
	jsontext.AllowInvalidUTF8(true),
	jsonv1.ParseBytesWithLooseRFC4648(true),
)

func namedError(name string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		inner := *e
		inner.Field = strings.TrimSuffix(name+"."+e.Field, ".")
		return &inner
	}
	if e := (*jsonv2.SemanticError)(nil); errors.As(err, &e) && (e.Err == nil || e.JSONValue != nil) {
		field := name + strings.ReplaceAll(string(e.JSONPointer), "/", ".")
		return Errorf(Invalid, field, "must be %s, not %s", wireType(e.GoType), kindName(e))
	}

	return Errorf(Invalid, name, "%s", jsonReason(err))
}

// jsonReason returns the text of a JSON error without its package prefix.
func jsonReason(err error) string {
	if e := (*jsonv2.SemanticError)(nil); errors.As(err, &e) {
		if e.Err == nil {
			return "it is " + kindName(e)
		}
		err = e.Err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ends too early"
	}
	if strings.Contains(err.Error(), "after top-level value") {
		return "there is more after it"
	}
	s := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "json: "), "jsontext: ")
	if strings.HasPrefix(s, "parsing time") || strings.HasPrefix(s, "Time.UnmarshalJSON") {
		return "must be " + wireType(reflect.TypeFor[time.Time]())
	}

	return s
}

// kindName returns the JSON name of the value that cannot be decoded.
func kindName(e *jsonv2.SemanticError) string {
	switch e.JSONKind {
	case jsontext.KindTrue, jsontext.KindFalse:
		return "bool"
	case jsontext.KindBeginArray:
		return "array"
	case jsontext.KindBeginObject:
		return "object"
	}

	return strings.TrimSpace(e.JSONKind.String() + " " + abbreviate(string(e.JSONValue)))
}

// wireType returns the JSON name of a Go type, for error texts.
func wireType(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[time.Time]() {
		return "a time such as 2026-03-01T14:05:00Z (RFC 3339), a date, or words such as yesterday"
	}

	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	}

	return "an object"
}

// jsonName returns the JSON name of a struct field, "" if it has none.
func jsonName(f reflect.StructField) string {
	if !f.IsExported() {
		return ""
	}
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" {
		return ""
	}

	return name
}

// Has reports whether the request of the operation has a field of this name.
func (o *Op) Has(name string) bool {
	_, has := fieldNamed(o.In, name)
	return has
}

// Request turns text values, such as those of a query string, into the JSON
// request of the operation. A string field takes the text, a list field takes all
// values, and any other field parses the text as JSON; text that is no JSON stays a string, which
// Decode reads leniently or refuses. Unknown fields are refused.
func (o *Op) Request(values url.Values) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}

	for name, vs := range values {
		f, ok := fieldNamed(o.In, name)
		t := f.Type
		if !ok {
			if _, ok = foreignNamed(o.In, name); !ok {
				return nil, inOp(o.Name, unknownField(name, o.In))
			}
			// A foreign field has no type yet, so it takes any JSON, else a text.
			t = reflect.TypeFor[Object]()
		}
		// JSON would replace the invalid bytes.
		if slices.ContainsFunc(vs, func(v string) bool { return !utf8.ValidString(v) }) {
			err := errors.New("is not valid UTF-8; convert the text, or store bytes with save_perception")
			return nil, &Error{Op: o.Name, Kind: Invalid, Field: name, Err: err}
		}

		// Sentences have commas of their own.
		if list := strings.HasPrefix(strings.TrimSpace(vs[0]), "["); ok && f.Tag.Get("cli") == "whole" && !list {
			raw, err := json.Marshal(vs)
			if err != nil {
				return nil, &Error{Op: o.Name, Kind: Internal, Err: err}
			}
			fields[name] = raw

			continue
		}

		raw, err := jsonValue(t, vs)
		if err != nil {
			return nil, &Error{Op: o.Name, Kind: Invalid, Field: name, Err: err}
		}
		fields[name] = raw
	}

	return json.Marshal(fields)
}

func jsonValue(t reflect.Type, vs []string) (json.RawMessage, error) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}

	if t.Kind() == reflect.Slice && t != reflect.TypeFor[[]byte]() {
		if len(vs) == 1 && strings.HasPrefix(strings.TrimSpace(vs[0]), "[") {
			return jsonLiteral(vs[0])
		}

		// A query string may repeat the name of a list or separate its items with commas.
		items := []json.RawMessage{}

		for _, v := range vs {
			for part := range strings.SplitSeq(v, ",") {
				raw, err := jsonValue(t.Elem(), []string{strings.TrimSpace(part)})
				if err != nil {
					return nil, err
				}
				items = append(items, raw)
			}
		}

		return json.Marshal(items)
	}

	// Of several values of a single field the last counts, as in JSON.
	v := vs[len(vs)-1]
	isObject := strings.HasPrefix(strings.TrimSpace(v), "{")
	_, custom := reflect.New(t).Interface().(json.Unmarshaler)

	switch {
	case t.Kind() == reflect.String, t.Kind() == reflect.Slice, custom && t.Kind() == reflect.Struct && !isObject:
		// Times and places read text themselves. Quotes keep 2026 from being a number.
		return EncodeJSON(v)
	case t.Kind() == reflect.Bool && v == "":
		return json.RawMessage("true"), nil // ?explain, as in --explain
	}

	return jsonLiteral(v)
}

func jsonLiteral(s string) (json.RawMessage, error) {
	if !json.Valid([]byte(s)) {
		return EncodeJSON(s)
	}
	return json.RawMessage(s), nil
}
