package eval

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/languages"
)

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
	// Some embedders load the model with the first text. That time is not part of the speed.
	if _, err := e.Embed(ctx, robotmem.ForMemory, []string{"robot"}); err != nil {
		return nil, err
	}

	t := &Trial{Model: e.State().Model, FoundOf5: map[string]int64{}, Works: []string{}}
	start, embedded := time.Now(), 0

	for _, language := range languages.All() {
		vectors, err := e.Embed(ctx, robotmem.ForMemory, languages.Sentences(language))
		if err != nil && !errors.Is(err, robotmem.Invalid) {
			return nil, err
		}
		embedded += len(vectors)
		found := languages.Found(vectors)
		t.FoundOf5[language] = int64(found)
		if found >= languages.Enough {
			t.Works = append(t.Works, language)
		}
	}

	t.TextsPerSecond = float64(embedded) / time.Since(start).Seconds()

	// Queries are measured one by one, as a recall sends them.
	all := languages.All()
	sentences := languages.Sentences(all[len(all)-1])
	start = time.Now()

	for _, q := range sentences {
		if _, err := e.Embed(ctx, robotmem.ForQuestion, []string{q}); err != nil && !errors.Is(err, robotmem.Invalid) {
			return nil, err
		}
	}

	t.QueryMS = time.Since(start).Seconds() * 1000 / float64(len(sentences))
	t.Advice = "do not use it: it knows none of these languages"
	if len(t.Works) > 0 {
		t.Advice = fmt.Sprintf("use it for memories in %s; a recall waits %.3g ms for its query",
			strings.Join(t.Works, ", "), t.QueryMS)
	}

	return t, nil
}
