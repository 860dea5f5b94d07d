package embedding

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// addedToken is a token that is found in a text as it is spelled, before words
// are looked for.
type addedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"` // only between what are no letters
	LStrip     bool   `json:"lstrip"`      // takes the blanks before it along
	RStrip     bool   `json:"rstrip"`      // takes the blanks after it along
	Normalized bool   `json:"normalized"`
}

// addedTokens are those of a tokenizer by their first byte, the longest first.
type addedTokens map[byte][]addedToken

func (a *addedTokens) add(t addedToken) {
	if t.Content == "" {
		return // nothing was left of it
	}
	if *a == nil {
		*a = addedTokens{}
	}
	same := append((*a)[t.Content[0]], t)
	slices.SortStableFunc(same, func(x, y addedToken) int { return cmp.Compare(len(y.Content), len(x.Content)) })
	(*a)[t.Content[0]] = same
}

// section is an added token, or text between two with -1 for the token.
type section struct {
	text  string
	token int
}

// cut splits text at the added tokens, from the left and the longest first.
func (a addedTokens) cut(text string) []section {
	if len(a) == 0 {
		return []section{{text, -1}}
	}
	var sections []section
	begin := 0
	for i := 0; i < len(text); {
		t, ok := a.at(text, i)
		if !ok {
			_, n := utf8.DecodeRuneInString(text[i:])
			i += n
			continue
		}
		before := text[begin:i]
		if t.LStrip {
			before = strings.TrimRightFunc(before, unicode.IsSpace)
		}
		if before != "" {
			sections = append(sections, section{before, -1})
		}
		sections = append(sections, section{token: t.ID})
		i += len(t.Content)
		if t.RStrip {
			i = len(text) - len(strings.TrimLeftFunc(text[i:], unicode.IsSpace))
		}
		begin = i
	}
	if begin < len(text) {
		sections = append(sections, section{text[begin:], -1})
	}
	return sections
}

// at returns the longest token that stands at text[i:].
func (a addedTokens) at(text string, i int) (addedToken, bool) {
	for _, t := range a[text[i]] {
		if !strings.HasPrefix(text[i:], t.Content) {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(t.Content):])
		if t.SingleWord && (i > 0 && isWord(before) || i+len(t.Content) < len(text) && isWord(after)) {
			continue
		}
		return t, true
	}
	return addedToken{}, false
}

// isWord says what \w does in a Unicode regular expression (UTS #18, annex C).
func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.Is(unicode.M, r) || unicode.Is(unicode.Nd, r) || unicode.Is(unicode.Nl, r) ||
		unicode.Is(unicode.Pc, r) || unicode.Is(unicode.Other_Alphabetic, r) || r == nonJoiner || r == joiner
}
