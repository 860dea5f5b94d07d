package robotmem

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
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
	fields, _, err := Members(data, "")
	if err != nil {
		return Errorf(Invalid, "", "the request must be one JSON object: %s", jsonReason(err))
	}
	v := reflect.ValueOf(req).Elem()
	for i := range v.NumField() {
		name := jsonName(v.Type().Field(i))
		raw, ok := fields[name]
		if name == "" || !ok {
			continue
		}
		delete(fields, name)
		if err := decodeField(raw, v.Field(i)); err != nil {
			return namedError(name, err)
		}
	}
	for name := range fields {
		return Errorf(Invalid, abbreviate(name), "unknown field; known are %s", strings.Join(fieldNames(v.Type()), ", "))
	}
	return nil
}

// Members returns the members of the JSON object in data, nil for null, and those of its
// member enter, if that is an object. The values are parts of data. The last of several
// members with the same name counts.
func Members(data []byte, enter string) (fields, entered map[string]json.RawMessage, err error) {
	d := newDecoder(data)
	defer d.release()
	if fields, entered, err = d.members(enter); err == nil {
		err = d.atEnd()
	}
	return fields, entered, err
}

// decodeField decodes data into a field of a request. Texts and bytes may be large, so
// they are copied only once.
func decodeField(data []byte, to reflect.Value) error {
	if to.Kind() == reflect.Pointer && to.Type().Implements(unmarshaler) {
		if string(data) == "null" {
			return nil
		}
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	isText := data[0] == '"'
	switch to := to.Addr().Interface().(type) {
	case json.Unmarshaler:
		return to.UnmarshalJSON(data)
	case *string:
		if isText {
			text, err := unquote(data)
			*to = string(text)
			return err
		}
	case *[]byte:
		if isText {
			text, err := unquote(data)
			if err != nil {
				return err
			}
			bytes := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
			n, err := base64.StdEncoding.Decode(bytes, text)
			*to = bytes[:n]
			return err
		}
	case *[]json.RawMessage:
		if data[0] == '[' {
			d := newDecoder(data)
			defer d.release()
			var err error
			*to, err = d.items()
			return err
		}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(to.Addr().Interface())
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// unquote returns the text of a JSON string. It is a part of data if it has no escapes.
// As in encoding/json, a lone surrogate is replaced.
func unquote(data []byte) ([]byte, error) {
	if bytes.IndexByte(data, '\\') < 0 && jsontext.Value(data).IsValid() {
		return data[1 : len(data)-1], nil
	}
	text, err := jsontext.AppendUnquote(make([]byte, 0, len(data)), data)
	if err != nil && jsontext.Value(data).IsValid(jsontext.AllowInvalidUTF8(true)) {
		err = nil
	}
	return text, err
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
	s := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "json: "), "jsontext: ")
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
