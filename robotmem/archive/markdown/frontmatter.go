package markdown

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
)

const (
	fence       = "---\n"
	maxYAMLDeep = 40 // levels
)

// sessionNote are the fields of a session's file.
type sessionNote struct {
	Kind string `json:"robotmem"`
	archive.Session
	Sum string `json:"hash"`
}

// memoryNote are the fields of a memory's file, whose body is the content.
type memoryNote struct {
	Kind string `json:"robotmem"`
	archive.Memory
	Content string `json:"content,omitempty"`
	Beside  string `json:"payload_file,omitempty"`
	Sum     string `json:"hash"`
}

// writeFrontMatter writes each field of a record in a line of its own. The values stay JSON,
// which YAML includes.
func writeFrontMatter(out *bytes.Buffer, record any) error {
	data, err := robotmem.EncodeJSON(record)
	if err != nil {
		return err
	}
	out.WriteString(fence)
	dec := json.NewDecoder(bytes.NewReader(data))
	for _, err = dec.Token(); err == nil && dec.More(); {
		name, _ := dec.Token() // encoded above
		var value json.RawMessage
		err = dec.Decode(&value)
		fmt.Fprintf(out, "%s: %s\n", name, value)
	}
	out.WriteString(fence)
	return err
}

// frontMatter is the front matter with its two fences, or the first fence if it is the only one.
var frontMatter = regexp.MustCompile(`(?ms)\A---\r?\n(?:(.*?)^---\r*$\n?)?`)

// cutFrontMatter divides a file. Without front matter fields is nil and body is the whole file.
func cutFrontMatter(data []byte) (fields map[string]json.RawMessage, body []byte, err error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	at := frontMatter.FindSubmatchIndex(data)
	switch {
	case !utf8.Valid(data):
		return nil, nil, errors.New("is not UTF-8 text; convert it")
	case at == nil:
		return nil, data, nil
	case at[2] < 0:
		return nil, nil, fmt.Errorf("line %d: the front matter has no end; a line of --- ends it", 1+bytes.Count(data, []byte("\n")))
	}
	fields, err = readYAML(string(data[at[2]:at[3]]))
	return fields, data[at[1]:], err
}

// noteText is the text of an exported file, without the empty line after the front matter and
// the line break at the end.
func noteText(body []byte) string {
	text := strings.TrimPrefix(strings.TrimPrefix(string(body), "\r"), "\n")
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}

// decode decodes fields. Those that a record does not have are refused.
func decode(fields map[string]json.RawMessage, record any) error {
	data, _ := robotmem.EncodeJSON(fields) // they were JSON
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	err := dec.Decode(record)
	if at := (*json.UnmarshalTypeError)(nil); errors.As(err, &at) {
		return fmt.Errorf("%s: a %s does not fit there", at.Field[strings.Index(at.Field, ".")+1:], at.Value)
	}
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// readYAML reads the fields of front matter. Numbers keep their spelling. The first line of
// the front matter is the second one of the file.
func readYAML(data string) (map[string]json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if strings.TrimSpace(data) == "" {
		return fields, nil
	}
	tokens := lexer.Tokenize(data)
	if err := checkTokens(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if at := yaml.Error(nil); errors.As(err, &at) && at.GetToken() != nil {
		return nil, fmt.Errorf("line %d: %s", at.GetToken().Position.Line+1, at.GetMessage())
	}
	if err != nil || len(file.Docs) != 1 || file.Docs[0].Body == nil || json.Unmarshal([]byte(yamlJSON(file.Docs[0].Body)), &fields) != nil {
		return nil, errors.New("line 2: the front matter must be fields, such as tags: [lid]")
	}
	return fields, nil
}

// checkTokens refuses what takes the parser much longer than its length: anchors, aliases and
// tags, of which a few lines can expand to gigabytes, and deep nesting.
func checkTokens(tokens token.Tokens) error {
	line, flow, block := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, block = t.Position.Line, 0
		}
		switch t.Type {
		case token.AnchorType, token.AliasType, token.TagType, token.MappingKeyType, token.MergeKeyType:
			return fmt.Errorf("line %d: anchors, aliases and tags are not taken", line+1)
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType:
			block++
		}
		if flow+block > maxYAMLDeep {
			return fmt.Errorf("line %d: is nested more than %d deep", line+1, maxYAMLDeep)
		}
	}
	return nil
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// yamlJSON is a node as JSON.
func yamlJSON(n ast.Node) string {
	t := n.GetToken()
	text, parts := t.Value, []string{}
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, pair := range n.Values {
			key := yamlJSON(pair.Key)
			if key[0] != '"' {
				key = quote(key) // a key such as 7 is a text in JSON
			}
			parts = append(parts, key+":"+yamlJSON(pair.Value))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case *ast.SequenceNode:
		for _, item := range n.Values {
			parts = append(parts, yamlJSON(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case *ast.NullNode:
		return "null"
	case *ast.BoolNode:
		return strconv.FormatBool(n.Value)
	case *ast.LiteralNode:
		text = n.Value.Value
	case *ast.StringNode:
		text = n.Value
	}
	if spelt := strings.TrimSpace(t.Value); t.Type != token.SingleQuoteType && t.Type != token.DoubleQuoteType && jsonNumber.MatchString(spelt) {
		return spelt // also 1e-7, which YAML 1.1 takes for a text
	}
	return quote(text)
}

func quote(text string) string {
	data, _ := robotmem.EncodeJSON(text) // a text is always JSON
	return string(data)
}
