package embedding

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenizer.json describes how the Hugging Face tokenizers turn a text into
// tokens: find the added tokens, normalize the rest, split it into words, and
// look each word up in the vocabulary.
// https://huggingface.co/docs/tokenizers/pipeline
//
// This package supports the components that Model2Vec models use. It refuses a
// file with any other component by name, because a tokenizer without the
// component would give wrong vectors and no error. It does not support
// byte-pair encoding.

// tokenizer turns a text into tokens. It is immutable.
type tokenizer struct {
	raw         addedTokens // found in the text as given
	normalized  addedTokens // found in the normalized text
	normalize   normalizer
	preTokenize preTokenizer
	words       *wordModel

	size        int // upper bound of the tokens, exclusive
	medianRunes int // median length of the vocabulary's entries
}

// component is the configuration of a normalizer or a pre-tokenizer. Which
// fields apply depends on Type.
type component struct {
	Type string `json:"type"`

	Normalizers   []component `json:"normalizers"`
	PreTokenizers []component `json:"pretokenizers"`

	CleanText          bool  `json:"clean_text"`
	HandleChineseChars bool  `json:"handle_chinese_chars"`
	StripAccents       *bool `json:"strip_accents"`
	Lowercase          bool  `json:"lowercase"`

	StripLeft   bool   `json:"strip_left"`
	StripRight  bool   `json:"strip_right"`
	Charsmap    string `json:"precompiled_charsmap"`
	Content     string `json:"content"`
	Replacement string `json:"replacement"`
	Pattern     struct {
		String *string `json:"String"`
		Regex  *string `json:"Regex"`
	} `json:"pattern"`

	AddPrefixSpace *bool  `json:"add_prefix_space"`
	PrependScheme  string `json:"prepend_scheme"`
	Split          *bool  `json:"split"`
}

// readAll reads the components of a sequence.
func readAll[T any](list []component, read func(*component) (T, error)) ([]T, error) {
	steps := make([]T, len(list))
	for i := range steps {
		var err error
		if steps[i], err = read(&list[i]); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

func readTokenizer(data []byte) (*tokenizer, error) {
	var file struct {
		AddedTokens  []addedToken    `json:"added_tokens"`
		Normalizer   *component      `json:"normalizer"`
		PreTokenizer *component      `json:"pre_tokenizer"`
		Model        wordModelConfig `json:"model"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	t := &tokenizer{raw: addedTokens{}, normalized: addedTokens{}}
	var err error
	if t.normalize, err = readNormalizer(file.Normalizer); err != nil {
		return nil, err
	}
	if t.preTokenize, err = readPreTokenizer(file.PreTokenizer); err != nil {
		return nil, err
	}
	if t.words, err = readWordModel(&file.Model); err != nil {
		return nil, err
	}
	lengths := make([]int, 0, len(t.words.tokens)+len(file.AddedTokens))
	for entry, id := range t.words.tokens {
		t.size = max(t.size, id+1)
		lengths = append(lengths, utf8.RuneCountInString(entry))
	}
	for _, a := range file.AddedTokens {
		if a.ID < 0 || a.Content == "" {
			return nil, fmt.Errorf("the added token %q has the number %d", a.Content, a.ID)
		}
		t.size = max(t.size, a.ID+1)
		if _, ok := t.words.tokens[a.Content]; !ok {
			lengths = append(lengths, utf8.RuneCountInString(a.Content))
		}
		if a.Normalized {
			a.Content = t.normalize(a.Content)
			t.normalized.add(a)
		} else {
			t.raw.add(a)
		}
	}
	slices.Sort(lengths)
	n := len(lengths)
	t.medianRunes = max((lengths[(n-1)/2]+lengths[n/2])/2, 1)
	return t, nil
}

// tokens returns the tokens of text in order, including unknown ones.
func (t *tokenizer) tokens(text string) []int {
	var tokens []int
	first := true
	for _, outer := range t.raw.cut(text) {
		if outer.token >= 0 {
			tokens, first = append(tokens, outer.token), false
			continue
		}
		for _, inner := range t.normalized.cut(t.normalize(outer.text)) {
			if inner.token >= 0 {
				tokens, first = append(tokens, inner.token), false
				continue
			}
			for _, word := range t.preTokenize(inner.text, first) {
				tokens = t.words.lookUp(tokens, word)
			}
			first = false
		}
	}
	return tokens
}

// addedToken is a token that is found by its spelling before the text is split
// into words.
type addedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"` // only where no letter or digit touches it
	LStrip     bool   `json:"lstrip"`      // includes the white space before it
	RStrip     bool   `json:"rstrip"`      // includes the white space after it
	Normalized bool   `json:"normalized"`
}

// addedTokens maps the first byte of the added tokens to them, the longest
// first.
type addedTokens map[byte][]addedToken

func (a addedTokens) add(t addedToken) {
	if t.Content == "" {
		return // the normalizer removed all of it
	}
	same := append(a[t.Content[0]], t)
	slices.SortStableFunc(same, func(x, y addedToken) int { return cmp.Compare(len(y.Content), len(x.Content)) })
	a[t.Content[0]] = same
}

// section is an added token, or text without one, whose token is -1.
type section struct {
	text  string
	token int
}

// cut splits text at the added tokens. It searches from left to right and
// prefers the longest token.
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

// at returns the longest added token that text[i:] begins with.
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
