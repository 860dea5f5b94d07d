// Package languages finds out by the vectors of an embedder which languages it knows.
package languages

import (
	_ "embed"
	"math"
	"slices"
	"strings"
	"unicode"
)

// pairs has five pairs of sentences in each of eight languages. The two of a pair say nearly the same and
// share few words, so that only a model that knows the language finds them.
//
//go:embed languages.txt
var pairs string

// Enough is how many of the five pairs a model finds that knows the language.
const Enough = 3

// All returns the languages with sentences.
func All() (names []string) {
	for line := range strings.Lines(pairs) {
		if name, _, _ := strings.Cut(line, "|"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Sentences returns the sentences of a language; 2i and 2i+1 are a pair.
func Sentences(language string) (sentences []string) {
	for line := range strings.Lines(pairs) {
		if cells := strings.Split(strings.TrimSpace(line), "|"); cells[0] == language {
			sentences = append(sentences, cells[1:]...)
		}
	}
	return sentences
}

// Found returns of how many pairs each sentence is the nearest of the other among all, by the vectors of the
// sentences of a language; none without vectors.
func Found(vectors [][]float32) (found int) {
	for at := 0; at < len(vectors); at += 2 {
		if nearest(vectors, at) == at+1 && nearest(vectors, at+1) == at {
			found++
		}
	}
	return found
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
