//go:build !nopdf

package documents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
)

const (
	wasmPage    = 64 << 10
	maxOutline  = 20_000 // entries of an outline
	outlineDeep = 12
	pageChars   = 1 << 20 // of a page
	toStart     = 30 * time.Second
)

// pdfProgram is PDFium, compiled once. Each document has a sandbox of its own.
type pdfProgram struct {
	compiled wazero.CompilationCache
}

func (p *pdfProgram) close() error {
	if p.compiled == nil {
		return nil
	}

	err := p.compiled.Close(context.Background())
	p.compiled = nil
	debug.FreeOSMemory() // a program that watches a folder goes on without it

	return err
}

// open returns a sandbox. It sees no files, and what it prints is dropped.
func (p *pdfProgram) open(memory int64) (pdfium.Pool, pdfium.Pdfium, error) {
	if p.compiled == nil {
		p.compiled = wazero.NewCompilationCache()
	}

	config := wazero.NewRuntimeConfig().WithCompilationCache(p.compiled).WithCloseOnContextDone(true).
		WithMemoryLimitPages(uint32(memory / wasmPage))

	pool, err := webassembly.Init(webassembly.Config{
		MaxIdle: 1, MaxTotal: 1, RuntimeConfig: config, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
	})
	if err != nil {
		return nil, nil, err
	}

	instance, err := pool.GetInstance(toStart)
	if err != nil {
		return nil, nil, errors.Join(err, pool.Close())
	}

	return pool, instance, nil
}

// readPDF reads the lines of each page, and divides them into blocks when all are known.
func (r *Reader) readPDF(ctx context.Context, data []byte, doc *Document, out *blocks) error {
	pool, instance, err := r.pdf.open(r.limits.Memory)
	if err != nil {
		return fmt.Errorf("the program for PDF does not start: %w", err)
	}
	defer pool.Close() //nolint:errcheck // nothing is left of it in any case

	// A page that takes for ever is ended in its midst.
	stop := context.AfterFunc(ctx, func() { _ = instance.Kill() })
	defer stop()

	p := &pdfFile{pdf: instance, limits: &r.limits}

	err = p.read(ctx, data)
	if err == nil {
		doc.Title, doc.Pages = p.title, p.count
		err = p.layout.blocks(out)
		doc.Notes = p.notes()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}

	return err
}

type pdfFile struct {
	pdf    pdfium.Pdfium
	limits *Limits
	doc    references.FPDF_DOCUMENT
	title  string
	count  int // of pages
	layout layout

	bytes     int
	empty     []int // pages without text
	unmapped  []int // pages whose letters have no known meaning
	unreadble []int // pages that are damaged
}

func (p *pdfFile) read(ctx context.Context, data []byte) (err error) {
	// The program ends when its memory is full, and its library does not foresee that everywhere.
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("%w: its reader failed: %.200v", ErrBroken, e)
		}
	}()

	doc, err := p.pdf.OpenDocument(&requests.OpenDocument{File: &data})

	switch {
	case errors.Is(err, pdferrors.ErrPassword), errors.Is(err, pdferrors.ErrSecurity):
		return fmt.Errorf("%w: remove its password first, as with qpdf --decrypt --password=... in.pdf out.pdf", ErrEncrypted)
	case err != nil:
		return fmt.Errorf("%w: PDFium says %w; repair it, as with qpdf in.pdf out.pdf", ErrBroken, err)
	}

	p.doc = doc.Document

	pages, err := p.pdf.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: p.doc})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	if p.count = pages.PageCount; p.count > p.limits.Pages {
		return fmt.Errorf("%w: it has %d pages, and the limit is %d; split it", ErrTooLarge, p.count, p.limits.Pages)
	}
	if p.count == 0 {
		return fmt.Errorf("%w: it has no pages", ErrBroken)
	}

	if meta, err := p.pdf.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: p.doc, Tag: "Title"}); err == nil {
		p.title = meta.Value
	}

	for i := range p.count {
		if ctx.Err() != nil {
			return ctx.Err()
		}

		lines, err := p.page(i)

		switch {
		case errors.Is(err, ErrTooLarge):
			return err
		case err != nil:
			p.unreadble = append(p.unreadble, i+1)
		case len(lines) == 0:
			p.empty = append(p.empty, i+1)
		}
		p.layout.pages = append(p.layout.pages, lines)
	}

	p.outline()

	// A sandbox that has ended answers no page.
	if len(p.unreadble) == p.count {
		return fmt.Errorf("%w: none of its %d pages can be read", ErrBroken, p.count)
	}

	return nil
}

// outline gathers the entries of the outline, which is the best source of sections.
func (p *pdfFile) outline() {
	// A damaged outline may be a circle, which GetBookmarks would follow for ever.
	if count := p.countEntries(nil, 1); count == 0 || count >= maxOutline {
		return
	}

	all, err := p.pdf.GetBookmarks(&requests.GetBookmarks{Document: p.doc})
	if err != nil {
		return
	}
	p.entries(all.Bookmarks, 1)
}

// countEntries counts the entries below one, up to maxOutline.
func (p *pdfFile) countEntries(parent *references.FPDF_BOOKMARK, level int) (count int) {
	if level > outlineDeep {
		return maxOutline
	}

	first, err := p.pdf.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: p.doc, Bookmark: parent})
	if err != nil {
		return 0
	}

	for at := first.Bookmark; at != nil && count < maxOutline; {
		count += 1 + p.countEntries(at, level+1)

		next, err := p.pdf.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: p.doc, Bookmark: *at})
		if err != nil {
			return maxOutline
		}
		at = next.Bookmark
	}

	return count
}

func (p *pdfFile) entries(list []responses.GetBookmarksBookmark, level int) {
	for i := range list {
		e := entry{title: clean(list[i].Title), level: level, y: -1}

		dest := list[i].DestInfo
		if action := list[i].ActionInfo; dest == nil && action != nil {
			dest = action.DestInfo
		}
		if dest != nil {
			e.page = dest.PageIndex + 1
			if spot, err := p.pdf.FPDFDest_GetLocationInPage(&requests.FPDFDest_GetLocationInPage{Dest: dest.Reference}); err == nil && spot.Y != nil {
				e.y = float64(*spot.Y)
			}
		}

		if e.title != "" && e.page > 0 {
			p.layout.outline = append(p.layout.outline, e)
		}
		p.entries(list[i].Children, level+1)
	}
}

// page returns the lines of a page.
func (p *pdfFile) page(index int) ([]line, error) {
	page, err := p.pdf.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: p.doc, Index: index})
	if err != nil {
		return nil, err
	}
	defer p.pdf.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: page.Page}) //nolint:errcheck // it was only read

	text, err := p.pdf.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: requests.Page{ByReference: &page.Page}})
	if err != nil {
		return nil, err
	}
	defer p.pdf.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}) //nolint:errcheck // as above

	chars, err := p.pdf.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text.TextPage})
	if err != nil || chars.Count <= 0 {
		return nil, err
	}
	if chars.Count > pageChars {
		return nil, fmt.Errorf("%w: page %d has %d characters, and the limit is %d", ErrTooLarge, index+1, chars.Count, pageChars)
	}

	whole, err := p.pdf.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: text.TextPage, Count: chars.Count})
	if err != nil {
		return nil, err
	}
	if p.bytes += len(whole.Text); p.bytes > p.limits.Text {
		return nil, fmt.Errorf("%w: it has over %d bytes of text; split it", ErrTooLarge, p.limits.Text)
	}
	if isGarbage(whole.Text) {
		p.unmapped = append(p.unmapped, index+1)
		return []line{}, nil
	}

	return p.lines(text.TextPage, whole.Text)
}

// lines divides the text of a page, and asks where each line stands and how large it is.
func (p *pdfFile) lines(page references.FPDF_TEXTPAGE, text string) (out []line, err error) {
	at := 0 // in characters of UTF-16, which are those that PDFium counts

	for raw := range strings.SplitAfterSeq(text, "\n") {
		l := line{text: strings.TrimSpace(strings.Map(visible, hyphens.Replace(raw)))}

		// The first letter tells of the line. A bullet or a sign would have another size.
		first, offset := -1, 0
		for _, r := range raw {
			if isLetter(r) && first < 0 {
				first = at + offset
			}
			offset++
			if r > 0xffff {
				offset++
			}
		}
		at += offset

		if l.text == "" {
			continue
		}
		if first < 0 {
			first = at - offset
		}

		if origin, err := p.pdf.FPDFText_GetCharOrigin(&requests.FPDFText_GetCharOrigin{TextPage: page, Index: first}); err == nil {
			l.x, l.y = origin.X, origin.Y
		}
		size, err := p.pdf.FPDFText_GetFontSize(&requests.FPDFText_GetFontSize{TextPage: page, Index: first})
		if err != nil {
			return nil, err
		}
		l.size = size.FontSize
		if m, err := p.pdf.FPDFText_GetMatrix(&requests.FPDFText_GetMatrix{TextPage: page, Index: first}); err == nil {
			if scale := max(abs(m.Matrix.D), abs(m.Matrix.B)); scale > 0 {
				l.size *= scale
			}
		}
		out = append(out, l)
	}

	return out, nil
}

func abs(f float32) float64 { return float64(max(f, -f)) }

// notes says which pages were not read.
func (p *pdfFile) notes() (out []string) {
	for _, n := range []struct {
		pages []int
		one   string
		more  string
	}{
		{p.empty, "has no text", "have no text"},
		{p.layout.contents, "is a table of contents, which is left out", "are a table of contents, which is left out"},
		{p.unmapped, "has letters without a meaning (its font has no table of characters)", "have letters without a meaning (their fonts have no table of characters)"},
		{p.unreadble, "is damaged", "are damaged"},
	} {
		switch {
		case len(n.pages) == 1:
			out = append(out, fmt.Sprintf("page %d %s", n.pages[0], n.one))
		case len(n.pages) > 1:
			out = append(out, fmt.Sprintf("%d pages %s: %s", len(n.pages), n.more, ranges(n.pages)))
		}
	}

	return out
}
