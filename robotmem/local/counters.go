package local

import (
	"context"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// accessCounters collects the counts of recalls in memory, so that a recall does not
// write to the disk. They are written flushInterval after the first, with the end of an episode, and at
// Close. A crash loses the counts of the last seconds and no memory.
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

// pendingCredit lists the memories that were recalled for a session and are not stored yet.
func (t *accessCounters) pendingCredit(session string) (ids []int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for to := range t.Credit {
		if to.Session == session {
			ids = append(ids, to.MemoryID)
		}
	}
	return ids
}

// eachPendingHour visits the totals of each hour that are not stored yet.
func (t *accessCounters) eachPendingHour(visit func(store.CollectionHour, store.RecallTotals)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for at, n := range t.Hours {
		visit(at, n)
	}
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

// flush stores the counts, unless the node is read-only. If that fails, or takes longer than
// flushLimit, they are kept for the next flush.
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
