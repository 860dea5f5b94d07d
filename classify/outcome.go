package classify

import "strings"

// The outcomes of what a memory reports.
const (
	Success = "success"
	Failure = "failure"
	Partial = "partial"
)

// Outcomes are the rules for outcomes in contexts.
type Outcomes struct {
	Paths []string          // dot paths that may hold an outcome, the most reliable first
	Words map[string]string // from a value in lower case to its outcome
}

// Of returns the outcome that a word states, empty if it states none. A word may be followed by a
// remark: "failed: slipped at 3 s".
func (o *Outcomes) Of(word string) string {
	word = strings.ToLower(strings.TrimSpace(word))
	if found, ok := o.Words[word]; ok {
		return found
	}
	if end := strings.IndexAny(word, ":;,(（：，；"); end > 0 {
		return o.Words[strings.TrimSpace(word[:end])]
	}
	return ""
}
