package embedding

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// splitter splits a text into words; first says that it begins the whole text.
type splitter func(text string, first bool) []string

// readSplitter returns the step that p describes, the text as one word for nil.
func readSplitter(p *part) (splitter, error) {
	if p == nil {
		return func(text string, _ bool) []string { return []string{text} }, nil
	}
	switch p.Type {
	case "Sequence":
		return readSplitters(p.PreTokenizers)
	case "BertPreTokenizer":
		return byClass(func(r rune) class {
			switch {
			case unicode.IsSpace(r):
				return blank
			case isPunctuation(r):
				return alone
			}
			return together
		}), nil
	case "Whitespace": // \w+|[^\w\s]+
		return byClass(func(r rune) class {
			switch {
			case isWord(r):
				return together
			case unicode.IsSpace(r):
				return blank
			}
			return apart
		}), nil
	case "WhitespaceSplit":
		return func(text string, _ bool) []string { return strings.Fields(text) }, nil
	case "Punctuation":
		if p.Behavior != "" && p.Behavior != "Isolated" {
			return nil, fmt.Errorf("a splitter of type %q with behavior %q is not read", p.Type, p.Behavior)
		}
		return byClass(func(r rune) class {
			if isPunctuation(r) {
				return alone
			}
			return together
		}), nil
	case "Digits":
		return byClass(func(r rune) class {
			switch {
			case !unicode.IsNumber(r):
				return together
			case p.IndividualDigits:
				return alone
			}
			return apart
		}), nil
	case "Metaspace":
		return metaspace(p)
	}
	return nil, fmt.Errorf("a splitter of type %q is not read", p.Type)
}

// readSplitters returns the steps one after the other.
func readSplitters(parts []part) (splitter, error) {
	steps := make([]splitter, len(parts))
	for i := range steps {
		var err error
		if steps[i], err = readSplitter(&parts[i]); err != nil {
			return nil, err
		}
	}
	return func(text string, first bool) []string {
		words := []string{text}
		for _, step := range steps {
			var finer []string
			for i, word := range words {
				finer = append(finer, step(word, first && i == 0)...)
			}
			words = finer
		}
		return words
	}, nil
}

// class is what becomes of a rune when words are split.
type class int

const (
	together class = iota // with its neighbours of this class
	apart                 // with its neighbours of this other class
	alone                 // a word of its own
	blank                 // dropped
)

// byClass splits where the class of the runes changes.
func byClass(of func(rune) class) splitter {
	return func(text string, _ bool) []string {
		var words []string
		begin, in := 0, blank
		for i, r := range text {
			c := of(r)
			if c == in && c != alone {
				continue
			}
			if in != blank && i > begin {
				words = append(words, text[begin:i])
			}
			begin, in = i, c
		}
		if in != blank && begin < len(text) {
			words = append(words, text[begin:])
		}
		return words
	}
}

// metaspace makes each space a visible sign and begins a word with it.
func metaspace(p *part) (splitter, error) {
	sign := cmp.Or(p.Replacement, "▁")
	scheme := cmp.Or(p.PrependScheme, "always")
	if p.PrependScheme == "" && p.AddPrefixSpace != nil && !*p.AddPrefixSpace {
		scheme = "never" // as it was spelled before there were schemes
	}
	if scheme != "always" && scheme != "first" && scheme != "never" {
		return nil, fmt.Errorf("a splitter of type %q with prepend_scheme %q is not read", p.Type, scheme)
	}
	whole := p.Split != nil && !*p.Split
	return func(text string, first bool) []string {
		text = strings.ReplaceAll(text, " ", sign)
		if !strings.HasPrefix(text, sign) && (scheme == "always" || scheme == "first" && first) {
			text = sign + text
		}
		if whole {
			return []string{text}
		}
		var words []string
		for text != "" {
			_, n := utf8.DecodeRuneInString(text) // a sign may stand first
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

// isPunctuation is BERT's idea of it: every sign of ASCII counts.
func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7f && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return unicode.IsPunct(r)
}
