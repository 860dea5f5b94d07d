package clients

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlConfig is TOML: our entry is the table [section.robotmem]. The parser finds where
// expressions begin and end; whole lines are removed or added.
func tomlConfig(section string) configFormat {
	return configFormat{section, decodeTOML, editTOML, tomlFile}
}

// tomlSpan is one expression of a file.
type tomlSpan struct {
	header     bool
	path       []string // with that of its table
	start, end int      // offsets of its lines
}

// ours reports whether a path is our entry or in it.
func ours(section string, path []string) bool {
	return len(path) >= 2 && path[0] == section && path[1] == setupName
}

// tomlSpans lists the expressions. It refuses our entry in a form that cannot be edited by lines.
func tomlSpans(section string, data []byte) (spans []tomlSpan, err error) {
	var p unstable.Parser
	var table []string
	p.Reset(data)
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind == unstable.Comment {
			continue
		}
		s := tomlSpan{header: e.Kind != unstable.KeyValue}
		if !s.header {
			s.path = slices.Clone(table)
		}
		first, last := -1, 0
		for it := e.Key(); it.Next(); {
			n := it.Node()
			s.path = append(s.path, string(n.Data))
			if first < 0 {
				first = int(n.Raw.Offset)
			}
			last = int(n.Raw.Offset + n.Raw.Length)
		}
		if s.header {
			table = s.path
		} else {
			last = int(e.Raw.Offset + e.Raw.Length)
		}
		s.start, s.end = bytes.LastIndexByte(data[:first], '\n')+1, len(data)
		if n := bytes.IndexByte(data[last:], '\n'); n >= 0 {
			s.end = last + n + 1
		}
		isSection := len(s.path) == 1 && s.path[0] == section
		if e.Kind == unstable.ArrayTable && (isSection || ours(section, s.path)) ||
			!s.header && (isSection || ours(section, s.path) && !ours(section, table)) {
			line := 1 + bytes.Count(data[:first], []byte("\n"))
			return nil, fmt.Errorf("line %d: %s must be a table of its own, [%s.%s]; write it so, or remove it", line, strings.Join(s.path, "."), section, setupName)
		}
		spans = append(spans, s)
	}
	return spans, p.Error()
}

func decodeTOML(_ string, data []byte) (map[string]any, error) {
	all := map[string]any{}
	err := toml.Unmarshal(data, &all)
	if d := (*toml.DecodeError)(nil); errors.As(err, &d) {
		row, column := d.Position()
		return nil, fmt.Errorf("line %d, column %d: %s", row, column, strings.TrimPrefix(d.Error(), "toml: "))
	}
	return all, err
}

func tomlHeader(section string) string { return "[" + section + "." + setupName + "]" }

func tomlFile(section string, fields Entry) []byte {
	return []byte(tomlHeader(section) + "\n" + tomlLines(fields, "\n"))
}

func editTOML(section string, data []byte, fields Entry) ([]byte, error) {
	spans, err := tomlSpans(section, data)
	if err != nil {
		return nil, err
	}
	nl := "\n"
	if bytes.Contains(data, []byte("\r\n")) {
		nl = "\r\n"
	}
	var out []byte
	from, header := 0, false
	for _, s := range spans {
		if !ours(section, s.path) {
			continue
		}
		switch {
		case fields != nil && s.header && len(s.path) == 2:
			header = true
			out = append(out, data[from:s.end]...)
			if !bytes.HasSuffix(out, []byte("\n")) {
				out = append(out, nl...)
			}
			out = append(out, tomlLines(fields, nl)...)
		case fields == nil || len(s.path) > 2 && slices.Contains(entryKeys, s.path[2]):
			out = append(out, data[from:s.start]...) // a comment before it stays
		default:
			continue
		}
		from = s.end
	}
	out = append(out, data[from:]...)
	switch {
	case fields == nil:
		last := len(spans) - 1
		if last >= 0 && ours(section, spans[last].path) && blank(data[spans[last].end:]) && bytes.HasSuffix(out, []byte(nl+nl)) {
			out = out[:len(out)-len(nl)] // the empty line that set put before the table
		}
	case !header:
		if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
			out = append(out, nl...)
		}
		out = append(out, nl+tomlHeader(section)+nl+tomlLines(fields, nl)...)
	}
	return out, nil
}

// tomlLines are the fields, one a line. A JSON string is a TOML string too.
func tomlLines(fields Entry, nl string) string {
	var b strings.Builder
	for _, f := range fields {
		var value string
		switch v := f.value.(type) {
		case string:
			value = quoteJSON(v)
		case []string:
			quoted := make([]string, len(v))
			for i := range v {
				quoted[i] = quoteJSON(v[i])
			}
			value = "[" + strings.Join(quoted, ", ") + "]"
		case map[string]string:
			var pairs []string
			for _, k := range slices.Sorted(maps.Keys(v)) {
				key := k
				if !bareTOMLKey.MatchString(k) {
					key = quoteJSON(k)
				}
				pairs = append(pairs, key+" = "+quoteJSON(v[k]))
			}
			value = "{ " + strings.Join(pairs, ", ") + " }"
		}
		b.WriteString(f.key + " = " + value + nl)
	}
	return b.String()
}

var bareTOMLKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
