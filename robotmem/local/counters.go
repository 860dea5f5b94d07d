package local

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// accessCounters collects the counts of recalls in memory, so that a recall does not
// write to the disk. They are written flushInterval after the first, with the end of an episode, and
// at Close. A crash loses the counts of the last seconds and no memory.
type accessCounters struct {
	mu sync.Mutex // guards RecallCounts
	store.RecallCounts

	wake chan struct{} // there are counts to store
	quit chan struct{}
	done chan struct{}
	once sync.Once
}

const (
	flushInterval = 3 * time.Second
	// lastFlush limits how long Close waits for the lock of another process.
	lastFlush = 2 * time.Second
)

// count adds the counts of one recall.
func (t *accessCounters) count(one store.RecallCounts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Add(one)
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// pendingCredit lists the memories that were recalled for a session and are not stored
// yet.
func (t *accessCounters) pendingCredit(session string) (ids []int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for to := range t.Credit {
		if to.Session == session {
			ids = append(ids, to.MemoryID)
		}
	}
	slices.Sort(ids)
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

func (t *accessCounters) start(n *Node) {
	t.quit, t.done, t.wake = make(chan struct{}), make(chan struct{}), make(chan struct{}, 1)
	go func() {
		defer close(t.done)
		for {
			select {
			case <-t.quit:
				return
			case <-t.wake:
			}
			select {
			case <-t.quit:
				return
			case <-time.After(flushInterval):
				t.flush(context.Background(), n)
			}
		}
	}()
}

func (t *accessCounters) stop(n *Node) {
	if t.quit == nil { // read-only
		return
	}
	t.once.Do(func() {
		close(t.quit)
		<-t.done
		ctx, cancel := context.WithTimeout(context.Background(), lastFlush)
		defer cancel()
		t.flush(ctx, n)
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

// flush stores the counts. It keeps them for the next flush when that fails.
func (t *accessCounters) flush(ctx context.Context, n *Node) {
	taken := t.take()
	if taken.Recalls == 0 {
		return
	}
	if err := n.Store.Write(ctx, func(tx *store.Tx) error { return tx.StoreRecallCounts(taken) }); err != nil {
		n.Log.Warn("recall counters not stored yet", "err", err)
		t.count(*taken)
	}
}
