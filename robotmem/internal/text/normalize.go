package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// runeClass is how the scanner reads a rune.
type runeClass uint8

const (
	other   runeClass = iota // separates terms
	letter                   // of a script with spaces between words
	digit                    // ASCII 0-9
	han                      // Chinese
	unspace                  // kana, Hangul, Thai, ...: no spaces between words
)

var ascii = func() (t [utf8.RuneSelf]runeClass) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = digit
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
			t[c] = letter
		}
	}

	return t
}()

// classAt decodes the rune at s[i:] of a normalized text.
func classAt(s string, i int) (runeClass, int) {
	if i >= len(s) {
		return other, 0
	}
	if c := s[i]; c < utf8.RuneSelf {
		return ascii[c], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])

	return classOf(r), n
}

func classOf(r rune) runeClass {
	switch {
	case r < utf8.RuneSelf:
		return ascii[r]
	case r >= 0x4E00 && r <= 0x9FFF, r >= 0x3400 && r <= 0x4DBF, r >= 0x20000 && r <= 0x323AF,
		r == '々', r == '〇', r >= 0xF900 && r <= 0xFAFF:
		if unicode.In(r, unicode.L, unicode.N) {
			return han
		}
		return other
	case !unicode.In(r, unicode.L, unicode.N, unicode.Mn, unicode.Mc):
		return other
	case r >= 0x3040 && r <= 0x30FF, r >= 0x31F0 && r <= 0x31FF, // kana
		r >= 0xAC00 && r <= 0xD7A3, r >= 0x1100 && r <= 0x11FF, // Hangul
		r >= 0x0E00 && r <= 0x0EFF,                             // Thai, Lao
		r >= 0x1000 && r <= 0x109F, r >= 0x1780 && r <= 0x17FF: // Burmese, Khmer
		return unspace
	}

	return letter
}

// normalize brings a text into the form that the scanner reads: valid UTF-8, NFKC
// (full-width forms, ligatures, ℃, ㎜), without combining diacritics and invisible
// joiners, with one spelling of apostrophe and minus. ASCII is returned unchanged.
func normalize(s string) string {
	if isASCII(s) {
		return s
	}

	b := norm.NFKC.Append(make([]byte, 0, len(s)+16), detach(s)...)

	// A rune never grows here, so the text is rewritten in place.
	out := b[:0]
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		i += n

		switch {
		case r < utf8.RuneSelf:
			out = append(out, byte(r))
		case r == utf8.RuneError || skipped(r):
		case r == '’' || r == 'ʼ' || r == '‘':
			out = append(out, '\'')
		case r == '−' || r == '‐' || r == '‑':
			out = append(out, '-')
		case r == '⁄' || r == '∕':
			out = append(out, '/')
		case r == '⋅' || r == '∙' || r == '•' || r == '×':
			out = append(out, "·"...)
		default:
			out = utf8.AppendRune(out, r)
		}
	}

	return string(out)
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// detach prevents NFKC from joining number-like runes with the digits before them: "6½" would
// become "61/2", "10²" would become "102" and "45º" "45o". Bytes that are not UTF-8 become spaces.
func detach(s string) []byte {
	b := make([]byte, 0, len(s)+16)
	for i, r := range s {
		afterDigit := len(b) > 0 && b[len(b)-1] >= '0' && b[len(b)-1] <= '9'
		switch {
		case r < utf8.RuneSelf:
			b = append(b, byte(r))
			continue
		case r == utf8.RuneError && s[i] != 0xEF:
			b = append(b, ' ')
			continue
		case afterDigit && r == 'º':
			r = '°'
		case afterDigit && unicode.Is(unicode.No, r):
			b = append(b, ' ')
		}
		b = utf8.AppendRune(b, r)
	}

	return b
}

// skipped reports whether a rune inside a word is ignored: diacritics that NFKC could
// not compose, vowel points of Hebrew and Arabic, soft hyphens, joiners.
func skipped(r rune) bool {
	switch {
	case r >= 0x0300 && r <= 0x036F, r >= 0x0591 && r <= 0x05BD, r >= 0x064B && r <= 0x065F:
		return true
	case r == 0x0670, r == 0x0640, r == 0x00AD, r == 0x200C, r == 0x200D, r == 0x2060, r == 0xFEFF:
		return true
	case r >= 0xFE00 && r <= 0xFE0F: // variation selectors
		return true
	}

	return false
}

// maxTermBytes is the longest term: FTS5 stems nothing longer.
const maxTermBytes = 64

// fold lower-cases a word of a normalized text and removes the diacritics of Latin letters, as unicode61
// does with remove_diacritics 2, so that FTS5 changes nothing. Beyond that ß is ss, a letter with a stroke
// is the plain one (ø, ł), and Greek accents and the dots of ё go, because keyboards leave them out.
// The result is cut to maxTermBytes at a rune border.
func fold(w string) string {
	if isASCII(w) {
		w = strings.ToLower(w)
	} else {
		w = strings.ReplaceAll(strings.Map(foldRune, w), "ß", "ss")
	}
	if len(w) <= maxTermBytes {
		return w
	}

	end := maxTermBytes
	for !utf8.RuneStart(w[end]) {
		end--
	}

	return w[:end]
}

func foldRune(r rune) rune {
	r = unicode.ToLower(r)
	switch {
	case r < 0xC0:
		return r
	case r == 'ς':
		return 'σ'
	case r == 'ё':
		return 'е'
	case r >= 0x0370 && r <= 0x03FF, r >= 0x1F00 && r <= 0x1FFF:
		return firstOf(r)
	case r > 0x24F && r < 0x1E00 || r > 0x1EFF:
		// No Latin letter with a diacritic is in these ranges.
		return r
	}

	if plain, stroked := stroked[r]; stroked {
		return plain
	}

	var buf [utf8.UTFMax]byte
	d := norm.NFD.Properties(utf8.AppendRune(buf[:0], r)).Decomposition()
	if len(d) > 0 && d[0] < utf8.RuneSelf {
		return rune(d[0])
	}

	return r
}

// stroked maps Latin letters that have no decomposition to their base letters.
var stroked = map[rune]rune{'ø': 'o', 'ł': 'l', 'đ': 'd', 'ħ': 'h', 'ŧ': 't', 'ı': 'i'}

// firstOf returns the first rune of the canonical decomposition of r: the letter without its accents.
func firstOf(r rune) rune {
	var buf [utf8.UTFMax]byte
	d := norm.NFD.Properties(utf8.AppendRune(buf[:0], r)).Decomposition()
	if first, n := utf8.DecodeRune(d); n > 0 {
		return first
	}
	return r
}
