package workers

import (
	"regexp"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// negates reports whether a sentence is turned round by its words: two of them cancel out.
func negates(sentence string) bool { return text.Negations(sentence)%2 == 1 }

// clauseEnd ends a clause. A point or a comma between digits ends none.
var clauseEnd = regexp.MustCompile(`[.,:]\s|[;!?\n。，；！？]`)

// clauseOf is the part of a source in which a quote stands: a model may quote the words beside a "not".
func clauseOf(quote, source string) string {
	source, quote = folded(source), folded(quote)
	at := strings.Index(source, quote)
	if at < 0 {
		return quote
	}

	from, to := 0, len(source)
	if ends := clauseEnd.FindAllStringIndex(source[:at], -1); len(ends) > 0 {
		from = ends[len(ends)-1][1]
	}
	if end := clauseEnd.FindStringIndex(source[at+len(quote):]); end != nil {
		to = at + len(quote) + end[0]
	}

	return source[from:to]
}

// name matches what has a number in its name, as a1 or S-30.
var name = regexp.MustCompile(`\b[A-Za-z]+-?\d+\b`)

// withoutNames leaves out the names that the source has: their numbers measure nothing.
func withoutNames(text, source string) string {
	known := map[string]bool{}
	for _, n := range name.FindAllString(source, -1) {
		known[n] = true
	}

	return name.ReplaceAllStringFunc(text, func(n string) string {
		if known[n] {
			return ""
		}
		return n
	})
}
