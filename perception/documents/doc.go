// Package documents reads documents that people wrote: plain text, Markdown, HTML, Word (docx) and PDF. It knows nothing
// of a memory.
//
// [Reader.Read] returns a [Document]: its title, and its text in [Passage]s of about 200 to 1,200 characters. A passage
// is cut at the end of a sentence, never in a word, and names its page and the headings above it. An item of a list and a
// row of a table are not torn.
//
//	r := documents.NewReader(documents.Limits{})
//	defer r.Close()
//	doc, err := r.Read(ctx, "manual.pdf", data)
//
// PDF is read by PDFium, which runs as WebAssembly in a sandbox: it opens no files, its memory has a limit, and the
// context of the call stops it. The program is compiled with the first PDF, which takes about a second and 80 MB, and is
// dropped by [Reader.Close]. The build tag nopdf leaves it out.
//
// # Caveats
//
// Pictures are not read, so a scanned page has no text; [Document.Notes] names such pages. The pages of a Word document
// are those that Word noted when it last saved the file. A text file has pages if it has form feeds.
package documents
