package maintenance

import (
	"log/slog"
	"sync/atomic"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Maintainer examines and mends the file, keeps its budgets, and finishes what
// purges and streams leave to the background.
type Maintainer struct {
	Store     *store.Store
	Index     *index.Index
	Records   *record.Builder
	Log       *slog.Logger
	Retention Retention
	Embedder  robotmem.Embedder // nil: none

	WakeScrub chan struct{} // rouses who finishes purges
	// WakeFeatures rouses who works out features.
	WakeFeatures chan struct{}
	Behind       atomic.Bool  // some may wait
	featuresSeen atomic.Int64 // the epoch of features at the last question
}
