package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem"
)

// fieldsOf is the request as JSON fields.
func fieldsOf(op *robotmem.Op, in any) (map[string]json.RawMessage, error) {
	if field := notUTF8(reflect.ValueOf(in).Elem()); field != "" {
		return nil, &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Field: field, Err: errors.New("is not valid UTF-8; store bytes with save_perception")}
	}
	data, err := json.Marshal(in)
	if err != nil {
		return nil, invalid(op, in, err)
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, invalid(op, in, err)
	}
	return fields, nil
}

// invalid names the field that has no JSON form, such as a context with NaN.
func invalid(op *robotmem.Op, in any, err error) error {
	e := &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Err: fmt.Errorf("must be JSON; NaN and infinite numbers have no JSON form, leave them out: %s", strings.TrimPrefix(err.Error(), "json: "))}
	v := reflect.ValueOf(in).Elem()
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		if _, err := json.Marshal(v.Field(i).Interface()); err != nil {
			e.Field = jsonName(v.Type().Field(i))
		}
	}
	return e
}

// notUTF8 names the first text of a request that is not UTF-8, "" if there is
// none. JSON would carry it with replacement characters in place of the bytes,
// so the node could not refuse what it never saw.
func notUTF8(v reflect.Value) string {
	for i := range v.NumField() {
		f, sf := v.Field(i), v.Type().Field(i)
		switch {
		case !sf.IsExported():
		case f.Kind() == reflect.String && !utf8.ValidString(f.String()):
			return jsonName(sf)
		case f.Type() == reflect.TypeFor[[]robotmem.LearnRequest]():
			for j := range f.Len() {
				if name := notUTF8(f.Index(j)); name != "" {
					return fmt.Sprintf("%s[%d].%s", jsonName(sf), j, name)
				}
			}
		}
	}
	return ""
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
