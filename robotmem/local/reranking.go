package local

import (
	"context"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

// rerankAnswer asks the reranker and searches again with its scores, in a snapshot of its own. If the reranker or the
// second search fails, it returns the first answer, and degraded gives the reason.
func (n *Node) rerankAnswer(
	ctx context.Context, q *recall.Query, x *recall.Rerank, first *robotmem.RecallResponse, took time.Duration,
	search func(context.Context) (*robotmem.RecallResponse, error),
) *robotmem.RecallResponse {
	start := time.Now()
	scores, err := n.reranking.Ask(ctx, q.Query, x, took)
	waited := time.Since(start)
	res := first
	if err == nil {
		x.Scores = scores
		// The second search has no deadline: it takes as long as the first, and Ask has left time for it.
		res, err = search(context.WithoutCancel(ctx))
	}

	if err != nil {
		res = first
		res.Degraded = append(res.Degraded, recall.ListRerank+": "+record.DetailOf(err))
	}

	for i := range res.Stages {
		if res.Stages[i].Stage == recall.ListRerank {
			res.Stages[i].MS += millis(waited)
		}
	}

	return res
}
