package when

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind uint8

const (
	wordToken   kind = iota // letters, with any 's dropped
	numberToken             // at most maxDigits digits
	ordinalToken
	clockToken // H:MM or H:MM:SS
	dateToken  // year-month-day
	stampToken // year-month-day, T, and a clock with or without a zone
	hanToken   // one rune
	breakToken // punctuation
	otherToken // what can be no part of a time: 12.5, v2, run_3, 10.0.0.7
)

// maxDigits keeps every number far from an overflow of time arithmetic.
const maxDigits = 4

const wideColon = '\uff1a'

type token struct {
	kind       kind
	start, end int
	text       string // folded, without a possessive s
	n          int    // of numbers and ordinals
	a, b, c    int    // hour, minute, second of a clock; year, month, day of a date
	precise    bool   // a clock with seconds
}

// fold lowers ASCII letters and writes the traditional characters of time words
// as simplified ones. Both keep every byte where it was, also of text that is
// not valid UTF-8.
func fold(s string) string {
	b := []byte(s)
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			if 'A' <= b[i] && b[i] <= 'Z' {
				b[i] += 'a' - 'A'
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if at := strings.IndexRune(traditional, r); at >= 0 && r != utf8.RuneError {
			copy(b[i:i+n], simplified[at:at+n])
		}
		i += n
	}
	return string(b)
}

const (
	traditional = "週點後間這個過禮時鐘從內開現剛兩幾為來號當"
	simplified  = "周点后间这个过礼时钟从内开现刚两几为来号当"
)

// scan splits a folded text. A run of letters, digits and the signs between
// them is one chunk, so that no part of a name or of an address reads as a time.
func scan(s string) []token {
	toks := make([]token, 0, 16)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case unicode.IsSpace(r):
			i += n
		case unicode.Is(unicode.Han, r):
			toks = append(toks, token{kind: hanToken, start: i, end: i + n, text: s[i : i+n]})
			i += n
		case delimits(s, i, r):
			toks = append(toks, token{kind: breakToken, start: i, end: i + n, text: s[i : i+n]})
			i += n
		default:
			end := chunkEnd(s, i+n)
			toks = appendChunk(toks, s, i, end)
			i = end
		}
	}
	return toks
}

// delimits reports whether the rune at i stands between chunks. A comma between
// digits and an apostrophe between letters do not.
func delimits(s string, i int, r rune) bool {
	switch r {
	case ',':
		return !(beside(s, i, isDigit))
	case '\'', '’':
		return !(beside(s, i, isLetter))
	case '.', ':', wideColon, '-', '/', '+', '_', '#', '@', '%', '=', '&', '*', '$', '^', '\\', '°':
		return false
	}
	return r < utf8.RuneSelf && !isDigit(byte(r)) && !isLetter(byte(r)) ||
		r >= utf8.RuneSelf && (unicode.IsPunct(r) || unicode.IsSymbol(r) || r == utf8.RuneError)
}

func beside(s string, i int, is func(byte) bool) bool {
	_, n := utf8.DecodeRuneInString(s[i:])
	return i > 0 && i+n < len(s) && is(s[i-1]) && is(s[i+n])
}

// chunkEnd is where the chunk that i is inside of ends, without the signs that
// only close it.
func chunkEnd(s string, i int) int {
	start := i
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if unicode.IsSpace(r) || unicode.Is(unicode.Han, r) || delimits(s, i, r) {
			break
		}
		i += n
	}
	for end := i; end > start; end-- {
		if c := s[end-1]; c != '.' && c != ':' && c != '-' && c != '/' {
			return end
		}
	}
	return i
}

// appendChunk adds what s[i:end] is: one token, or two for a number with its
// unit ("30min"), or three for a span of clocks ("14:00-15:00").
func appendChunk(toks []token, s string, i, end int) []token {
	text := s[i:end]
	if !isDigit(text[0]) {
		word := strings.TrimSuffix(strings.TrimSuffix(text, "'s"), "’s")
		k := wordToken
		for j := range len(word) {
			if c := word[j]; !isLetter(c) && c != '.' {
				k = otherToken
			}
		}
		if text == "-" || text == "~" {
			k = breakToken
		}
		return append(toks, token{kind: k, start: i, end: end, text: word})
	}
	if t, n := readClock(text); n == len(text) {
		t.start, t.end = i, end
		return append(toks, t)
	} else if n > 0 && (text[n] == '-' || text[n] == '~') {
		if u, m := readClock(text[n+1:]); n+1+m == len(text) && m > 0 {
			t.start, t.end = i, i+n
			u.start, u.end = i+n+1, end
			return append(toks, t, token{kind: breakToken, start: i + n, end: i + n + 1, text: "-"}, u)
		}
	}
	if t, n := readClock(text); n > 0 && strings.Trim(text[n:], "apm.") == "" {
		t.start, t.end = i, i+n
		return append(toks, t, token{kind: wordToken, start: i + n, end: end, text: text[n:]})
	}
	if t, ok := readDate(text); ok {
		t.start, t.end = i, end
		return append(toks, t)
	}
	d := digits(text)
	t := token{kind: numberToken, start: i, end: i + d, text: text[:d], n: atoi(text[:d])}
	if d > maxDigits {
		return append(toks, token{kind: otherToken, start: i, end: end, text: text})
	}
	switch tail := strings.TrimSuffix(text[d:], "."); {
	case tail == "":
		return append(toks, t)
	case tail == "st" || tail == "nd" || tail == "rd" || tail == "th":
		t.kind, t.end, t.text = ordinalToken, end, text
		return append(toks, t)
	case strings.Trim(tail, "abcdefghijklmnopqrstuvwxyz.") == "" && tail[0] != '.':
		return append(toks, t, token{kind: wordToken, start: i + d, end: end, text: tail})
	}
	return append(toks, token{kind: otherToken, start: i, end: end, text: text})
}

// readClock reads H:MM or H:MM:SS, also with the full-width colon, and how many bytes it took.
func readClock(s string) (t token, n int) {
	t.kind = clockToken
	var fields [3]int
	f := 0
	for f < len(fields) {
		d := digits(s[n:])
		if d == 0 || d > 2 || f > 0 && d != 2 {
			return t, 0
		}
		fields[f] = atoi(s[n : n+d])
		f, n = f+1, n+d
		colon := 0
		if r, size := utf8.DecodeRuneInString(s[n:]); r == ':' || r == wideColon {
			colon = size
		}
		if colon == 0 || f == len(fields) {
			break
		}
		n += colon
	}
	t.a, t.b, t.c, t.precise = fields[0], fields[1], fields[2], f == 3
	t.text = s[:n]
	if f < 2 || t.a > 23 || t.b > 59 || t.c > 59 {
		return t, 0
	}
	return t, n
}

// readDate reads 2026-11-03, 2026/11/03 and 2026-11-03T14:05:00Z.
func readDate(s string) (t token, ok bool) {
	if len(s) < len("2026-11-03") || digits(s) != 4 || s[4] != '-' && s[4] != '/' || s[7] != s[4] ||
		digits(s[5:7]) != 2 || digits(s[8:10]) != 2 {
		return t, false
	}
	t = token{kind: dateToken, text: s, a: atoi(s[:4]), b: atoi(s[5:7]), c: atoi(s[8:10])}
	if t.a < 1 || t.b < 1 || t.b > 12 || t.c < 1 || t.c > daysIn(t.a, t.b) {
		return t, false
	}
	if len(s) == len("2026-11-03") {
		return t, true
	}
	t.kind = stampToken
	return t, s[4] == '-' && s[10] == 't'
}

func digits(s string) (n int) {
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func atoi(s string) (n int) {
	for i := range min(len(s), 9) {
		n = 10*n + int(s[i]-'0')
	}
	return n
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }
