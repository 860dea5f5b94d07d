package engine

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// closedEmbedder counts running calls.
type closedEmbedder struct {
	*wordEmbedder
	mu     sync.Mutex
	active int
	calls  int
}

func (c *closedEmbedder) Embed(ctx context.Context, p robotmem.Purpose, texts []string) ([][]float32, error) {
	c.mu.Lock()
	c.active++
	c.calls++
	c.mu.Unlock()
	defer func() { c.mu.Lock(); c.active--; c.mu.Unlock() }()
	return c.wordEmbedder.Embed(ctx, p, texts)
}

func (c *closedEmbedder) now() (active, calls int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.active, c.calls
}

// After Close has returned the embedder is not called any more: its owner may close it.
func TestCloseEndsQuestionsToTheEmbedder(t *testing.T) {
	t.Parallel()
	w := &closedEmbedder{wordEmbedder: newWordEmbedder("test:words", 64)}
	e, err := openFile(t.Context(), t.TempDir()+"/m.db", Options{Embedder: w})
	if err != nil {
		t.Fatal(err)
	}
	learnAll(t, e, "the gripper holds wet glass")
	embedded(t, e)
	hang := make(chan struct{})
	defer close(hang)
	w.set(func() { w.hang = hang })
	// The response does not wait for the embedding, because the session does not exist.
	if _, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "wet glass", ForSession: "018f0000-0000-7000-8000-000000000000"}); !errors.Is(err, robotmem.NotFound) {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if active, _ := w.now(); active != 0 {
		t.Errorf("%d calls of Embed are under way after Close", active)
	}
	_, before := w.now()
	_, _ = e.Recall(t.Context(), &robotmem.RecallRequest{Query: "wet glass"})
	time.Sleep(20 * time.Millisecond)
	if _, after := w.now(); after != before {
		t.Errorf("a recall of a closed memory asks the embedder")
	}
}

// panickingEmbedder panics for a query embedding.
type panickingEmbedder struct{ *wordEmbedder }

func (p panickingEmbedder) Embed(ctx context.Context, purpose robotmem.Purpose, texts []string) ([][]float32, error) {
	if purpose == robotmem.ForQuestion || texts[0] == "poison" {
		panic("out of range")
	}
	return p.wordEmbedder.Embed(ctx, purpose, texts)
}

// A panic of the embedder does not end the process.
func TestPanicOfAnEmbedderIsAFailure(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{Embedder: panickingEmbedder{newWordEmbedder("test:words", 64)}})
	learnAll(t, e, "the gripper holds wet glass")
	embedded(t, e)
	res, ids := recalled(t, e, &robotmem.RecallRequest{Query: "wet glass"})
	if res.Mode != "bm25_only" || len(ids) != 1 || len(res.Degraded) != 1 {
		t.Errorf("mode %s, ids %v, degraded %v", res.Mode, ids, res.Degraded)
	}
}
