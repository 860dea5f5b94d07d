package main

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

// Settings as TOML: our entry is the table [section.robotmem]. The parser tells
// where expressions begin and end; whole lines are taken out or put in.

// tomlConfig has the servers as tables below the table of this name.
type tomlConfig struct{ section string }

// tomlSpan is one expression of a file.
type tomlSpan struct {
	header     bool
	path       []string // whole, with that of the table above
	start, end int      // of its lines
}

// spans lists the expressions, with those that concern us checked to be in a
// form that can be edited by lines.
func (f tomlConfig) spans(data []byte) ([]tomlSpan, error) {
	var (
		p     unstable.Parser
		spans []tomlSpan
		table []string
	)
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
		s.start = bytes.LastIndexByte(data[:first], '\n') + 1
		s.end = lineEnd(data, last)
		line := 1 + bytes.Count(data[:first], []byte("\n"))
		switch {
		case e.Kind == unstable.ArrayTable && f.concerns(s.path),
			!s.header && len(s.path) == 1 && s.path[0] == f.section,
			!s.header && f.ours(s.path) && !f.ours(table):
			return nil, fmt.Errorf("line %d: %s must be a table of its own, [%s.%s]; write it so, or take it out", line, strings.Join(s.path, "."), f.section, setupName)
		}
		spans = append(spans, s)
	}
	return spans, p.Error()
}

func lineEnd(data []byte, from int) int {
	if n := bytes.IndexByte(data[from:], '\n'); n >= 0 {
		return from + n + 1
	}
	return len(data)
}

// concerns reports whether a path is ours, or above ours.
func (f tomlConfig) concerns(path []string) bool {
	return f.ours(path) || len(path) == 1 && path[0] == f.section
}

// ours reports whether a path is our entry or in it.
func (f tomlConfig) ours(path []string) bool {
	return len(path) >= 2 && path[0] == f.section && path[1] == setupName
}

func (f tomlConfig) decode(data []byte) (map[string]any, error) {
	all := map[string]any{}
	err := toml.Unmarshal(bytes.TrimPrefix(data, utf8BOM), &all)
	if d := (*toml.DecodeError)(nil); errors.As(err, &d) {
		row, column := d.Position()
		return nil, fmt.Errorf("line %d, column %d: %s", row, column, strings.TrimPrefix(d.Error(), "toml: "))
	}
	if err != nil {
		return nil, err
	}
	if servers, ok := all[f.section]; ok {
		if _, ok := servers.(map[string]any); !ok {
			return nil, fmt.Errorf("%s must be a table", f.section)
		}
	}
	return all, nil
}

func (f tomlConfig) entry(data []byte) (map[string]any, bool, error) {
	all, err := f.decode(data)
	if err != nil {
		return nil, false, err
	}
	servers, _ := all[f.section].(map[string]any)
	value, found := servers[setupName]
	if !found {
		return nil, false, nil
	}
	ours, ok := value.(map[string]any)
	if !ok {
		return nil, false, fmt.Errorf("%s.%s must be a table", f.section, setupName)
	}
	return ours, true, nil
}

func (f tomlConfig) others(data []byte) (map[string]any, error) {
	all, err := f.decode(data)
	if err != nil {
		return nil, err
	}
	if servers, ok := all[f.section].(map[string]any); ok {
		delete(servers, setupName)
		if len(servers) == 0 {
			delete(all, f.section)
		}
	}
	return all, nil
}

func (f tomlConfig) snippet(fields []field) []byte {
	return []byte(f.header() + "\n" + tomlLines(fields, "\n"))
}

func (f tomlConfig) header() string { return "[" + f.section + "." + setupName + "]" }

func (f tomlConfig) set(data []byte, fields []field) ([]byte, error) {
	return behindBOM(data, func(data []byte) ([]byte, error) { return f.setText(data, fields) })
}

func (f tomlConfig) setText(data []byte, fields []field) ([]byte, error) {
	if blank(data) {
		return f.snippet(fields), nil
	}
	spans, err := f.spans(data)
	if err != nil {
		return nil, err
	}
	nl := "\n"
	if bytes.Contains(data, []byte("\r\n")) {
		nl = "\r\n"
	}
	header := slices.IndexFunc(spans, func(s tomlSpan) bool { return s.header && len(s.path) == 2 && f.ours(s.path) })
	if header < 0 {
		out := f.without(data, spans, true)
		if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
			out = append(out, nl...)
		}
		out = append(out, nl...)
		return append(out, f.header()+nl+tomlLines(fields, nl)...), nil
	}
	at := spans[header].end
	lines := tomlLines(fields, nl)
	if !bytes.HasSuffix(data[:at], []byte("\n")) {
		lines = nl + lines
	}
	return f.without(splice(data, at, at, lines), shift(spans, at, len(lines)), true), nil
}

// shift moves what stands at or behind an insertion.
func shift(spans []tomlSpan, at, by int) []tomlSpan {
	out := slices.Clone(spans)
	for i := range out {
		if out[i].start >= at {
			out[i].start += by
			out[i].end += by
		}
	}
	return out
}

// without takes out the lines of our entry: of the keys that setup writes, or
// of all. A comment stays: it belongs to what stands below it.
func (f tomlConfig) without(data []byte, spans []tomlSpan, keysOnly bool) []byte {
	var out []byte
	from := 0
	for _, s := range spans {
		written := len(s.path) > 2 && slices.Contains(entryKeys, s.path[2])
		if !f.ours(s.path) || keysOnly && !written {
			continue
		}
		out = append(out, data[from:s.start]...)
		from = s.end
	}
	return append(out, data[from:]...)
}

func (f tomlConfig) remove(data []byte) ([]byte, error) { return behindBOM(data, f.removeText) }

func (f tomlConfig) removeText(data []byte) ([]byte, error) {
	spans, err := f.spans(data)
	if err != nil {
		return nil, err
	}
	out := f.without(data, spans, false)
	if last := len(spans) - 1; last >= 0 && f.ours(spans[last].path) && blank(data[spans[last].end:]) {
		// The empty line that set put before the table.
		for _, nl := range []string{"\r\n", "\n"} {
			if bytes.HasSuffix(out, []byte(nl+nl)) {
				out = bytes.TrimSuffix(out, []byte(nl))
				break
			}
		}
	}
	return out, nil
}

// tomlLines are the fields as lines. A string of JSON is one of TOML too.
func tomlLines(fields []field, nl string) string {
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
				pairs = append(pairs, tomlKey(k)+" = "+quoteJSON(v[k]))
			}
			value = "{ " + strings.Join(pairs, ", ") + " }"
		}
		b.WriteString(f.key + " = " + value + nl)
	}
	return b.String()
}

var bareTOMLKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func tomlKey(k string) string {
	if bareTOMLKey.MatchString(k) {
		return k
	}
	return quoteJSON(k)
}
