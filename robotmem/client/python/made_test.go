package python_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest"
)

var update = flag.Bool("update", false, "write the module that is made from the operations")

const made = "src/robotmem_node/_operations.py"

// The types and methods of the package are those of the operations.
func TestMadeFromTheOperations(t *testing.T) {
	want := operations()
	if *update {
		if err := os.WriteFile(made, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if source, err := os.ReadFile(made); err != nil || string(source) != want {
		t.Fatalf("%s is not what the operations are; run: go test ./robotmem/client/python -run Made -update (%v)", made, err)
	}
}

const width = 110 // characters of a line

type object = map[string]any

// header begins the module.
const header = `"""Made from the operations of a node: go test ./robotmem/client/python -run Made -update"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Iterator, Literal, Protocol, Sequence, TypedDict

from ._answer import Answer

Object = dict[str, Any]  # a JSON object, such as a context
Time = datetime.datetime | str  # text is RFC 3339; a datetime without a zone is local
Bytes = bytes | bytearray | memoryview | str  # text is base64
class Array(Protocol):
    """What NumPy's arrays and their like are to this package."""

    def tolist(self) -> Any: ...


Data = Any  # text, bytes, a file's path, an array of NumPy, a tensor, an image of Pillow, a frame of pandas


`

// operations writes the module: types of arguments, classes of answers, the routes, and the
// methods, once plain and once for asyncio.
func operations() string {
	in, out := &robotmem.Definitions{}, &robotmem.Definitions{}
	var routes, methods, async strings.Builder
	for _, op := range robotmem.Ops() {
		fmt.Fprintf(&routes, "    %q: (%q, %q, %s),\n", op.Name, op.Method(), op.Path(), literal(op.Hints.ReadOnly))
		schema, answer := in.Input(op), pyType(robotmemtest.ResponseSchema(out, op.Out), false)
		methods.WriteString(method(op, schema, answer, "def", ""))
		async.WriteString(method(op, schema, answer, "async def", "await "))
	}
	var b strings.Builder
	b.WriteString(header)
	for _, name := range slices.Sorted(maps.Keys(in.Schemas)) {
		schema, _ := in.Schemas[name].(object)
		b.WriteString(typedDict(name, schema))
	}
	for _, f := range ofEpisodes {
		b.WriteString(fieldsOf(in, f.op, f.class, f.without))
	}
	for _, name := range slices.Sorted(maps.Keys(out.Schemas)) {
		schema, _ := out.Schemas[name].(object)
		b.WriteString(answerClass(name, schema))
	}
	b.WriteString("# Method, path, and whether it only reads.\nROUTES: dict[str, tuple[str, str, bool]] = {\n" + routes.String() + "}\n\n\n")
	b.WriteString(class("Operations", "A method for each operation of a node.", "def") + methods.String())
	b.WriteString("\n\n" + class("AsyncOperations", "A method for each operation of a node, for asyncio.", "async def") + async.String())
	return b.String()
}

func class(name, doc, def string) string {
	return "class " + name + ":\n    \"\"\"" + doc + "\"\"\"\n\n    " +
		def + " _call(self, op: str, fields: Object) -> Any:\n        raise NotImplementedError\n\n    " +
		def + " _upload(self, op: str, payload: BinaryIO, fields: Object) -> Any:\n        raise NotImplementedError\n"
}

// ofEpisodes are the operations whose fields a method of Episode passes on, but for those that it fills in.
var ofEpisodes = []struct {
	op, class string
	without   []string
}{
	{"learn", "LearnFields", []string{"insight", "session_id", "context"}},
	{"recall", "RecallFields", []string{"query", "for_session"}},
	{"advise", "AdviseFields", []string{"query"}},
	{"save_perception", "SaveFields", []string{"description", "session_id", "context", "data", "data_base64", "path"}},
}

// fieldsOf writes the type of the fields of an operation, none of which is required.
func fieldsOf(in *robotmem.Definitions, op, class string, without []string) string {
	for _, o := range robotmem.Ops() {
		if o.Name != op {
			continue
		}
		props, _ := in.Input(o)["properties"].(object)
		var names []string
		for _, name := range slices.Sorted(maps.Keys(props)) {
			if !slices.Contains(without, name) {
				names = append(names, name)
			}
		}
		lines := strings.Split(keys(class, "TypedDict, total=False", names, props), "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, "    ") {
				lines[i] += " | None"
			}
		}
		return strings.Join(lines, "\n")
	}
	panic("no operation " + op)
}

// lists are the fields over which an answer iterates, the first that it has.
var lists = []string{
	"memories", "incidents", "sessions", "versions", "collections", "categories", "paths", "entries", "buckets", "groups",
	"results", "checks", "evictions", "points",
}

// iterated is the field over which an answer of an operation iterates, "" for none.
func iterated(name string, props object) string {
	if !strings.HasSuffix(name, "Response") || name == "StatsResponse" {
		return ""
	}
	for _, key := range lists {
		if field, _ := props[key].(object); strings.HasPrefix(nesting(field), "[") {
			return key
		}
	}
	return ""
}

// answerClass writes the class of an answer, or of a part of one.
func answerClass(name string, schema object) string {
	props, _ := schema["properties"].(object)
	required, _ := schema["required"].([]string)
	var b strings.Builder
	fmt.Fprintf(&b, "class %s(Answer):\n", renamed(name))
	var nested, times []string
	for _, key := range slices.Sorted(maps.Keys(props)) {
		field, _ := props[key].(object)
		kind := pyType(field, false)
		if field["format"] == "date-time" {
			kind = "datetime.datetime"
			times = append(times, fmt.Sprintf("%q", key))
		}
		empty := strings.HasPrefix(kind, "list[") || strings.HasPrefix(kind, "dict[") || kind == "Object" || kind == "Any"
		// It is there, and false, also if the node has none.
		if kind == "Suggestion" {
			empty = true
		}
		if !slices.Contains(required, key) && !empty {
			kind += " | None"
		}
		attribute := key
		if reserved(key) {
			attribute += "_"
		}
		fmt.Fprintf(&b, "    %s: %s\n", attribute, kind)
		if n := nesting(field); n != "" {
			nested = append(nested, fmt.Sprintf("%q: %q", key, n))
		}
	}
	if nested != nil {
		fmt.Fprintf(&b, "\n%s\n", wrap("_nested: ClassVar[dict[str, str]] = {"+strings.Join(nested, ", ")+"}", "    ", "        "))
	}
	if times != nil {
		fmt.Fprintf(&b, "\n%s\n", wrap("_times: ClassVar[frozenset[str]] = frozenset(["+strings.Join(times, ", ")+"])", "    ", "        "))
	}
	if list := iterated(name, props); list != "" {
		field, _ := props[list].(object)
		fmt.Fprintf(&b, "\n    _items: ClassVar[str] = %q\n\n    if TYPE_CHECKING:\n\n        def __iter__(self) -> Iterator[%s]: ...\n",
			list, strings.TrimPrefix(nesting(field), "["))
	}
	if len(props) == 0 {
		b.WriteString("    pass\n")
	}
	return b.String() + "\n\n"
}

// nesting returns the entry of Answer._nested for a field, empty for one without answers.
func nesting(field object) string {
	if ref, ok := field["$ref"].(string); ok {
		return renamed(ref)
	}
	for key, mark := range map[string]string{"items": "[", "additionalProperties": "{"} {
		if inner, ok := field[key].(object); ok {
			if ref, ok := usual(inner)["$ref"].(string); ok {
				return mark + renamed(ref)
			}
		}
	}
	return ""
}

// usual is the first of several schemas of an answer: a memory, of which a compact one has a part.
func usual(schema object) object {
	if branches, ok := schema["anyOf"].([]any); ok {
		first, _ := branches[0].(object)
		if first["$ref"] != nil {
			return first
		}
	}
	return schema
}

// renamed returns the Python name of a schema: Memory is the package's own class.
func renamed(schema string) string {
	if schema == "Memory" {
		return "StoredMemory"
	}
	return schema
}

// typedDict writes the type of an argument. Optional keys need a class of their own.
func typedDict(name string, schema object) string {
	props, _ := schema["properties"].(object)
	required, _ := schema["required"].([]string)
	var must, may []string
	for _, key := range slices.Sorted(maps.Keys(props)) {
		if slices.Contains(required, key) {
			must = append(must, key)
		} else {
			may = append(may, key)
		}
	}
	switch {
	case len(may) == 0:
		return keys(name, "TypedDict", must, props)
	case len(must) == 0:
		return keys(name, "TypedDict, total=False", may, props)
	}
	return keys("_"+name, "TypedDict", must, props) + keys(name, "_"+name+", total=False", may, props)
}

func keys(name, base string, keys []string, props object) string {
	var b strings.Builder
	fmt.Fprintf(&b, "class %s(%s):\n", name, base)
	for _, key := range keys {
		schema, _ := props[key].(object)
		kind := pyType(schema, true)
		switch {
		case key == "data":
			kind = "Data"
		case key == "context_filter":
			fmt.Fprintf(&b, "    %s: %s | %s\n", key, kind, inShort)
			key, kind = "where", inShort
		case kind == "Sequence[float]":
			kind += " | Array"
		}
		fmt.Fprintf(&b, "    %s: %s\n", key, kind)
	}
	return b.String() + "\n\n"
}

// inShort is the type of a filter in short.
const inShort = "str | Sequence[str]"

// method writes the method of an operation, and for a payload a method with a stream.
func method(op *robotmem.Op, schema object, answer, def, await string) string {
	props, _ := schema["properties"].(object)
	required, _ := schema["required"].([]string)
	var first, named, given, docs []string
	for _, name := range op.Fields() {
		field, _ := props[name].(object)
		arg, kind := name, pyType(field, true)
		if name == "data" {
			kind = "Data"
		}
		if name == "context_filter" {
			kind += " | " + inShort
		}
		if reserved(name) {
			arg += "_"
		}
		needed := slices.Contains(required, name)
		text := arg + ": " + kind
		if !needed && kind == "Data" {
			text += " = None"
		} else if !needed {
			text += " | None = None"
		}
		if needed || positional(op, name) {
			first = append(first, text)
		} else {
			named = append(named, text)
		}
		given = append(given, fmt.Sprintf("%q: %s", name, arg))
		docs = append(docs, argument(fmt.Sprintf("%s: %v", arg, field["description"])))
		if name == "context_filter" {
			named = append(named, "where: "+inShort+" | None = None")
			given = append(given, `"where": where`)
			docs = append(docs, argument(`where: context_filter in short: "params.grip_force<15N", or a list of such conditions that must all hold.`))
		}
	}
	args := first
	if named != nil {
		args = slices.Concat(first, []string{"*"}, named)
	}
	fields := "{" + strings.Join(given, ", ") + "}"
	wrapped := func(call string) string {
		if answer == "Any" || answer == "Object" {
			return await + call
		}
		return answer + "(" + await + call + ")"
	}
	m := function(def, op.Name, args, answer, op.Doc, docs, wrapped(fmt.Sprintf("self._call(%q, %s)", op.Name, fields)))
	if op.Name == "save_perception" {
		docs = append([]string{argument("payload: A file or another stream of bytes, read to its end, in place of data, data_base64 and path.")}, docs...)
		m += function(def, op.Name+"_from", append([]string{"payload: BinaryIO"}, args...), answer,
			"Store what a sensor gave, as a stream: it is never whole in memory, here or on the node.", docs,
			wrapped(fmt.Sprintf("self._upload(%q, payload, %s)", op.Name, fields)))
	}
	return m
}

// positional reports whether a field is a positional argument, as on the command line.
func positional(op *robotmem.Op, name string) bool {
	for i := range op.In.NumField() {
		f := op.In.Field(i)
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return f.Tag.Get("cli") == "arg"
		}
	}
	return false
}

func argument(doc string) string { return wrap(doc, "            ", "                ") }

func function(def, name string, args []string, answer, doc string, docs []string, body string) string {
	var b strings.Builder
	args = append([]string{"self"}, args...)
	signature := fmt.Sprintf("    %s %s(%s) -> %s:", def, name, strings.Join(args, ", "), answer)
	if len(signature) > width {
		signature = fmt.Sprintf("    %s %s(\n        %s,\n    ) -> %s:", def, name, strings.Join(args, ",\n        "), answer)
	}
	b.WriteString("\n" + signature + "\n" + wrap(`"""`+doc, "        ", "        "))
	if docs != nil {
		b.WriteString("\n\n        Args:\n" + strings.Join(docs, "\n") + "\n        ")
	}
	fmt.Fprintf(&b, "\"\"\"\n%s\n", wrap("return "+body, "        ", "            "))
	return b.String()
}

// pyType returns the type annotation of a schema, for an argument or a value.
func pyType(schema object, argument bool) string {
	if ref, ok := schema["$ref"].(string); ok {
		return renamed(ref)
	}
	if branches, ok := schema["anyOf"].([]any); ok && argument {
		var types []string
		for _, b := range branches {
			branch, _ := b.(object)
			types = append(types, pyType(branch, true))
		}
		return strings.Join(types, " | ")
	}
	if enum, ok := schema["enum"].([]string); ok {
		return `Literal["` + strings.Join(enum, `", "`) + `"]`
	}
	switch schema["type"] {
	case "boolean":
		return "bool"
	case "integer":
		return "int"
	case "number":
		return "float"
	case "array":
		items, _ := schema["items"].(object)
		if !argument {
			items = usual(items)
		}
		if argument {
			return "Sequence[" + pyType(items, true) + "]"
		}
		return "list[" + pyType(items, false) + "]"
	case "object":
		if values, ok := schema["additionalProperties"].(object); ok {
			return "dict[str, " + pyType(values, argument) + "]"
		}
		return "Object"
	case "string":
		switch {
		case argument && schema["format"] == "date-time":
			return "Time"
		case argument && schema["contentEncoding"] != nil:
			return "Bytes"
		}
		return "str"
	}
	return "Any"
}

func literal(yes bool) string { return map[bool]string{true: "True", false: "False"}[yes] }

// reserved are the Python keywords that occur as field names.
func reserved(name string) bool {
	return slices.Contains([]string{"and", "as", "class", "def", "for", "from", "global", "if", "import", "in", "is", "lambda", "not", "or", "pass", "with", "yield"}, name)
}

// wrap breaks text into lines of at most width characters.
func wrap(text, first, next string) string {
	text = strings.ReplaceAll(text, `\`, `\\`)
	var lines []string
	line := first
	for _, word := range strings.Fields(text) {
		if strings.TrimSpace(line) != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), next
		}
		if strings.TrimSpace(line) != "" {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, cmp.Or(line, first)), "\n")
}
