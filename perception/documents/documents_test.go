package documents_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/perception/documents"
)

func read(t *testing.T, name, text string) *documents.Document {
	t.Helper()
	doc, err := documents.NewReader(documents.Limits{}).Read(t.Context(), name, []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}

	return doc
}

func texts(doc *documents.Document) string {
	var all []string
	for _, p := range doc.Passages {
		all = append(all, p.Text)
	}

	return strings.Join(all, "\n")
}

const manualMarkdown = `---
title: "Gripper manual"
---
# Safety

Keep your hands out of the working space. Press the [red button](http://stop) to stop, it is on the **left** side of the arm.

## Grippers

| finger | force |
|--------|-------|
| rubber | 40 N  |
| steel  | 90 N  |

- Switch off the air before you
  change a finger.
- Wear glasses.

` + "```" + `
close(40)
# not a heading
` + "```" + `
<!-- a remark
of the writer -->
`

func TestMarkdownIsReadByItsHeadings(t *testing.T) {
	doc := read(t, "manual.md", manualMarkdown)
	if doc.Title != "Gripper manual" || doc.MediaType != documents.Markdown {
		t.Errorf("got %q, %s", doc.Title, doc.MediaType)
	}

	last := doc.Passages[len(doc.Passages)-1]
	for _, want := range []string{"rubber | 40 N", "- Switch off the air before you change a finger.", "close(40)\n# not a heading"} {
		if !strings.Contains(last.Text, want) {
			t.Errorf("%q is missing in %q", want, last.Text)
		}
	}
	if all := texts(doc); strings.Contains(all, "remark") || strings.Contains(all, "http") || strings.Contains(all, "---") {
		t.Errorf("got %s", all)
	}
	if first := doc.Passages[0]; !slices.Equal(first.Section, []string{"Safety"}) {
		t.Errorf("got section %q", first.Section)
	}
	if !slices.Equal(last.Section, []string{"Safety", "Grippers"}) {
		t.Errorf("got section %q", last.Section)
	}
}

func TestHTMLIsReadAsItIsSeen(t *testing.T) {
	doc := read(t, "page.html", `<!doctype html><html><head><title>Arm &amp; hand</title><script>alert("secret")</script>
		<style>p{}</style></head><body><nav>Home</nav><h1>Safety</h1>
		<p>Keep your hands <b>out</b> of
		the space.<p>Second paragraph.</p>
		<p hidden>hidden <i>words</i></p><div style="display: none">more <div>hidden</div> words</div>
		<h2>Grippers</h2><ul><li>rubber<li><p>steel</p></ul>
		<table><tr><th>finger</th><th>force</th></tr><tr><td>rubber</td><td>40&nbsp;N</td></tr></table>
		<pre>close(40)
open()</pre><template>none</template><img src=x onerror=alert(1)></body></html>`)

	all := texts(doc)
	for _, want := range []string{"Keep your hands out of the space.", "Second paragraph.", "- rubber\n- steel", "finger | force", "rubber | 40 N", "close(40)\nopen()"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
	for _, not := range []string{"secret", "hidden", "Home", "none", "alert", "<"} {
		if strings.Contains(all, not) {
			t.Errorf("%q is in\n%s", not, all)
		}
	}
	if doc.Title != "Arm & hand" {
		t.Errorf("got title %q", doc.Title)
	}
}

func TestHTMLSaysItsEncoding(t *testing.T) {
	doc := read(t, "page.html", `<meta charset="windows-1252"><p>H`+"\xf6"+`he der Achse`)
	if got := texts(doc); got != "Höhe der Achse" {
		t.Errorf("got %q", got)
	}
}

// docxOf returns a Word document with that body.
func docxOf(t *testing.T, parts map[string]string) []byte {
	t.Helper()

	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range parts {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}

func body(inner string) string {
	return `<?xml version="1.0"?><w:document xmlns:w="x"><w:body>` + inner + `</w:body></w:document>`
}

func TestDocxIsReadWithItsHeadingsTablesAndPages(t *testing.T) {
	long := strings.Repeat("The arm moves slowly near the part. ", 6)
	data := docxOf(t, map[string]string{
		"word/styles.xml":   `<w:styles xmlns:w="x"><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="X"><w:name w:val="Own"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style></w:styles>`,
		"docProps/core.xml": `<c:coreProperties xmlns:c="x" xmlns:dc="y"><dc:title>Arm</dc:title><dc:creator>nobody</dc:creator></c:coreProperties>`,
		"word/document.xml": body(`<w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr><w:r><w:t>Safety</w:t></w:r></w:p>
			<w:p><w:r><w:t xml:space="preserve">` + long + `Hands </w:t></w:r><w:del><w:r><w:delText>in</w:delText><w:t>gone</w:t></w:r></w:del><w:r><w:t>out.</w:t></w:r></w:p>
			<w:p><w:pPr><w:pStyle w:val="X"/></w:pPr><w:r><w:lastRenderedPageBreak/><w:t>Grippers</w:t></w:r></w:p>
			<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>rubber</w:t></w:r></w:p>
			<w:tbl><w:tr><w:tc><w:p><w:r><w:t>finger</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>40 N</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`),
	})

	doc := read(t, "a.docx", string(data))
	if doc.Title != "Arm" || len(doc.Passages) != 2 || doc.Pages != 2 {
		t.Fatalf("got %+v", doc)
	}
	if got := doc.Passages[0].Text; !strings.HasSuffix(got, "Hands out.") {
		t.Errorf("got %q", got)
	}
	p := doc.Passages[1]
	if p.Text != "- rubber\n\nfinger | 40 N" || p.Page != 2 || !slices.Equal(p.Section, []string{"Safety", "Grippers"}) {
		t.Errorf("got %+v", p)
	}
}

func TestBadDocumentsAreRefusedWithTheirReason(t *testing.T) {
	paragraphs := func(n int) string {
		return strings.Repeat("<w:p><w:r><w:t>"+strings.Repeat(" ", 1000)+"</w:t></w:r></w:p>", n)
	}

	for name, c := range map[string]struct {
		file string
		data []byte
		want error
		says string
	}{
		"empty":               {"a.txt", nil, documents.ErrNoText, "empty"},
		"only spaces":         {"a.md", []byte(" \n\n"), documents.ErrNoText, ""},
		"another format":      {"a.xlsx", []byte("PK\x03\x04"), documents.ErrUnsupported, "docx, pdf"},
		"invalid UTF-8":       {"a.txt", []byte("h\xf6he"), documents.ErrBroken, "byte 1 "},
		"binary":              {"a.txt", []byte("a\x00b\x00\x00c"), documents.ErrBroken, "zero bytes"},
		"a large text":        {"a.txt", []byte(strings.Repeat("A sentence of some words. ", 800_000)), documents.ErrTooLarge, "split it"},
		"no Word document":    {"a.docx", docxOf(t, map[string]string{"x": "y"}), documents.ErrBroken, "word/document.xml"},
		"no archive":          {"a.docx", []byte("PK\x03\x04 and more"), documents.ErrBroken, ""},
		"an external entity":  {"a.docx", docxOf(t, map[string]string{"word/document.xml": `<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>` + body("<w:p><w:r><w:t>&x;</w:t></w:r></w:p>")}), documents.ErrBroken, "document type"},
		"an entity":           {"a.docx", docxOf(t, map[string]string{"word/document.xml": body("<w:p><w:r><w:t>&x;</w:t></w:r></w:p>")}), documents.ErrBroken, "entity"},
		"a zip bomb":          {"a.docx", docxOf(t, map[string]string{"word/document.xml": body(paragraphs(60_000))}), documents.ErrTooLarge, "unpacked"},
		"deep elements":       {"a.docx", docxOf(t, map[string]string{"word/document.xml": strings.Repeat("<w:p>", 10_000)}), documents.ErrBroken, "deep"},
		"cut off in the text": {"a.docx", docxOf(t, map[string]string{"word/document.xml": "<w:document><w:body><w:p>"}), documents.ErrBroken, ""},
		"only scripts":        {"a.html", []byte("<script>x()</script>"), documents.ErrNoText, ""},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := documents.NewReader(documents.Limits{}).Read(t.Context(), c.file, c.data)
			if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("got %v, %v; want %v", err, doc, c.want)
			}
		})
	}
}

func TestUTF16IsRead(t *testing.T) {
	const text = "Höhe der Achse: 40 mm"
	for name, order := range map[string]func(u uint16) []byte{
		"little": func(u uint16) []byte { return []byte{byte(u), byte(u >> 8)} },
		"big":    func(u uint16) []byte { return []byte{byte(u >> 8), byte(u)} },
	} {
		for _, mark := range []string{"", "\ufeff"} {
			var data []byte
			for _, u := range utf16.Encode([]rune(mark + text)) {
				data = append(data, order(u)...)
			}
			if got := texts(read(t, "a.txt", string(data))); got != text {
				t.Errorf("%s %q: got %q", name, mark, got)
			}
		}
	}
}

func TestPassagesAreCutAtSentences(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "Step %d turns the screw of Fig. %d by 3.5 mm, i.e. it is slow. ", i, i)
	}

	for i, p := range read(t, "a.txt", b.String()).Passages {
		if n := utf8.RuneCountInString(p.Text); n > 1200 || n < 200 {
			t.Errorf("passage %d has %d characters", i, n)
		}
		if !strings.HasPrefix(p.Text, "Step ") || !strings.HasSuffix(p.Text, "slow.") {
			t.Errorf("passage %d is torn: %q", i, p.Text)
		}
	}
}

func TestChineseIsCutAtItsSentences(t *testing.T) {
	doc := read(t, "a.txt", strings.Repeat("机器人必须在夹爪松开之前停下来！操作员要戴上护目镜。", 120))
	if len(doc.Passages) < 3 {
		t.Fatalf("got %d passages", len(doc.Passages))
	}
	for i, p := range doc.Passages {
		if n := utf8.RuneCountInString(p.Text); n > 1200 || !strings.HasSuffix(p.Text, "。") && !strings.HasSuffix(p.Text, "！") || strings.Contains(p.Text, " ") {
			t.Errorf("passage %d of %d characters is torn: %q", i, n, p.Text)
		}
	}
}

func TestRowsAndItemsAreNotTorn(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "- Item %d says that something is so. And a second sentence of it! Ends with %d\n", i, i)
	}

	for _, p := range read(t, "a.md", b.String()).Passages {
		for line := range strings.SplitSeq(p.Text, "\n") {
			var from, to int
			if _, err := fmt.Sscanf(line, "- Item %d says that something is so. And a second sentence of it! Ends with %d", &from, &to); err != nil || from != to {
				t.Errorf("got %q: %v", line, err)
			}
		}
	}
}

func TestAWordIsCutOnlyIfItIsLongerThanAPassage(t *testing.T) {
	words := strings.Repeat("gripper ", 2000)
	for _, p := range read(t, "a.txt", words).Passages {
		if strings.Trim(strings.ReplaceAll(p.Text, "gripper", ""), " ") != "" {
			t.Fatalf("got %q", p.Text)
		}
	}

	long := strings.Repeat("e\u0301", 3000)
	doc := read(t, "a.txt", long)
	joined := ""
	for _, p := range doc.Passages {
		if strings.HasPrefix(p.Text, "\u0301") {
			t.Error("a letter lost its accent")
		}
		joined += p.Text
	}
	if joined != long {
		t.Error("letters are lost")
	}
}

func TestTextHasPagesByFormFeed(t *testing.T) {
	doc := read(t, "a.txt", strings.Repeat("First page says this. ", 40)+"\f"+strings.Repeat("Second page says that. ", 40))
	if doc.Pages != 2 || doc.Passages[len(doc.Passages)-1].Page != 2 || doc.Passages[0].Page != 1 {
		t.Errorf("got %+v", doc)
	}
}

func TestInvisibleCharactersAreLeftOut(t *testing.T) {
	doc := read(t, "a.txt", "safe\u202eevil\u2066 text\U000E0041\u200b here")
	if got := texts(doc); got != "safeevil text here" {
		t.Errorf("got %q", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("a.md", []byte(manualMarkdown))
	f.Add("a.html", []byte("<ul><li>a<table><tr><td>b"))
	f.Add("a.txt", []byte("1.2 Title\n\ntext\f- item"))
	f.Add("a.docx", []byte("PK\x03\x04"))

	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if documents.Accepts(name, data) == documents.PDF {
			return
		}
		doc, err := documents.NewReader(documents.Limits{}).Read(t.Context(), name, data)
		if err != nil {
			return
		}
		for _, p := range doc.Passages {
			if !utf8.ValidString(p.Text) || strings.TrimSpace(p.Text) == "" || utf8.RuneCountInString(p.Text) > 1300 {
				t.Errorf("passage %q", p.Text)
			}
		}
	})
}
