package site

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// dockFirst puts texts about the dock first.
type dockFirst struct{}

func (dockFirst) State() robotmem.RerankerState { return robotmem.RerankerState{Model: "dock"} }

func (dockFirst) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	scores := make([]float64, len(texts))
	for i, text := range texts {
		scores[i] = float64(strings.Count(text, "dock"))
	}
	return scores, nil
}

// A memory on a server is reranked as one in a file.
func TestRerankOnAServer(t *testing.T) {
	t.Parallel()
	n := openTest(t, postgrestest.NewURL(t), Options{Options: local.Options{Reranker: dockFirst{}}})
	for _, text := range []string{"a battery charges", "the battery charges at the dock, which is in bay four beside the door"} {
		if _, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: text}); err != nil {
			t.Fatal(err, causeOf(err))
		}
	}
	res, err := n.Recall(t.Context(), &robotmem.RecallRequest{Query: "battery charges"})
	if err != nil || len(res.Memories) != 2 {
		t.Fatal(res, err, causeOf(err))
	}
	if !strings.Contains(res.Memories[0].Content, "dock") || !slices.Contains(res.Notes, "rerank: the first 2 hits were reranked by dock") {
		t.Errorf("got %q first, notes %v, degraded %v", res.Memories[0].Content, res.Notes, res.Degraded)
	}
}
