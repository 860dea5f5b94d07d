package embedding

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// preTokenizer splits a text into words.
type preTokenizer func(text string) []string

// readPreTokenizer returns the pre-tokenizer that c describes. With nil, the text
// is one word.
func readPreTokenizer(c *component) (preTokenizer, error) {
	if c == nil {
		return preTokenizers(nil)
	}
	switch c.Type {
	case "Sequence":
		return preTokenizers(c.PreTokenizers)
	case "BertPreTokenizer":
		return byClass(func(r rune) class {
			switch {
			case unicode.IsSpace(r):
				return blank
			case isPunctuation(r):
				return single
			}
			return letters
		}), nil
	case "Whitespace": // \w+|[^\w\s]+
		return byClass(func(r rune) class {
			switch {
			case isWord(r):
				return letters
			case unicode.IsSpace(r):
				return blank
			}
			return others
		}), nil
	case "WhitespaceSplit":
		return func(text string) []string { return strings.Fields(text) }, nil
	case "Metaspace":
		return metaspace(c)
	}
	return nil, fmt.Errorf("the pre-tokenizer %q is not supported", c.Type)
}

// preTokenizers returns the pre-tokenizer that splits the words of each by the next.
func preTokenizers(list []component) (preTokenizer, error) {
	all := func(text string) []string { return []string{text} }
	for i := range list {
		step, err := readPreTokenizer(&list[i])
		if err != nil {
			return nil, err
		}
		before := all
		all = func(text string) (words []string) {
			for _, word := range before(text) {
				words = append(words, step(word)...)
			}
			return words
		}
	}
	return all, nil
}

// class says how a rune is split from its neighbours.
type class int

const (
	letters class = iota // one word with adjacent runes of this class
	others               // one word with adjacent runes of this class
	single               // a word of its own
	blank                // removed
)

// byClass splits a text where the class of its runes changes.
func byClass(classOf func(rune) class) preTokenizer {
	return func(text string) []string {
		var words []string
		begin, current := 0, blank
		for i, r := range text {
			c := classOf(r)
			if c == current && c != single {
				continue
			}
			if current != blank && i > begin {
				words = append(words, text[begin:i])
			}
			begin, current = i, c
		}
		if current != blank && begin < len(text) {
			words = append(words, text[begin:])
		}
		return words
	}
}

// metaspace replaces each space by a visible sign, with which every word begins.
func metaspace(c *component) (preTokenizer, error) {
	sign := cmp.Or(c.Replacement, "▁")
	if cmp.Or(c.PrependScheme, "always") != "always" || c.AddPrefixSpace != nil && !*c.AddPrefixSpace {
		return nil, fmt.Errorf("the pre-tokenizer %q is supported only with the prepend_scheme always", c.Type)
	}
	whole := c.Split != nil && !*c.Split
	return func(text string) []string {
		text = strings.ReplaceAll(text, " ", sign)
		if text != "" && !strings.HasPrefix(text, sign) {
			text = sign + text
		}
		if whole {
			return []string{text}
		}
		var words []string
		for text != "" {
			_, n := utf8.DecodeRuneInString(text) // skip a sign at the beginning
			end := strings.Index(text[n:], sign)
			if end < 0 {
				return append(words, text)
			}
			words = append(words, text[:n+end])
			text = text[n+end:]
		}
		return words
	}, nil
}

// isPunctuation follows BERT: every ASCII sign counts.
func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7f && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return unicode.IsPunct(r)
}

// isWord is \w of a Unicode regular expression (UTS #18, annex C).
func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.Is(unicode.M, r) || unicode.Is(unicode.Nd, r) || unicode.Is(unicode.Nl, r) ||
		unicode.Is(unicode.Pc, r) || unicode.Is(unicode.Other_Alphabetic, r) || r == '\u200c' || r == '\u200d'
}
