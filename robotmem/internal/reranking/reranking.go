// Package reranking asks the reranker of a memory to order the first hits of recalls.
package reranking

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Caller asks the reranker of one memory.
type Caller struct {
	store    *store.Store
	log      *slog.Logger
	reranker robotmem.Reranker // nil: none
	asking   sync.WaitGroup    // running calls
}

// New returns a caller. A nil reranker is never asked.
func New(s *store.Store, log *slog.Logger, r robotmem.Reranker) *Caller {
	return &Caller{store: s, log: log, reranker: r}
}

// Wait waits for the calls that run.
func (g *Caller) Wait() { g.asking.Wait() }

// Limit limits how long a recall waits for the reranker.
const Limit = 2 * time.Second

// Begin returns what the recall of a query exchanges with the reranker, nil if it is not asked. It notes
// in the query that it is not ready.
func (g *Caller) Begin(q *recall.Query) *recall.Rerank {
	if g.reranker == nil || !q.ByRelevance() {
		return nil
	}
	state := g.reranker.State()
	if state.Reason != "" {
		q.Degrade(recall.ListRerank + ": " + state.Reason)
		return nil
	}

	return &recall.Rerank{By: state.Model}
}

// Ask asks for the scores of the candidates of x. It waits for at most three quarters of the time until
// the deadline, less what the recall needs afterwards.
func (g *Caller) Ask(
	ctx context.Context, query string, x *recall.Rerank, reserved time.Duration,
) (map[int64]float64, error) {
	patience := Limit
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, (time.Until(deadline)-reserved)*3/4)
	}
	if patience <= 0 {
		return nil, robotmem.Errorf(robotmem.Unavailable, "", "no time was left before the deadline")
	}

	texts := make([]string, len(x.Candidates))
	for i, c := range x.Candidates {
		texts[i] = c.Text
	}

	// Close waits for this call, because the reranker's owner may close the reranker after it.
	release, open := g.store.Hold()
	if !open {
		return nil, robotmem.Errorf(robotmem.Unavailable, "", "the node is closing")
	}

	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	var (
		scores []float64
		err    error
	)
	done := make(chan struct{})
	g.asking.Go(func() {
		defer close(done)
		scores, err = g.rerank(limited, query, texts)
	})
	release()

	select {
	case <-done:
	case <-limited.Done(): // also for a reranker that does not look at its context
		return nil, robotmem.Errorf(robotmem.Unavailable, "", "the reranker did not answer in time")
	}

	if err != nil {
		return nil, err
	}

	byID := make(map[int64]float64, len(scores))
	for i, score := range scores {
		byID[x.Candidates[i].ID] = score
	}

	return byID, nil
}

// rerank calls the reranker and checks its answer. A panic is returned as an error.
func (g *Caller) rerank(ctx context.Context, query string, texts []string) (scores []float64, err error) {
	defer func() {
		if p := recover(); p != nil {
			g.log.Error("the reranker panicked", "panic", p, "stack", string(debug.Stack()))
			scores, err = nil, robotmem.Errorf(robotmem.Unavailable, "", "the reranker panicked; see the node's log")
		}
	}()
	scores, err = g.reranker.Rerank(ctx, query, texts)
	if err == nil && len(scores) != len(texts) {
		err = robotmem.Errorf(robotmem.Unavailable, "", "the reranker gave %d scores for %d texts", len(scores),
			len(texts))
	}

	return scores, err
}
