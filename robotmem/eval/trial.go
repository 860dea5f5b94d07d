package eval

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// languagePairs has five pairs of sentences in each of eight languages. The two of a pair say
// nearly the same and share few words, so that only a model that knows the language finds them.
//
//go:embed languages.txt
var languagePairs string

// Trial is the result of TryEmbedder.
type Trial struct {
	Model          string  `json:"model"`
	TextsPerSecond float64 `json:"texts_per_second"`
	QueryMS        float64 `json:"query_ms"` // mean of ten queries
	// FoundOf5 are, by language, the pairs of which each sentence is the nearest of the other.
	FoundOf5 map[string]int64 `json:"found_of_5"`
	Works    []string         `json:"works"` // languages of which most pairs were found
	Advice   string           `json:"advice"`
}

// TryEmbedder measures the speed of an embedder and which languages it knows. A language with a
// sentence that the model refuses does not work. It fails with the other errors of Embed.
func TryEmbedder(ctx context.Context, e robotmem.Embedder) (*Trial, error) {
	if _, err := e.Embed(ctx, robotmem.ForMemory, []string{"robot"}); err != nil { // some load the model now
		return nil, err
	}
	t := &Trial{Model: e.State().Model, FoundOf5: map[string]int64{}, Works: []string{}}
	start, embedded := time.Now(), 0
	var sentences []string // of a language; 2i and 2i+1 are a pair
	for lines := range slices.Chunk(strings.Split(strings.TrimSpace(languagePairs), "\n"), 5) {
		language := ""
		sentences = nil
		for _, line := range lines {
			cells := strings.Split(line, "|")
			language, sentences = cells[0], append(sentences, cells[1:]...)
		}
		vectors, err := e.Embed(ctx, robotmem.ForMemory, sentences)
		if err != nil && !errors.Is(err, robotmem.Invalid) {
			return nil, err
		}
		embedded += len(vectors)
		t.FoundOf5[language] = 0
		for at := 0; at < len(vectors); at += 2 {
			if nearest(vectors, at) == at+1 && nearest(vectors, at+1) == at {
				t.FoundOf5[language]++
			}
		}
		if t.FoundOf5[language] >= 3 {
			t.Works = append(t.Works, language)
		}
	}
	t.TextsPerSecond = float64(embedded) / time.Since(start).Seconds()
	start = time.Now()
	for _, q := range sentences {
		if _, err := e.Embed(ctx, robotmem.ForQuestion, []string{q}); err != nil && !errors.Is(err, robotmem.Invalid) {
			return nil, err
		}
	}
	t.QueryMS = time.Since(start).Seconds() * 1000 / float64(len(sentences))
	t.Advice = "do not use it: it knows none of these languages"
	if len(t.Works) > 0 {
		t.Advice = fmt.Sprintf("use it for memories in %s; a recall waits %.3g ms for its query", strings.Join(t.Works, ", "), t.QueryMS)
	}
	return t, nil
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
