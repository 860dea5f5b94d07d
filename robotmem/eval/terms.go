package eval

import "github.com/robotmem/robotmem-go/robotmem/internal/text"

// Terms returns the search terms of a text in text order, lower case and not
// stemmed. It is what a node indexes, for programs that work out right answers
// by a search of their own.
func Terms(s string) []string { return text.Terms(s) }

// QueryTerms returns the distinct terms of a question without its stop words.
func QueryTerms(s string) []string {
	content, _ := text.Query(s)
	return content
}

// Stem returns what the index stores for a term.
func Stem(term string) string { return text.Stem(term) }
