package classify

import (
	"strconv"

	"github.com/goccy/go-yaml/ast"
)

// patternOf reads an entry of a match list: text is a phrase.
func patternOf(n ast.Node, what string) (source, error) {
	var s source
	if phrase, ok := text(n); ok {
		s.phrase = phrase
		return s, nil
	}
	f, err := mapping(n, what+": a pattern", "phrase", "regex", "literals", "except", "gap")
	if err != nil {
		return s, err
	}
	if (f["phrase"] == nil) == (f["regex"] == nil) {
		return s, fail(n, "%s: a pattern is either a phrase or a regex", what)
	}
	for _, key := range []string{"phrase", "regex"} {
		if f[key] == nil {
			continue
		}
		v, ok := text(f[key])
		if !ok || v == "" {
			return s, fail(f[key], "%s: %s is not text", what, key)
		}
		if key == "phrase" {
			s.phrase = v
		} else {
			s.regex = v
		}
	}
	if s.literals, err = texts(f["literals"], what+": literals"); err != nil {
		return s, err
	}
	if s.except, err = texts(f["except"], what+": except"); err != nil {
		return s, err
	}
	if g := f["gap"]; g != nil {
		s.gap, err = strconv.Atoi(g.GetToken().Value)
		if err != nil || s.gap < 1 || s.gap > maxGap {
			return s, fail(g, "%s: gap is not a number of bytes from 1 to %d", what, maxGap)
		}
	}
	return s, nil
}
