package markdown

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	fence       = "---\n"
	maxFile     = 64 << 20 // bytes
	maxYAMLDeep = 40       // levels
)

// plainText needs no quotes in YAML and is no number, date-only or keyword.
var plainText = regexp.MustCompile(`^[a-z][a-z_]*$|^[0-9a-f]{8}-[0-9a-f-]{27}$|^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$`)

var yamlWords = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

func isPlain(text string) bool {
	return plainText.MatchString(text) && !slices.Contains(yamlWords, text)
}

var byteOrderMark = []byte("\xef\xbb\xbf")

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// writeFrontMatter writes the fields of a record and of more, those of first before the rest.
func writeFrontMatter(w io.Writer, record any, first []string, more map[string]string, without ...string) error {
	data, err := robotmem.EncodeJSON(record)
	if err != nil {
		return err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	for name, text := range more {
		if fields[name], err = robotmem.EncodeJSON(text); err != nil {
			return err
		}
	}
	for _, name := range without {
		delete(fields, name)
	}
	var b strings.Builder
	b.WriteString(fence)
	for _, name := range slices.Concat(first, slices.Sorted(maps.Keys(fields))) {
		raw, ok := fields[name]
		if !ok {
			continue
		}
		delete(fields, name)
		var text string
		if json.Unmarshal(raw, &text) == nil && isPlain(text) {
			raw = []byte(text)
		}
		fmt.Fprintf(&b, "%s: %s\n", name, raw)
	}
	b.WriteString(fence)
	_, err = io.WriteString(w, b.String())
	return err
}

// frontMatter is the front matter with its two fences.
var frontMatter = regexp.MustCompile(`(?ms)\A---\r?\n(.*?)^---\r*$\n?`)

// cutFrontMatter divides a file. Without front matter fields is nil and body is the whole file.
func cutFrontMatter(data []byte) (fields map[string]json.RawMessage, body []byte, err error) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	if first, _, ok := bytes.Cut(data, []byte("\n")); !ok || string(bytes.TrimSuffix(first, []byte("\r"))) != "---" {
		return nil, data, nil
	}
	at := frontMatter.FindSubmatchIndex(data)
	if at == nil {
		return nil, nil, fmt.Errorf("line %d: the front matter has no end; a line of --- ends it", 1+bytes.Count(data, []byte("\n")))
	}
	fields, err = readYAML(data[at[2]:at[3]])
	return fields, data[at[1]:], err
}

// readYAML reads the fields of front matter. Numbers keep their spelling.
func readYAML(data []byte) (map[string]json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(data)) == 0 {
		return fields, nil
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, yamlFault(err)
	}
	if len(file.Docs) == 1 && file.Docs[0].Body != nil {
		raw, err := yamlJSON(file.Docs[0].Body, 0)
		if err != nil || json.Unmarshal(raw, &fields) == nil {
			return fields, err
		}
	}
	return nil, errors.New("line 2: the front matter must be fields, such as tags: [lid]")
}

// yamlFault is a YAML error with the line of the file, which is the line of the front matter
// plus one.
func yamlFault(err error) error {
	if at := yaml.Error(nil); errors.As(err, &at) && at.GetToken() != nil {
		return fmt.Errorf("line %d: %s", at.GetToken().Position.Line+1, at.GetMessage())
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("line 2: the front matter is no YAML: %s", text)
}

// yamlJSON is a node as JSON. Anchors, aliases and tags are refused: a few lines of them can
// expand to gigabytes.
func yamlJSON(n ast.Node, depth int) ([]byte, error) {
	if depth > maxYAMLDeep {
		return nil, fmt.Errorf("line %d: is nested more than %d deep", n.GetToken().Position.Line+1, maxYAMLDeep)
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return yamlObject(n.Values, depth)
	case *ast.MappingValueNode:
		return yamlObject([]*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		items := make([][]byte, len(n.Values))
		for i, item := range n.Values {
			raw, err := yamlJSON(item, depth+1)
			if err != nil {
				return nil, err
			}
			items[i] = raw
		}
		return fmt.Appendf(nil, "[%s]", bytes.Join(items, []byte(","))), nil
	case *ast.NullNode:
		return []byte("null"), nil
	case *ast.BoolNode:
		return fmt.Append(nil, n.Value), nil
	case *ast.IntegerNode, *ast.FloatNode:
		if spelt := []byte(strings.TrimSpace(n.GetToken().Value)); json.Valid(spelt) {
			return spelt, nil
		}
		return robotmem.EncodeJSON(n.GetToken().Value)
	case *ast.StringNode:
		if t := n.GetToken(); t.Type == token.StringType && jsonNumber.MatchString(n.Value) {
			return []byte(n.Value), nil // 1e-7, which YAML 1.1 takes for a text
		}
		return robotmem.EncodeJSON(n.Value)
	case *ast.LiteralNode:
		return robotmem.EncodeJSON(n.Value.Value)
	}
	return nil, fmt.Errorf("line %d: anchors, aliases and tags are not taken", n.GetToken().Position.Line+1)
}

func yamlObject(values []*ast.MappingValueNode, depth int) ([]byte, error) {
	var members [][]byte
	seen := map[string]bool{}
	for _, pair := range values {
		key, err := yamlJSON(pair.Key, depth+1)
		if err == nil && len(key) > 0 && key[0] != '"' {
			key, err = robotmem.EncodeJSON(string(key)) // a key such as 7 is a text in JSON
		}
		if err == nil && seen[string(key)] {
			err = fmt.Errorf("line %d: %s is there twice", pair.GetToken().Position.Line+1, key)
		}
		if err != nil {
			return nil, err
		}
		seen[string(key)] = true
		value, err := yamlJSON(pair.Value, depth+1)
		if err != nil {
			return nil, err
		}
		members = append(members, fmt.Appendf(nil, "%s:%s", key, value))
	}
	return fmt.Appendf(nil, "{%s}", bytes.Join(members, []byte(","))), nil
}
