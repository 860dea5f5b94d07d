package classify

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

func (p *parser) scope(n ast.Node) error {
	items, err := list(n, "scope")
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, item := range items {
		rule, err := scopeOf(item)
		if err != nil {
			return err
		}
		if seen[rule.name] {
			return fail(item, "scope %q is a duplicate", rule.name)
		}
		seen[rule.name] = true
		p.rules.scope = append(p.rules.scope, rule)
	}
	return nil
}

func scopeOf(item ast.Node) (scopeRule, error) {
	var rule scopeRule
	f, err := mapping(item, "a scope rule", "name", "kind", "needs", "regex", "endings", "except", "signal")
	if err != nil {
		return rule, err
	}
	if rule.name, err = identifier(item, f, "name"); err != nil {
		return rule, err
	}
	what := fmt.Sprintf("scope %q", rule.name)
	kind, _ := text(f["kind"])
	if kind != "file" && kind != "entity" {
		return rule, fail(item, "%s: kind is neither file nor entity", what)
	}
	rule.file = kind == "file"
	needs, _ := text(f["needs"])
	for _, c := range needs {
		if shapeOf[c] == 0 {
			return rule, fail(f["needs"], "%s: needs %q is none of _ / . A ( `", what, c)
		}
		rule.needs |= shapeOf[c]
	}
	if rule.needs == 0 {
		return rule, fail(item, "%s: no needs: some of _ / . A ( `", what)
	}
	switch signal, _ := text(f["signal"]); {
	case f["signal"] == nil:
	case signal == "file" || signal == "code":
		rule.signal = "<" + signal + ">"
	default:
		return rule, fail(f["signal"], "%s: signal is neither file nor code", what)
	}
	re, ok := text(f["regex"])
	if !ok || re == "" {
		return rule, fail(item, "%s: no regex", what)
	}
	if _, err := regexp.Compile(re); err != nil { // alone, so that the error shows what the file says
		return rule, fail(f["regex"], "%s: regex %q: %s", what, re, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if rule.re, err = regexp.Compile(`\A(?:` + re + `)\z`); err != nil {
		return rule, fail(f["regex"], "%s: regex %q: %s", what, re, err)
	}
	if rule.endings, err = set(f["endings"], what+": endings"); err != nil {
		return rule, err
	}
	rule.except, err = set(f["except"], what+": except")
	return rule, err
}
