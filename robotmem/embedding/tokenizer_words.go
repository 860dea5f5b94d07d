package embedding

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// wordLevel knows whole words.
type wordLevel struct {
	tokens  map[string]int
	unknown int // -1 drops what is not known
}

func (w wordLevel) lookUp(tokens []int, word string) []int {
	if id, ok := w.tokens[word]; ok {
		return append(tokens, id)
	}
	if w.unknown >= 0 {
		tokens = append(tokens, w.unknown)
	}
	return tokens
}

// wordPiece takes the longest known piece from the left again and again; a word
// that does not come out even is unknown as a whole.
// https://arxiv.org/abs/2012.15524
type wordPiece struct {
	begins, continues map[string]int // the pieces, those within a word without their prefix
	longest           int            // piece, in bytes
	unknown           int            // -1 drops what is not known
	maxRunes          int            // a longer word is unknown
}

func newWordPiece(spelled map[string]int, unknown int, v *vocabulary) *wordPiece {
	prefix, maxRunes := "##", 100
	if v.Prefix != nil {
		prefix = *v.Prefix
	}
	if v.MaxRunes != nil {
		maxRunes = *v.MaxRunes
	}
	w := &wordPiece{begins: spelled, continues: map[string]int{}, unknown: unknown, maxRunes: maxRunes}
	for token, id := range spelled {
		w.longest = max(w.longest, len(token))
		if piece, ok := strings.CutPrefix(token, prefix); ok {
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

// piece returns the length and the token of the longest piece that word begins
// with, 0 if there is none.
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

// unigram splits a word into the pieces of the highest joint probability, found
// from the left (Viterbi). https://arxiv.org/abs/1804.10959
type unigram struct {
	entries map[string]unigramEntry
	longest int // piece, in bytes
	unknown int // -1 drops what is not known
	penalty float64
	bytes   []int // the token of each byte for what is not known, nil without
}

type unigramEntry struct {
	id    int
	score float64 // natural logarithm of the probability
}

// unknownPenalty is how much worse than the rarest piece an unknown rune is, as
// SentencePiece has it.
const unknownPenalty = 10

func readUnigram(v *vocabulary) (*unigram, error) {
	var list [][2]json.RawMessage
	if err := json.Unmarshal(v.Vocab, &list); err != nil {
		return nil, fmt.Errorf("the vocabulary: %w", err)
	}
	if len(list) == 0 {
		return nil, errors.New("the vocabulary is empty")
	}
	u := &unigram{entries: make(map[string]unigramEntry, len(list)), unknown: -1}
	lowest := math.Inf(1)
	for id, raw := range list {
		var token string
		var score float64
		if err := errors.Join(json.Unmarshal(raw[0], &token), json.Unmarshal(raw[1], &score)); err != nil {
			return nil, fmt.Errorf("token %d of the vocabulary: %w", id, err)
		}
		u.entries[token] = unigramEntry{id, score}
		u.longest = max(u.longest, len(token))
		lowest = min(lowest, score)
	}
	u.penalty = lowest - unknownPenalty
	if v.UnknownID != nil {
		if u.unknown = *v.UnknownID; u.unknown < 0 || u.unknown >= len(list) {
			return nil, fmt.Errorf("the unknown token has the number %d of %d", u.unknown, len(list))
		}
	}
	if v.ByteFallback {
		u.bytes = make([]int, 256)
		for b := range u.bytes {
			e, ok := u.entries[fmt.Sprintf("<0x%02X>", b)]
			if !ok {
				u.bytes = nil
				break
			}
			u.bytes[b] = e.id
		}
	}
	return u, nil
}

// step is the best way to a place in a word.
type step struct {
	from  int // where its last piece begins, -1 for no way yet
	id    int // of that piece, -1 for an unknown rune
	score float64
}

func (u *unigram) lookUp(tokens []int, word string) []int {
	best := make([]step, len(word)+1)
	for i := range best {
		best[i].from = -1
	}
	best[0].from = 0
	for i := 0; i < len(word); {
		_, size := utf8.DecodeRuneInString(word[i:])
		single := false
		for n := 1; n <= min(u.longest, len(word)-i); n++ {
			if i+n < len(word) && !utf8.RuneStart(word[i+n]) {
				continue
			}
			if e, ok := u.entries[word[i:i+n]]; ok {
				best[i+n].improve(step{i, e.id, best[i].score + e.score})
				single = single || n == size
			}
		}
		if !single {
			best[i+size].improve(step{i, -1, best[i].score + u.penalty})
		}
		i += size
	}
	return u.walk(tokens, word, best)
}

// improve takes other if it is better.
func (s *step) improve(other step) {
	if s.from < 0 || other.score > s.score {
		*s = other
	}
}

// walk appends the tokens of the best way through word; unknown runes that
// stand side by side are one token.
func (u *unigram) walk(tokens []int, word string, best []step) []int {
	var ends []int
	for end := len(word); end > 0; end = best[end].from {
		ends = append(ends, end)
	}
	wasUnknown := false
	for k := len(ends) - 1; k >= 0; k-- {
		s := best[ends[k]]
		switch {
		case s.id >= 0 && s.id != u.unknown:
			tokens = append(tokens, s.id)
		case u.bytes != nil:
			for _, b := range []byte(word[s.from:ends[k]]) {
				tokens = append(tokens, u.bytes[b])
			}
		case !wasUnknown && u.unknown >= 0:
			tokens = append(tokens, u.unknown)
		}
		wasUnknown = s.id < 0 || s.id == u.unknown
	}
	return tokens
}
