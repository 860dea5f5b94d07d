package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// JSON, in which clients allow comments and trailing commas. The parser finds the offsets; an edit
// inserts or removes text at them.

// maxNesting bounds the recursion of the parser; settings are far below it.
const maxNesting = 100_000

// jsonDoc is a parsed file. Its offsets are those of data.
type jsonDoc struct {
	data    []byte
	root    hujson.Value
	servers *hujson.Value // the section, nil if there is none
	ours    int           // the index of our entry in servers, -1 if there is none
}

func parseJSON(section string, data []byte) (*jsonDoc, error) {
	depth := 0
	for _, b := range data {
		switch b {
		case '[', '{':
			if depth++; depth > maxNesting {
				return nil, fmt.Errorf("is nested more than %d deep", maxNesting)
			}
		case ']', '}':
			depth--
		}
	}
	d := &jsonDoc{data: data, ours: -1}
	var err error
	if d.root, err = hujson.Parse(data); err != nil {
		return nil, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := d.root.Value.(*hujson.Object); !ok {
		return nil, fmt.Errorf("line %d: must be an object in braces", d.line(d.root.StartOffset))
	}
	at, err := d.find(&d.root, section)
	if err == nil && at >= 0 {
		d.servers = &members(&d.root)[at].Value
		d.ours, err = d.find(d.servers, setupName)
	}
	return d, err
}

func members(object *hujson.Value) []hujson.ObjectMember {
	return object.Value.(*hujson.Object).Members
}

func (d *jsonDoc) line(offset int) int { return 1 + bytes.Count(d.data[:offset], []byte("\n")) }

// find is the index of the member of that name, whose value must be an object; -1 if there is
// none. Two members of the name are refused: clients differ in which one they take.
func (d *jsonDoc) find(object *hujson.Value, name string) (int, error) {
	index := -1
	for i, m := range members(object) {
		if m.Name.Value.(hujson.Literal).String() != name {
			continue
		}
		line := d.line(m.Name.StartOffset)
		if index >= 0 {
			return -1, fmt.Errorf("line %d: a second %q", line, name)
		}
		if _, ok := m.Value.Value.(*hujson.Object); !ok {
			return -1, fmt.Errorf("line %d: %q must be an object in braces", line, name)
		}
		index = i
	}
	return index, nil
}

func decodeJSON(section string, data []byte) (map[string]any, error) {
	d, err := parseJSON(section, bytes.Clone(data)) // Standardize overwrites comments
	if err != nil {
		return nil, err
	}
	d.root.Standardize()
	dec := json.NewDecoder(bytes.NewReader(d.root.Pack()))
	dec.UseNumber()
	all := map[string]any{}
	return all, dec.Decode(&all)
}

func editJSON(section string, data []byte, e *Entry) ([]byte, error) {
	d, err := parseJSON(section, data)
	switch {
	case err != nil:
		return nil, err
	case e == nil && d.ours < 0:
		return data, nil
	case e == nil:
		return d.remove(), nil
	case d.servers == nil:
		return editJSON(section, d.add(&d.root, section), e)
	case d.ours < 0:
		return editJSON(section, d.add(d.servers, setupName), e)
	}
	m := members(d.servers)[d.ours]
	indent, ok := d.indentOf(m.Name.StartOffset)
	if !ok {
		indent = ""
	}
	nl, unit := lineEnd(data), d.unit()
	text := strings.ReplaceAll(indentedJSON(e, indent, unit), "\n", nl)
	end := nl + indent + "}"
	text = strings.TrimSuffix(text, end)
	for _, own := range members(&m.Value) { // the user's own keys
		if name := own.Name.Value.(hujson.Literal).String(); !slices.Contains(entryKeys, name) {
			text += "," + nl + indent + unit + string(data[own.Name.StartOffset:own.Value.EndOffset])
		}
	}
	return slices.Concat(data[:m.Value.StartOffset], []byte(text+end), data[m.Value.EndOffset:]), nil
}

// unit is one step of indentation.
func (d *jsonDoc) unit() string {
	if all := members(&d.root); len(all) > 0 {
		if indent, ok := d.indentOf(all[0].Name.StartOffset); ok && indent != "" {
			return indent
		}
	}
	return "  "
}

// indentOf is the indentation of the line of offset. ok is false if text is before offset on the
// line, or the line is the first one.
func (d *jsonDoc) indentOf(offset int) (indent string, ok bool) {
	start := bytes.LastIndexByte(d.data[:offset], '\n') + 1
	line := d.data[start:offset]
	text := bytes.TrimLeft(line, " \t")
	return string(line[:len(line)-len(text)]), start > 0 && len(text) == 0
}

// add puts an empty object of that name behind everything in an object, comments included.
func (d *jsonDoc) add(object *hujson.Value, name string) []byte {
	outer, _ := d.indentOf(object.StartOffset)
	indent, from, comma, trailing := outer+d.unit(), object.StartOffset+1, "", ""
	if all := members(object); len(all) > 0 {
		if first, ok := d.indentOf(all[0].Name.StartOffset); ok {
			indent = first
		}
		last := all[len(all)-1].Value
		from = last.EndOffset
		if last.AfterExtra != nil { // the file has a trailing comma
			trailing = ","
		} else {
			comma = ","
		}
	}
	closing := object.EndOffset - 1
	kept := bytes.TrimRight(d.data[from:closing], " \t\r\n")
	space := string(d.data[from+len(kept) : closing])
	if len(members(object)) == 0 || !strings.Contains(space, "\n") {
		space = lineEnd(d.data) + outer
	}
	member := lineEnd(d.data) + indent + indentedJSON(name, "", "") + ": {}" + trailing
	return slices.Concat(d.data[:from], []byte(comma), kept, []byte(member+space), d.data[closing:])
}

// remove takes our entry out with its comma. Comments before it stay.
func (d *jsonDoc) remove() []byte {
	all := members(d.servers)
	m := all[d.ours]
	kept := bytes.TrimRight(d.data[:m.Name.StartOffset], " \t")
	kept = bytes.TrimSuffix(bytes.TrimSuffix(kept, []byte("\n")), []byte("\r"))
	end := m.Value.EndOffset + len(m.Value.AfterExtra)
	switch {
	case d.ours < len(all)-1 || m.Value.AfterExtra != nil:
		end++
	case d.ours > 0: // the comma before it
		previous := all[d.ours-1].Value
		comma := previous.EndOffset + len(previous.AfterExtra)
		kept = slices.Concat(kept[:comma], kept[comma+1:])
	}
	return slices.Concat(kept, d.data[end:])
}

// indentedJSON is v as JSON; prefix begins each line after the first.
func indentedJSON(v any, prefix, unit string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, unit)
	if err := enc.Encode(v); err != nil { // strings, and lists and maps of them
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
