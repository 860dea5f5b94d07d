package documents

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// pattern returns a regular expression that is compiled when it is used first, so that a program that reads no document
// pays nothing.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// decodeText returns a text in UTF-8. UTF-16 is told by its mark, or by the zero bytes of its Latin letters.
func decodeText(data []byte) (string, error) {
	order := unicode.BigEndian
	wide := false

	switch head := data[:min(len(data), headBytes)]; {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		data = data[3:]
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		wide = true
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		wide, order = true, unicode.LittleEndian
	case bytes.IndexByte(head, 0) >= 0:
		var zeros [2]int

		for i, c := range head {
			if c == 0 {
				zeros[i%2]++
			}
		}

		switch {
		case zeros[0] > len(head)/5 && zeros[1] == 0:
			wide = true
		case zeros[1] > len(head)/5 && zeros[0] == 0:
			wide, order = true, unicode.LittleEndian
		default:
			return "", fmt.Errorf("%w: it has zero bytes and is no text", ErrBroken)
		}
	}

	if wide {
		decoded, err := unicode.UTF16(order, unicode.UseBOM).NewDecoder().Bytes(data)
		if errors.Is(err, unicode.ErrMissingBOM) {
			decoded, err = unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder().Bytes(data)
		}
		if err != nil {
			return "", fmt.Errorf("%w: it is no valid UTF-16: %w", ErrBroken, err)
		}
		data = decoded
	}

	if at := invalidAt(data); at >= 0 {
		return "", fmt.Errorf("%w: byte %d is no UTF-8; convert it, as with iconv -f latin1 -t utf-8", ErrBroken, at)
	}

	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)), nil
}

// invalidAt returns where a text stops being UTF-8, -1 if it is UTF-8.
func invalidAt(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}

	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}

	return -1
}

var (
	bullet    = pattern(`^\s*(?:[-*+•‣◦▪●–·]|\(?\d{1,3}[.)]|\(?[a-zA-Z]\))\s+\S`)
	underline = pattern(`^(={3,}|-{3,}|~{3,})\s*$`)
	// numbered is a heading such as "3.2 Grippers". An item of a list has one number with a point.
	numbered = pattern(`^(?:(\d{1,2}(?:\.\d{1,3}){1,4})\.?|(\d{1,2}))\s+[\p{Lu}\p{Lo}]\PN{2,90}$|^(?:Chapter|Appendix|Part)\s+[\dA-Z]{1,4}\b.{0,90}$`)
)

// numberedLevel returns the level of a heading that has a number, 0 if a line is none.
func numberedLevel(line string) int {
	m := numbered().FindStringSubmatch(line)
	if m == nil || strings.ContainsAny(line[len(line)-1:], ".,;:?!") {
		return 0
	}
	return 1 + strings.Count(m[1], ".")
}

// readText reads a plain text: empty lines are between paragraphs, and form feeds between pages.
func readText(data []byte, out *blocks) error {
	text, err := decodeText(data)
	if err != nil {
		return err
	}
	if strings.Contains(text, "\f") {
		out.page = 1
	}

	for i, page := range strings.Split(text, "\f") {
		if i > 0 {
			out.page++
		}
		if err := plainPage(page, out); err != nil {
			return err
		}
	}

	return nil
}

func plainPage(page string, out *blocks) error {
	lines := strings.Split(page, "\n")

	var part []string

	flush := func(k kind) error {
		text := strings.Join(part, "\n")
		part = part[:0]

		return out.add(k, 0, unwrap(text))
	}

	k := paragraph

	for i, line := range lines {
		blank := strings.TrimSpace(line) == ""
		alone := len(part) == 0 && (i+1 == len(lines) || strings.TrimSpace(lines[i+1]) == "")

		level := 0
		if alone && !blank {
			level = numberedLevel(strings.TrimSpace(line))
		}

		switch {
		case blank:
			if err := flush(k); err != nil {
				return err
			}
			k = paragraph
		case underline().MatchString(line) && len(part) == 1 && k == paragraph:
			level = 1 + strings.Index("=-~", line[:1])
			title := part[0]
			part = part[:0]
			if err := out.add(heading, level, title); err != nil {
				return err
			}
		case level > 0:
			if err := out.add(heading, level, line); err != nil {
				return err
			}
		case bullet().MatchString(line):
			if err := flush(k); err != nil {
				return err
			}
			part, k = append(part, line), item
		default:
			part = append(part, line)
		}
	}

	return flush(k)
}

// unwrap joins the lines of a paragraph that were wrapped. A line that ends early ended on purpose.
func unwrap(text string) string {
	lines := strings.Split(text, "\n")

	longest := 0
	for _, line := range lines {
		longest = max(longest, len(strings.TrimSpace(line)))
	}

	var b strings.Builder

	for i, line := range lines {
		b.WriteString(strings.TrimSpace(line))

		switch {
		case i+1 == len(lines):
		case len(strings.TrimSpace(line)) < longest*6/10:
			b.WriteByte('\n')
		case !spaceless(line):
			b.WriteByte(' ')
		}
	}

	return b.String()
}

// spaceless reports whether a line ends in a script that has no spaces between its words.
func spaceless(line string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(line))
	return r >= 0x2e80 && r <= 0x9fff || r >= 0xf900 && r <= 0xfaff || r >= 0xff00 && r <= 0xffef || r >= 0x20000 && r <= 0x3ffff
}
