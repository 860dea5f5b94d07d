package classify

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	yamlparser "github.com/goccy/go-yaml/parser"
)

// The file is read as a syntax tree, not into structs: an error that only shows
// when the rules are compiled still has to name its line.

func parseYAML(data []byte) (ast.Node, error) {
	file, err := yamlparser.ParseBytes(data, 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	var top ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if top != nil {
			return nil, fail(doc.Body, "a second document; a taxonomy is one")
		}
		top = doc.Body
	}
	if top == nil {
		return nil, &ParseError{Reason: "the file is empty"}
	}
	return top, nil
}

func syntaxError(err error) error {
	e := &ParseError{Reason: "bad YAML: " + err.Error()}
	var located yaml.Error
	if errors.As(err, &located) {
		e.Reason = "bad YAML: " + located.GetMessage()
		if t := located.GetToken(); t != nil && t.Position != nil {
			e.Line, e.Column = t.Position.Line, t.Position.Column
		}
	}
	return e
}

func fail(n ast.Node, format string, args ...any) error {
	e := &ParseError{Reason: fmt.Sprintf(format, args...)}
	// The token of a mapping is its first colon; the first key is where a
	// reader looks.
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		e.Line, e.Column = t.Position.Line, t.Position.Column
	}
	return e
}

// mapping returns the values of n by key and refuses keys that are not known.
func mapping(n ast.Node, what string, known ...string) (map[string]ast.Node, error) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		return nil, fail(n, "%s is not a mapping of %s", what, strings.Join(known, ", "))
	}
	out := map[string]ast.Node{}
	for _, v := range m.Values {
		key, ok := text(v.Key)
		if !ok {
			return nil, fail(v.Key, "%s: unknown key %s", what, v.Key)
		}
		found := false
		for _, k := range known {
			found = found || k == key
		}
		switch {
		case !found:
			return nil, fail(v.Key, "%s: unknown key %q, known are %s", what, key, strings.Join(known, ", "))
		case out[key] != nil:
			return nil, fail(v.Key, "%s: key %q is a duplicate", what, key)
		}
		out[key] = v.Value
	}
	return out, nil
}

// list returns the items of n, at least one.
func list(n ast.Node, what string) ([]ast.Node, error) {
	s, ok := n.(*ast.SequenceNode)
	if !ok || len(s.Values) == 0 {
		return nil, fail(n, "no %s: a list with at least one item is needed", what)
	}
	return s.Values, nil
}

// required is list for the value of a key that must be there.
func required(at ast.Node, f map[string]ast.Node, what, key string) ([]ast.Node, error) {
	if f[key] == nil {
		return nil, fail(at, "%s: no %s", what, key)
	}
	return list(f[key], what+": "+key)
}

func text(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return strings.TrimSpace(n.Value.Value), true
	}
	return "", false
}

// texts reads a list of texts; a missing one is empty.
func texts(n ast.Node, what string) ([]string, error) {
	if n == nil {
		return nil, nil
	}
	items, err := list(n, what)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(items))
	for i, item := range items {
		s, ok := text(item)
		if !ok || s == "" {
			return nil, fail(item, "%s: %s is not text; quote it", what, item)
		}
		out[i] = s
	}
	return out, nil
}

// set is texts in lower case as a set, nil if missing.
func set(n ast.Node, what string) (map[string]bool, error) {
	items, err := texts(n, what)
	if err != nil || items == nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, s := range items {
		out[strings.ToLower(s)] = true
	}
	return out, nil
}

var identifierRE = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// identifier reads the name of a tag, a category or a rule.
func identifier(at ast.Node, f map[string]ast.Node, key string) (string, error) {
	n := f[key]
	if n == nil {
		return "", fail(at, "no %s", key)
	}
	s, ok := text(n)
	if !ok || !identifierRE.MatchString(s) {
		return "", fail(n, "%s %s is not a name: lower-case letters, digits and _, at most 64", key, n)
	}
	return s, nil
}
