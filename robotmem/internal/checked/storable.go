package checked

import (
	"reflect"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Storable fails if a text of a record has the character U+0000, which PostgreSQL does not store. It takes a pointer to a
// struct. JSON within a record is stored as text, in which the character is escaped.
func Storable(record any) error {
	if field := withNull(reflect.ValueOf(record).Elem(), ""); field != "" {
		return robotmem.Errorf(robotmem.Invalid, field, "has the character U+0000, which a site does not store; leave it out")
	}
	return nil
}

// withNull returns the name of the first field with the character, empty without one.
func withNull(v reflect.Value, name string) string {
	switch v.Kind() {
	case reflect.String:
		if strings.ContainsRune(v.String(), 0) {
			return name
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return withNull(v.Elem(), name)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return ""
		}

		for i := range v.Len() {
			if field := withNull(v.Index(i), name); field != "" {
				return field
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if field := withNull(v.Field(i), tag); field != "" {
				return field
			}
		}
	default: // has no text
	}

	return ""
}
