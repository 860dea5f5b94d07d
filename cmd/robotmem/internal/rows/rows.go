// Package rows writes the list of an answer for programs that read tables.
package rows

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// ListOf is the list of an answer: its first field with structs.
func ListOf(answer reflect.Type) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(answer) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.Anonymous && name != "" && name != "-" && f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct &&
			answer != reflect.TypeFor[robotmem.Memory]() {
			return f, true
		}
	}

	return reflect.StructField{}, false
}

// Write writes the list of an answer for programs that read tables: a header, and every field of each row.
func Write(out io.Writer, format string, answer any) error {
	v := reflect.Indirect(reflect.ValueOf(answer))
	f, _ := ListOf(v.Type())
	list := v.FieldByIndex(f.Index)

	var (
		names   []string
		indexes [][]int
		omitted []bool // whether the answer leaves out the zero value
	)

	for _, f := range reflect.VisibleFields(list.Type().Elem()) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.Anonymous && name != "" && name != "-" && name != "interpreted" {
			names, indexes = append(names, name), append(indexes, f.Index)
			omitted = append(omitted, options == "omitempty" || options == "omitzero")
		}
	}

	write, flush := rowWriter(out, format)
	err := write(names)

	for i := 0; i < list.Len() && err == nil; i++ {
		row := make([]string, len(indexes))
		for k, index := range indexes {
			if field, ferr := list.Index(i).FieldByIndexErr(index); ferr == nil && (!omitted[k] || !field.IsZero()) { // nil in an embedded pointer has no fields
				row[k] = fieldText(field)
			}
		}
		err = write(row)
	}

	if err != nil {
		return err
	}

	return flush()
}

func rowWriter(out io.Writer, format string) (write func([]string) error, flush func() error) {
	if format == "csv" {
		w := csv.NewWriter(out)
		return w.Write, func() error {
			w.Flush()
			return w.Error()
		}
	}

	// TSV has no quotes: tabs and ends of lines are escaped, as databases do.
	w := bufio.NewWriter(out)
	escape := strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

	return func(row []string) error {
		for i := range row {
			row[i] = escape.Replace(row[i])
		}
		_, err := w.WriteString(strings.Join(row, "\t") + "\n")
		return err
	}, w.Flush
}

// fieldText is a value as a program reads it; "" is no value.
func fieldText(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}

	switch one := v.Interface().(type) {
	case string:
		return one
	case time.Time:
		if one.IsZero() {
			return ""
		}
		return one.UTC().Format(time.RFC3339Nano)
	case []string:
		return strings.Join(one, " ")
	case int, int64, uint64, bool, float64:
		return fmt.Sprint(one)
	}

	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.Interface:
		if v.IsNil() {
			return ""
		}
	case reflect.String:
		return v.String()
	}

	data, err := robotmem.EncodeJSON(v.Interface())
	if err != nil {
		return err.Error()
	}

	return string(data)
}
