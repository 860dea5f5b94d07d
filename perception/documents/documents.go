package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode/utf8"
)

// Why a document cannot be read. The errors of [Reader.Read] wrap one of these or that of the context.
var (
	ErrUnsupported = errors.New("is none of the formats that are read: txt, md, html, docx, pdf")
	ErrEncrypted   = errors.New("is encrypted")
	ErrBroken      = errors.New("is damaged")
	ErrNoText      = errors.New("has no text")
	ErrTooLarge    = errors.New("is too large")
)

// Limits of what is read. A zero field stands for its default.
type Limits struct {
	Bytes    int64         // of the file: 64 MB
	Text     int           // bytes of text in it: 16 MB
	Pages    int           // 5,000
	Passages int           // 20,000
	Memory   int64         // bytes that the program for PDF may have: 160 MB
	Time     time.Duration // 2 minutes
}

func (l Limits) withDefaults() Limits {
	set := func(v *int, to int) {
		if *v <= 0 {
			*v = to
		}
	}

	set(&l.Text, 16<<20)
	set(&l.Pages, 5000)
	set(&l.Passages, 20_000)

	if l.Bytes <= 0 {
		l.Bytes = 64 << 20
	}
	if l.Memory <= 0 {
		l.Memory = 160 << 20
	}
	if l.Time <= 0 {
		l.Time = 2 * time.Minute
	}

	return l
}

// Document is what was read of a file.
type Document struct {
	MediaType string
	Title     string // "" if the file states none
	Pages     int    // 0 if the format has none
	Passages  []Passage
	Notes     []string // what was not read, such as "page 3 has no text"
}

// Passage is a part of a document.
type Passage struct {
	Text    string
	Page    int      // the first page of it, from 1; 0 if the format has none
	Last    int      // its last page
	Section []string // the headings above it, from the outermost
}

// Media types of the formats.
const (
	Text     = "text/plain"
	Markdown = "text/markdown"
	HTML     = "text/html"
	Docx     = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	PDF      = "application/pdf"
)

// extensions are the endings of names by which formats are told that their first bytes do not prove.
var extensions = map[string]string{
	".txt": Text, ".text": Text, ".md": Markdown, ".markdown": Markdown, ".html": HTML, ".htm": HTML, ".xhtml": HTML,
	".docx": Docx, ".pdf": PDF,
}

const headBytes = 1024 // in which the mark of a PDF stands

// Accepts returns the media type of a file by its name and its first bytes, "" if it is no document that is read.
func Accepts(name string, head []byte) string {
	byName := extensions[strings.ToLower(path.Ext(strings.ReplaceAll(name, `\`, "/")))]

	switch start := head[:min(len(head), headBytes)]; {
	case bytes.Contains(start, []byte("%PDF-")) && (byName == PDF || bytes.HasPrefix(start, []byte("%PDF-"))):
		return PDF
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		// Other archives of this kind have other names.
		if byName == Docx {
			return Docx
		}
		return ""
	}

	return byName
}

// Reader reads documents. It is for one goroutine at a time.
type Reader struct {
	limits Limits
	pdf    pdfProgram
}

// NewReader returns a reader with limits.
func NewReader(limits Limits) *Reader { return &Reader{limits: limits.withDefaults()} }

// Close drops the program that reads PDF, if there is one. The reader may be used again.
func (r *Reader) Close() error { return r.pdf.close() }

// MaxBytes is the largest file that is read.
func (r *Reader) MaxBytes() int64 { return r.limits.Bytes }

// Read reads the document in data. The name tells the format if the bytes do not.
func (r *Reader) Read(ctx context.Context, name string, data []byte) (*Document, error) {
	doc := &Document{MediaType: Accepts(name, data)}

	switch {
	case doc.MediaType == "":
		return nil, ErrUnsupported
	case int64(len(data)) > r.limits.Bytes:
		return nil, fmt.Errorf("%w: it has %d bytes, and the limit is %d; split it", ErrTooLarge, len(data), r.limits.Bytes)
	case len(bytes.TrimSpace(data)) == 0:
		return nil, fmt.Errorf("%w: the file is empty", ErrNoText)
	}

	ctx, cancel := context.WithTimeout(ctx, r.limits.Time)
	defer cancel()

	out := &blocks{ctx: ctx, limits: &r.limits}

	var err error

	switch doc.MediaType {
	case PDF:
		err = r.readPDF(ctx, data, doc, out)
	case Docx:
		err = readDocx(data, doc, out)
	case HTML:
		err = readHTML(data, doc, out)
	case Markdown:
		err = readMarkdown(data, doc, out)
	default:
		err = readText(data, out)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: reading it takes over %s; split it", ErrTooLarge, r.limits.Time)
	}
	if err != nil {
		return nil, err
	}

	if doc.Passages, err = split(out); err != nil {
		return nil, err
	}
	if len(doc.Passages) == 0 {
		return nil, fmt.Errorf("%w; pictures and scanned pages are not read: make a copy with a text layer (ocrmypdf) and import that",
			ErrNoText)
	}
	if doc.Pages == 0 {
		doc.Pages = out.page
	}
	if doc.Title == "" && len(out.list) > 0 && out.list[0].kind == heading {
		doc.Title = out.list[0].text
	}
	if doc.Title = clean(doc.Title); len(doc.Title) > maxTitle {
		doc.Title = strings.ToValidUTF8(doc.Title[:maxTitle], "")
	}

	return doc, nil
}

const maxTitle = 200 // bytes of a title and of a heading

// clean returns a text in one line, without what is invisible.
func clean(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "�")
	}
	return strings.Join(strings.Fields(strings.Map(visible, s)), " ")
}

// visible drops characters that have no shape. Some of them could hide words from a reader or change their order.
func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r < ' ', r == 0x7f, r >= 0x80 && r < 0xa0, r == 0xad, r == 0x200b, r == 0xfeff, r == 0xfffe,
		r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r >= 0xe0000 && r <= 0xe007f:
		return -1
	case r == 0xa0:
		return ' '
	}

	return r
}

// ligatures are letters that are printed together, as PDF files and some texts have them.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")
