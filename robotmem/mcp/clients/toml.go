package clients

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// In TOML our entry is the table [section.robotmem] with the tables below it. An edit replaces them
// line by line, comments excepted; a form that it does not find, such as an inline table, or finds
// in a text of several lines, fails the check afterwards.

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
	var table []byte
	if e != nil {
		var b bytes.Buffer
		if err := toml.NewEncoder(&b).SetTablesInline(true).Encode(map[string]any(e)); err != nil {
			return nil, err
		}
		table = append([]byte("["+section+"."+setupName+"]\n"), b.Bytes()...)
	}

	own := section + "." + setupName

	var out []byte
	inside, found := false, false // of a table of ours

	for line := range bytes.Lines(data) {
		text := bytes.TrimSpace(line)
		if header, ok := bytes.CutPrefix(text, []byte("[")); ok {
			name, _, _ := strings.Cut(string(header), "]")
			inside = name == own || strings.HasPrefix(name, own+".")
			if inside && !found {
				out = append(out, table...)
				found = true
			}
		}
		// Comments and empty lines may belong to the next table.
		if !inside || len(text) == 0 || text[0] == '#' {
			out = append(out, line...)
		}
	}

	switch {
	case e == nil && inside:
		// The empty line before a table that was the last one.
		out = bytes.TrimSuffix(out, []byte("\n"))
	case e != nil && !found:
		if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
			out = append(out, '\n')
		}
		if len(out) > 0 {
			out = append(out, '\n')
		}
		out = append(out, table...)
	}

	return out, nil
}
