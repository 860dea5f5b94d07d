package classify_test

import (
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/classify"
)

// rulesWith returns small with another pattern, and snake_case as <file>.
func rulesWith(t *testing.T, pattern string) *classify.Rules {
	t.Helper()
	file := strings.Replace(small, "must never", pattern, 1)
	file = strings.Replace(file, "kind: entity", "kind: entity\n    signal: file", 1)
	rules, err := classify.Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func TestPatternNotation(t *testing.T) {
	long := strings.Repeat("and so on ", 8)
	for _, tt := range []struct {
		name, pattern, text string
		want                bool
	}{
		{"case", "must never", "MUST Never", true},
		{"white space", "must never", "must \t\n  never", true},
		{"no space", "must never", "mustnever", false},
		{"word before", "must never", "amust never", false},
		{"word after", "must never", "must nevers", false},
		{"digit after", "must never", "must never2", false},
		{"underscore in prose", "must never", "must never_x", false},
		{"dot in a name", "config", "config.yaml", false},
		{"dot at the end", "config", "a config.", true},
		{"accented letter before", "must", "émust", false},
		{"Han beside Latin", "must", "你must你", true},
		{"Han inside Han", "必须", "你必须走", true},
		{"Cyrillic case", "всегда", "ВСЕГДА", true},
		{"letters that grow do not fold", "kelvin", "\u212aelvin", false},
		{"letters that shrink do not fold", "i", "\u0130", false},
		{"text after a letter that shrinks", "must", "\u0130\u0130\u212a must", true},
		{"braces", `"err{or,ors}"`, "errors", true},
		{"braces, other", `"err{or,ors}"`, "err", false},
		{"alternative", "a b|c d", "c d", true},
		{"sequence", "a ... b", "a then b", true},
		{"sequence, wrong order", "a ... b", "b then a", false},
		{"sequence over sentences", "a ... b", "a here. Then b", false},
		{"sequence over Chinese sentences", "甲 ... 乙", "甲。乙", false},
		{"sequence over lines", "a ... b", "a\nb", false},
		{"sequence over a decimal point", "a ... b", "a 12.5 b", true},
		{"sequence too far", "a ... b", "a " + long + "b", false},
		{"sequence from the nearest", "a ... b", "a " + long + "a b", true},
		{"sequence with a gap", "{phrase: a ... b, gap: 3}", "a or b", false},
		{"sequence of one word twice", "a ... a", "a", false},
		{"sequence of one word, twice there", "a ... a", "a a", true},
		{"sequence of three", "a ... b ... c", "a x b y c", true},
		{"sequence of three, one missing", "a ... b ... c", "a x y c", false},
		{"sequence that overlaps", "a b ... b c", "a b c", false},
		{"file mark inside a span", "<file> ... found", "`see a_b found it`", true},
		{"code mark after", "a ... <code>", "a and `x`", true},
		{"code mark before", "a ... <code>", "`x` and a", false},
		{"mark first", "<code> ... a", "`x` and a", true},
		{"start", "^always", "Always", true},
		{"start of a later sentence", "^always", "It fell. \"Always hold it.\"", true},
		{"start of a list item", "^always", "  - Always hold it", true},
		{"start after a number", "^always", "12) always hold it", true},
		{"not at the start", "^always", "it always fell", false},
		{"hyphen at the start", "^always", "always-on", false},
		{"hyphen elsewhere", "always", "always-on", true},
		{"start after Han", "^always", "你always", false},
		{"except", "{phrase: well, except: [as well]}", "as well", false},
		{"except only there", "{phrase: well, except: [as well]}", "as well or well", true},
		{"regexp", `{regex: 'a\d+$', literals: [a]}`, "A12", true},
		{"regexp sees a sentence", `{regex: '^a\d', literals: [a]}`, "b. a1", false},
		{"regexp sees its sentence", `{regex: '^\s*a\d', literals: [a]}`, "b. a1", true},
		{"regexp in a later sentence", `{regex: 'a\d', literals: [a]}`, "a. a. a1", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			category := rulesWith(t, tt.pattern).Classify(tt.text, 0).Category
			if got := category == "constraint"; got != tt.want {
				t.Errorf("%q on %q: got %v, want %v", tt.pattern, tt.text, got, tt.want)
			}
		})
	}
}

// In tags an underscore parts words, because names are where they stand.
func TestTagsAreFoundInNames(t *testing.T) {
	for text, want := range map[string]int{"grip_force": 1, "Forces": 1, "enforce": 0, "force2": 0} {
		if got := rulesWith(t, "must never").Classify(text, 0).Tags; len(got) != want {
			t.Errorf("%s: got tags %v, want %d", text, got, want)
		}
	}
}
