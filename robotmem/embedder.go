package robotmem

import (
	"context"
	"time"
)

// Embedder turns texts into vectors for semantic search. The node calls it from a background
// worker, and from recall with a time limit. It never calls it inside a transaction or while a
// caller of learn waits. Implementations must be safe for concurrent use.
type Embedder interface {
	// State returns the model and whether the embedder is available now. It never blocks.
	State() EmbedderState

	// Embed returns one vector per text, in order. All vectors have the same length and finite
	// values; the norm is arbitrary. Embed fails with Invalid if the model refuses a text (retry
	// with smaller batches to find it), with TooLarge if the texts together took too long (retry
	// with fewer), and with Unavailable, NotFound or Forbidden if the service cannot answer now.
	// It never returns vectors for only some of the texts.
	Embed(ctx context.Context, purpose Purpose, texts []string) ([][]float32, error)
}

// Purpose says what a text is embedded for. Some models need a prefix for it.
type Purpose uint8

const (
	ForMemory   Purpose = iota // a stored text
	ForQuestion                // a query
)

// EmbedderState is the model and availability of an Embedder.
type EmbedderState struct {
	// Model is stored with every vector, such as "ollama:nomic-embed-text". Vectors are compared
	// only if their model names are equal. Model is empty until it is known.
	Model string
	// Reason says why the embedder is unavailable and what to do next. It is
	// empty if the embedder is available or if none is configured.
	Reason string
	// Until is the time of the next retry. If it is zero and Reason is set, a user must act first.
	Until time.Time
}
