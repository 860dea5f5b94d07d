package eval

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/robotmem/robotmem-go/robotmem"
)

// WordVectors is an embedder to measure the speed of the search without a model. The vector of a
// text is the sum of random vectors of its words, with the word as the seed (random indexing;
// Sahlgren 2005), so texts with common words are near each other. The zero value is ready; vectors
// have 384 dimensions.
type WordVectors struct {
	mu    sync.Mutex // guards words
	words map[string][]float32
}

const wordDims = 384

func (b *WordVectors) State() robotmem.EmbedderState {
	return robotmem.EmbedderState{Model: "eval:random-indexing"}
}

func (b *WordVectors) Embed(_ context.Context, _ robotmem.Purpose, texts []string) ([][]float32, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	out := make([][]float32, len(texts))
	for i, text := range texts {
		v := make([]float32, wordDims)

		for _, word := range strings.Fields(text) {
			for d, x := range b.word(word) {
				v[d] += x
			}
		}
		out[i] = v
	}

	return out, nil
}

// word returns the vector of a word. Vectors of words with digits are not cached, because there is no end of numbers.
func (b *WordVectors) word(word string) []float32 {
	if v, ok := b.words[word]; ok {
		return v
	}

	// The word is the seed, so that every run and every machine has the same vectors.
	h := fnv.New64a()
	_, _ = h.Write([]byte(word)) // never fails
	rng := rand.New(rand.NewPCG(factsSeed, h.Sum64()))

	v := make([]float32, wordDims)
	for d := range v {
		v[d] = float32(rng.NormFloat64())
	}

	if !strings.ContainsAny(word, "0123456789") {
		if b.words == nil {
			b.words = map[string][]float32{}
		}
		b.words[word] = v
	}

	return v
}
