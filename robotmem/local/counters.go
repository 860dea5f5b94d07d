package local

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// accessCounters gathers what recall has to count, so that a recall never waits for
// the disk: it is written every few seconds, before an episode ends, and at
// Close. Losing the last seconds of it loses no memory.
type accessCounters struct {
	mu sync.Mutex // guards the tally
	store.RecallCounts

	quit chan struct{}
	done chan struct{}
	once sync.Once
}

const (
	flushInterval = 3 * time.Second
	// lastFlush bounds what closing waits for another process's lock: whoever
	// only asked a question should not stay for it.
	lastFlush = 2 * time.Second
)

// count adds one recall.
func (t *accessCounters) count(one store.RecallCounts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Add(one)
}

// pendingCredit lists what was recalled for a session and is not stored yet.
func (t *accessCounters) pendingCredit(session string) (ids []int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.Credit[session] {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// eachPendingHour visits what was asked in each hour and is not stored yet.
func (t *accessCounters) eachPendingHour(visit func(store.CollectionHour, store.RecallTotals)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for at, n := range t.Hours {
		visit(at, n)
	}
}

func (t *accessCounters) start(n *Node) {
	t.quit, t.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(t.done)
		tick := time.NewTicker(flushInterval)
		defer tick.Stop()
		for {
			select {
			case <-t.quit:
				return
			case <-tick.C:
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

// flush stores what was gathered. What cannot be stored now is kept for later.
func (t *accessCounters) flush(ctx context.Context, n *Node) {
	t.mu.Lock()
	taken := t.RecallCounts
	t.RecallCounts = store.RecallCounts{}
	t.mu.Unlock()
	if taken.Recalls == 0 {
		return
	}
	err := n.Store.Write(ctx, func(tx *store.Tx) error { return tx.StoreRecallCounts(&taken) })
	if err == nil {
		return
	}
	n.Log.Warn("recall counters not stored yet", "err", err)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Add(taken)
}
