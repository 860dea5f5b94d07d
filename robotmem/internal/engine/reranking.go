package engine

import (
	"context"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
)

// rerankAnswer returns the answer to a query in the order of the reranker, found by a second search in a
// snapshot of its own. Without its scores the first answer stands, and says why.
func (n *Engine) rerankAnswer(
	ctx context.Context, q *recall.Query, x *recall.Rerank, first *robotmem.RecallResponse, took time.Duration,
	search func(context.Context) (*robotmem.RecallResponse, error),
) *robotmem.RecallResponse {
	start := time.Now()
	scores, err := n.reranking.Ask(ctx, q.Query, x, took)
	waited := time.Since(start)
	res := first
	if err == nil {
		x.Scores = scores
		// Without the deadline: the same search was in time, and time for it was reserved.
		res, err = search(context.WithoutCancel(ctx))
	}

	if err != nil {
		res = first
		res.Degraded = append(res.Degraded, recall.ListRerank+": "+robotmem.Detail(err))
	}

	for i := range res.Stages {
		if res.Stages[i].Stage == recall.ListRerank {
			res.Stages[i].MS += millis(waited)
		}
	}

	return res
}
