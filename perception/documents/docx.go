package documents

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	// maxExpansion is how much larger than its compressed form a part may be, from freeExpansion bytes on. Word reaches
	// about 20.
	maxExpansion  = 200
	freeExpansion = 8 << 20
	maxXMLDepth   = 200
)

// readDocx reads the text of a Word document, token by token.
func readDocx(data []byte, doc *Document, out *blocks) error {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}

	part := func(name string, token func(*xml.Decoder, xml.Token) error) error {
		for _, f := range z.File {
			if f.Name == name {
				return readPart(f, out.limits.Bytes, token)
			}
		}
		return errNoPart
	}

	d := &docxReader{out: out, levels: map[string]int{}}

	// Documents without styles or properties have neither part.
	if err := part("word/styles.xml", d.style); err != nil && !errors.Is(err, errNoPart) {
		return err
	}
	title := false
	err = part("docProps/core.xml", func(_ *xml.Decoder, t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			title = t.Name.Local == "title"
		case xml.CharData:
			if title {
				doc.Title += string(t)
			}
		case xml.EndElement:
			title = false
		}

		return nil
	})
	if err != nil && !errors.Is(err, errNoPart) {
		return err
	}

	err = part("word/document.xml", d.token)
	if errors.Is(err, errNoPart) {
		return fmt.Errorf("%w: it is no Word document, since it has no word/document.xml", ErrBroken)
	}
	if err == nil {
		err = d.flush()
	}
	doc.Pages = out.page

	return err
}

var errNoPart = errors.New("there is no such part")

// readPart calls token for each token of a part. Nothing outside it is ever read: a document type, which could define
// entities, is refused.
func readPart(f *zip.File, most int64, token func(*xml.Decoder, xml.Token) error) error {
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrBroken, f.Name, err)
	}
	defer r.Close()

	limit := min(most, max(freeExpansion, maxExpansion*int64(f.CompressedSize64)))
	in := &io.LimitedReader{R: r, N: limit + 1}
	dec := xml.NewDecoder(in)

	for depth := 0; ; {
		t, err := dec.RawToken()

		switch {
		case in.N <= 0:
			return fmt.Errorf("%w: %s grows to over %d bytes when it is unpacked", ErrTooLarge, f.Name, limit)
		case errors.Is(err, io.EOF) && depth == 0:
			return nil
		case err != nil:
			return fmt.Errorf("%w: %s: %w", ErrBroken, f.Name, err)
		}

		switch t.(type) {
		case xml.Directive:
			return fmt.Errorf("%w: %s has a document type, which no Word document has", ErrBroken, f.Name)
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
		if depth > maxXMLDepth || depth < 0 {
			return fmt.Errorf("%w: the elements of %s are nested wrongly or over %d deep", ErrBroken, f.Name, maxXMLDepth)
		}

		if err := token(dec, t); err != nil {
			return err
		}
	}
}

type docxReader struct {
	out    *blocks
	levels map[string]int // of headings, by the id of their style
	styled string         // the style that is being read

	text     strings.Builder
	kind     kind
	level    int
	inText   bool
	rows     int // nested
	cells    int
	deleted  int
	fallback int // pictures in an older form, whose text comes twice
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}

	return ""
}

var headingName = pattern(`(?i)^(?:heading|überschrift|titre|titolo|標題|标题|見出し) ?([1-9])$`)

// style notes which styles are headings: by their outline level, or by their name.
func (d *docxReader) style(_ *xml.Decoder, t xml.Token) error {
	e, ok := t.(xml.StartElement)
	if !ok {
		return nil
	}

	switch e.Name.Local {
	case "style":
		d.styled = attribute(e, "styleId")
	case "name":
		if m := headingName().FindStringSubmatch(attribute(e, "val")); m != nil {
			d.levels[d.styled] = int(m[1][0] - '0')
		} else if strings.EqualFold(attribute(e, "val"), "title") {
			d.levels[d.styled] = 1
		}
	case "outlineLvl":
		if n, err := strconv.Atoi(attribute(e, "val")); err == nil && n >= 0 && n < 9 {
			d.levels[d.styled] = n + 1
		}
	}

	return nil
}

func (d *docxReader) token(_ *xml.Decoder, t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		return d.start(t)
	case xml.EndElement:
		return d.end(t.Name.Local)
	case xml.CharData:
		if d.inText && d.deleted == 0 && d.fallback == 0 {
			d.text.Write(t)
		}
	}

	return nil
}

func (d *docxReader) start(e xml.StartElement) error {
	switch e.Name.Local {
	case "p":
		if d.rows > 0 {
			d.text.WriteByte(' ')
		}
	case "pStyle":
		if level := d.levels[attribute(e, "val")]; level > 0 && d.rows == 0 {
			d.kind, d.level = heading, level
		}
	case "outlineLvl":
		if n, err := strconv.Atoi(attribute(e, "val")); err == nil && n >= 0 && n < 9 && d.rows == 0 {
			d.kind, d.level = heading, n+1
		}
	case "numPr":
		if d.kind == paragraph && d.rows == 0 {
			d.kind = item
		}
	case "t":
		d.inText = true
	case "tab":
		d.text.WriteByte('\t')
	case "br", "cr":
		if attribute(e, "type") == "page" {
			break // Word notes the page itself
		}
		d.text.WriteByte('\n')
	case "lastRenderedPageBreak":
		d.out.page = max(1, d.out.page) + 1
	case "del", "moveFrom":
		d.deleted++
	case "Fallback":
		d.fallback++
	case "tr":
		if d.rows++; d.rows == 1 {
			err := d.flush()
			d.cells = 0

			return err
		}
	case "tc":
		if d.rows == 1 {
			if d.cells++; d.cells > 1 {
				d.text.WriteString(" | ")
			}
		}
	}

	return nil
}

func (d *docxReader) end(name string) error {
	switch name {
	case "t":
		d.inText = false
	case "del", "moveFrom":
		d.deleted--
	case "Fallback":
		d.fallback--
	case "tr":
		if d.rows--; d.rows == 0 {
			d.kind = row
			return d.flush()
		}
	case "p":
		if d.rows == 0 {
			return d.flush()
		}
	}

	return nil
}

func (d *docxReader) flush() error {
	text := d.text.String()
	if d.kind == item && strings.TrimSpace(text) != "" {
		text = "- " + text
	}

	k, level := d.kind, d.level
	d.text.Reset()
	d.kind, d.level = paragraph, 0

	return d.out.add(k, level, text)
}
