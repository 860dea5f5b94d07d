package filter

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"pgregory.net/rapid"
)

// jsonContexts draws the text of an object as a file may hold it: repeated keys, keys in
// any order, escapes, keys with dots, blanks, and texts that are not quite JSON.
func jsonContexts(t *rapid.T) string {
	keys := rapid.SampledFrom([]string{`a`, `b`, `c`, `a.b`, `b.c`, `a.b.c`, ``, `.`, `a.`, `\u0061`, `é`, `\u00e9`, `a\"`, "\xff", `unit`, `value`, `ab`})
	leaves := rapid.SampledFrom([]string{`1`, `1.0`, `-0`, `1e3`, `1e999`, `"N"`, `"12 N"`, `"12\u0020N"`, `"a"`, `"\ud800"`, `"12"`, `" -1.5 "`, `"012"`, "\"\xfe\"", `""`, `true`, `false`, `null`, `[]`, `[1,2]`, `[ 1, {"a":1,"a":2} ]`, `{}`,
		`{"value":12,"unit":"N"}`, `{"unit":"kN","value":0.012}`, `{"unit":"N","value":12,"x":1}`, `{"value":"12","unit":"N"}`})
	var object func(depth int) string
	object = func(depth int) string {
		var b strings.Builder
		b.WriteString("{")
		for i := range rapid.IntRange(0, 4).Draw(t, "fields") {
			if i > 0 {
				b.WriteString(rapid.SampledFrom([]string{",", ", "}).Draw(t, "comma"))
			}
			value := ""
			if depth > 0 && rapid.Bool().Draw(t, "nested") {
				value = object(depth - 1)
			} else {
				value = leaves.Draw(t, "leaf")
			}
			fmt.Fprintf(&b, `"%s":%s`, keys.Draw(t, "key"), value)
		}
		b.WriteString("}")
		return b.String()
	}
	text := object(3)
	switch rapid.IntRange(0, 19).Draw(t, "damage") {
	case 0:
		return text[:rapid.IntRange(0, len(text)).Draw(t, "cut")]
	case 1:
		return text + rapid.SampledFrom([]string{"x", "{}", " ", "null"}).Draw(t, "more")
	case 2:
		return rapid.SampledFrom([]string{"null", "[]", `"a"`, "", " {} "}).Draw(t, "instead")
	}
	return text
}

// What is read from the text of a context is what a walk through the parsed one finds.
func TestValuesInEqualTheParsedContext(t *testing.T) {
	paths := []string{"a", "b", "a.b", "a.b.c", "b.c", "c", "", ".", "a.", ".a", "a..b", "é", "a.é", "é.b", `a"`, "\uFFFD", "a.\uFFFD.b", "b.value", "value", "a.b.value", "ab.c", "a.a.a"}
	rapid.Check(t, func(t *rapid.T) {
		text, path := jsonContexts(t), rapid.SampledFrom(paths).Draw(t, "path")
		context := robotmem.ParseObject(text)
		values, found := ValuesIn(text, path)
		if want := pathExists(context, path); found != want {
			t.Fatalf("%q in %q: found %v, want %v", path, text, found, want)
		}
		got, want := spell(DecodeValues(values).All), spell(valuesAt(context, path))
		if !slices.Equal(got, want) {
			t.Fatalf("%q in %q: got %q, want %q", path, text, got, want)
		}
	})
}

// spell returns the values in order, without objects that no condition on a column
// compares.
func spell(values []any) (out []string) {
	for _, v := range values {
		if b, ok := v.([]byte); ok && b[0] == BlobObject[0] && string(b) != string(Digest(BlobObject, map[string]any{})) {
			continue
		}
		out = append(out, fmt.Sprintf("%T %v", v, v))
	}
	slices.Sort(out)
	return out
}

// The limit of conditions also refuses one below $not.
func TestTooManyConditionsUnderNot(t *testing.T) {
	filter := robotmem.Object{"z": map[string]any{"$not": "x"}}
	for i := range maxConditions {
		filter[fmt.Sprint("a", i)] = "x"
	}
	if _, err := Parse(filter); err == nil {
		t.Error("no error")
	}
}
