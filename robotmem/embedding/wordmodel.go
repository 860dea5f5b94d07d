package embedding

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// wordModel turns words into tokens: whole words (WordLevel), or pieces of
// words (WordPiece, Unigram).
type wordModel interface {
	// lookUp appends the tokens of a word.
	lookUp(tokens []int, word string) []int
}

type wordLevel struct {
	vocabulary map[string]int
	unknown    int // -1: unknown words have no token
}

func (w wordLevel) lookUp(tokens []int, word string) []int {
	if id, ok := w.vocabulary[word]; ok {
		return append(tokens, id)
	}
	if w.unknown >= 0 {
		tokens = append(tokens, w.unknown)
	}
	return tokens
}

// wordPiece takes the longest known piece from the left, again and again. A word
// with a part that is no known piece is unknown as a whole.
// https://arxiv.org/abs/2012.15524
type wordPiece struct {
	begins    map[string]int // pieces at the beginning of a word
	continues map[string]int // pieces within a word, without their prefix
	longest   int            // length of the longest piece in bytes
	unknown   int            // -1: unknown words have no token
	maxRunes  int            // longer words are unknown
}

func newWordPiece(vocabulary map[string]int, unknown int, c *wordModelConfig) *wordPiece {
	prefix, maxRunes := "##", 100 // the defaults of the format
	if c.Prefix != nil {
		prefix = *c.Prefix
	}
	if c.MaxRunes != nil {
		maxRunes = *c.MaxRunes
	}
	w := &wordPiece{begins: vocabulary, continues: map[string]int{}, unknown: unknown, maxRunes: maxRunes}
	for text, id := range vocabulary {
		w.longest = max(w.longest, len(text))
		if piece, ok := strings.CutPrefix(text, prefix); ok {
			w.continues[piece] = id
		}
	}
	return w
}

func (w *wordPiece) lookUp(tokens []int, word string) []int {
	before := len(tokens)
	known := len(word) <= w.maxRunes || utf8.RuneCountInString(word) <= w.maxRunes
	pieces := w.begins
	for known && word != "" {
		n, id := w.piece(pieces, word)
		known = n > 0
		tokens = append(tokens, id)
		word, pieces = word[n:], w.continues
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
// begins with, 0 if there is none.
func (w *wordPiece) piece(pieces map[string]int, word string) (n, id int) {
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

// unigram splits a word into the pieces with the highest joint probability,
// which it finds with the Viterbi algorithm. https://arxiv.org/abs/1804.10959
type unigram struct {
	pieces  map[string]piece
	longest int     // length of the longest piece in bytes
	unknown int     // -1: unknown runes have no token
	penalty float64 // score of an unknown rune
	bytes   []int   // the token of each byte of an unknown rune, nil without byte fallback
}

type piece struct {
	id    int
	score float64 // natural logarithm of the probability
}

// unknownPenalty is how much lower than the rarest piece an unknown rune scores.
// SentencePiece uses the same value.
const unknownPenalty = 10

func readUnigram(c *wordModelConfig) (*unigram, error) {
	var list [][2]json.RawMessage
	if err := json.Unmarshal(c.Vocab, &list); err != nil {
		return nil, fmt.Errorf("the vocabulary: %w", err)
	}
	if len(list) == 0 {
		return nil, errors.New("the vocabulary is empty")
	}
	u := &unigram{pieces: make(map[string]piece, len(list)), unknown: -1}
	lowest := math.Inf(1)
	for id, entry := range list {
		var text string
		var score float64
		if err := errors.Join(json.Unmarshal(entry[0], &text), json.Unmarshal(entry[1], &score)); err != nil {
			return nil, fmt.Errorf("token %d of the vocabulary: %w", id, err)
		}
		u.pieces[text] = piece{id, score}
		u.longest = max(u.longest, len(text))
		lowest = min(lowest, score)
	}
	u.penalty = lowest - unknownPenalty
	if c.UnknownID != nil {
		if u.unknown = *c.UnknownID; u.unknown < 0 || u.unknown >= len(list) {
			return nil, fmt.Errorf("the unknown token has the number %d of %d", u.unknown, len(list))
		}
	}
	if c.ByteFallback {
		u.bytes = make([]int, 256)
		for b := range u.bytes {
			p, ok := u.pieces[fmt.Sprintf("<0x%02X>", b)]
			if !ok {
				u.bytes = nil
				break
			}
			u.bytes[b] = p.id
		}
	}
	return u, nil
}

// path is the best segmentation of a word up to a position.
type path struct {
	from  int // where the last piece begins, -1 if no path is known yet
	id    int // token of the last piece, -1 for an unknown rune
	score float64
}

func (u *unigram) lookUp(tokens []int, word string) []int {
	best := make([]path, len(word)+1) // by the position where the path ends
	for i := range best {
		best[i].from = -1
	}
	best[0].from = 0
	for i := 0; i < len(word); {
		_, size := utf8.DecodeRuneInString(word[i:])
		single := false // a piece is this rune alone
		for n := 1; n <= min(u.longest, len(word)-i); n++ {
			if i+n < len(word) && !utf8.RuneStart(word[i+n]) {
				continue
			}
			if p, ok := u.pieces[word[i:i+n]]; ok {
				best[i+n].improve(path{i, p.id, best[i].score + p.score})
				single = single || n == size
			}
		}
		if !single {
			best[i+size].improve(path{i, -1, best[i].score + u.penalty})
		}
		i += size
	}
	return u.appendPath(tokens, word, best)
}

func (p *path) improve(other path) {
	if p.from < 0 || other.score > p.score {
		*p = other
	}
}

// appendPath appends the tokens of the best path through the whole word. Adjacent
// unknown runes give one token.
func (u *unigram) appendPath(tokens []int, word string, best []path) []int {
	var ends []int
	for end := len(word); end > 0; end = best[end].from {
		ends = append(ends, end)
	}
	wasUnknown := false
	for k := len(ends) - 1; k >= 0; k-- {
		p := best[ends[k]]
		switch {
		case p.id >= 0 && p.id != u.unknown:
			tokens = append(tokens, p.id)
		case u.bytes != nil:
			for _, b := range []byte(word[p.from:ends[k]]) {
				tokens = append(tokens, u.bytes[b])
			}
		case !wasUnknown && u.unknown >= 0:
			tokens = append(tokens, u.unknown)
		}
		wasUnknown = p.id < 0 || p.id == u.unknown
	}
	return tokens
}
