package text

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// chineseWords is a dictionary of simplified Chinese: the sum of all frequencies,
// then a word and its frequency a line. It has the words of jieba's dictionary
// (github.com/fxsjy/jieba, as in github.com/go-ego/gse v0.80.3) that occur at least
// five times; a word of one character has the frequency 2, so that longer words win.
// It is compressed, because few processes load it.
//
//go:embed chinese/words.zst
var chineseWords []byte

// distances is loaded by the first Chinese question and kept for the process. It has
// the distance of each word of the dictionary, which is the binary logarithm of the
// inverse of its probability, and 0 for other beginnings of words. It is never changed.
var distances = sync.OnceValue(func() map[string]float32 {
	words := map[string]float32{}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return words // cannot happen; without words each character is a word
	}
	defer z.Close()
	data, _ := z.DecodeAll(chineseWords, nil) // embedded, so not damaged
	total, list, _ := strings.Cut(string(data), "\n")
	for line := range strings.Lines(list) {
		word, frequency, _ := strings.Cut(strings.TrimSpace(line), " ")
		for end := range word {
			words[word[:end]] += 0
		}
		words[word] = log2(total) - log2(frequency)
	}
	return words
})

func log2(number string) float32 {
	n, _ := strconv.ParseFloat(number, 64)
	return float32(math.Log2(n))
}

const (
	// unknownDistance is the distance of a character that is no word.
	unknownDistance = 32
	// maxSegmented is how many bytes are segmented at once, because distances are
	// added in single precision.
	maxSegmented = 3 * 1024
)

// segment returns the words of a Chinese text: those with the smallest sum of
// distances, which are the most probable ones.
func segment(s string) (words []string) {
	known := distances()
	type step struct {
		sum  float32 // of the distances up to the end of the word; 0 is not reached
		from int     // begin of the word
	}
	best := make([]step, len(s)+1) // by the end of a word
	improve := func(from, to int, distance float32) {
		if sum := best[from].sum + distance; best[to].sum == 0 || sum < best[to].sum {
			best[to] = step{sum, from}
		}
	}
	for from := 0; from < len(s); {
		_, next := utf8.DecodeRuneInString(s[from:])
		next += from
		if known[s[from:next]] == 0 {
			improve(from, next, unknownDistance)
		}
		for to := next; ; {
			distance, begins := known[s[from:to]]
			if distance > 0 {
				improve(from, to, distance)
			}
			if !begins || to == len(s) {
				break
			}
			_, size := utf8.DecodeRuneInString(s[to:])
			to += size
		}
		from = next
	}
	for to := len(s); to > 0; to = best[to].from {
		words = append(words, s[best[to].from:to])
	}
	slices.Reverse(words)
	return words
}
