package text

import (
	"strings"
	"unicode"
)

// Tokens estimates how many tokens a language model counts for s, rather too many
// than too few: the estimate is for cl100k_base and o200k_base, the vocabularies
// for which a test compares them. A model's tokenizer needs megabytes of tables.
func Tokens(s string) int {
	var t tokenMeter
	for _, r := range s {
		t.add(r)
	}
	return t.count()
}

// ClipTokens cuts s to an estimate of n tokens, at a space if one is near.
func ClipTokens(s string, n int) string {
	var t tokenMeter
	fits := 0 // bytes that leave room for the ellipsis
	for i, r := range s {
		t.add(r)
		switch size := i + len(string(r)); {
		case t.count() > n:
			if at := strings.LastIndexByte(s[:fits], ' '); at > fits*3/4 {
				fits = at
			}
			return strings.TrimRight(s[:fits], " ") + "…"
		case t.count() < n:
			fits = size
		}
	}
	return s
}

// tokenMeter counts in quarters of a token. Runs of letters, digits and
// punctuation are counted apart, because tokenizers split there.
type tokenMeter struct {
	quarters, length int // length of the current run
	last             tokenClass
}

type tokenClass int

const (
	classSpace tokenClass = iota
	classLower
	classUpper
	classDigit
	classMark  // ASCII punctuation
	classOther // everything else, by character
)

func (t *tokenMeter) count() int { return (t.quarters + 3) / 4 }

func (t *tokenMeter) add(r rune) {
	class := tokenClassOf(r)
	run := class == t.last || class == classLower && t.last == classUpper && t.length == 1
	if t.length++; !run {
		t.length = 1
	}
	switch class {
	case classLower, classUpper:
		if !run || t.length > 5 && t.length%4 == 2 { // the first 5 letters, then 4 each
			t.quarters += 4
		}
		if class == classUpper && t.last == classLower { // an identifier, base64
			t.quarters += 4
		}
	case classDigit:
		if t.length%3 == 1 {
			t.quarters += 4
			if t.last == classSpace { // a space before a number is a token
				t.quarters += 4
			}
		}
	case classMark:
		if t.length%2 == 1 {
			t.quarters += 4
		}
	case classSpace: // one space belongs to the word that follows
		if r != ' ' || t.length > 1 {
			t.quarters += 4
		}
	default:
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			t.quarters += 6
		case unicode.Is(unicode.Cyrillic, r):
			t.quarters += 3
		case r < 0x800 && !unicode.Is(unicode.Latin, r):
			t.quarters += 4
		case r < 0x10000:
			t.quarters += 8
		default:
			t.quarters += 12
		}
	}
	t.last = class
}

func tokenClassOf(r rune) tokenClass {
	switch {
	case 'a' <= r && r <= 'z':
		return classLower
	case 'A' <= r && r <= 'Z':
		return classUpper
	case '0' <= r && r <= '9':
		return classDigit
	case r == ' ', r == '\n', r == '\t', r == '\r':
		return classSpace
	case r < 0x80:
		return classMark
	}
	return classOther
}
