package classify

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	yamlparser "github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The file is read as a syntax tree and not into structs, so that errors of compiling name a line.

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
	if located, ok := errors.AsType[yaml.Error](err); ok {
		return at(located.GetToken(), "bad YAML: "+located.GetMessage())
	}
	return at(nil, "bad YAML: "+err.Error())
}

// at is an error at a token, which may be nil.
func at(t *token.Token, reason string) error {
	e := &ParseError{Reason: reason}
	if t != nil && t.Position != nil {
		e.Line, e.Column = t.Position.Line, t.Position.Column
	}
	return e
}

func fail(n ast.Node, format string, args ...any) error {
	// The token of a mapping is its first colon; report the first key.
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	return at(n.GetToken(), fmt.Sprintf(format, args...))
}

// fields are the values of a mapping. After the first error, the methods return zero values.
type fields struct {
	at    ast.Node
	what  string // owner, for errors
	nodes map[string]ast.Node
	err   error
}

// fieldsOf reads a mapping and refuses unknown keys. The parser refuses duplicate keys.
func fieldsOf(n ast.Node, what string, known ...string) *fields {
	f := &fields{at: n, what: what, nodes: map[string]ast.Node{}}
	m, ok := n.(*ast.MappingNode)
	if !ok {
		f.fail(n, "%s is not a mapping of %s", what, strings.Join(known, ", "))
		return f
	}
	for _, v := range m.Values {
		key, ok := text(v.Key)
		if !ok {
			key = v.Key.String()
		}
		if !slices.Contains(known, key) {
			f.fail(v.Key, "%s: unknown key %q, known are %s", what, key, strings.Join(known, ", "))
		}
		f.nodes[key] = v.Value
	}
	return f
}

func (f *fields) fail(n ast.Node, format string, args ...any) {
	if f.err == nil {
		f.err = fail(n, format, args...)
	}
}

// name reads the identifier of the owner.
func (f *fields) name(key string) string {
	n := f.nodes[key]
	if n == nil {
		f.fail(f.at, "no %s", key)
		return ""
	}
	s, ok := text(n)
	if !ok || !identifier.MatchString(s) {
		f.fail(n, "%s %s is not a name: lower-case letters, digits and _, at most 64", key, n)
	}
	return s
}

var identifier = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// text reads a text that is not empty; absent is "".
func (f *fields) text(key string) string {
	if f.nodes[key] == nil {
		return ""
	}
	s, ok := text(f.nodes[key])
	if !ok || s == "" {
		f.fail(f.nodes[key], "%s: %s is not text", f.what, key)
	}
	return s
}

// number reads a number from least to most; absent is 0.
func (f *fields) number(key, unit string, least, most float64) float64 {
	n := f.nodes[key]
	if n == nil {
		return 0
	}
	x, err := strconv.ParseFloat(n.GetToken().Value, 64)
	if err != nil || !(x >= least && x <= most) {
		f.fail(n, "%s: %s is not a number%s from %v to %v", f.what, key, unit, least, most)
	}
	return x
}

// list reads a list with at least one item; absent is nil.
func (f *fields) list(key string) []ast.Node {
	if f.nodes[key] == nil || f.err != nil {
		return nil
	}
	items, err := list(f.nodes[key], f.what+": "+key)
	f.err = err
	return items
}

// need refuses a mapping without a key.
func (f *fields) need(key string) {
	if f.nodes[key] == nil {
		f.fail(f.at, "%s: no %s", f.what, key)
	}
}

// texts reads a list of texts; absent is nil.
func (f *fields) texts(key string) (out []string) {
	for _, item := range f.list(key) {
		s, ok := text(item)
		if !ok || s == "" {
			f.fail(item, "%s: %s: %s is not text; quote it", f.what, key, item)
		}
		out = append(out, s)
	}
	return out
}

// set reads texts in lower case as a set; absent is empty.
func (f *fields) set(key string) map[string]bool {
	out := map[string]bool{}
	for _, s := range f.texts(key) {
		out[strings.ToLower(s)] = true
	}
	return out
}

// each reads a list of mappings that key names, and refuses two of one name.
func each(n ast.Node, section, key string, known []string, read func(f *fields, name string)) error {
	items, err := list(n, section)
	seen := map[string]bool{}
	for _, item := range items {
		f := fieldsOf(item, "an item of "+section, known...)
		name := f.name(key)
		f.what = fmt.Sprintf("%s %q", key, name)
		read(f, name)
		if seen[name] {
			f.fail(item, "%s is a duplicate", f.what)
		}
		if f.err != nil {
			return f.err
		}
		seen[name] = true
	}
	return err
}

// list returns the items of n, at least one.
func list(n ast.Node, what string) ([]ast.Node, error) {
	s, ok := n.(*ast.SequenceNode)
	if !ok || len(s.Values) == 0 {
		return nil, fail(n, "no %s: a list with at least one item is needed", what)
	}
	return s.Values, nil
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
