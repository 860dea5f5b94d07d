package classify_test

import (
	"errors"
	"strings"
	"testing"

	taxonomy "github.com/robotmem/robotmem-go"
	"github.com/robotmem/robotmem-go/classify"
)

// small is a whole file; tests change one line of it.
const small = `tags:
  - {tag: domain, display_name: Domain}
  - tag: force
    parent: domain
    display_name: Force
    match: ["force{,s}"]
categories:
  - category: constraint
    match:
      - must never
      - {regex: 'port \d+', literals: [port]}
confidence: {base: 0.5, step: 0.1, cap: 0.9, context_over: 5, causal: [because]}
scope:
  - name: snake
    kind: entity
    needs: "_"
    regex: '\w+_\w+'
  - {name: span, kind: entity, needs: "` + "`" + `", signal: code, regex: '` + "`.*`" + `'}
fallback: seen
outcome: {paths: [task.result], success: [held], failure: [slipped], text: {failure: [slipped]}}
`

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct {
		name     string
		old, new string // a change of small; old may span lines
		line     int
		want     string // in the reason
	}{
		{"bad YAML", "tags:\n", "tags: [\n", 7, "bad YAML"},
		{"a tab", "    parent: domain", "\tparent: domain", 4, "bad YAML"},
		{"unknown key at the top", "scope:", "skope:", 13, `unknown field "skope"`},
		{"unknown key of a tag", "    parent: domain", "    parnet: domain", 4, `unknown field "parnet"`},
		{"unknown key of a pattern", "literals: [port]", "literal: [port]", 11, `unknown field "literal"`},
		{"duplicate key", "    parent: domain", "    tag: domain", 4, "already defined"},
		{"unknown parent", "parent: domain", "parent: manip", 3, `tag "force": unknown parent "manip"`},
		{"cycle", "{tag: domain, display_name: Domain}", "{tag: domain, display_name: Domain, parent: force}", 2, `tag "domain": its parents form a cycle`},
		{"own parent", "parent: domain", "parent: force", 3, `tag "force": its parents form a cycle`},
		{"duplicate tag", "tag: force", "tag: domain", 3, `tag "domain" is a duplicate`},
		{"no tag", "  - tag: force\n    parent", "  - parent", 3, "no tag"},
		{"bad name", "tag: force", "tag: Grip Force", 3, "is not a name"},
		{"no display name", "    display_name: Force\n", "", 3, `tag "force": no display_name`},
		{"tags are no list", "confidence: {", "confidence: 3 #", 12, "mapping is expected"},
		{"no categories", "  - category: constraint\n    match:\n      - must never\n      - {regex: 'port \\d+', literals: [port]}\n", "", 0, "no categories"},
		{"category without patterns", "    match:\n      - must never\n      - {regex: 'port \\d+', literals: [port]}\n", "    match: []\n", 8, `category "constraint": match`},
		{"duplicate category", "confidence: {b", "  - {category: constraint, match: [x y]}\nconfidence: {b", 12, `category "constraint" is a duplicate`},
		{"bad fallback", "fallback: seen", "fallback: What it saw", 19, "is not a name"},
		{"no fallback", "fallback: seen\n", "", 0, "no fallback"},
		{"no outcome", "outcome: {", "outcomes: {", 20, `unknown field "outcomes"`},
		{"word of two outcomes", "failure: [slipped]", "failure: [Held]", 20, `"held" is a word of both success and failure`},
		{"outcome without paths", "paths: [task.result], ", "", 20, "no paths"},
		{"duplicate pattern", "      - must never", "      - must never\n      - must never", 11, `"must never" is a duplicate`},
		{"bad regexp", `port \d+`, `port (\d+`, 11, "missing closing )"},
		{"regexp without literals", ", literals: [port]", "", 11, "no literal"},
		{"regexp with an empty literal", "literals: [port]", "literals: [' ']", 11, "no literal"},
		{"phrase and regexp", "{regex: 'port \\d+',", "{regex: 'port', phrase: port,", 11, "either a phrase or a regex"},
		{"phrase without a literal", "- must never", `- "..."`, 10, "no literal"},
		{"phrase of marks only", "- must never", `- "<file> ... <code>"`, 10, "no literal"},
		{"empty part", "- must never", `- "must ... "`, 10, "no literal"},
		{"empty alternative", "- must never", `- "must||never"`, 10, "no literal"},
		{"open brace", `"force{,s}"`, `"force{,s"`, 6, "a brace is not closed"},
		{"too many spellings", "- must never", `- "{a,b,c,d}{a,b,c,d}{a,b,c,d}{a,b,c,d}{a,b,c,d}"`, 10, "spellings"},
		{"unknown mark", "- must never", `- "must <number>"`, 10, "unexpected mark"},
		{"too many parts", "- must never", "- a ... b ... c ... d ... e", 10, "more than 4 parts"},
		{"bad gap", "- must never", "- {phrase: a ... b, gap: 0}", 10, "gap is not"},
		{"phrase is a number", "- must never", "- 12", 10, "neither text nor a mapping"},
		{"no base", "base: 0.5, ", "", 12, "no base"},
		{"base is no number", "base: 0.5", "base: high", 12, "cannot unmarshal string"},
		{"base above one", "base: 0.5", "base: 50", 12, "base is not a number"},
		{"base above cap", "cap: 0.9", "cap: 0.3", 12, "base is above cap"},
		{"no causal phrase", ", causal: [because]", "", 12, "no causal"},
		{"bad kind", "kind: entity", "kind: thing", 14, `scope "snake": kind is neither`},
		{"bad needs", `needs: "_"`, `needs: "x"`, 14, "needs 'x' is none of"},
		{"no needs", "    needs: \"_\"\n", "", 14, "no needs"},
		{"bad scope regexp", `'\w+_\w+'`, `'\w+_[\w+'`, 14, "missing closing ]"},
		{"duplicate rule", "name: span", "name: snake", 18, `scope "snake" is a duplicate`},
		{"bad signal", `needs: "_"`, "needs: \"_\"\n    signal: loud", 14, "signal is neither"},
		{"no scope", small[strings.Index(small, "scope:"):], "", 0, "no scope"},
		{"empty file", small, "# nothing\n", 0, "no tags"},
		{"second document", "scope:", "---\nscope:", 0, "a second document"},
		{"not UTF-8", "Force", "\xff", 0, "not UTF-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(small, tt.old) {
				t.Fatalf("%q is not in the file", tt.old)
			}
			_, err := classify.Parse([]byte(strings.Replace(small, tt.old, tt.new, 1)))
			var got *classify.ParseError
			if !errors.As(err, &got) {
				t.Fatalf("got %v, want a *ParseError", err)
			}
			if got.Line != tt.line || !strings.Contains(got.Reason, tt.want) {
				t.Errorf("got line %d, %s; want line %d, %s", got.Line, got.Reason, tt.line, tt.want)
			}
		})
	}
}

func TestParseErrorText(t *testing.T) {
	_, err := classify.Parse([]byte(strings.Replace(small, "parent: domain", "parent: manip", 1)))
	if got, want := err.Error(), `taxonomy: line 3: tag "force": unknown parent "manip"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestOwnFileReplacesTheBuiltInOne(t *testing.T) {
	rules, err := classify.Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	got := rules.Classify("it must never use port 80: grip_force because a.go", 6)
	if got.Category != "constraint" || len(got.Tags) != 1 || got.Tags[0] != "force" || got.Confidence != 0.7 || len(got.ScopeFiles) != 0 {
		t.Errorf("got %+v", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add(taxonomy.YAML)
	f.Fuzz(func(t *testing.T, data []byte) {
		rules, err := classify.Parse(data)
		if err != nil {
			if _, ok := errors.AsType[*classify.ParseError](err); !ok {
				t.Errorf("got %T", err)
			}
			return
		}
		rules.Classify("we must never grip_force `x` at port 80", 10)
	})
}
