//go:build !nopdf

package documents_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/perception/documents"
)

// pdfOf returns a PDF of pages, each with lines of "size x y text".
func pdfOf(t *testing.T, outline []string, pages ...string) []byte {
	t.Helper()

	var objects []string
	kids, first := "", 4+len(pages)*2
	for i, page := range pages {
		kids += fmt.Sprintf("%d 0 R ", 4+2*i)
		objects = append(objects,
			fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>", 5+2*i),
			streamOf("", []byte(content(page))))
	}

	outlines := ""
	if len(outline) > 0 {
		outlines = fmt.Sprintf("/Outlines %d 0 R", first)
		objects = append(objects, fmt.Sprintf("<</First %d 0 R/Last %d 0 R/Count %d>>", first+1, first+len(outline), len(outline)))
		for i, e := range outline {
			var page int
			var title string
			if _, err := fmt.Sscanf(e, "%d", &page); err != nil {
				t.Fatal(err)
			}
			_, title, _ = strings.Cut(e, " ")
			next := ""
			if i+1 < len(outline) {
				next = fmt.Sprintf("/Next %d 0 R", first+2+i)
			}
			objects = append(objects, fmt.Sprintf("<</Title(%s)/Parent %d 0 R/Dest[%d 0 R/Fit]%s>>", title, first, 4+2*(page-1), next))
		}
	}

	head := []string{
		"<</Type/Catalog/Pages 2 0 R" + outlines + ">>",
		fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", kids, len(pages)),
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
	}

	return assemble(append(head, objects...), "")
}

func content(page string) string {
	var b strings.Builder
	for l := range strings.SplitSeq(strings.TrimSpace(page), "\n") {
		var size, x, y int
		if _, err := fmt.Sscanf(l, "%d %d %d", &size, &x, &y); err != nil {
			continue
		}
		text := strings.SplitN(strings.TrimSpace(l), " ", 4)[3]
		text = strings.NewReplacer("(", `\(`, ")", `\)`).Replace(text)
		fmt.Fprintf(&b, "BT /F1 %d Tf %d %d Td (%s) Tj ET\n", size, x, y, text)
	}

	return b.String()
}

func streamOf(more string, data []byte) string {
	return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", more, len(data), data)
}

func assemble(objects []string, trailer string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.5\n")

	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, start)

	return b.Bytes()
}

// shared is compiled once for all tests of PDF.
var shared = documents.NewReader(documents.Limits{Time: time.Minute})

func readPDF(t *testing.T, data []byte) (*documents.Document, error) {
	t.Helper()
	return shared.Read(t.Context(), "manual.pdf", data)
}

func manual(t *testing.T) []byte {
	var pages []string
	for i := range 6 {
		page := fmt.Sprintf("9 50 780 Gripper manual, edition %d\n9 300 20 %d\n", 3, i+1)
		switch i {
		case 1:
			page += "18 50 740 1 Safety\n12 50 700 Keep your hands out of the working space while the arm is mov-\n12 50 686 ing. The emergency stop is red.\n" +
				"12 50 650 - Wear safety glasses at every time.\n12 50 636 - Switch off the air before you change a finger.\n"
		case 2:
			page += "16 50 740 1.1 Grippers\n12 50 700 The fingers close with 40 N. They open when the air fails, so that a part\n12 50 686 may fall. Hold it\n"
		case 3:
			page += "12 50 740 with a second clamp before you switch off the air.\n12 50 700 Nothing else is on this page but these words about clamps.\n"
		case 4:
		default:
			page += fmt.Sprintf("12 50 700 This is the text of page %d of the manual, which says little of its own accord.\n12 50 650 More of it follows here.\n", i+1)
		}
		if i == 4 {
			page = ""
		}
		pages = append(pages, page)
	}

	return pdfOf(t, nil, pages...)
}

func TestPDFHasPagesSectionsAndWholeSentences(t *testing.T) {
	doc, err := readPDF(t, manual(t))
	if err != nil {
		t.Fatal(err)
	}

	whole := ""
	for _, p := range doc.Passages {
		whole += p.Text + "\n"
	}
	for _, want := range []string{
		"while the arm is moving. The emergency stop is red.",  // a divided word
		"so that a part may fall. Hold it with a second clamp", // over the end of a page
		"- Wear safety glasses at every time.",
	} {
		if !strings.Contains(strings.ReplaceAll(whole, "\n", " "), want) {
			t.Errorf("the text lacks %q:\n%s", want, whole)
		}
	}
	if strings.Contains(whole, "edition") {
		t.Errorf("the header is in the text:\n%s", whole)
	}

	at := slices.IndexFunc(doc.Passages, func(p documents.Passage) bool { return strings.Contains(p.Text, "40 N") })
	if at < 0 {
		t.Fatal("a passage is missing")
	}
	if p := doc.Passages[at]; p.Page != 3 || p.Last != 4 || !slices.Equal(p.Section, []string{"1 Safety", "1.1 Grippers"}) {
		t.Errorf("got pages %d to %d, section %q", p.Page, p.Last, p.Section)
	}
	if !slices.Equal(doc.Notes, []string{"page 5 has no text"}) || doc.Pages != 6 {
		t.Errorf("got notes %q, %d pages", doc.Notes, doc.Pages)
	}
}

func TestPDFTakesSectionsFromTheOutline(t *testing.T) {
	long := func(y int) string {
		return fmt.Sprintf("12 50 %d A sentence that is long enough for a section of its own, whatever it says of it.\n12 50 %d And another one that says the same again.\n", y, y-14)
	}
	doc, err := readPDF(t, pdfOf(t, []string{"1 Safety", "1 Grippers"}, "12 50 700 Safety\n"+long(680)+"12 50 600 Grippers\n"+long(580)))
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Passages) != 2 || doc.Passages[0].Section[0] != "Safety" || doc.Passages[1].Section[0] != "Grippers" {
		t.Errorf("got %+v", doc.Passages)
	}
	if strings.Contains(doc.Passages[1].Text, "Grippers") {
		t.Error("the heading is in the text too")
	}
}

func TestATableOfContentsIsLeftOut(t *testing.T) {
	contents := ""
	for i := range 12 {
		contents += fmt.Sprintf("12 50 %d Topic number %c %d\n", 700-20*i, 'a'+rune(i), 2+i/2)
	}
	pages := []string{contents}
	for i := range 8 {
		pages = append(pages, fmt.Sprintf("12 50 700 The text of the topic with the letter %c says enough.\n12 50 660 It ends here.\n", 'a'+rune(i)))
	}

	doc, err := readPDF(t, pdfOf(t, nil, pages...))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(texts(doc), "Topic number") || !slices.Contains(doc.Notes, "page 1 is a table of contents, which is left out") {
		t.Errorf("got %q\n%s", doc.Notes, texts(doc))
	}
}

func TestBadPDFIsRefusedWithItsReason(t *testing.T) {

	var bomb bytes.Buffer
	w := zlib.NewWriter(&bomb)
	zeros := make([]byte, 1<<20)
	for range 600 {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	page := "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R>>"
	head := []string{"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[4 0 R]/Count 1>>", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>", page}
	encrypt := "/Encrypt<</Filter/Standard/V 2/R 3/Length 128/P -44/O<" + strings.Repeat("41", 32) + ">/U<" + strings.Repeat("42", 32) + ">>>/ID[<00><00>]"
	words := []byte("BT /F1 12 Tf 50 700 Td (Some words of text.) Tj ET")

	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"encrypted":         {assemble(append(slices.Clone(head), streamOf("", words)), encrypt), documents.ErrEncrypted},
		"cut off":           {[]byte("%PDF-1.5\n1 0 obj\n<</Type/Catalog"), documents.ErrBroken},
		"no page":           {assemble([]string{"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[]/Count 0>>"}, ""), documents.ErrBroken},
		"no text":           {pdfOf(t, nil, "", ""), documents.ErrNoText},
		"a bomb":            {assemble(append(slices.Clone(head), streamOf("/Filter/FlateDecode", bomb.Bytes())), ""), documents.ErrNoText},
		"pages in a circle": {assemble([]string{"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 90>>"}, ""), documents.ErrBroken},
		"a false count":     {assemble([]string{"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 2000000>>", "<</Type/Page/Parent 2 0 R>>"}, ""), documents.ErrNoText},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := readPDF(t, c.data)
			if !errors.Is(err, c.want) && !(c.want == documents.ErrNoText && errors.Is(err, documents.ErrBroken)) {
				t.Errorf("got %v, %+v", err, doc)
			}
		})
	}

	// The reader goes on after all that.
	if _, err := readPDF(t, manual(t)); err != nil {
		t.Error(err)
	}
}

func TestPDFOfTooManyPagesIsRefused(t *testing.T) {
	r := documents.NewReader(documents.Limits{Pages: 5})
	defer r.Close()
	if _, err := r.Read(t.Context(), "manual.pdf", manual(t)); !errors.Is(err, documents.ErrTooLarge) || !strings.Contains(err.Error(), "6 pages") {
		t.Errorf("got %v", err)
	}
}

func TestPDFIsStopped(t *testing.T) {

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := shared.Read(ctx, "manual.pdf", manual(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}

	slow := documents.NewReader(documents.Limits{Time: time.Nanosecond})
	defer slow.Close()
	if _, err := slow.Read(t.Context(), "manual.pdf", manual(t)); !errors.Is(err, documents.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}
