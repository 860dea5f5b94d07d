package classify

import (
	"slices"
	"sync"
)

// Rules is a compiled taxonomy. It is immutable and safe for concurrent use.
type Rules struct {
	tags       []Tag    // roots first, parents before children
	categories []string // in order of precedence, without fallback
	fallback   string   // the category of a text that no rule matches
	outcome    Outcomes
	scope      []scopeRule
	confidence confidence

	// A target is proved by patterns: the categories, then the tags, then the causal signal, success
	// and failure. named[i] is the tag of target i.
	named  []string
	causal int32

	auto     func() *automaton // built for the first text; a process that only reads needs none
	literals []string          // the marks, then those of the automaton
	uses     [][]use           // by literal
	patterns []pattern
	progress int32 // the number of parts of all patterns

	runs sync.Pool // of *run: the buffers of one Classify
}

// Tag is a node of the tag tree.
type Tag struct {
	Name        string
	Parent      string // empty for a root, which is a dimension
	DisplayName string // for people, in English
}

// Result is the result of Classify. Its slices are never nil and belong to the caller.
type Result struct {
	Category      string
	Tags          []string // sorted, unique, all of them in Rules.Tags
	Confidence    float64  // 0..1, two decimals
	ScopeFiles    []string // paths in text order, unique, at most 32
	ScopeEntities []string // names in code, topics, code spans; likewise
	Outcome       string   // Success or Failure if the text reports one of them alone, else empty
}

// confidence counts in hundredths, so that 0.80 + 0.05 + 0.05 is 0.90.
type confidence struct {
	base, step, limit int
	contextOver       int // bytes
}

// Classify applies the rules to content, which need not be UTF-8. contextLen is the length in bytes
// of the memory's context as JSON, 0 without one.
func (r *Rules) Classify(content string, contextLen int) Result {
	m, _ := r.runs.Get().(*run)
	if m == nil {
		m = &run{Rules: r, proved: make([]bool, len(r.named)+3), progress: make([]step, r.progress)}
	}

	m.start(content)
	m.findScope()
	m.match()

	res := Result{
		Category: r.category(m.proved),
		Tags:     r.tagsOf(m.proved),
		Confidence: r.confidence.of(m.signals[0], m.signals[1], m.proved[r.causal],
			contextLen > r.confidence.contextOver),
		ScopeFiles:    m.files,
		ScopeEntities: m.entities,
	}
	switch succeeded, failed := m.proved[r.causal+1], m.proved[r.causal+2]; {
	case succeeded && !failed:
		res.Outcome = Success
	case failed && !succeeded:
		res.Outcome = Failure
	}

	if cap(m.text) <= maxKept {
		m.content = ""
		r.runs.Put(m)
	}

	return res
}

// Fallback returns the category of a text that no rule matches.
func (r *Rules) Fallback() string { return r.fallback }

// Outcomes returns the rules for outcomes in contexts.
func (r *Rules) Outcomes() *Outcomes { return &r.outcome }

// Tags returns the tree: the roots first, every parent before its children.
func (r *Rules) Tags() []Tag { return slices.Clone(r.tags) }

func (r *Rules) category(proved []bool) string {
	for i, name := range r.categories {
		if proved[i] {
			return name
		}
	}
	return r.fallback
}

func (r *Rules) tagsOf(proved []bool) []string {
	out := []string{}

	for i, name := range r.named {
		if proved[i] && name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)

	return slices.Compact(out)
}

func (c confidence) of(signals ...bool) float64 {
	sum := c.base

	for _, s := range signals {
		if s {
			sum += c.step
		}
	}

	return float64(min(sum, c.limit)) / 100
}
