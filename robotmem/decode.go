package robotmem

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"strings"
	"unicode/utf8"
)

// decode decodes one request. It refuses unknown fields, wrong types and bytes
// after the object. The error names the field.
func decode(data []byte, req any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}")
	}
	if !utf8.Valid(data) {
		return Errorf(Invalid, "", "the request is not UTF-8")
	}
	var fields map[string]json.RawMessage
	if err := unmarshalOne(data, &fields); err != nil {
		return Errorf(Invalid, "", "the request must be one JSON object: %s", jsonReason(err))
	}
	v := reflect.ValueOf(req).Elem()
	known := make([]string, 0, v.NumField())
	for i := range v.NumField() {
		name := jsonName(v.Type().Field(i))
		if name == "" {
			continue
		}
		known = append(known, name)
		raw, ok := fields[name]
		if !ok {
			continue
		}
		delete(fields, name)
		if err := decodeStrict(raw, v.Field(i).Addr().Interface()); err != nil {
			return namedError(name, err)
		}
	}
	for name := range fields {
		return Errorf(Invalid, name, "unknown field; known are %s", strings.Join(known, ", "))
	}
	return nil
}

func decodeStrict(data []byte, to any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(to)
}

// unmarshalOne decodes data and refuses anything after the first value.
func unmarshalOne(data []byte, to any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(to); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("there is more after it")
	}
	return nil
}

func namedError(name string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		inner := *e
		inner.Field = strings.TrimSuffix(name+"."+e.Field, ".")
		return &inner
	}
	if e := (*json.UnmarshalTypeError)(nil); errors.As(err, &e) {
		if e.Field != "" {
			name += "." + e.Field
		}
		return Errorf(Invalid, name, "must be %s, not %s", wireType(e.Type), e.Value)
	}
	return Errorf(Invalid, name, "%s", jsonReason(err))
}

// jsonReason returns the text of a JSON error without its package prefix.
func jsonReason(err error) string {
	if e := (*json.UnmarshalTypeError)(nil); errors.As(err, &e) {
		return fmt.Sprintf("it is %s", e.Value)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ends too early"
	}
	s := strings.TrimPrefix(err.Error(), "json: ")
	if strings.HasPrefix(s, "parsing time") || strings.HasPrefix(s, "Time.UnmarshalJSON") {
		return "must be a time such as 2026-03-01T14:05:00Z (RFC 3339)"
	}
	return s
}

// wireType returns the JSON name of a Go type, for error texts.
func wireType(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
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

// Request turns text values, such as those of a query string, into the JSON
// request of the operation. A string field takes the text, a list field takes all
// values, and any other field parses the text as JSON. Unknown fields are refused.
func (o *Op) Request(values url.Values) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	for name, vs := range values {
		f, ok := o.field(name)
		if !ok {
			return nil, &Error{Op: o.Name, Kind: Invalid, Field: name, Err: fmt.Errorf("unknown field; known are %s", strings.Join(o.Fields(), ", "))}
		}
		raw, err := jsonValue(f.Type, vs)
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
			return jsonLiteral(vs[0], "a JSON list")
		}
		items := []json.RawMessage{}
		for _, v := range vs {
			for part := range strings.SplitSeq(v, ",") {
				raw, err := jsonValue(t.Elem(), []string{part})
				if err != nil {
					return nil, err
				}
				items = append(items, raw)
			}
		}
		return json.Marshal(items)
	}
	v := vs[len(vs)-1]
	_, custom := reflect.New(t).Interface().(json.Unmarshaler)
	switch {
	case t.Kind() == reflect.String, t.Kind() == reflect.Slice, custom && t.Kind() == reflect.Struct && !strings.HasPrefix(strings.TrimSpace(v), "{"):
		return EncodeJSON(v)
	case t.Kind() == reflect.Bool && v == "":
		return json.RawMessage("true"), nil // ?explain, as in --explain
	}
	if custom && !json.Valid([]byte(v)) {
		return EncodeJSON(v) // the field's own decoder returns the error
	}
	return jsonLiteral(v, wireType(t))
}

func jsonLiteral(s, want string) (json.RawMessage, error) {
	if !json.Valid([]byte(s)) {
		return nil, fmt.Errorf("must be %s, not %q", want, abbreviate(s))
	}
	return json.RawMessage(s), nil
}
