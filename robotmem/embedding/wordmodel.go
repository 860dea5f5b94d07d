package embedding

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// wordModel turns words into tokens: pieces of words (WordPiece, Unigram).
type wordModel struct {
	tokens  map[string]int // the vocabulary
	longest int            // length of its longest entry in bytes
	unknown int            // the token of unknown words and runes, -1 if there is none

	// Only for WordPiece.
	continuing map[string]int // pieces that continue a word, without their prefix
	maxRunes   int            // longer words are unknown

	// Only for Unigram.
	scores  []float64 // by token: natural logarithm of the probability
	penalty float64   // score of an unknown rune
}

// wordModelConfig is the section "model" of the file.
type wordModelConfig struct {
	Type         string          `json:"type"`
	Vocab        json.RawMessage `json:"vocab"`
	UnknownToken string          `json:"unk_token"`
	UnknownID    *int            `json:"unk_id"`
	Prefix       *string         `json:"continuing_subword_prefix"`
	MaxRunes     *int            `json:"max_input_chars_per_word"`
}

func readWordModel(c *wordModelConfig) (*wordModel, error) {
	w := &wordModel{unknown: -1}

	var err error

	switch c.Type {
	case "Unigram":
		err = w.readUnigram(c)
	case "WordPiece":
		err = w.readWordPiece(c)
	default:
		err = fmt.Errorf("models of type %q are not supported, only WordPiece and Unigram", c.Type)
	}

	if err == nil && len(w.tokens) == 0 {
		err = errors.New("the vocabulary is empty")
	}

	for text := range w.tokens {
		w.longest = max(w.longest, len(text))
	}

	return w, err
}

func (w *wordModel) readWordPiece(c *wordModelConfig) error {
	if err := json.Unmarshal(c.Vocab, &w.tokens); err != nil {
		return fmt.Errorf("the vocabulary: %w", err)
	}

	// "##" and 100 runes are the defaults of the format.
	prefix := "##"
	w.maxRunes = 100

	if c.Prefix != nil {
		prefix = *c.Prefix
	}
	if c.MaxRunes != nil {
		w.maxRunes = *c.MaxRunes
	}

	w.continuing = map[string]int{}
	for text, id := range w.tokens {
		if id < 0 || int64(id) > math.MaxInt32 {
			return fmt.Errorf("the token %q has the number %d", text, id)
		}
		if piece, ok := strings.CutPrefix(text, prefix); ok {
			w.continuing[piece] = id
		}
	}

	if id, ok := w.tokens[c.UnknownToken]; ok {
		w.unknown = id
	}

	return nil
}

// unknownPenalty is how much lower than the rarest piece an unknown rune scores.
// SentencePiece uses the same value.
const unknownPenalty = 10

func (w *wordModel) readUnigram(c *wordModelConfig) error {
	var list [][2]json.RawMessage
	if err := json.Unmarshal(c.Vocab, &list); err != nil {
		return fmt.Errorf("the vocabulary: %w", err)
	}

	w.tokens = make(map[string]int, len(list))
	w.scores = make([]float64, len(list))
	w.penalty = math.Inf(1)

	for id, entry := range list {
		var text string
		if err := errors.Join(json.Unmarshal(entry[0], &text), json.Unmarshal(entry[1], &w.scores[id])); err != nil {
			return fmt.Errorf("token %d of the vocabulary: %w", id, err)
		}
		w.tokens[text] = id
		w.penalty = min(w.penalty, w.scores[id]-unknownPenalty)
	}

	if c.UnknownID != nil && len(list) > 0 {
		w.unknown = *c.UnknownID
		if w.unknown < 0 || w.unknown >= len(list) {
			return fmt.Errorf("the unknown token has the number %d of %d", w.unknown, len(list))
		}
	}

	return nil
}

// lookUp appends the tokens of a word. For WordPiece it takes the longest known piece from the
// left, again and again. A word with a part that is no known piece is unknown as
// a whole. https://arxiv.org/abs/2012.15524
func (w *wordModel) lookUp(tokens []int, word string) []int {
	if w.scores != nil {
		return w.likeliest(tokens, word)
	}

	before := len(tokens)
	known := len(word) <= w.maxRunes || utf8.RuneCountInString(word) <= w.maxRunes

	// The vocabulary has entries of their own for pieces that continue a word, so only the first piece is looked up
	// among those that begin one.
	pieces := w.tokens
	for known && word != "" {
		n, id := w.piece(pieces, word)
		known = n > 0
		tokens = append(tokens, id)
		word = word[n:]
		pieces = w.continuing
	}

	if known {
		return tokens
	}

	tokens = tokens[:before]
	if w.unknown >= 0 {
		tokens = append(tokens, w.unknown)
	}

	return tokens
}

// piece returns the length in bytes and the token of the longest piece that word
// begins with. The length is 0 if there is none.
func (w *wordModel) piece(pieces map[string]int, word string) (n, id int) {
	for n = min(len(word), w.longest); n > 0; n-- {
		if n < len(word) && !utf8.RuneStart(word[n]) {
			continue
		}
		if id, ok := pieces[word[:n]]; ok {
			return n, id
		}
	}

	return 0, 0
}

// path is the best segmentation of a word up to a position.
type path struct {
	from  int // where the last piece begins, -1 if no path is known yet
	id    int // token of the last piece, -1 for an unknown rune
	score float64
}

// likeliest splits a word into the pieces with the highest joint probability,
// which it finds with the Viterbi algorithm. https://arxiv.org/abs/1804.10959
func (w *wordModel) likeliest(tokens []int, word string) []int {
	// By the position where the path ends.
	best := make([]path, len(word)+1)
	for i := range best {
		best[i].from = -1
	}

	best[0].from = 0

	for i := 0; i < len(word); {
		_, size := utf8.DecodeRuneInString(word[i:])
		// Whether this rune alone is a known piece. Only if it is not may a path pass it as an unknown rune.
		isPiece := false

		for n := 1; n <= min(w.longest, len(word)-i); n++ {
			if i+n < len(word) && !utf8.RuneStart(word[i+n]) {
				continue
			}
			if id, ok := w.tokens[word[i:i+n]]; ok {
				best[i+n].improve(path{i, id, best[i].score + w.scores[id]})
				isPiece = isPiece || n == size
			}
		}
		if !isPiece {
			best[i+size].improve(path{i, -1, best[i].score + w.penalty})
		}
		i += size
	}

	return w.appendPath(tokens, best)
}

// improve replaces the path by another one with a higher score.
func (p *path) improve(other path) {
	if p.from < 0 || other.score > p.score {
		*p = other
	}
}

// appendPath appends the tokens of the best path through the whole word. Adjacent
// unknown runes give one token.
func (w *wordModel) appendPath(tokens []int, best []path) []int {
	var ends []int
	for end := len(best) - 1; end > 0; end = best[end].from {
		ends = append(ends, end)
	}
	wasUnknown := false

	for k := len(ends) - 1; k >= 0; k-- {
		p := best[ends[k]]
		switch {
		case p.id >= 0 && p.id != w.unknown:
			tokens = append(tokens, p.id)
		case !wasUnknown && w.unknown >= 0:
			tokens = append(tokens, w.unknown)
		}
		wasUnknown = p.id < 0 || p.id == w.unknown
	}

	return tokens
}
