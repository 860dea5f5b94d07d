package robotmem

import (
	"context"
	"time"
)

// Embedder turns texts into vectors, so that recall finds by meaning. The
// engine asks it from a worker of its own and under a time limit from recall,
// never inside a transaction and never while a caller of learn waits.
// Implementations are safe for concurrent use.
type Embedder interface {
	// State says which model answers and whether it can be asked now. It never
	// waits.
	State() EmbedderState

	// Embed returns a vector for each text, in order: finite numbers, all of one
	// length, of any norm. It fails with Invalid when the model refuses one of
	// the texts (asking for fewer at a time finds which one), with Unavailable,
	// NotFound or Forbidden when the service cannot answer now. It never answers
	// for only some of the texts.
	Embed(ctx context.Context, purpose Purpose, texts []string) ([][]float32, error)
}

// Purpose is what a text is embedded for: some models are told.
type Purpose uint8

const (
	ForMemory   Purpose = iota // to be found
	ForQuestion                // to find with
)

// EmbedderState is what an Embedder says of itself.
type EmbedderState struct {
	// Model is stored with every vector, such as "ollama:nomic-embed-text": two
	// models of one name are the same. It is empty while none is known.
	Model string
	// Reason is why the embedder cannot be asked now, with the next step; empty
	// when it can, and when there is no embedder and none was wanted.
	Reason string
	// Until is when it is worth asking again. Zero with a Reason: not before
	// somebody acts.
	Until time.Time
}
