package robotmem

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible returns s with each character that a reader does not see, or that reorders its
// neighbours, written as its code point: \u{202e}. These are control characters except tab and line
// breaks, bidirectional controls, tags, and characters of no width where no script needs them. It
// shows a stored text to a person or a model, which may act on what the other does not see.
func Visible(s string) string {
	return escapeHidden(s, func(b *strings.Builder, r rune) { fmt.Fprintf(b, `\u{%x}`, r) })
}

// VisibleJSON returns the JSON of EncodeJSON with the characters that [Visible] shows as escapes
// of JSON. It decodes to the same value.
func VisibleJSON(data []byte) []byte {
	return []byte(escapeHidden(string(data), func(b *strings.Builder, r rune) {
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(b, `\u%04x`, unit)
		}
	}))
}

func escapeHidden(s string, escape func(*strings.Builder, rune)) string {
	if !strings.ContainsFunc(s, mayHide) {
		return s
	}

	var b strings.Builder
	before := ' '

	for i, r := range s {
		after, _ := utf8.DecodeRuneInString(s[min(i+utf8.RuneLen(r), len(s)):])
		if mayHide(r) && !belongs(before, r, after) {
			escape(&b, r)
		} else {
			b.WriteRune(r)
		}
		before = r
	}

	return b.String()
}

func mayHide(r rune) bool {
	switch {
	case r >= ' ' && r < 0x7f, r == '\t', r == '\n', r == '\r', r > 0x3164 && r < 0xfe00: // most text
		return false
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // has a glyph
		return false
	}

	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// belongs reports whether a character of no width has a purpose between its neighbours. Joiners have one
// in an emoji or a word, and a single variation selector after an emoji or a character that has variants.
func belongs(before, r, after rune) bool {
	joined := func(r rune) bool {
		return r != utf8.RuneError && !mayHide(r) &&
			unicode.In(r, unicode.L, unicode.M, unicode.So, unicode.Sk, unicode.Sm)
	}

	switch {
	case r == 0x200c, r == 0x200d: // ZWNJ, ZWJ
		// U+FE0F follows the first part of emoji such as ❤️‍🔥.
		return (joined(before) || before == 0xfe0f) && joined(after)
	case r >= 0xe0100:
		// These 240 selectors can carry hidden bytes. Only ideographs have variants with them.
		return r <= 0xe01ef && unicode.Is(unicode.Han, before)
	case unicode.Is(unicode.Variation_Selector, r):
		// A second selector in a row, whose predecessor may hide, has no purpose. Latin letters have no variants.
		return !mayHide(before) && !unicode.Is(unicode.Latin, before) &&
			unicode.In(before, unicode.L, unicode.M, unicode.S, unicode.N, unicode.P)
	}

	return false
}

// Clip cuts s to n characters, with an ellipsis if something was cut.
func Clip(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}
