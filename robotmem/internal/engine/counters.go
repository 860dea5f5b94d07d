package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// accessCounters collects the counts of recalls in memory, so that a recall does not write to the
// disk. They are written flushInterval after the first, with the end of an episode, and at Close. A
// crash loses the counts of the last seconds and no memory.
type accessCounters struct {
	mu       sync.Mutex
	counting *batch   // nil until something is counted
	unstored []*batch // counting, and those that are being written

	wake chan struct{} // there are counts to store
}

// batch holds counts that are stored in one transaction.
type batch struct {
	store.RecallCounts
	stored atomic.Int64 // total of recalls in the file with these; 0 until they are written
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
	t.add(one)
}

func (t *accessCounters) add(one store.RecallCounts) {
	if t.counting == nil {
		t.counting = new(batch)
		t.unstored = append(t.unstored, t.counting)
	}
	t.counting.Add(one)
	maintenance.Wake(t.wake)
}

// pending returns a function that returns the counts which a snapshot lacks. The snapshot must begin after the call of
// pending.
func (t *accessCounters) pending() func(*store.Conn) (store.RecallCounts, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	unstored := slices.Clone(t.unstored)

	return func(c *store.Conn) (sum store.RecallCounts, err error) {
		total, err := c.Recalls()
		t.mu.Lock()

		// The newest batch still grows, so its counts are read under the lock.
		defer t.mu.Unlock()

		for _, b := range unstored {
			// A total above that of the snapshot means that the batch was stored after the snapshot began.
			if at := b.stored.Load(); at == 0 || at > total {
				sum.Add(b.RecallCounts)
			}
		}

		return sum, err
	}
}

// run stores the counts until ctx ends.
func (t *accessCounters) run(ctx context.Context, n *Engine) {
	maintenance.Repeat(ctx, t.wake, flushInterval, func() time.Duration {
		t.flush(context.WithoutCancel(ctx), n)
		return maintenance.Forever
	})
}

// take returns the counts for the caller to store, nil if there are none. It calls done after that.
func (t *accessCounters) take() *batch {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := t.counting
	t.counting = nil
	return taken
}

// store does nothing without counts.
func (b *batch) store(tx *store.Tx) error {
	if b == nil {
		return nil
	}
	total, err := tx.StoreRecallCounts(&b.RecallCounts)
	b.stored.Store(total)
	return err
}

// done ends the writing of a batch. After an error its counts are kept for the next flush.
func (t *accessCounters) done(b *batch, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unstored = slices.DeleteFunc(t.unstored, func(o *batch) bool { return o == b })

	// An undecided commit may have stored the counts, and they must not be counted twice.
	if b != nil && err != nil && !errors.Is(err, store.ErrUndecided) {
		t.add(b.RecallCounts)
	}
}

// flush stores the counts within flushLimit, unless the node is read-only.
func (t *accessCounters) flush(ctx context.Context, n *Engine) {
	if n.Store.ReadOnly() != "" {
		return
	}
	taken := t.take()
	if taken == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushLimit)
	defer cancel()
	err := n.Store.Write(ctx, taken.store)
	if err != nil {
		n.Log.Warn("recall counters not stored yet", "err", err)
	}
	t.done(taken, err)
}
