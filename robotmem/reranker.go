package robotmem

import (
	"context"
	"time"
)

// Reranker judges how well texts answer a query, usually with a model that reads the query and a
// text together. The node calls it from recall with a time limit, for the first hits only, and never
// inside a transaction. Implementations must be safe for concurrent use.
type Reranker interface {
	// State returns the model and whether the reranker is available now. It never blocks.
	State() RerankerState

	// Rerank returns one score per text, in order. A higher score is better; only the order of the
	// scores counts, so their range is arbitrary. A text that the model left out has the score
	// negative infinity; all others are finite. Rerank fails with Unavailable, NotFound, Forbidden
	// or Invalid if the service cannot answer now.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

// RerankerState is the model and availability of a Reranker.
type RerankerState struct {
	// Model is the name of the model with the address of its service.
	Model string
	// Reason says why the reranker is unavailable and what to do next. It is
	// empty if the reranker is available.
	Reason string
	// Until is the time of the next retry.
	Until time.Time
}
