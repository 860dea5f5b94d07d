package embedding

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// tokenizer.json is how the Hugging Face tokenizers describe the way from a
// text to tokens: added tokens are cut out, the rest is normalized, split into
// words, and each word is looked up piece by piece.
// https://huggingface.co/docs/tokenizers/pipeline
//
// Read are the parts that Model2Vec models come with; a file with another part
// is refused by its name, as leaving it out would give wrong vectors without a
// sign. Byte-pair models are not read.

// tokenizer turns a text into tokens. It never changes once it is read.
type tokenizer struct {
	raw        addedTokens // that are looked for in the text as it came
	normalized addedTokens // that are looked for in the normalized text
	normalize  normalizer
	split      splitter
	words      wordModel

	unknown     int // the token of what is not in the vocabulary, -1 if there is none
	size        int // tokens are below it
	medianRunes int // of a token as it is spelled in the vocabulary
}

// wordModel is the vocabulary.
type wordModel interface {
	// lookUp appends the tokens of a word.
	lookUp(tokens []int, word string) []int
}

// part is a step of the file: what is read depends on its type.
type part struct {
	Type string `json:"type"`

	Normalizers   []part `json:"normalizers"`
	PreTokenizers []part `json:"pretokenizers"`

	CleanText          bool  `json:"clean_text"`
	HandleChineseChars bool  `json:"handle_chinese_chars"`
	StripAccents       *bool `json:"strip_accents"`
	Lowercase          bool  `json:"lowercase"`

	StripLeft   bool   `json:"strip_left"`
	StripRight  bool   `json:"strip_right"`
	Prepend     string `json:"prepend"`
	Charsmap    string `json:"precompiled_charsmap"`
	Content     string `json:"content"`
	Replacement string `json:"replacement"`
	Pattern     struct {
		String *string `json:"String"`
		Regex  *string `json:"Regex"`
	} `json:"pattern"`

	AddPrefixSpace   *bool  `json:"add_prefix_space"`
	PrependScheme    string `json:"prepend_scheme"`
	Split            *bool  `json:"split"`
	Behavior         string `json:"behavior"`
	IndividualDigits bool   `json:"individual_digits"`
}

// vocabulary is the section "model" of the file.
type vocabulary struct {
	Type         string          `json:"type"`
	Vocab        json.RawMessage `json:"vocab"`
	UnknownToken string          `json:"unk_token"`
	UnknownID    *int            `json:"unk_id"`
	Prefix       *string         `json:"continuing_subword_prefix"`
	MaxRunes     *int            `json:"max_input_chars_per_word"`
	ByteFallback bool            `json:"byte_fallback"`
}

// readTokenizer reads the contents of tokenizer.json.
func readTokenizer(data []byte) (*tokenizer, error) {
	var file struct {
		AddedTokens  []addedToken `json:"added_tokens"`
		Normalizer   *part        `json:"normalizer"`
		PreTokenizer *part        `json:"pre_tokenizer"`
		Model        vocabulary   `json:"model"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	t := &tokenizer{}
	var err error
	if t.normalize, err = readNormalizer(file.Normalizer); err != nil {
		return nil, err
	}
	if t.split, err = readSplitter(file.PreTokenizer); err != nil {
		return nil, err
	}
	spelled, err := t.readVocabulary(&file.Model)
	if err != nil {
		return nil, err
	}
	lengths := make([]int, 0, len(spelled)+len(file.AddedTokens))
	for token, id := range spelled {
		t.size = max(t.size, id+1)
		lengths = append(lengths, utf8.RuneCountInString(token))
	}
	for _, a := range file.AddedTokens {
		if a.ID < 0 || a.Content == "" {
			return nil, fmt.Errorf("the added token %q with the number %d", a.Content, a.ID)
		}
		t.size = max(t.size, a.ID+1)
		if _, ok := spelled[a.Content]; !ok {
			lengths = append(lengths, utf8.RuneCountInString(a.Content))
		}
		if a.Normalized {
			a.Content = t.normalize(a.Content)
			t.normalized.add(a)
		} else {
			t.raw.add(a)
		}
	}
	t.medianRunes = max(median(lengths), 1)
	return t, nil
}

// readVocabulary fills in the model and returns the tokens by spelling.
func (t *tokenizer) readVocabulary(v *vocabulary) (map[string]int, error) {
	spelled := map[string]int{}
	t.unknown = -1
	if v.Type == "Unigram" {
		u, err := readUnigram(v)
		if err != nil {
			return nil, err
		}
		t.words, t.unknown = u, u.unknown
		for token, e := range u.entries {
			spelled[token] = e.id
		}
		return spelled, nil
	}
	if v.Type != "WordPiece" && v.Type != "WordLevel" {
		return nil, fmt.Errorf("a model of type %q is not read, only WordPiece, WordLevel and Unigram", v.Type)
	}
	if err := json.Unmarshal(v.Vocab, &spelled); err != nil {
		return nil, fmt.Errorf("the vocabulary: %w", err)
	}
	if len(spelled) == 0 {
		return nil, errors.New("the vocabulary is empty")
	}
	for token, id := range spelled {
		if id < 0 || id > 1<<31 {
			return nil, fmt.Errorf("the token %q has the number %d", token, id)
		}
	}
	if id, ok := spelled[v.UnknownToken]; ok {
		t.unknown = id
	}
	if v.Type == "WordLevel" {
		t.words = wordLevel{spelled, t.unknown}
		return spelled, nil
	}
	t.words = newWordPiece(spelled, t.unknown, v)
	return spelled, nil
}

// tokens returns the tokens of text in order, unknown ones included.
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
			for _, word := range t.split(inner.text, first) {
				tokens = t.words.lookUp(tokens, word)
			}
			first = false
		}
	}
	return tokens
}

// median is the middle of xs, of an even number the mean of both rounded down.
func median(xs []int) int {
	if len(xs) == 0 {
		return 0
	}
	slices.Sort(xs)
	half := len(xs) / 2
	if len(xs)%2 == 1 {
		return xs[half]
	}
	return (xs[half-1] + xs[half]) / 2
}
