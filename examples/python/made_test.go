package python_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

var update = flag.Bool("update", false, "write the part of robotmem.py that is made from the operations")

const (
	clientFile = "robotmem.py"
	madeBegins = "-run Made -update\n\n"
	madeEnds   = "# END\n"
)

// The types and methods of the client are those of the operations.
func TestMadeFromTheOperations(t *testing.T) {
	source, err := os.ReadFile(clientFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(source), madeBegins)
	_, after, ended := strings.Cut(rest, madeEnds)
	if !found || !ended {
		t.Fatalf("%s has no part that is made: its marks are gone", clientFile)
	}
	made := operations()
	for _, class := range regexp.MustCompile(`(?m)^class (\w+)`).FindAllStringSubmatch(made, -1) {
		if regexp.MustCompile(`(?m)^class ` + class[1] + `\b`).MatchString(before + after) {
			t.Errorf("%s is a class of its own and one that is made; give the former another name", class[1])
		}
	}
	want := before + madeBegins + made + madeEnds + after
	if want == string(source) {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the operations are; run: go test ./examples/python -run Made -update", clientFile)
	}
	if err := os.WriteFile(clientFile, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

const width = 110 // characters of a line

type object = map[string]any

// operations writes the routes, the types and the class of the methods.
func operations() string {
	in, out := &robotmem.Definitions{}, &robotmem.Definitions{}
	var routes, methods strings.Builder
	for _, op := range robotmem.Ops() {
		fmt.Fprintf(&routes, "    %q: (%q, %q, %s),\n", op.Name, op.Method(), op.Path(), literal(op.Hints.ReadOnly))
		methods.WriteString(method(op, in.Input(op), pyType(out.Output(op), false)))
	}
	var b strings.Builder
	for _, d := range []*robotmem.Definitions{in, out} {
		for _, name := range slices.Sorted(maps.Keys(d.Schemas)) {
			schema, _ := d.Schemas[name].(object)
			b.WriteString(typedDict(name, schema, d == in))
		}
	}
	b.WriteString("# Method, path, and whether it only reads.\nROUTES: Dict[str, Tuple[str, str, bool]] = {\n" + routes.String() + "}\n\n\n")
	b.WriteString("class Operations:\n    \"\"\"A method for each operation of a node.\"\"\"\n\n")
	b.WriteString("    def _call(self, op: str, fields: Object) -> Any:\n        raise NotImplementedError\n\n")
	b.WriteString("    def _upload(self, op: str, payload: BinaryIO, fields: Object) -> Any:\n        raise NotImplementedError\n")
	return b.String() + methods.String() + "\n\n"
}

// typedDict writes the type of a struct. Keys that are Python keywords need the
// functional form, and optional keys a separate class.
func typedDict(name string, schema object, argument bool) string {
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
		return keys(name, "", must, props, argument)
	case len(must) == 0:
		return keys(name, ", total=False", may, props, argument)
	}
	return keys("_"+name+"Must", "", must, props, argument) + keys("_"+name+"May", ", total=False", may, props, argument) +
		fmt.Sprintf("class %s(_%sMust, _%sMay):\n    pass\n\n\n", name, name, name)
}

func keys(name, total string, keys []string, props object, argument bool) string {
	var b strings.Builder
	functional := slices.ContainsFunc(keys, reserved)
	if functional {
		fmt.Fprintf(&b, "%s = TypedDict(%q, {\n", name, name)
	} else {
		fmt.Fprintf(&b, "class %s(TypedDict%s):\n", name, total)
	}
	for _, key := range keys {
		schema, _ := props[key].(object)
		kind := pyType(schema, argument)
		if functional {
			fmt.Fprintf(&b, "    %q: %q,\n", key, kind)
		} else {
			fmt.Fprintf(&b, "    %s: %s\n", key, kind)
		}
	}
	switch {
	case functional:
		fmt.Fprintf(&b, "}%s)\n", total)
	case len(keys) == 0:
		b.WriteString("    pass\n")
	}
	return b.String() + "\n\n"
}

// method writes the method of an operation, and for a payload a method with a stream.
func method(op *robotmem.Op, schema object, answer string) string {
	props, _ := schema["properties"].(object)
	required, _ := schema["required"].([]string)
	var first, named, given, docs []string
	for _, name := range op.Fields() {
		field, _ := props[name].(object)
		arg, kind := name, pyType(field, true)
		if name == "data" {
			kind = "Data"
		}
		if reserved(name) {
			arg += "_"
		}
		needed := slices.Contains(required, name)
		text := arg + ": " + kind
		if !needed {
			text = arg + ": Optional[" + kind + "] = None"
		}
		if needed || positional(op, name) {
			first = append(first, text)
		} else {
			named = append(named, text)
		}
		given = append(given, fmt.Sprintf("%q: %s", name, arg))
		docs = append(docs, argument(fmt.Sprintf("%s: %v", arg, field["description"])))
	}
	args := first
	if named != nil {
		args = slices.Concat(first, []string{"*"}, named)
	}
	fields := "{" + strings.Join(given, ", ") + "}"
	m := function(op.Name, args, answer, op.Doc, docs, fmt.Sprintf("self._call(%q, %s)", op.Name, fields))
	if op.Name == "save_perception" {
		docs = append([]string{argument("payload: A file or another stream of bytes, read to its end, in place of data, data_base64 and path.")}, docs...)
		m += function(op.Name+"_from", append([]string{"payload: BinaryIO"}, args...), answer,
			"Store what a sensor gave, as a stream: it is never whole in memory, here or on the node.", docs,
			fmt.Sprintf("self._upload(%q, payload, %s)", op.Name, fields))
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

func function(name string, args []string, answer, doc string, docs []string, body string) string {
	var b strings.Builder
	args = append([]string{"self"}, args...)
	signature := fmt.Sprintf("    def %s(%s) -> %s:", name, strings.Join(args, ", "), answer)
	if len(signature) > width {
		signature = fmt.Sprintf("    def %s(\n        %s,\n    ) -> %s:", name, strings.Join(args, ",\n        "), answer)
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
		return ref
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
		if argument {
			return "Sequence[" + pyType(items, true) + "]"
		}
		return "List[" + pyType(items, false) + "]"
	case "object":
		if values, ok := schema["additionalProperties"].(object); ok {
			return "Dict[str, " + pyType(values, argument) + "]"
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
