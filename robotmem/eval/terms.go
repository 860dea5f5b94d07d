package eval

import "github.com/robotmem/robotmem-go/robotmem/internal/text"

// Terms returns the search terms of a text in text order, lower case and not stemmed, as a node
// indexes them, for programs that compute right answers themselves.
func Terms(s string) []string { return text.Terms(s) }

// QueryTerms returns the distinct terms of a question without its stop words.
func QueryTerms(s string) []string {
	content, _ := text.Query(s)
	return content
}

// Stem returns the stored form of a term.
func Stem(term string) string { return text.Stem(term) }
