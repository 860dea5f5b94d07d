package documents

import (
	"strings"
)

var (
	atx        = pattern(`^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$`)
	fenceLine  = pattern("^ {0,3}(```+|~~~+)")
	tableRule  = pattern(`^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$`)
	htmlRemark = pattern(`(?s)<!--.*?-->`)
	htmlTag    = pattern(`</?[a-zA-Z][^<>]{0,300}>`)
	link       = pattern(`!?\[([^\[\]]*)\]\(([^()\s]*)(?:\s+"[^"]*")?\)`)
	frontBlock = pattern(`(?s)\A---\n(.*?)\n---\n`)
	frontTitle = pattern(`(?m)^title:\s*["']?(.*?)["']?\s*$`)
)

// readMarkdown reads Markdown line by line: headings, paragraphs, items, tables and code. Emphasis stays as it is written.
func readMarkdown(data []byte, doc *Document, out *blocks) error {
	text, err := decodeText(data)
	if err != nil {
		return err
	}

	if m := frontBlock().FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		if t := frontTitle().FindStringSubmatch(m[1]); t != nil {
			doc.Title = t[1]
		}
	}

	m := &markdownReader{doc: doc, out: out}
	text = htmlRemark().ReplaceAllString(text, "")

	for line := range strings.SplitSeq(text, "\n") {
		if err := m.line(line); err != nil {
			return err
		}
	}

	return m.flush()
}

type markdownReader struct {
	doc   *Document
	out   *blocks
	part  []string
	kind  kind
	fence string // that ends the code that is being read
}

func (m *markdownReader) flush() error {
	text := strings.Join(m.part, "\n")
	if m.kind != code {
		text = unwrap(plain(text))
	}

	k := m.kind
	m.part, m.kind = m.part[:0], paragraph

	return m.out.add(k, 0, text)
}

// plain returns a text without tags, and with the words of its links.
func plain(text string) string {
	return htmlTag().ReplaceAllString(link().ReplaceAllString(text, "$1"), "")
}

func (m *markdownReader) line(line string) error {
	if m.fence != "" {
		if strings.HasPrefix(strings.TrimSpace(line), m.fence) {
			m.fence = ""
			return m.flush()
		}
		m.part = append(m.part, line)

		return nil
	}

	if h := atx().FindStringSubmatch(line); h != nil {
		return m.heading(len(h[1]), h[2])
	}

	blank := strings.TrimSpace(line) == ""

	switch {
	case fenceLine().MatchString(line):
		err := m.flush()
		m.kind, m.fence = code, fenceLine().FindStringSubmatch(line)[1]

		return err
	case blank:
		return m.flush()
	case underline().MatchString(line) && len(m.part) == 1 && m.kind == paragraph:
		title := m.part[0]
		m.part = m.part[:0]

		return m.heading(1+strings.Index("=-~", line[:1]), title)
	case len(m.part) == 0 && (strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")) && !bullet().MatchString(line):
		return m.out.add(code, 0, line)
	case strings.HasPrefix(strings.TrimSpace(line), "|"):
		if err := m.flush(); err != nil || tableRule().MatchString(line) {
			return err
		}
		m.part, m.kind = append(m.part, tableRow(line)), row

		return m.flush()
	case bullet().MatchString(line):
		if err := m.flush(); err != nil {
			return err
		}
		m.kind = item
	}

	m.part = append(m.part, line)

	return nil
}

func (m *markdownReader) heading(level int, title string) error {
	if err := m.flush(); err != nil {
		return err
	}
	title = plain(title)
	if m.doc.Title == "" && level == 1 {
		m.doc.Title = title
	}

	return m.out.add(heading, level, title)
}

// tableRow returns the cells of a row with one sign between them.
func tableRow(line string) string {
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}

	return strings.Join(cells, " | ")
}
