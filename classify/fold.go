package classify

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// fold writes s in lower case over dst with the same offsets: a letter whose lower case has another
// length in UTF-8 is unchanged, and so are bytes that are not UTF-8.
func fold(dst []byte, s string) []byte {
	dst = append(dst[:0], s...)
	for i := 0; i < len(dst); {
		c := dst[i]
		switch {
		case c < utf8.RuneSelf:
			if 'A' <= c && c <= 'Z' {
				dst[i] = c + 'a' - 'A'
			}
			i++
		case 0xe3 <= c && c <= 0xe9 && i+3 <= len(dst):
			// U+3000 to U+9FFF have no case, and most Chinese text is there.
			i++
		default:
			r, n := utf8.DecodeRune(dst[i:])
			if low := unicode.ToLower(r); low != r && utf8.RuneLen(low) == n {
				utf8.EncodeRune(dst[i:], low)
			}
			i += n
		}
	}

	return dst
}

// normal is fold for a literal, with single spaces and none at the ends.
func normal(s string) string {
	isBlank := func(r rune) bool { return r < utf8.RuneSelf && blankByte(byte(r)) }
	return strings.Join(strings.FieldsFunc(string(fold(nil, s)), isBlank), " ")
}

func blankByte(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// wordRune reports whether r is a letter or digit of a script whose words have boundaries. Those of Han, kana and
// Hangul have none.
func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return r != utf8.RuneError && unicode.In(r, unicode.L, unicode.M, unicode.Nd) && !unicode.In(r, unspaced...)
}

// unspaced are the scripts whose words have no spaces between them.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul}

// An edge is the kind of text beside a literal.
type edge uint8

const (
	edgeOpen  edge = iota // no letter or digit there
	edgeName              // an underscore, or a dot as in config.yaml: a boundary inside a name, not in prose
	edgeDash              // a hyphen that a letter or digit follows
	edgeInner             // a letter or digit: the literal is part of a longer word
)

// edgeBefore looks at what ends at i, edgeAfter at what starts there.
func edgeBefore(text []byte, i int) edge {
	if i == 0 {
		return edgeOpen
	}
	if text[i-1] == '_' || text[i-1] == '.' && edgeBefore(text, i-1) == edgeInner {
		return edgeName
	}
	if r, _ := utf8.DecodeLastRune(text[:i]); wordRune(r) {
		return edgeInner
	}

	return edgeOpen
}

func edgeAfter(text []byte, i int) edge {
	if i == len(text) {
		return edgeOpen
	}
	beside := edgeInner

	switch text[i] {
	case '_':
		return edgeName
	case '.':
		beside, i = edgeName, i+1
	case '-':
		beside, i = edgeDash, i+1
	}
	if r, _ := utf8.DecodeRune(text[i:]); wordRune(r) {
		return beside
	}

	return edgeOpen
}

// sentences writes the ends of the sentences of text over dst. The last one is len(text).
func sentences(dst []int32, text []byte) []int32 {
	dst = dst[:0]

	for i, c := range text {
		if !mayEnd[c] {
			continue
		}

		switch c {
		case '\n', ';':
			dst = append(dst, int32(i+1))
		case '.', '!', '?':
			// Not in 12.5 or in main.go.
			if i+1 < len(text) && blankByte(text[i+1]) {
				dst = append(dst, int32(i+1))
			}
		default:
			if i+3 <= len(text) {
				switch string(text[i : i+3]) {
				case "。", "！", "？", "；":
					dst = append(dst, int32(i+3))
				}
			}
		}
	}

	return append(dst, int32(len(text)))
}

// mayEnd has the bytes at which a sentence may end. The last two begin 。 and ！？；.
var mayEnd = [256]bool{'\n': true, ';': true, '.': true, '!': true, '?': true, 0xe3: true, 0xef: true}

// lead returns where the words of a sentence start: after list marks, numbers and quotes.
func lead(text []byte, from, to int) int {
	for from < to {
		r, n := utf8.DecodeRune(text[from:to])
		if wordRune(r) && (r < '0' || r > '9') || r == '_' || r == utf8.RuneError || unicode.In(r, unspaced...) {
			break
		}
		from += n
	}

	return from
}
