// Package spoken spells the errors of operations as the command line spells the operations and their fields.
package spoken

import (
	"errors"
	"reflect"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// extras are flags of commands that are no fields of their request.
var extras = map[string]bool{"where": true, "file": true}

// Error is the text of an error of an operation: with the command for the name of the operation, and a flag or an
// argument for the name of a field. inShort reports that --where alone gave the filter. An error of anything else keeps
// its text.
func Error(op *robotmem.Op, err error, inShort bool) string {
	text := err.Error()

	var e *robotmem.Error
	if op == nil || !errors.As(err, &e) || e.Op != op.Name {
		return text
	}

	written, spelt := e.Op+": ", op.CLI+": "
	if e.Field != "" {
		written += e.Field + ": "
		spelt += field(op, e.Field, inShort) + ": "
	}

	return strings.Replace(text, written, spelt, 1)
}

// field spells a field, and names what is below it: "--context at params.force".
func field(op *robotmem.Op, path string, inShort bool) string {
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}

	name, below := path[:end], strings.TrimPrefix(path[end:], ".")
	if below != "" {
		below = " at " + below
	}
	if name == "context_filter" && inShort {
		name = "where"
	}

	flag := strings.ReplaceAll(name, "_", "-")
	if extras[name] {
		return "--" + flag + below
	}

	for i := range op.In.NumField() {
		f := op.In.Field(i)
		if own, _, _ := strings.Cut(f.Tag.Get("json"), ","); own != name || !f.IsExported() {
			continue
		}
		if isArgument(f) {
			return "<" + flag + ">" + below
		}

		return "--" + flag + below
	}

	return path
}

func isArgument(f reflect.StructField) bool { return f.Tag.Get("cli") == "arg" }
