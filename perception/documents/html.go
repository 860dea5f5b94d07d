package documents

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// unread are elements whose text nobody sees, or that only lead to other pages.
var unread = []string{
	"script", "style", "template", "noscript", "svg", "math", "iframe", "object", "nav", "select", "textarea", "button", "canvas", "audio", "video",
}

// inline are elements that do not end a paragraph.
var inline = []string{
	"a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img", "ins", "kbd", "label", "mark", "q", "s",
	"samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
}

// void are elements without an end.
var void = []string{"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}

// readHTML reads the text that a browser would show, tag by tag, so that the depth of the elements costs nothing.
func readHTML(data []byte, doc *Document, out *blocks) error {
	in, err := charset.NewReader(bytes.NewReader(data), "")
	if err != nil {
		return fmt.Errorf("%w: its encoding is not known: %w", ErrBroken, err)
	}

	h := &htmlReader{doc: doc, out: out, tokens: html.NewTokenizer(in)}
	h.tokens.SetMaxBuf(int(out.limits.Bytes))

	for {
		switch h.tokens.Next() {
		case html.ErrorToken:
			if err := h.tokens.Err(); !errors.Is(err, io.EOF) {
				return fmt.Errorf("%w: %w", ErrBroken, err)
			}
			return h.flush()
		case html.TextToken:
			h.write(string(h.tokens.Text()))
		case html.StartTagToken:
			err = h.start(h.tokens.Token(), false)
		case html.SelfClosingTagToken:
			err = h.start(h.tokens.Token(), true)
		case html.EndTagToken:
			err = h.end(h.tokens.Token().Data)
		}
		if err != nil {
			return err
		}
	}
}

type htmlReader struct {
	doc    *Document
	out    *blocks
	tokens *html.Tokenizer

	text   strings.Builder
	title  strings.Builder
	kind   kind
	level  int
	inHead bool // in the title
	pre    bool
	cells  int
	skip   string // the element that is not read
	depth  int    // of elements of that name
}

func (h *htmlReader) write(text string) {
	if h.skip != "" {
		return
	}
	text = html.UnescapeString(text)

	switch {
	case h.inHead:
		h.title.WriteString(text)
	case h.pre:
		h.text.WriteString(text)
	default:
		// Line breaks of the source are spaces.
		h.text.WriteString(strings.ReplaceAll(text, "\n", " "))
	}
}

func (h *htmlReader) start(t html.Token, closed bool) error {
	name := t.Data

	if h.skip != "" {
		if name == h.skip && !closed && !slices.Contains(void, name) {
			h.depth++
		}
		return nil
	}

	if (slices.Contains(unread, name) || hidden(t.Attr)) && !closed && !slices.Contains(void, name) {
		h.skip, h.depth = name, 1
		return nil
	}

	switch name {
	case "title":
		h.inHead = h.title.Len() == 0
		return nil
	case "br":
		h.text.WriteByte('\n')
		return nil
	case "td", "th":
		if h.kind == row {
			if h.cells++; h.cells > 1 {
				h.text.WriteString(" | ")
			}
			return nil
		}
	case "p":
		// A paragraph in an item or a cell does not end it.
		if h.kind == item || h.kind == row {
			h.text.WriteByte(' ')
			return nil
		}
	}

	if slices.Contains(inline, name) {
		return nil
	}
	if err := h.flush(); err != nil {
		return err
	}

	switch {
	case len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6':
		h.kind, h.level = heading, int(name[1]-'0')
	case name == "li" || name == "dt" || name == "dd":
		h.kind = item
	case name == "tr":
		h.kind, h.cells = row, 0
	case name == "pre":
		h.kind, h.pre = code, true
	}

	return nil
}

// hidden reports whether a browser shows nothing of an element.
func hidden(attributes []html.Attribute) bool {
	for _, a := range attributes {
		style := strings.ToLower(strings.ReplaceAll(a.Val, " ", ""))
		if a.Key == "hidden" || a.Key == "style" &&
			(strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")) {
			return true
		}
	}

	return false
}

func (h *htmlReader) end(name string) error {
	if h.skip != "" {
		if name == h.skip {
			if h.depth--; h.depth == 0 {
				h.skip = ""
			}
		}
		return nil
	}

	switch {
	case name == "title":
		h.inHead = false
		if h.doc.Title == "" {
			h.doc.Title = h.title.String()
		}
		return nil
	case slices.Contains(inline, name), slices.Contains([]string{"td", "th", "p"}, name) && (h.kind == item || h.kind == row):
		return nil
	}

	return h.flush()
}

func (h *htmlReader) flush() error {
	text := h.text.String()
	if h.kind == item && strings.TrimSpace(text) != "" && !bullet().MatchString(text) {
		text = "- " + strings.TrimSpace(text)
	}

	k, level := h.kind, h.level
	h.text.Reset()
	h.kind, h.level, h.pre = paragraph, 0, false

	return h.out.add(k, level, text)
}
