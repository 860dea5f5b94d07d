// Package maintenance examines and repairs a memory's file, recovers a damaged one,
// removes payloads that exceed their budgets, and purges memories.
package maintenance

import (
	"log/slog"
	"sync/atomic"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Maintainer examines and repairs the file, enforces the budgets of payloads, and
// finishes in the background what purges and streams have left.
type Maintainer struct {
	Store     *store.Store
	Index     *index.Index
	Records   *record.Builder
	Log       *slog.Logger
	Retention Retention
	Embedder  robotmem.Embedder // nil: none

	WakeScrub    chan struct{} // ends a pause of RunScrub
	WakeFeatures chan struct{} // ends a pause of RunFeatures
	Behind       atomic.Bool   // some perceptions may wait for features
	featuresSeen atomic.Int64  // the epoch of features at the last question
}

// wake ends a pause, unless it is ending already.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
