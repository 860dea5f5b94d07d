package classify

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
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

// errorAt is an error at a token, which may be nil.
func errorAt(t *token.Token, format string, args ...any) error {
	e := &ParseError{Reason: fmt.Sprintf(format, args...)}
	if t != nil && t.Position != nil {
		e.Line, e.Column = t.Position.Line, t.Position.Column
	}
	return e
}

// file is a taxonomy file as the YAML library decodes it. taxonomy.yaml says what the keys mean.
type file struct {
	Fallback located[string]
	Tags     []located[struct {
		Tag, Parent string
		DisplayName string `yaml:"display_name"`
		Match       []located[source]
	}]
	Categories []located[struct {
		Category string
		Match    []located[source]
	}]
	Confidence located[struct {
		Base, Step, Cap *float64
		ContextOver     *float64 `yaml:"context_over"`
		Causal          []located[source]
	}]
	Scope   []located[scopeEntry]
	Outcome located[struct {
		Paths, Success, Failure, Partial []string
		Failed, Errors, Rates, Rewards   []string
		Text                             struct{ Success, Failure []located[source] }
	}]
}

type scopeEntry struct {
	Name, Kind, Needs, Regex, Signal string
	Endings, Except                  []string
}

// located is a value with its place in the file.
type located[T any] struct {
	value T
	at    *token.Token
}

func (l *located[T]) UnmarshalYAML(n ast.Node) error {
	l.at = n.GetToken()
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		// The token of a mapping is its first colon.
		l.at = m.Values[0].Key.GetToken()
	}
	return yaml.NodeToValue(n, &l.value, yaml.Strict())
}

// UnmarshalYAML implements yaml.NodeUnmarshaler. Text is a phrase.
func (s *source) UnmarshalYAML(n ast.Node) error {
	type mapping source

	switch n := n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return yaml.NodeToValue(n, &s.Phrase)
	case *ast.MappingNode:
		return yaml.NodeToValue(n, (*mapping)(s), yaml.Strict())
	}

	return errorAt(n.GetToken(), "a pattern is neither text nor a mapping")
}

// Parse compiles a taxonomy file, whose format the head of taxonomy.yaml describes. Every error is a
// *ParseError.
func Parse(data []byte) (*Rules, error) {
	if !utf8.Valid(data) {
		return nil, &ParseError{Reason: "not UTF-8 text"}
	}
	f, err := decode(data)
	if err != nil {
		return nil, err
	}
	p := parser{rules: &Rules{fallback: f.Fallback.value}}
	p.read(f)
	if p.err == nil {
		p.compile()
	}
	if p.err != nil {
		return nil, p.err
	}

	return p.rules, nil
}

func decode(data []byte) (f *file, err error) {
	// The library panics on some bad files.
	defer func() {
		if problem := recover(); problem != nil {
			err = errorAt(nil, "bad YAML: %v", problem)
		}
	}()
	f = &file{}
	decoder := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict())
	if err := decoder.Decode(f); err != nil && err != io.EOF {
		if own, ok := errors.AsType[*ParseError](err); ok {
			return nil, own
		}
		if located, ok := errors.AsType[yaml.Error](err); ok {
			return nil, errorAt(located.GetToken(), "bad YAML: %s", located.GetMessage())
		}

		return nil, errorAt(nil, "bad YAML: %v", err)
	}

	if err := decoder.Decode(new(any)); err != io.EOF {
		return nil, errorAt(nil, "a second document; a taxonomy is one")
	}

	return f, nil
}

// parser checks the sections. It collects their patterns before it compiles any, because targets are
// numbered last.
type parser struct {
	rules  *Rules
	tagged []stated // in the order of rules.tags
	ranked []stated // in the order of rules.categories
	others []stated // of causes, of success and of failure
	err    error    // the first
}

// stated is the owner of patterns with the patterns.
type stated struct {
	what     string // for errors: tag "grasp"
	patterns []located[source]
}

func (p *parser) check(ok bool, at *token.Token, format string, args ...any) {
	if !ok && p.err == nil {
		p.err = errorAt(at, format, args...)
	}
}

var identifier = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// name checks the name of one of several things, and returns what an error calls it.
func (p *parser) name(kind, name string, seen map[string]int, at *token.Token) (what string) {
	what = fmt.Sprintf("%s %q", kind, name)
	p.check(name != "", at, "no %s", kind)
	p.check(identifier.MatchString(name), at, "%s is not a name: lower-case letters, digits and _, at most 64", what)
	_, twice := seen[name]
	p.check(!twice, at, "%s is a duplicate", what)
	seen[name] = len(seen)

	return what
}

func (p *parser) read(f *file) {
	p.tags(f)
	p.check(len(f.Categories) > 0, nil, "no categories")

	seen := map[string]int{}
	for _, c := range f.Categories {
		what := p.name("category", c.value.Category, seen, c.at)
		p.check(len(c.value.Match) > 0, c.at, "%s: match: a list with at least one item is needed", what)
		p.rules.categories = append(p.rules.categories, c.value.Category)
		p.ranked = append(p.ranked, stated{what, c.value.Match})
	}

	p.confidence(f)
	p.check(len(f.Scope) > 0, nil, "no scope")

	seen = map[string]int{}
	for _, s := range f.Scope {
		p.rules.scope = append(p.rules.scope, p.scopeRule(p.name("scope", s.value.Name, seen, s.at), &s.value, s.at))
	}

	p.name("fallback", f.Fallback.value, map[string]int{}, f.Fallback.at)
	p.outcome(f)
}

// tags reads the tags into rules.tags: the roots first, then level by level in the order of the file.
// A tag without patterns groups others, or is given by callers.
func (p *parser) tags(f *file) {
	type item struct {
		Tag
		stated
		depth int
	}
	p.check(len(f.Tags) > 0, nil, "no tags")
	index := map[string]int{}

	var all []item

	for _, t := range f.Tags {
		what := p.name("tag", t.value.Tag, index, t.at)
		p.check(t.value.DisplayName != "", t.at, "%s: no display_name", what)
		all = append(all,
			item{Tag: Tag{t.value.Tag, t.value.Parent, t.value.DisplayName}, stated: stated{what, t.value.Match}})
	}

	for i, t := range f.Tags {
		_, known := index[t.value.Parent]
		p.check(known || t.value.Parent == "", t.at, "%s: unknown parent %q", all[i].what, t.value.Parent)
	}

	for i := range all {
		for up := all[i].Parent; up != "" && p.err == nil; up = all[index[up]].Parent {
			all[i].depth++
			p.check(all[i].depth <= len(all), f.Tags[i].at, "%s: its parents form a cycle", all[i].what)
		}
	}

	slices.SortStableFunc(all, func(a, b item) int { return cmp.Compare(a.depth, b.depth) })

	for _, t := range all {
		p.rules.tags, p.tagged = append(p.rules.tags, t.Tag), append(p.tagged, t.stated)
	}
}

func (p *parser) confidence(f *file) {
	c, at := &f.Confidence.value, f.Confidence.at
	number := func(key string, given *float64, most float64) float64 {
		p.check(given != nil, at, "confidence: no %s", key)
		if given == nil {
			return 0
		}
		p.check(*given >= 0 && *given <= most, at, "confidence: %s is not a number from 0 to %v", key, most)
		return *given
	}
	hundredths := func(key string, given *float64) int { return int(math.Round(100 * number(key, given, 1))) }
	p.rules.confidence = confidence{
		base: hundredths("base", c.Base), step: hundredths("step", c.Step), limit: hundredths("cap", c.Cap),
		contextOver: int(math.Round(number("context_over", c.ContextOver, 1<<20))),
	}
	p.check(p.rules.confidence.base <= p.rules.confidence.limit, at, "confidence: base is above cap")
	p.check(len(c.Causal) > 0, at, "confidence: no causal")
	p.others = append(p.others, stated{"confidence: causal", c.Causal})
}

func (p *parser) scopeRule(what string, s *scopeEntry, at *token.Token) (rule scopeRule) {
	p.check(s.Kind == "file" || s.Kind == "entity", at, "%s: kind is neither file nor entity", what)

	rule.file = s.Kind == "file"
	for _, c := range s.Needs {
		p.check(shapeOf[c] != 0, at, "%s: needs %q is none of _ / . A ( `", what, c)
		rule.needs |= shapeOf[c]
	}

	p.check(rule.needs != 0, at, "%s: no needs: some of _ / . A ( `", what)
	rule.mark = int32(slices.Index(markTexts, "<"+s.Signal+">"))
	p.check(rule.mark >= 0 || s.Signal == "", at, "%s: signal is neither file nor code", what)
	p.check(s.Regex != "", at, "%s: no regex", what)
	// Alone, so that the error shows what the file says.
	_, err := regexp.Compile(s.Regex)
	if err == nil {
		rule.re, err = regexp.Compile(`\A(?:` + s.Regex + `)\z`)
	}

	p.check(err == nil, at, "%s: regex %q: %v", what, s.Regex, err)
	rule.endings, rule.except = lowerSet(s.Endings), lowerSet(s.Except)

	return rule
}

func lowerSet(texts []string) map[string]bool {
	out := map[string]bool{}
	for _, s := range texts {
		out[strings.ToLower(s)] = true
	}
	return out
}

func (p *parser) outcome(f *file) {
	o, at, words := &f.Outcome.value, f.Outcome.at, map[string]string{}
	p.check(len(o.Paths) > 0, at, "outcome: no paths")

	for _, list := range []struct {
		outcome string
		words   []string
	}{{Success, o.Success}, {Failure, o.Failure}, {Partial, o.Partial}} {
		for word := range lowerSet(list.words) {
			p.check(words[word] == "", at, "outcome: %q is a word of both %s and %s", word, words[word], list.outcome)
			words[word] = list.outcome
		}
	}
	p.rules.outcome = Outcomes{
		Paths: o.Paths, Failed: o.Failed, Errors: o.Errors, Rates: o.Rates, Rewards: o.Rewards,
		Words: words, all: p.rules,
	}
	p.others = append(p.others, stated{"outcome: text: success", o.Text.Success},
		stated{"outcome: text: failure", o.Text.Failure})
}

// compile numbers the targets and hands all patterns to the compiler.
func (p *parser) compile() {
	r := p.rules
	for _, c := range r.categories {
		if !slices.ContainsFunc(r.tags, func(t Tag) bool { return t.Name == c }) {
			// A category that is no tag only ranks.
			c = ""
		}
		r.named = append(r.named, c)
	}

	for _, t := range r.tags {
		r.named = append(r.named, t.Name)
	}

	r.causal = int32(len(r.named))

	c := compiler{r, map[string]int32{}}
	for _, mark := range markTexts {
		c.id(mark)
	}

	for i, owner := range slices.Concat(p.ranked, p.tagged, p.others) {
		target := int32(i)
		names := i >= len(p.ranked) && target < r.causal
		seen := map[string]bool{}

		for _, s := range owner.patterns {
			key := s.value.Phrase + "\x00" + s.value.Regex
			p.check(!seen[key], s.at, "%s: pattern %q is a duplicate", owner.what, s.value.Phrase+s.value.Regex)
			seen[key] = true
			err := c.add(target, names, s.value)
			p.check(err == nil, s.at, "%s: %v", owner.what, err)
		}
	}

	err := c.build()
	p.check(err == nil, nil, "%v", err)
}
