package local

import (
	"context"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// accessCounters collects the counts of recalls in memory, so that a recall does not
// write to the disk. They are written flushInterval after the first, with the end of an episode, at
// Close, and before a response that lists them. A crash loses the counts of the last seconds and no memory.
type accessCounters struct {
	mu sync.Mutex // guards RecallCounts
	store.RecallCounts

	wake chan struct{} // there are counts to store
}

const (
	flushInterval = 3 * time.Second
	// flushLimit limits how long a flush waits for the lock of another process.
	flushLimit = 2 * time.Second
)

// count adds the counts of one recall.
func (t *accessCounters) count(one store.RecallCounts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Add(one)
	maintenance.Wake(t.wake)
}

// run stores the counts until ctx ends.
func (t *accessCounters) run(ctx context.Context, n *Node) {
	maintenance.Repeat(ctx, t.wake, flushInterval, func() time.Duration {
		t.flush(context.WithoutCancel(ctx), n)
		return maintenance.Forever
	})
}

// take removes the counts, for the caller to store.
func (t *accessCounters) take() *store.RecallCounts {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := t.RecallCounts
	t.RecallCounts = store.RecallCounts{}
	return &taken
}

// flush stores the counts, unless the node is read-only. It keeps them for the next flush when
// that fails, or when another process holds the lock for longer than flushLimit.
func (t *accessCounters) flush(ctx context.Context, n *Node) {
	if n.Store.ReadOnly() != "" {
		return
	}
	taken := t.take()
	if taken.Recalls == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushLimit)
	defer cancel()
	if err := n.Store.Write(ctx, func(tx *store.Tx) error { return tx.StoreRecallCounts(taken) }); err != nil {
		n.Log.Warn("recall counters not stored yet", "err", err)
		t.count(*taken)
	}
}
