// Package languages finds out which languages an embedder knows.
package languages

import (
	"context"
	_ "embed"
	"errors"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/robotmem/robotmem-go/robotmem"
)

// pairs has five pairs of sentences in each of eight languages. The two of a pair say nearly the same and
// share few words, so that only a model that knows the language finds them.
//
//go:embed languages.txt
var pairs string

// Pairs is how many pairs of sentences there are in each language, and Enough how many of them a model finds
// that knows it.
const (
	Pairs  = 5
	Enough = 3
)

// All are the languages with sentences.
var All = func() (names []string) {
	for line := range strings.Lines(pairs) {
		if name, _, _ := strings.Cut(line, "|"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}()

// Sentences returns the sentences of a language; 2i and 2i+1 are a pair.
func Sentences(language string) (sentences []string) {
	for line := range strings.Lines(pairs) {
		if cells := strings.Split(strings.TrimSpace(line), "|"); cells[0] == language {
			sentences = append(sentences, cells[1:]...)
		}
	}
	return sentences
}

// Found returns the pairs of a language of which each sentence is the nearest of the other among all ten. A
// language with a sentence that the model refuses has none.
func Found(ctx context.Context, e robotmem.Embedder, language string) (found int, err error) {
	vectors, err := e.Embed(ctx, robotmem.ForMemory, Sentences(language))
	if err != nil && !errors.Is(err, robotmem.Invalid) {
		return 0, err
	}
	for at := 0; at < len(vectors); at += 2 {
		if nearest(vectors, at) == at+1 && nearest(vectors, at+1) == at {
			found++
		}
	}
	return found, nil
}

// OfScript returns the language of the letters of a text if their script tells: Chinese, Japanese, Korean or
// Russian; otherwise "".
func OfScript(text string) string {
	language := ""
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			return "Japanese"
		case unicode.Is(unicode.Hangul, r):
			return "Korean"
		case unicode.Is(unicode.Han, r):
			language = "Chinese"
		case unicode.Is(unicode.Cyrillic, r) && language == "":
			language = "Russian"
		}
	}
	return language
}

// nearest returns the other vector that has the largest cosine with vector at.
func nearest(vectors [][]float32, at int) int {
	best, most := -1, math.Inf(-1)
	for i, v := range vectors {
		var dot, squares float64
		for d, x := range v {
			dot += float64(x) * float64(vectors[at][d])
			squares += float64(x) * float64(x)
		}
		if cosine := dot / math.Sqrt(squares); i != at && cosine > most {
			best, most = i, cosine
		}
	}
	return best
}
