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

// readPreTokenizer returns the pre-tokenizer that c describes. With nil, the text is one word.
func readPreTokenizer(c *component) (preTokenizer, error) {
	if c == nil {
		return preTokenizers(nil)
	}

	switch c.Type {
	case "Sequence":
		return preTokenizers(c.PreTokenizers)
	case "BertPreTokenizer":
		return bertWords, nil
	case "WhitespaceSplit":
		return strings.Fields, nil
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

// bertWords splits a text at white space, and makes each punctuation mark a word.
func bertWords(text string) []string {
	var words []string
	begin := 0

	for i, r := range text {
		space, sign := unicode.IsSpace(r), isPunctuation(r)
		if !space && !sign {
			continue
		}
		if begin < i {
			words = append(words, text[begin:i])
		}
		begin = i + utf8.RuneLen(r)
		if sign {
			words = append(words, text[i:begin])
		}
	}

	if begin < len(text) {
		words = append(words, text[begin:])
	}

	return words
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
			// Skip a sign at the beginning.
			_, n := utf8.DecodeRuneInString(text)
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
