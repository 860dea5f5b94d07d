package markdown

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFrontMatterReadsNumbersAsSpelt(t *testing.T) {
	for name, test := range map[string]struct{ in, want string }{
		"JSON":        {`context: {"a":12.50,"b":[1e-7,true,null,"yes"],"c":12345678901234567890}`, `{"context":{"a":12.50,"b":[1e-7,true,null,"yes"],"c":12345678901234567890}}`},
		"points":      {"tags:\n  - lid\n- two words\npinned: true\nsource:\n", `{"pinned":true,"source":null,"tags":["lid","two words"]}`},
		"texts":       {"a: it is 3\r\nb: \"3\"\nc: 3\ne: 0x1F\n7: 08\nf: .inf\n\ng: a: b", `{"7":"08","a":"it is 3","b":"3","c":3,"e":"0x1F","f":".inf","g":"a: b"}`},
		"like a path": {`a: {"b":{"c":1},"b.c":2,"l":[{"b":1}],"l[0]":{"b":2}}`, `{"a":{"b":{"c":1},"b.c":2,"l":[{"b":1}],"l[0]":{"b":2}}}`},
		"a time":      {"observed_at: 2026-03-01T14:05:00Z\nsource: no one", `{"observed_at":"2026-03-01T14:05:00Z","source":"no one"}`},
		"nothing":     {"", `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			fields, body, err := CutFrontMatter([]byte("---\n" + test.in + "\n---\n\ntext\n"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(fields)
			if diff := cmp.Diff(test.want, string(got)); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
			if NoteText(body) != "text" {
				t.Errorf("body %q", body)
			}
		})
	}
}

func TestFrontMatterNamesTheLine(t *testing.T) {
	for name, test := range map[string]struct{ in, want string }{
		"no UTF-8":  {"caf\xe9\n", "UTF-8"},
		"no end":    {"---\na: b\n", "no end"},
		"an anchor": {"---\na: 1\nb: &x {y: 1}\n---\n", "line 3: \"&x {y: 1}\" is neither JSON"},
		"a tag":     {"---\nb: !!binary aGk=\n---\n", "line 2: \"!!binary"},
		"a block":   {"---\na:\n  b: 1\n---\n", "line 3: must be a field with its value in one line"},
		"a text":    {"---\na: |\n---\n", "line 2: \"|\" is neither"},
		"a list":    {"---\n- a\n---\n", "line 2: must be a field"},
		"a bracket": {"---\na: 1\nb: [1, 2\n---\n", "line 3: \"[1, 2\" is neither"},
		"brackets":  {"---\na: " + strings.Repeat("[", 100_000) + "\n---\n", "line 2: "},
		"a key":     {"---\n? [a]\n: b\n---\n", "line 2: must be a field"},
		"twice":     {"---\na: 1\na: 2\n---\n", "line 3: a was given twice"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := CutFrontMatter([]byte(test.in))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// Whatever the text, a note gives it back byte for byte.
func TestNoteText(t *testing.T) {
	for _, text := range []string{"a", "a\nb", " a \n\n b ", "---\na: b\n---\n", "a\r\nb", "- a\n- b", "\n\na\n\n", "数字 12.50"} {
		var b bytes.Buffer
		if err := WriteFrontMatter(&b, map[string]string{"uid": "x"}); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n" + text + "\n")
		_, body, err := CutFrontMatter(b.Bytes())
		if err != nil || NoteText(body) != text {
			t.Errorf("%q came back as %q (%v)", text, NoteText(body), err)
		}
	}
}

func FuzzFrontMatter(f *testing.F) {
	f.Add("---\na: {\"b\":1.50}\n---\n\ntext\n")
	f.Add("---\na:\n  - b: 1\n---\n")
	f.Fuzz(func(t *testing.T, in string) {
		fields, _, err := CutFrontMatter([]byte(in))
		if err != nil {
			return
		}
		for name, raw := range fields {
			if !json.Valid(raw) {
				t.Errorf("%q became %q", name, raw)
			}
		}
	})
}
