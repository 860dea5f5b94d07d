// Package subjects finds what memories are about: robots, objects, places, parts and people. A subject has a name
// and other names for the same, its aliases. It knows no store: it compares names with texts and contexts.
package subjects

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
	"github.com/robotmem/robotmem-go/robotmem/spelling"
)

// Name is a name that is looked for in texts, in any spelling: "gripper 3", "Gripper-3", "gripper_3" and "gripper3"
// are one name. "gripper 30", "gripper 3.5" and the quantity in "gripper 3 N" are others.
type Name struct {
	Text   string
	tokens []token
	// dense is the text without spaces and marks, for names in scripts that do not write spaces between words.
	dense string
}

// token is a run of letters, or a number.
type token struct {
	text   string
	gap    string // what stands before it
	number bool
}

// ParseName returns the name that a text is; it has no tokens if the text has neither letters nor digits.
func ParseName(name string) Name {
	n := Name{Text: strings.TrimSpace(name)}
	n.tokens, _ = split(n.Text)

	if strings.ContainsFunc(n.Text, unspaced) {
		n.dense = dense(n.Text)
	}

	return n
}

// Empty reports whether the name has nothing that could be found.
func (n *Name) Empty() bool { return len(n.tokens) == 0 }

// Vague reports whether the name is a number or a word without content alone, which is in texts of every kind.
func (n *Name) Vague() bool {
	if len(n.tokens) != 1 || n.dense != "" {
		return false
	}
	_, err := strconv.ParseFloat(n.tokens[0].text, 64)

	return err == nil || text.Stop(n.tokens[0].text)
}

// Parts returns the words and numbers of the name, in lower case.
func (n *Name) Parts() []string {
	parts := make([]string, len(n.tokens))
	for i, t := range n.tokens {
		parts[i] = t.text
	}

	return parts
}

// key is equal for the spellings of one name.
func (n *Name) key() string { return strings.Join(n.Parts(), " ") }

// Same reports whether two names are spellings of one.
func (n *Name) Same(o *Name) bool { return equalTokens(n.tokens, o.tokens) }

// Near reports whether another name may have been meant: its words are spelt nearly alike, and its numbers are equal but
// for leading zeros.
func (n *Name) Near(other string) bool {
	o := ParseName(other)
	if len(n.tokens) != len(o.tokens) || n.Empty() {
		return false
	}

	const shortest = 4 // letters of a word that may be misspelt: "arm" and "art" are two words

	for i, t := range n.tokens {
		a, b := t.text, o.tokens[i].text
		equal := a == b || t.number && strings.TrimLeft(a, "0") == strings.TrimLeft(b, "0")
		misspelt := !t.number && utf8.RuneCountInString(a) >= shortest && len(spelling.Nearest(a, []string{b})) > 0
		if !equal && !misspelt {
			return false
		}
	}

	return true
}

// In reports whether a text has the name.
func (n *Name) In(text string) bool {
	if n.Empty() {
		return false
	}
	if n.dense != "" {
		return inDense(dense(text), n.dense)
	}

	tokens, end := split(text)
	for i := 0; i+len(n.tokens) <= len(tokens); i++ {
		if n.at(tokens, i, end) {
			return true
		}
	}

	return false
}

// at reports whether the tokens from i on are the name. end is what stands behind the last token.
func (n *Name) at(tokens []token, i int, end string) bool {
	for k, t := range n.tokens {
		got := tokens[i+k]
		if got.text != t.text || k > 0 && !joins(got.gap) {
			return false
		}
	}

	// "3 m2" is an area, and "gripper 3 N" a force.
	if i > 0 && tokens[i-1].number && nearby(tokens[i].gap) && !n.tokens[0].number && isUnit(n.tokens[0].text) {
		return false
	}
	if last := i + len(n.tokens); n.tokens[len(n.tokens)-1].number {
		if last == len(tokens) {
			return !strings.HasPrefix(strings.TrimLeft(end, " "), "%")
		}
		next := tokens[last]

		return !(strings.HasPrefix(strings.TrimLeft(next.gap, " "), "%") ||
			nearby(next.gap) && !next.number && isUnit(next.text))
	}

	return true
}

// joins reports whether two parts of a name may stand so far apart.
func joins(gap string) bool {
	return utf8.RuneCountInString(gap) <= 2 && strings.Trim(gap, " -_#/:–‑") == ""
}

func nearby(gap string) bool { return gap == "" || gap == " " }

// words are units too, and follow a number as words more often.
var words = []string{"in", "a", "at", "as", "am", "bar", "yard", "foot"}

func isUnit(s string) bool {
	if slices.Contains(words, s) {
		return false
	}
	if _, ok := units.Symbol(s); ok {
		return true
	}
	_, ok := units.Symbol(strings.ToUpper(s)) // the tokens are in lower case: N, V, A

	return ok
}

// split returns the words and the numbers of a text in lower case, and what stands behind the last one. A digit that
// follows a letter begins a number: "arm7" is "arm" and "7".
func split(text string) (tokens []token, end string) {
	var gap, run strings.Builder
	number := false

	flush := func() {
		if run.Len() > 0 {
			tokens = append(tokens, token{run.String(), gap.String(), number})
			run.Reset()
			gap.Reset()
		}
	}

	runes := []rune(strings.ToLower(norm.NFKC.String(text)))
	for i, r := range runes {
		digit := unicode.IsDigit(r)

		// A point between digits belongs to the number.
		if r == '.' && number && run.Len() > 0 && i+1 < len(runes) && unicode.IsDigit(runes[i+1]) {
			run.WriteRune(r)
			continue
		}
		if !digit && !unicode.IsLetter(r) && !unicode.IsMark(r) {
			flush()
			gap.WriteRune(r)
			continue
		}
		if run.Len() > 0 && digit != number {
			flush()
		}
		number = digit
		run.WriteRune(r)
	}

	flush()

	return tokens, gap.String()
}

func equalTokens(a, b []token) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, func(x, y token) bool { return x.text == y.text })
}

// unspaced reports whether a script writes no spaces between words.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// dense returns the letters and digits of a text, in lower case.
func dense(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return r
		}
		return -1
	}, strings.ToLower(norm.NFKC.String(text)))
}

// inDense looks for a name that does not end within a number: 夹爪3 is not in 夹爪30.
func inDense(text, name string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return false
		}

		end := from + at + len(name)
		last, _ := utf8.DecodeLastRuneInString(name)
		next, _ := utf8.DecodeRuneInString(text[end:])
		first, _ := utf8.DecodeRuneInString(name)
		before, _ := utf8.DecodeLastRuneInString(text[:from+at])

		if !(unicode.IsDigit(last) && unicode.IsDigit(next)) && !(unicode.IsDigit(first) && unicode.IsDigit(before)) {
			return true
		}
		from = end
	}
}
