package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// configFormat edits settings of one syntax whose servers are the members of one section. Its
// functions are pure. data is never blank and has no byte order mark.
type configFormat struct {
	section string
	// decode reads the whole file and refuses what cannot be edited.
	decode func(section string, data []byte) (map[string]any, error)
	// edit puts our entry in, or replaces the fields of setup in it. fields nil removes it.
	edit func(section string, data []byte, fields Entry) ([]byte, error)
	// file is a file with our entry alone.
	file func(section string, fields Entry) []byte
}

// utf8BOM is the byte order mark that some editors write; it is kept.
const utf8BOM = "\xef\xbb\xbf"

func blank(data []byte) bool { return len(bytes.TrimSpace(data)) == 0 }

// parts are our entry and everything else.
func (f configFormat) parts(data []byte) (entry, others map[string]any, err error) {
	data = bytes.TrimPrefix(data, []byte(utf8BOM))
	others = map[string]any{}
	if blank(data) {
		return nil, others, nil
	}
	if others, err = f.decode(f.section, data); err != nil {
		return nil, nil, err
	}
	section, found := others[f.section]
	if !found {
		return nil, others, nil
	}
	servers, ok := section.(map[string]any)
	if !ok {
		return nil, nil, fmt.Errorf("%s must be a table", f.section)
	}
	if value, found := servers[setupName]; found {
		if entry, ok = value.(map[string]any); !ok {
			return nil, nil, fmt.Errorf("%s.%s must be a table", f.section, setupName)
		}
		delete(servers, setupName)
	}
	if len(servers) == 0 {
		delete(others, f.section) // a section without entries equals no section
	}
	return entry, others, nil
}

// set puts our entry in, or replaces its fields.
func (f configFormat) set(data []byte, fields Entry) ([]byte, error) {
	text, mark := bytes.CutPrefix(data, []byte(utf8BOM))
	if blank(text) {
		text = f.file(f.section, fields)
	} else {
		var err error
		if text, err = f.edit(f.section, text, fields); err != nil {
			return nil, err
		}
	}
	if mark {
		text = append([]byte(utf8BOM), text...)
	}
	return text, nil
}

// remove takes our entry out.
func (f configFormat) remove(data []byte) ([]byte, error) {
	if blank(bytes.TrimPrefix(data, []byte(utf8BOM))) {
		return data, nil
	}
	return f.set(data, nil)
}

// jsonConfig is JSON, in which clients allow comments and trailing commas.
func jsonConfig(section string) configFormat {
	return configFormat{section, decodeJSON, editJSON, jsonFile}
}

// maxNesting bounds the recursion of the parser; settings are far below it.
const maxNesting = 100_000

// jsonDoc is a parsed file.
type jsonDoc struct {
	data    []byte
	value   hujson.Value
	root    *hujson.Object // of value
	servers *hujson.Object // the section in root, nil if there is none
	section int            // its index
	ours    int            // the index of our entry in servers, -1 if there is none
	nl      string         // line ending
	unit    string         // one step of indentation
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
	v, err := hujson.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	d := &jsonDoc{data: data, value: v, ours: -1, nl: "\n", unit: "  "}
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
	if d.section, d.servers, err = d.find(root, section); err == nil && d.servers != nil {
		d.ours, _, err = d.find(d.servers, setupName)
	}
	return d, err
}

func (d *jsonDoc) line(offset int) int { return 1 + bytes.Count(d.data[:offset], []byte("\n")) }

// indentOf is the white space before offset. ok is false if something else is before it on its
// line.
func (d *jsonDoc) indentOf(offset int) (indent string, ok bool) {
	start := bytes.LastIndexByte(d.data[:offset], '\n') + 1
	line := d.data[start:offset]
	text := bytes.TrimLeft(line, " \t")
	return string(line[:len(line)-len(text)]), start > 0 && len(text) == 0
}

// find is the member of that name, whose value must be an object; -1 if there is none. Two
// members of the name are refused: clients differ in which one they take.
func (d *jsonDoc) find(o *hujson.Object, name string) (index int, value *hujson.Object, err error) {
	index = -1
	for i, m := range o.Members {
		literal, ok := m.Name.Value.(hujson.Literal)
		if !ok || literal.String() != name {
			continue
		}
		line := d.line(m.Name.StartOffset)
		if index >= 0 {
			return -1, nil, fmt.Errorf("line %d: a second %q", line, name)
		}
		index = i
		if value, ok = m.Value.Value.(*hujson.Object); !ok {
			return -1, nil, fmt.Errorf("line %d: %q must be an object in braces", line, name)
		}
	}
	return index, value, nil
}

func decodeJSON(section string, data []byte) (map[string]any, error) {
	d, err := parseJSON(section, data)
	if err != nil {
		return nil, err
	}
	plain := d.value.Clone()
	plain.Standardize()
	dec := json.NewDecoder(bytes.NewReader(plain.Pack()))
	dec.UseNumber()
	all := map[string]any{}
	return all, dec.Decode(&all)
}

func editJSON(section string, data []byte, fields Entry) ([]byte, error) {
	d, err := parseJSON(section, data)
	if err != nil {
		return nil, err
	}
	switch {
	case fields == nil:
		if d.ours >= 0 {
			removeMember(d.servers, d.ours)
		}
	case d.servers == nil:
		indent := d.addIndent(&d.value, d.root)
		entry := d.object(indent, member(setupName, d.entry(fields, nil, indent+d.unit)))
		d.add(&d.value, d.root, indent, member(section, entry))
	case d.ours < 0:
		at := &d.root.Members[d.section].Value
		indent := d.addIndent(at, d.servers)
		d.add(at, d.servers, indent, member(setupName, d.entry(fields, nil, indent)))
	default:
		m := &d.servers.Members[d.ours]
		indent, ok := d.indentOf(m.Name.StartOffset)
		if !ok {
			indent = ""
		}
		present := m.Value.Value.(*hujson.Object)
		m.Value.Value = d.entry(fields, present.Members, indent)
	}
	return d.value.Pack(), nil
}

func jsonFile(section string, fields Entry) []byte {
	d := &jsonDoc{nl: "\n", unit: "  "}
	servers := d.object(d.unit, member(setupName, d.entry(fields, nil, d.unit+d.unit)))
	v := hujson.Value{Value: d.object("", member(section, servers)), AfterExtra: hujson.Extra("\n")}
	return v.Pack()
}

func member(name string, value hujson.ValueTrimmed) hujson.ObjectMember {
	return hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value}}
}

// object has each member on a line of its own. indent is that of the object.
func (d *jsonDoc) object(indent string, members ...hujson.ObjectMember) *hujson.Object {
	for i := range members {
		members[i].Name.BeforeExtra = hujson.Extra(d.nl + indent + d.unit)
		members[i].Value.AfterExtra = nil
	}
	return &hujson.Object{Members: members, AfterExtra: hujson.Extra(d.nl + indent)}
}

// entry is our entry: the fields, then the members of the present one that setup never writes.
func (d *jsonDoc) entry(fields Entry, present []hujson.ObjectMember, indent string) *hujson.Object {
	var members []hujson.ObjectMember
	for _, f := range fields {
		text := strings.ReplaceAll(indentedJSON(f.value, indent+d.unit, d.unit), "\n", d.nl)
		v, err := hujson.Parse([]byte(text))
		if err != nil { // indentedJSON writes JSON
			panic(err)
		}
		members = append(members, member(f.key, v.Value))
	}
	for _, m := range present {
		if name, _ := m.Name.Value.(hujson.Literal); !slices.Contains(entryKeys, name.String()) {
			members = append(members, m)
		}
	}
	return d.object(indent, members...)
}

// addIndent is the indentation of a new member of the object o at v.
func (d *jsonDoc) addIndent(v *hujson.Value, o *hujson.Object) string {
	if len(o.Members) > 0 {
		if indent, ok := d.indentOf(o.Members[0].Name.StartOffset); ok {
			return indent
		}
	}
	outer, _ := d.indentOf(v.StartOffset)
	return outer + d.unit
}

// add puts m behind all that is in the object o at v, comments too.
func (d *jsonDoc) add(v *hujson.Value, o *hujson.Object, indent string, m hujson.ObjectMember) {
	before := bytes.TrimRight(o.AfterExtra, " \t\r\n")
	after := o.AfterExtra[len(before):]
	m.Name.BeforeExtra = slices.Concat(before, hujson.Extra(d.nl+indent))
	if n := len(o.Members); n == 0 || !bytes.Contains(after, []byte("\n")) {
		outer, _ := d.indentOf(v.StartOffset)
		after = hujson.Extra(d.nl + outer)
	}
	if n := len(o.Members); n > 0 && o.Members[n-1].Value.AfterExtra != nil {
		m.Value.AfterExtra = hujson.Extra{} // keep the trailing comma of the file
	}
	o.AfterExtra = after
	o.Members = append(o.Members, m)
}

// removeMember keeps the comments before the member: they go before what follows it.
func removeMember(o *hujson.Object, at int) {
	m := o.Members[at]
	kept := bytes.TrimRight(m.Name.BeforeExtra, " \t")
	kept = bytes.TrimSuffix(bytes.TrimSuffix(kept, []byte("\n")), []byte("\r"))
	last := at == len(o.Members)-1
	o.Members = slices.Delete(o.Members, at, at+1)
	if !last {
		next := &o.Members[at].Name
		next.BeforeExtra = slices.Concat(kept, next.BeforeExtra)
		return
	}
	trailing := m.Value.AfterExtra != nil
	o.AfterExtra = slices.Concat(kept, o.AfterExtra)
	if at > 0 {
		previous := &o.Members[at-1].Value
		switch {
		case !trailing: // the comma before the member goes with it
			o.AfterExtra = slices.Concat(previous.AfterExtra, o.AfterExtra)
			previous.AfterExtra = nil
		case previous.AfterExtra == nil:
			previous.AfterExtra = hujson.Extra{}
		}
	}
}

func quoteJSON(s string) string { return indentedJSON(s, "", "") }

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
