package classify

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
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

// Parse compiles a taxonomy file, whose format the head of taxonomy.yaml describes. Every error is a
// *ParseError.
func Parse(data []byte) (*Rules, error) {
	if !utf8.Valid(data) {
		return nil, &ParseError{Reason: "not UTF-8 text"}
	}
	top, err := parseYAML(data)
	if err != nil {
		return nil, err
	}
	p := parser{rules: &Rules{}}
	file := fieldsOf(top, "the file", "fallback", "tags", "categories", "outcome", "confidence", "scope")
	for _, section := range []struct {
		key   string
		parse func(ast.Node) error
	}{
		{"tags", p.tags}, {"categories", p.categories}, {"confidence", p.confidence}, {"scope", p.scope}, {"fallback", p.fallback}, {"outcome", p.outcome},
	} {
		switch n := file.nodes[section.key]; {
		case file.err != nil:
		case n == nil:
			file.err = &ParseError{Reason: "no " + section.key + "; copy the section from the built-in file"}
		default:
			file.err = section.parse(n)
		}
	}
	if file.err == nil {
		file.err = p.compile()
	}
	if file.err != nil {
		return nil, file.err
	}
	return p.rules, nil
}

// parser collects the sections before anything is compiled, because targets are numbered last.
type parser struct {
	rules  *Rules
	tagged []stated // in the order of rules.tags
	ranked []stated // in the order of rules.categories
	others []stated // of causes, of success and of failure
}

// stated is the owner of patterns with the nodes that state them.
type stated struct {
	what     string // for errors: tag "grasp"
	patterns []ast.Node
}

// tags reads the tags into rules.tags: the roots first, then level by level in the order of the file.
func (p *parser) tags(n ast.Node) error {
	type item struct {
		Tag
		stated
		at    ast.Node
		depth int
	}
	var all []item
	index := map[string]int{}
	err := each(n, "tags", "tag", []string{"tag", "parent", "display_name", "match"}, func(f *fields, name string) {
		tag := Tag{Name: name}
		if f.nodes["parent"] != nil {
			tag.Parent = f.name("parent")
		}
		var ok bool
		if tag.DisplayName, ok = text(f.nodes["display_name"]); !ok || tag.DisplayName == "" {
			f.fail(f.at, "%s: no display_name", f.what)
		}
		index[name] = len(all)
		// A tag without patterns groups others, or is given by callers.
		all = append(all, item{Tag: tag, stated: stated{f.what, f.list("match")}, at: f.at})
	})
	if err != nil {
		return err
	}
	for _, t := range all {
		if _, ok := index[t.Parent]; !ok && t.Parent != "" {
			return fail(t.at, "%s: unknown parent %q", t.what, t.Parent)
		}
	}
	for i := range all {
		t := &all[i]
		for up := t.Parent; up != ""; up = all[index[up]].Parent {
			if t.depth++; t.depth > len(all) {
				return fail(t.at, "%s: its parents form a cycle", t.what)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b item) int { return cmp.Compare(a.depth, b.depth) })
	for _, t := range all {
		p.rules.tags, p.tagged = append(p.rules.tags, t.Tag), append(p.tagged, t.stated)
	}
	return nil
}

func (p *parser) categories(n ast.Node) error {
	return each(n, "categories", "category", []string{"category", "match"}, func(f *fields, name string) {
		f.need("match")
		p.rules.categories = append(p.rules.categories, name)
		p.ranked = append(p.ranked, stated{f.what, f.list("match")})
	})
}

func (p *parser) confidence(n ast.Node) error {
	f := fieldsOf(n, "confidence", "base", "step", "cap", "context_over", "causal")
	for _, key := range []string{"base", "step", "cap", "context_over", "causal"} {
		f.need(key)
	}
	hundredths := func(key string) int { return int(math.Round(100 * f.number(key, "", 0, 1))) }
	p.rules.confidence = confidence{
		base: hundredths("base"), step: hundredths("step"), limit: hundredths("cap"),
		contextOver: int(math.Round(f.number("context_over", "", 0, 1<<20))),
	}
	if p.rules.confidence.base > p.rules.confidence.limit {
		f.fail(f.nodes["base"], "confidence: base is above cap")
	}
	p.others = append(p.others, stated{"confidence: causal", f.list("causal")})
	return f.err
}

func (p *parser) scope(n ast.Node) error {
	return each(n, "scope", "name", []string{"name", "kind", "needs", "regex", "endings", "except", "signal"}, func(f *fields, name string) {
		f.what = fmt.Sprintf("scope %q", name)
		p.rules.scope = append(p.rules.scope, scopeOf(f))
	})
}

func scopeOf(f *fields) (rule scopeRule) {
	kind, _ := text(f.nodes["kind"])
	if kind != "file" && kind != "entity" {
		f.fail(f.at, "%s: kind is neither file nor entity", f.what)
	}
	rule.file = kind == "file"
	needs, _ := text(f.nodes["needs"])
	for _, c := range needs {
		if shapeOf[c] == 0 {
			f.fail(f.nodes["needs"], "%s: needs %q is none of _ / . A ( `", f.what, c)
		}
		rule.needs |= shapeOf[c]
	}
	if rule.needs == 0 {
		f.fail(f.at, "%s: no needs: some of _ / . A ( `", f.what)
	}
	signal, _ := text(f.nodes["signal"])
	rule.mark = int32(slices.Index(markTexts, "<"+signal+">"))
	if rule.mark < 0 && f.nodes["signal"] != nil {
		f.fail(f.nodes["signal"], "%s: signal is neither file nor code", f.what)
	}
	re, ok := text(f.nodes["regex"])
	if !ok || re == "" {
		f.fail(f.at, "%s: no regex", f.what)
	}
	_, err := regexp.Compile(re) // alone, so that the error shows what the file says
	if err == nil {
		rule.re, err = regexp.Compile(`\A(?:` + re + `)\z`)
	}
	if err != nil {
		f.fail(f.nodes["regex"], "%s: regex %q: %s", f.what, re, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	rule.endings, rule.except = f.set("endings"), f.set("except")
	return rule
}

// compile numbers the targets and hands all patterns to the compiler.
func (p *parser) compile() error {
	r := p.rules
	for _, c := range r.categories {
		if !slices.ContainsFunc(r.tags, func(t Tag) bool { return t.Name == c }) {
			c = "" // a category that is no tag only ranks
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
		if err := owner.compile(c, target, i >= len(p.ranked) && target < r.causal); err != nil {
			return err
		}
	}
	if err := c.build(); err != nil {
		return &ParseError{Reason: err.Error()}
	}
	return nil
}

func (o stated) compile(c compiler, target int32, names bool) error {
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

// patternOf reads an entry of a match list: text is a phrase.
func patternOf(n ast.Node, what string) (source, error) {
	if phrase, ok := text(n); ok {
		return source{phrase: phrase}, nil
	}
	f := fieldsOf(n, what+": a pattern", "phrase", "regex", "literals", "except", "gap")
	f.what = what
	if (f.nodes["phrase"] == nil) == (f.nodes["regex"] == nil) {
		f.fail(n, "%s: a pattern is either a phrase or a regex", what)
	}
	s := source{
		phrase: f.text("phrase"), regex: f.text("regex"),
		literals: f.texts("literals"), except: f.texts("except"),
	}
	gap := f.number("gap", " of bytes", 1, maxGap)
	if s.gap = int(gap); gap != math.Trunc(gap) {
		f.fail(f.nodes["gap"], "%s: gap is not a whole number of bytes", what)
	}
	return s, f.err
}
