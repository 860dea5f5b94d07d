package local

import (
	"log/slog"
	"sync/atomic"

	"github.com/robotmem/robotmem-go/robotmem"
)

// maintainer examines and mends the file, keeps its budgets, and finishes what
// purges and streams leave to the background.
type maintainer struct {
	store     *store
	index     *indexes
	records   *builder
	log       *slog.Logger
	retention Retention
	embedder  robotmem.Embedder // nil: none

	scrubbing chan struct{} // rouses who finishes purges
	// featureless rouses who works out features.
	featureless  chan struct{}
	behind       atomic.Bool  // some may wait
	featuresSeen atomic.Int64 // the epoch of features at the last question
}
