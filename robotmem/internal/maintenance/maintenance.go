// Package maintenance examines and repairs a memory's file, recovers a damaged one,
// removes payloads that exceed their budgets, and purges memories.
package maintenance

import (
	"context"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
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
	Retention admin.Retention
	Embedder  robotmem.Embedder // nil: none
	Reranker  robotmem.Reranker // nil: none

	Paused       Pause         // holds RunFeatures and RunRetention
	WakeScrub    chan struct{} // ends a pause of RunScrub
	WakeFeatures chan struct{} // ends a pause of RunFeatures
	Behind       atomic.Bool   // some perceptions may wait for features
	featuresSeen atomic.Int64  // the epoch of features at the last question
}

// Pause holds background work while it is on. The zero value is off, and nil stays off.
type Pause struct{ until atomic.Pointer[chan struct{}] }

// Set begins the pause, after the present step of the work, or ends it.
func (p *Pause) Set(on bool) {
	var until *chan struct{}
	if on {
		until = new(make(chan struct{}))
	}
	if last := p.until.Swap(until); last != nil {
		close(*last)
	}
}

// On reports whether the work is held.
func (p *Pause) On() bool { return p != nil && p.until.Load() != nil }

// Wait returns at the end of the pause, or with ctx.
func (p *Pause) Wait(ctx context.Context) {
	for until := p.until.Load(); until != nil && ctx.Err() == nil; until = p.until.Load() {
		select {
		case <-*until:
		case <-ctx.Done():
		}
	}
}

// Wake ends a pause of Repeat, unless it is ending already.
func Wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Forever is a pause of Repeat that only Wake ends.
const Forever time.Duration = math.MaxInt64

// Repeat runs step until ctx ends, each time after the pause that step returned. A value from
// wake shortens the pause to gather, in which more work may come.
func Repeat(ctx context.Context, wake <-chan struct{}, gather time.Duration, step func() (pause time.Duration)) {
	for ctx.Err() == nil {
		pause := step()
		if pause == 0 {
			continue
		}

		select {
		case <-ctx.Done():
		case <-time.After(pause):
		case <-wake:
			select {
			case <-ctx.Done():
			case <-time.After(gather):
			}
		}
	}
}
