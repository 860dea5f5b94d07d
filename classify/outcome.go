package classify

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
)

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

func (p *parser) fallback(n ast.Node) error {
	f := &fields{at: n, nodes: map[string]ast.Node{"fallback": n}}
	p.rules.fallback = f.name("fallback")
	return f.err
}

func (p *parser) outcome(n ast.Node) error {
	f := fieldsOf(n, "outcome", "paths", Success, Failure, Partial, "text")
	o := &p.rules.outcome
	f.need("paths")
	o.Paths, o.Words = f.texts("paths"), map[string]string{}
	for _, outcome := range []string{Success, Failure, Partial} {
		for word := range f.set(outcome) {
			if other, ok := o.Words[word]; ok {
				f.fail(f.nodes[outcome], "outcome: %q is a word of both %s and %s", word, other, outcome)
			}
			o.Words[word] = outcome
		}
	}
	if f.err != nil || f.nodes["text"] == nil {
		return f.err
	}
	proofs := fieldsOf(f.nodes["text"], "outcome: text", Success, Failure)
	for _, outcome := range []string{Success, Failure} {
		p.others = append(p.others, stated{"outcome: text: " + outcome, proofs.list(outcome)})
	}
	return proofs.err
}
