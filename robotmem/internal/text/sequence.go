package text

import (
	_ "embed"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sequence returns the content sequence of s: its words in order, in lower case, without
// punctuation and articles, with numbers and units in the canonical unit. Two texts with
// the same sequence say the same. Plural and third person lose their s; other endings
// stay, because charged and charging, closed and close are different states. Diacritics
// stay (schon, schön). A script without spaces gives the pairs of its characters, without
// 的 and 了. Symbols such as → and 🔴 are words.
//
// relating holds the words of the sequence that negate, limit or relate others. A text
// that adds only other words to a sequence says all that the sequence says; one that adds
// "unless dry", "under" or ない says something else.
func Sequence(s string) (words, relating []string) {
	p := scanner{s: normalize(s), base: true, sequence: true}
	p.out = make([]string, 0, len(p.s)/5+4)
	p.scan()
	words = make([]string, 0, len(p.out))
	german := slices.ContainsFunc(p.out, func(w string) bool { return germanWords[w] })
	last, pairs := "", 0 // the character before in a script without spaces, and the pairs since the run began
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
	for _, w := range words {
		if relates(w) {
			relating = append(relating, w)
		}
	}
	return words, relating
}

var (
	articles    = wordSet("a the also please")
	germanWords = wordSet("der die das den dem des und oder ist ein eine nicht")
	// agreement maps a plural form to the singular.
	agreement = map[string]string{"are": "is", "am": "is", "were": "was", "have": "has", "do": "does", "these": "this", "those": "that"}
)

// relatingWords are conditions, quantifiers, modal and auxiliary verbs, conjunctions,
// prepositions and verb prefixes, in English and German, and the negations and conditions
// of other languages. Those of negating and failing belong to them.
var relatingWords = wordSet(relatingList)

//go:embed relating.txt
var relatingList string

// relatingHan are the characters that do the same in Chinese and Japanese.
const relatingHan = "不没沒未无無勿别別莫非否禁止如若当當时時除只仅僅才就都也但在从從到至往向前后後里裡外上下左右内內中间間" +
	"被把将將给給让讓使叫能可会會应應该該须須必要或和与與及比更最再先"

func relatingWord(w string) bool { return relatingWords[w] || negating[w] || failing[w] }

// relates reports whether a word of a sequence is relating. In scripts without spaces,
// all but Chinese characters and katakana is grammar.
func relates(w string) bool {
	for _, r := range w {
		switch classOf(r) {
		case han:
			if strings.ContainsRune(relatingHan, r) {
				return true
			}
		case unspace:
			if !unicode.Is(unicode.Katakana, r) && r != 'ー' {
				return true
			}
		case other:
			return !strings.ContainsRune("./:-_'%*°", r)
		default:
			return relatingWord(w)
		}
	}
	return false
}

// singular removes the s of plural and third person (Harman 1991, "How effective is
// suffixing?", the S stemmer, which keeps -es after a sibilant).
func singular(w string) string {
	if len(w) < 4 || w[len(w)-1] != 's' || relatingWord(w) || strings.ContainsFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }) {
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
	case '=', '`':
		return false
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
