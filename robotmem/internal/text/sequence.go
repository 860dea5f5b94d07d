package text

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sequence returns the content sequence of s: its words in order, in lower case, without punctuation
// and articles. A number with a unit of the table is given in the canonical unit; any other number may
// be a name (a version, a part number) and stays as it is written, with the case of a short word after
// it and with the signs of a name such as C++. Two texts with the same sequence say the same. Plural and
// third person lose their s; other endings stay, because charged and charging, closed and close are
// different states. Diacritics stay (schon, schön). A script without spaces gives the pairs of its
// characters, without 的 and 了. Symbols such as → and 🔴 are words.
func Sequence(s string) (words []string) {
	p := scanner{s: normalize(s), base: true, sequence: true}
	p.out = make([]string, 0, len(p.s)/5+4)
	p.scan()
	words = make([]string, 0, len(p.out))
	german := slices.ContainsFunc(p.out, func(w string) bool { return germanWords[w] })
	// The character before in a script without spaces, and the pairs since the run began.
	last, pairs := "", 0

	for _, w := range p.out {
		if c, _ := classAt(w, 0); c == han || c == unspace {
			switch {
			case w == "的" || w == "了":
				continue
			case last == "":
				words, pairs = append(words, w), 0
			case pairs == 0:
				words[len(words)-1], pairs = last+w, 1
			default:
				words = append(words, last+w)
			}
			last = w
			continue
		}
		last = ""

		switch {
		case articles[w] || w == "an" && !german: // the German an is a verb prefix
		case w == "cannot":
			words = append(words, "can", "not")
		case agreement[w] != "":
			words = append(words, agreement[w])
		default:
			words = append(words, singular(w))
		}
	}

	return words
}

// repeating matches phrases that say of a fact only that it was seen before, or that it was expected.
var repeating = regexp.MustCompile(`(?i)\b(?:once (?:again|more)|yet again|again|as (?:expected|before|usual|always|last time)|like (?:before|last time)|wie (?:erwartet|zuvor|immer)|erneut|nochmals?|wieder)\b|(?:再次|又一次|再一次|和之前一样|和上次一样|跟上次一样|如预期|一如既往)`)

// repeatingEnds holds a word of each phrase of repeating, for a text that has none of them.
var repeatingEnds = strings.Fields("again more expected before usual always time " +
	"erwartet zuvor immer erneut nochmal wieder 次 一样 如预期 一如既往")

// Core returns the content sequence of s without phrases such as "again" and "as expected": two texts of
// the same core report the same.
func Core(s string) []string {
	lower := strings.ToLower(s)
	if slices.ContainsFunc(repeatingEnds, func(end string) bool { return strings.Contains(lower, end) }) {
		s = repeating.ReplaceAllString(s, " ")
	}
	return Sequence(s)
}

var (
	articles    = wordSet("a the also please")
	germanWords = wordSet("der die das den dem des und oder ist ein eine nicht")
	// agreement maps a plural form to the singular.
	agreement = map[string]string{
		"are": "is", "am": "is", "were": "was", "have": "has", "do": "does", "these": "this", "those": "that",
	}
)

// singular removes the s of plural and third person (Harman 1991, "How effective is
// suffixing?", the S stemmer, which keeps -es after a sibilant).
func singular(w string) string {
	if len(w) < 4 || w[len(w)-1] != 's' || negating[w] || failing[w] {
		return w
	}

	// The rule is for English words, not for names with digits or words of other languages.
	if strings.ContainsFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return w
	}

	switch end := func(s string) bool { return strings.HasSuffix(w, s) }; {
	case end("us"), end("ss"), end("is"):
		return w
	case end("ies") && len(w) > len("ties"):
		return w[:len(w)-len("ies")] + "y"
	case end("sses"), end("shes"), end("ches"), end("xes"), end("zzes"):
		return w[:len(w)-len("es")]
	}

	return w[:len(w)-1]
}

// symbol reports whether the sign at i is a word of a sequence: no punctuation, and an operator
// only with spaces or with letters and digits on both sides, where markup has them on one.
func symbol(s string, i, n int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	switch r {
	case '`':
		return false
	case '=':
		// 9 kg or more is not more than 9 kg.
		return i > 0 && strings.IndexByte("<>!", s[i-1]) >= 0
	case '!':
		return strings.HasPrefix(s[i+n:], "=")
	case '&':
		return true
	case '*', '/', '·':
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+n:])
		joined := classOf(before) != other && classOf(after) != other
		return joined || before == ' ' && after == ' '
	}

	return unicode.IsSymbol(r)
}
