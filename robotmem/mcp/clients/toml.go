package clients

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/tailscale/hujson"
)

// In TOML our entry is the table [section.robotmem]. The parser finds where expressions begin and
// end; whole lines are removed or added.

func decodeTOML(_ string, data []byte) (map[string]any, error) {
	all := map[string]any{}
	err := toml.Unmarshal(data, &all)
	if d := (*toml.DecodeError)(nil); errors.As(err, &d) {
		row, column := d.Position()
		return nil, fmt.Errorf("line %d, column %d: %s", row, column, strings.TrimPrefix(d.Error(), "toml: "))
	}
	return all, err
}

// editTOML refuses an entry that cannot be edited by lines.
func editTOML(section string, data []byte, e *Entry) ([]byte, error) {
	ours := func(path []string) bool { return len(path) >= 2 && path[0] == section && path[1] == setupName }
	nl := lineEnd(data)
	var out []byte
	endLine := func() {
		if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
			out = append(out, nl...)
		}
	}
	from, found := 0, false // out is made of data[:from]
	var table []string
	var p unstable.Parser
	p.Reset(data)
	for p.NextExpression() {
		x := p.Expression()
		if x.Kind == unstable.Comment {
			continue
		}
		header := x.Kind != unstable.KeyValue
		var path []string
		if !header {
			path = slices.Clone(table)
		}
		start, end := -1, 0
		for it := x.Key(); it.Next(); {
			n := it.Node()
			path = append(path, string(n.Data))
			if start < 0 {
				start = int(n.Raw.Offset)
			}
			end = int(n.Raw.Offset + n.Raw.Length)
		}
		isSection := len(path) == 1 && path[0] == section
		if x.Kind == unstable.ArrayTable && (isSection || ours(path)) || !header && (isSection || ours(path) && !ours(table)) {
			line := 1 + bytes.Count(data[:start], []byte("\n"))
			return nil, fmt.Errorf("line %d: %s must be a table of its own, [%s.%s]; write it so, or remove it", line, strings.Join(path, "."), section, setupName)
		}
		if header {
			table = path
		} else {
			end = int(x.Raw.Offset + x.Raw.Length)
		}
		start = bytes.LastIndexByte(data[:start], '\n') + 1
		if n := bytes.IndexByte(data[end:], '\n'); n >= 0 {
			end += n + 1
		} else {
			end = len(data)
		}
		switch {
		case !ours(path):
		case e != nil && header && len(path) == 2:
			found = true
			out = append(out, data[from:end]...)
			endLine()
			out = append(out, tomlLines(e, nl)...)
			from = end
		case e == nil || len(path) > 2 && slices.Contains(entryKeys, path[2]):
			out = append(out, data[from:start]...) // a comment before it stays
			from = end
		}
	}
	out = append(out, data[from:]...)
	switch {
	case p.Error() != nil:
	case e == nil:
		if from > 0 && blank(data[from:]) && bytes.HasSuffix(out, []byte(nl+nl)) {
			out = out[:len(out)-len(nl)] // the empty line before a table that was the last one
		}
	case !found:
		endLine()
		if len(out) > 0 {
			out = append(out, nl...)
		}
		out = append(out, "["+section+"."+setupName+"]"+nl+tomlLines(e, nl)...)
	}
	return out, p.Error()
}

// tomlLines are the keys of an entry, one a line.
func tomlLines(e *Entry, nl string) string {
	v, err := hujson.Parse([]byte(indentedJSON(e, "", "")))
	if err != nil { // indentedJSON writes JSON
		panic(err)
	}
	return strings.Join(append(tomlPairs(&v), ""), nl)
}

var bareTOMLKey = regexp.MustCompile(`^"[A-Za-z0-9_-]+"$`)

func tomlPairs(object *hujson.Value) (pairs []string) {
	for _, m := range members(object) {
		key := string(m.Name.Value.(hujson.Literal))
		if bareTOMLKey.MatchString(key) {
			key = strings.Trim(key, `"`)
		}
		pairs = append(pairs, key+" = "+tomlValue(&m.Value))
	}
	return pairs
}

// tomlValue is a JSON value as TOML. A JSON string is a TOML string too.
func tomlValue(v *hujson.Value) string {
	switch value := v.Value.(type) {
	case *hujson.Array:
		var items []string
		for i := range value.Elements {
			items = append(items, tomlValue(&value.Elements[i]))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case *hujson.Object:
		return "{ " + strings.Join(tomlPairs(v), ", ") + " }"
	}
	return strings.TrimSpace(v.String())
}
