package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Settings as JSON, in which clients allow comments and trailing commas. The
// parser tells where things stand; the bytes of our entry are cut out or put in
// there, and no other byte moves.

// configFormat edits a file of settings. The methods are pure; data may be nil
// for a file that is not there.
type configFormat interface {
	// entry is our entry, decoded.
	entry(data []byte) (map[string]any, bool, error)
	// set puts our entry in, or renews the fields of the one that is there.
	set(data []byte, fields []field) ([]byte, error)
	// remove takes our entry out.
	remove(data []byte) ([]byte, error)
	// others is everything but our entry, decoded: what an edit must keep.
	others(data []byte) (map[string]any, error)
	// snippet is a whole file with our entry alone.
	snippet(fields []field) []byte
}

// jsonConfig has the servers as members of the object of this name.
type jsonConfig struct{ section string }

// utf8BOM is what some editors put before JSON; it is kept.
var utf8BOM = []byte("\xef\xbb\xbf")

// behindBOM edits what follows a byte order mark, and keeps the mark.
func behindBOM(data []byte, edit func([]byte) ([]byte, error)) ([]byte, error) {
	rest, has := bytes.CutPrefix(data, utf8BOM)
	out, err := edit(rest)
	if err != nil || !has {
		return out, err
	}
	return append(bytes.Clone(utf8BOM), out...), nil
}

// maxNesting bounds the parser's recursion; no settings come near it.
const maxNesting = 100_000

// jsonDoc is a parsed file.
type jsonDoc struct {
	data  []byte
	value hujson.Value
	root  *hujson.Object // of value
	nl    string         // line ending
	unit  string         // one step of indentation
}

func (f jsonConfig) parse(data []byte) (*jsonDoc, error) {
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
	v, err := hujson.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	d := &jsonDoc{data: data, value: v, nl: "\n", unit: "  "}
	root, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("line %d: must be an object in braces", d.line(v.StartOffset))
	}
	d.root = root
	if bytes.Contains(data, []byte("\r\n")) {
		d.nl = "\r\n"
	}
	if len(root.Members) > 0 {
		if indent, ok := d.indentOf(root.Members[0].Name.StartOffset); ok && indent != "" {
			d.unit = indent
		}
	}
	return d, nil
}

func (d *jsonDoc) line(offset int) int { return 1 + bytes.Count(d.data[:offset], []byte("\n")) }

// indentOf is the white space before offset, if nothing else stands before it
// on its line.
func (d *jsonDoc) indentOf(offset int) (string, bool) {
	start := bytes.LastIndexByte(d.data[:offset], '\n') + 1
	indent := string(d.data[start:offset])
	return indent, start > 0 && strings.Trim(indent, " \t") == ""
}

// find is the member of that name, whose value must be an object; -1 if there
// is none. Readers differ in which of two members of a name they take, so that
// two are refused.
func (d *jsonDoc) find(o *hujson.Object, name string) (index int, value *hujson.Object, err error) {
	index = -1
	for i := range o.Members {
		literal, ok := o.Members[i].Name.Value.(hujson.Literal)
		if !ok || literal.String() != name {
			continue
		}
		line := d.line(o.Members[i].Name.StartOffset)
		if index >= 0 {
			return -1, nil, fmt.Errorf("line %d: a second %q", line, name)
		}
		index = i
		if value, ok = o.Members[i].Value.Value.(*hujson.Object); !ok {
			return -1, nil, fmt.Errorf("line %d: %q must be an object in braces", line, name)
		}
	}
	return index, value, nil
}

// locate finds the section and our entry in it.
func (f jsonConfig) locate(d *jsonDoc) (section, at int, servers, ours *hujson.Object, err error) {
	at = -1
	section, servers, err = d.find(d.root, f.section)
	if err == nil && servers != nil {
		at, ours, err = d.find(servers, setupName)
	}
	return section, at, servers, ours, err
}

func blank(data []byte) bool { return len(bytes.TrimSpace(data)) == 0 }

func (f jsonConfig) entry(data []byte) (map[string]any, bool, error) {
	all, err := f.decode(data)
	if err != nil {
		return nil, false, err
	}
	servers, _ := all[f.section].(map[string]any)
	ours, ok := servers[setupName].(map[string]any)
	return ours, ok, nil
}

func (f jsonConfig) others(data []byte) (map[string]any, error) {
	all, err := f.decode(data)
	if err != nil {
		return nil, err
	}
	if servers, ok := all[f.section].(map[string]any); ok {
		delete(servers, setupName)
		if len(servers) == 0 {
			delete(all, f.section) // none and an empty list say the same
		}
	}
	return all, nil
}

// decode reads the whole file, as strictly as an edit needs it.
func (f jsonConfig) decode(data []byte) (map[string]any, error) {
	data = bytes.TrimPrefix(data, utf8BOM)
	all := map[string]any{}
	if blank(data) {
		return all, nil
	}
	d, err := f.parse(data)
	if err != nil {
		return nil, err
	}
	if _, _, _, _, err := f.locate(d); err != nil {
		return nil, err
	}
	plain, err := hujson.Standardize(bytes.Clone(data)) // it blanks comments in place
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(plain))
	dec.UseNumber()
	return all, dec.Decode(&all)
}

func (f jsonConfig) snippet(fields []field) []byte {
	d := &jsonDoc{nl: "\n", unit: "  "}
	body := "{\n    " + quoteJSON(setupName) + ": " + d.render(fields, nil, d.unit+d.unit) + "\n  }"
	return []byte("{\n  " + quoteJSON(f.section) + ": " + body + "\n}\n")
}

func (f jsonConfig) set(data []byte, fields []field) ([]byte, error) {
	return behindBOM(data, func(data []byte) ([]byte, error) { return f.setText(data, fields) })
}

func (f jsonConfig) setText(data []byte, fields []field) ([]byte, error) {
	if blank(data) {
		return f.snippet(fields), nil
	}
	d, err := f.parse(data)
	if err != nil {
		return nil, err
	}
	section, at, servers, ours, err := f.locate(d)
	if err != nil {
		return nil, err
	}
	switch {
	case section < 0:
		return d.insert(d.value, f.section, func(indent string) string {
			inner := indent + d.unit
			return "{" + d.nl + inner + quoteJSON(setupName) + ": " + d.render(fields, nil, inner) + d.nl + indent + "}"
		}), nil
	case at < 0:
		return d.insert(d.root.Members[section].Value, setupName, func(indent string) string {
			return d.render(fields, nil, indent)
		}), nil
	}
	m := servers.Members[at]
	indent, ok := d.indentOf(m.Name.StartOffset)
	if !ok {
		indent = ""
	}
	return splice(data, m.Value.StartOffset, m.Value.EndOffset, d.render(fields, ours, indent)), nil
}

// render writes an entry: our fields, then what else the present one holds, as
// it is written there.
func (d *jsonDoc) render(fields []field, present *hujson.Object, indent string) string {
	inner := indent + d.unit
	var members []string
	for _, f := range fields {
		value := strings.ReplaceAll(indentedJSON(f.value, inner, d.unit), "\n", d.nl)
		members = append(members, quoteJSON(f.key)+": "+value)
	}
	if present != nil {
		for _, m := range present.Members {
			name, _ := m.Name.Value.(hujson.Literal)
			if !slices.Contains(entryKeys, name.String()) {
				members = append(members, string(d.data[m.Name.StartOffset:m.Value.EndOffset]))
			}
		}
	}
	return "{" + d.nl + inner + strings.Join(members, ","+d.nl+inner) + d.nl + indent + "}"
}

// insert puts a new last member into an object.
func (d *jsonDoc) insert(v hujson.Value, name string, value func(indent string) string) []byte {
	open, closing := v.StartOffset, v.EndOffset-1
	members := v.Value.(*hujson.Object).Members
	outer := d.lineIndent(open)
	indent := outer + d.unit
	if len(members) > 0 {
		if found, ok := d.indentOf(members[0].Name.StartOffset); ok {
			indent = found
		}
	}
	// After the last thing that stands in the object, be it a comment.
	at := open + 1 + len(bytes.TrimRight(d.data[open+1:closing], " \t\r\n"))
	text := d.nl + indent + quoteJSON(name) + ": " + value(indent)
	tail := string(d.data[at:closing])
	if len(members) == 0 || !strings.Contains(tail, "\n") {
		tail = d.nl + outer
	}
	out := splice(d.data, at, closing, text+tail)
	if len(members) == 0 {
		return out
	}
	last := members[len(members)-1].Value
	if last.AfterExtra != nil { // a trailing comma, which stays the file's way
		return splice(out, at+len(text), at+len(text), ",")
	}
	return splice(out, last.EndOffset, last.EndOffset, ",")
}

// lineIndent is the indentation of the line that holds offset.
func (d *jsonDoc) lineIndent(offset int) string {
	line := d.data[bytes.LastIndexByte(d.data[:offset], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func (f jsonConfig) remove(data []byte) ([]byte, error) { return behindBOM(data, f.removeText) }

func (f jsonConfig) removeText(data []byte) ([]byte, error) {
	d, err := f.parse(data)
	if err != nil {
		return nil, err
	}
	_, at, servers, _, err := f.locate(d)
	if err != nil || at < 0 {
		return data, err
	}
	m := servers.Members[at]
	from, to := m.Name.StartOffset, m.Value.EndOffset+len(m.Value.AfterExtra)
	if to < len(data) && data[to] == ',' {
		to++
	} else {
		to = m.Value.EndOffset
		if at > 0 { // the comma before us separates nothing now
			previous := servers.Members[at-1].Value
			comma := previous.EndOffset + len(previous.AfterExtra)
			data = splice(data, comma, comma+1, "")
			from, to = from-1, to-1
		}
	}
	from = len(bytes.TrimRight(data[:from], " \t"))
	from -= len(data[:from]) - len(bytes.TrimSuffix(bytes.TrimSuffix(data[:from], []byte("\n")), []byte("\r")))
	return splice(data, from, to, ""), nil
}

// splice replaces the bytes between from and to in a copy.
func splice(data []byte, from, to int, text string) []byte {
	out := make([]byte, 0, len(data)+len(text))
	out = append(out, data[:from]...)
	out = append(out, text...)
	return append(out, data[to:]...)
}

func quoteJSON(s string) string { return indentedJSON(s, "", "") }

// indentedJSON is v as JSON, its lines after the first behind prefix.
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
