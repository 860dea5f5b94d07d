package embedding

import (
	"encoding/json"
	"fmt"
)

// tokenizer.json describes how the Hugging Face tokenizers turn a text into
// tokens: normalize it, split it into words, and look each word up in the
// vocabulary. https://huggingface.co/docs/tokenizers/pipeline
//
// This package supports the components that Model2Vec models use. It refuses a file with any
// other component by name, because a tokenizer without the component would give wrong vectors and
// no error. It does not support byte-pair encoding, nor added tokens that are not in the
// vocabulary. The spelling of a special token, such as [UNK], is ordinary text.

// tokenizer turns a text into tokens. It is immutable.
type tokenizer struct {
	normalize   normalizer
	preTokenize preTokenizer
	words       *wordModel
	size        int // upper bound of the tokens, exclusive
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

func readTokenizer(data []byte) (*tokenizer, error) {
	var file struct {
		AddedTokens []struct {
			Content string `json:"content"`
			Special bool   `json:"special"`
		} `json:"added_tokens"`
		Normalizer   *component      `json:"normalizer"`
		PreTokenizer *component      `json:"pre_tokenizer"`
		Model        wordModelConfig `json:"model"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}

	t := &tokenizer{}

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

	for _, id := range t.words.tokens {
		t.size = max(t.size, id+1)
	}

	// Special tokens such as [CLS] never occur in a text. Any other added token would change how words are split.
	for _, a := range file.AddedTokens {
		if _, known := t.words.tokens[a.Content]; !known && !a.Special {
			return nil, fmt.Errorf("the added token %q is not in the vocabulary, which is not supported", a.Content)
		}
	}

	return t, nil
}

// tokens returns the tokens of text in order, including unknown ones.
func (t *tokenizer) tokens(text string) []int {
	var tokens []int
	for _, word := range t.preTokenize(t.normalize(text)) {
		tokens = t.words.lookUp(tokens, word)
	}
	return tokens
}
