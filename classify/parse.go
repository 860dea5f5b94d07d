package classify

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

// ParseError says where a taxonomy file is wrong, and how.
type ParseError struct {
	Line, Column int // from 1; 0 if the file as a whole is meant
	Reason       string
}

func (e *ParseError) Error() string {
	if e.Line == 0 {
		return "taxonomy: " + e.Reason
	}
	return fmt.Sprintf("taxonomy: line %d: %s", e.Line, e.Reason)
}

// Parse compiles a taxonomy file; its format is described in the package
// comment and at the head of taxonomy.yaml. Every error is a *ParseError.
func Parse(data []byte) (*Rules, error) {
	if !utf8.Valid(data) {
		return nil, &ParseError{Reason: "not UTF-8 text"}
	}
	top, err := parseYAML(data)
	if err != nil {
		return nil, err
	}
	doc, err := mapping(top, "the file", "tags", "categories", "confidence", "scope")
	if err != nil {
		return nil, err
	}
	var p parser
	p.rules = &Rules{}
	for _, step := range []struct {
		key   string
		parse func(ast.Node) error
	}{
		{"tags", p.tags}, {"categories", p.categories}, {"confidence", p.confidence}, {"scope", p.scope},
	} {
		n, ok := doc[step.key]
		if !ok {
			return nil, &ParseError{Reason: fmt.Sprintf("no %s", step.key)}
		}
		if err := step.parse(n); err != nil {
			return nil, err
		}
	}
	if err := p.compile(); err != nil {
		return nil, err
	}
	return p.rules, nil
}

// parser collects what the sections state before anything is compiled: the
// numbers of the targets follow from how many there are.
type parser struct {
	rules  *Rules
	tagged []stated // in the order of rules.tags
	ranked []stated // in the order of rules.categories
	causal stated
}

// stated is the owner of patterns with the nodes that state them.
type stated struct {
	what     string // for errors: tag "grasp"
	patterns []ast.Node
}

func (p *parser) categories(n ast.Node) error {
	items, err := list(n, "categories")
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, item := range items {
		f, err := mapping(item, "a category", "category", "match")
		if err != nil {
			return err
		}
		name, err := identifier(item, f, "category")
		if err != nil {
			return err
		}
		what := fmt.Sprintf("category %q", name)
		if name == Fallback {
			return fail(item, "%s is what a text without a match gets, it takes no patterns", what)
		}
		if seen[name] {
			return fail(item, "%s is a duplicate", what)
		}
		seen[name] = true
		patterns, err := required(item, f, what, "match")
		if err != nil {
			return err
		}
		p.rules.categories = append(p.rules.categories, name)
		p.ranked = append(p.ranked, stated{what, patterns})
	}
	return nil
}

func (p *parser) confidence(n ast.Node) error {
	f, err := mapping(n, "confidence", "base", "step", "cap", "context_over", "causal")
	if err != nil {
		return err
	}
	c := &p.rules.confidence
	for _, number := range []struct {
		key   string
		to    *int
		scale float64 // steps of the file's unit that are kept
		most  float64
	}{
		{"base", &c.base, 100, 1}, {"step", &c.step, 100, 1}, {"cap", &c.limit, 100, 1},
		{"context_over", &c.contextOver, 1, 1 << 20},
	} {
		v, ok := f[number.key]
		if !ok {
			return fail(n, "confidence: no %s", number.key)
		}
		x, err := strconv.ParseFloat(v.GetToken().Value, 64)
		if err != nil || !(x >= 0 && x <= number.most) {
			return fail(v, "confidence: %s is not a number from 0 to %v", number.key, number.most)
		}
		*number.to = int(math.Round(x * number.scale))
	}
	if c.base > c.limit {
		return fail(f["base"], "confidence: base is above cap")
	}
	p.causal.what = "confidence: causal"
	p.causal.patterns, err = required(n, f, "confidence", "causal")
	return err
}

// compile numbers the targets and hands all patterns to the compiler.
func (p *parser) compile() error {
	r := p.rules
	isTag := map[string]bool{}
	for _, t := range r.tags {
		isTag[t.Name] = true
	}
	for _, c := range r.categories {
		if !isTag[c] {
			c = "" // a category that is no tag only ranks
		}
		r.named = append(r.named, c)
	}
	for _, t := range r.tags {
		r.named = append(r.named, t.Name)
	}
	r.causal = int32(len(r.named))
	var c compiler
	target := int32(0)
	add := func(owners []stated, names bool) error {
		for _, o := range owners {
			if err := o.compile(&c, target, names); err != nil {
				return err
			}
			target++
		}
		return nil
	}
	if err := add(p.ranked, false); err != nil {
		return err
	}
	if err := add(p.tagged, true); err != nil {
		return err
	}
	if err := add([]stated{p.causal}, false); err != nil {
		return err
	}
	if err := c.build(r); err != nil {
		return &ParseError{Reason: err.Error()}
	}
	return nil
}

func (o stated) compile(c *compiler, target int32, names bool) error {
	seen := map[string]bool{}
	for _, n := range o.patterns {
		s, err := patternOf(n, o.what)
		if err != nil {
			return err
		}
		key := s.phrase + "\x00" + s.regex
		if seen[key] {
			return fail(n, "%s: pattern %q is a duplicate", o.what, s.phrase+s.regex)
		}
		seen[key] = true
		if err := c.add(target, names, s); err != nil {
			return fail(n, "%s: %s", o.what, err)
		}
	}
	return nil
}
