package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// reference is the page's content.
type reference struct {
	Version, Description string
	Chapters             []chapter
	Problems             []problemView
	Types                []typeView
}

type chapter struct {
	Name, Doc  string
	Operations []operationView
}

type operationView struct {
	Name, Method, Path, Title, Doc string
	Hints                          []string
	Fields                         []fieldView
	Curl                           string
	Answer                         fieldType
	AnswerFields                   []fieldView
	Bytes                          []string // media types that it also answers
}

// fieldView is a field of a request or of an answer.
type fieldView struct {
	Name, In, Doc, Range, Default string
	Type                          fieldType
	Required                      bool
}

// fieldType is a type in words, with the name of the one it is made of.
type fieldType struct{ Before, Ref, After string }

type problemView struct {
	Status     int
	Title, Doc string
}

type typeView struct {
	Name   string
	Fields []fieldView
}

func newReference(doc *document) reference {
	page := reference{Version: doc.Info.Version, Description: doc.Info.Description, Problems: problemViews(doc)}
	for _, tag := range doc.Tags {
		c := chapter{Name: tag.Name, Doc: tag.Description}
		for _, op := range robotmem.Ops() {
			d := doc.Paths[op.Path()][strings.ToLower(op.Method())]
			if slices.Contains(d.Tags, tag.Name) {
				c.Operations = append(c.Operations, newOperation(op, d, doc))
			}
		}
		page.Chapters = append(page.Chapters, c)
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		schema := doc.Components.Schemas[name]
		page.Types = append(page.Types, typeView{name, fieldsOf(schema)})
	}
	return page
}

func newOperation(op *robotmem.Op, d operationDoc, doc *document) operationView {
	text, _, _ := strings.Cut(d.Description, " Example: {") // there is one as a command
	v := operationView{
		Name: op.Name, Method: op.Method(), Path: op.Path(), Title: d.Summary, Doc: text,
		Hints: hintsOf(op), Curl: curl(op, d),
	}
	for _, p := range d.Parameters {
		s := *p.Schema
		s.Description = p.Description
		f := newField(p.Name, &s, p.Required)
		f.In = p.In
		v.Fields = append(v.Fields, f)
	}
	if body := resolve(doc, d.RequestBody.Content["application/json"].Schema); body != nil {
		for _, name := range op.Fields() { // in the order of the table
			if s := body.Properties[name]; s != nil {
				v.Fields = append(v.Fields, newField(name, s, slices.Contains(body.Required, name)))
			}
		}
	}
	answer := d.Responses["200"].Content
	v.Answer = typeOf(answer["application/json"].Schema)
	if s := resolve(doc, answer["application/json"].Schema); s != nil {
		v.AnswerFields = fieldsOf(s)
	}
	for _, mediaType := range slices.Sorted(maps.Keys(answer)) {
		if mediaType != "application/json" {
			v.Bytes = append(v.Bytes, mediaType)
		}
	}
	return v
}

func hintsOf(op *robotmem.Op) []string {
	var hints []string
	for _, h := range []struct {
		has  bool
		text string
	}{{op.Hints.ReadOnly, "reads"}, {!op.Hints.ReadOnly, "writes"}, {op.Hints.Destructive, "may take away"}, {op.Hints.Tool, "MCP tool"}} {
		if h.has {
			hints = append(hints, h.text)
		}
	}
	return hints
}

func resolve(doc *document, s *schemaDoc) *schemaDoc {
	if s != nil && s.Ref != "" {
		return doc.Components.Schemas[refName(s.Ref)]
	}
	return s
}

func refName(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// fieldsOf lists what a schema holds, what is always there first.
func fieldsOf(s *schemaDoc) []fieldView {
	var out []fieldView
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		out = append(out, newField(name, s.Properties[name], slices.Contains(s.Required, name)))
	}
	slices.SortStableFunc(out, func(a, b fieldView) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}
		return 1
	})
	return out
}

func newField(name string, s *schemaDoc, required bool) fieldView {
	f := fieldView{Name: name, Doc: s.Description, Type: typeOf(s), Required: required, Range: rangeOf(s)}
	if s.Default != nil {
		f.Default = fmt.Sprint(s.Default)
	}
	return f
}

func typeOf(s *schemaDoc) fieldType {
	switch {
	case s == nil:
		return fieldType{}
	case s.Ref != "":
		return fieldType{Ref: refName(s.Ref)}
	case s.Enum != nil:
		return fieldType{Before: strings.Join(s.Enum, " | ")}
	case s.Type == "array":
		t := typeOf(s.Items)
		if t.Ref == "" {
			return fieldType{Before: "list of " + t.Before + "s"}
		}
		return fieldType{Before: "list of ", Ref: t.Ref, After: t.After}
	case s.Format == "date-time":
		return fieldType{Before: "time"}
	case s.ContentEncoding != "":
		return fieldType{Before: s.ContentEncoding}
	case s.Type == "":
		return fieldType{Before: "any JSON"}
	}
	return fieldType{Before: s.Type}
}

// rangeOf says which values, lengths or numbers of items are taken, unless the
// description does.
func rangeOf(s *schemaDoc) string {
	for _, r := range []struct {
		lo, hi *json.Number
		unit   string
	}{{s.Minimum, s.Maximum, ""}, {s.MinLength, s.MaxLength, " characters"}, {s.MinItems, s.MaxItems, " items"}} {
		switch {
		case r.hi != nil && strings.Contains(strings.ReplaceAll(s.Description, ",", ""), plain(*r.hi)):
			return ""
		case r.lo != nil && r.hi != nil:
			return plain(*r.lo) + " to " + plain(*r.hi) + r.unit
		case r.hi != nil:
			return "up to " + plain(*r.hi) + r.unit
		case r.lo != nil && r.unit != " characters": // a text that is required is not empty
			return "from " + plain(*r.lo) + r.unit
		}
	}
	return ""
}

// plain is a number without an exponent.
func plain(n json.Number) string {
	f, err := n.Float64()
	if err != nil {
		return n.String()
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// curl is the operation's example as a command.
func curl(op *robotmem.Op, d operationDoc) string {
	path, query := op.Path(), url.Values{}
	for _, p := range d.Parameters {
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(fmt.Sprint(p.Example)))
		case p.In == "query" && p.Example != nil:
			query.Set(p.Name, fmt.Sprint(p.Example))
		}
	}
	address := "http://127.0.0.1:7878" + path
	if len(query) > 0 {
		address = "'" + address + "?" + query.Encode() + "'"
	}
	var b strings.Builder
	b.WriteString("curl ")
	example := d.RequestBody.Content["application/json"].Example
	if op.Method() != http.MethodGet && (op.Method() != http.MethodPost || example == nil) {
		b.WriteString("-X " + op.Method() + " ")
	}
	b.WriteString(address)
	if example != nil {
		var indented bytes.Buffer
		if json.Indent(&indented, example, "", "  ") == nil {
			b.WriteString(" \\\n  --json '" + strings.ReplaceAll(indented.String(), "'", `'\''`) + "'")
		}
	}
	if len(d.Responses["200"].Content) > 1 {
		b.WriteString(" -o " + op.Name)
	}
	if d.RequestBody.Content["multipart/form-data"].Schema != nil {
		b.WriteString("\n\n# bytes, in any size\ncurl " + address + " \\\n  -F 'description=finger force while the wet glass slipped' -F file=@force.csv")
	}
	return b.String()
}

func problemViews(doc *document) []problemView {
	var out []problemView
	for code, name := range problemNames() {
		n, _ := strconv.Atoi(code)
		out = append(out, problemView{n, http.StatusText(n), doc.Components.Responses[name].Description})
	}
	slices.SortFunc(out, func(a, b problemView) int { return cmp.Compare(a.Status, b.Status) })
	return out
}
