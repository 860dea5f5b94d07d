package clients

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// In TOML our entry is the table [section.robotmem] with the tables below it. An edit replaces them
// as a whole; a form that it does not find, such as an inline table, fails the check afterwards.

func decodeTOML(data []byte) (map[string]any, error) {
	all := map[string]any{}
	err := toml.Unmarshal(data, &all)
	if d := (*toml.DecodeError)(nil); errors.As(err, &d) {
		row, column := d.Position()
		return nil, fmt.Errorf("line %d, column %d: %s", row, column, strings.TrimPrefix(d.Error(), "toml: "))
	}
	return all, err
}

func editTOML(section string, data []byte, e Entry) ([]byte, error) {
	nl := lineEnd(data)
	var table []byte
	if e != nil {
		var b bytes.Buffer
		if err := toml.NewEncoder(&b).SetTablesInline(true).Encode(map[string]any(e)); err != nil {
			return nil, err
		}
		table = bytes.ReplaceAll(append([]byte("["+section+"."+setupName+"]\n"), b.Bytes()...), []byte("\n"), []byte(nl))
	}
	var out []byte
	from, inside, found := 0, false, false
	var p unstable.Parser
	p.Reset(data)
	for p.NextExpression() {
		x := p.Expression()
		if x.Kind != unstable.Table && x.Kind != unstable.ArrayTable {
			continue
		}
		var path []string
		start := 0
		for it := x.Key(); it.Next(); {
			if path = append(path, string(it.Node().Data)); len(path) == 1 {
				start = bytes.LastIndexByte(data[:it.Node().Raw.Offset], '\n') + 1
			}
		}
		ours := len(path) >= 2 && slices.Equal(path[:2], []string{section, setupName})
		switch {
		case ours && !inside:
			out = append(out, data[from:start]...)
			if !found {
				out = append(out, table...)
			}
			found = true
		case !ours && inside:
			from = afterValues(data[:start])
			if e == nil {
				from = start
			}
		}
		inside = ours
	}
	if p.Error() != nil {
		return nil, p.Error()
	}
	if !inside {
		out = append(out, data[from:]...)
	}
	switch {
	case e == nil && inside:
		out = bytes.TrimSuffix(out, []byte(nl)) // the empty line before a table that was the last one
	case e != nil && !found:
		if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
			out = append(out, nl...)
		}
		if len(out) > 0 {
			out = append(out, nl...)
		}
		out = append(out, table...)
	}
	return out, nil
}

// afterValues is the offset of the empty lines and comments at the end.
func afterValues(data []byte) int {
	at := len(data)
	for at > 0 {
		line := bytes.LastIndexByte(data[:at-1], '\n') + 1
		if text := bytes.TrimSpace(data[line:at]); len(text) > 0 && text[0] != '#' {
			break
		}
		at = line
	}
	return at
}
