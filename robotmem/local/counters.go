package local

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// tallies gathers what recall has to count, so that a recall never waits for
// the disk: it is written every few seconds, before an episode ends, and at
// Close. Losing the last seconds of it loses no memory.
type tallies struct {
	mu sync.Mutex // guards the tally
	store.Counts

	quit chan struct{}
	done chan struct{}
	once sync.Once
}

const (
	tallyInterval = 3 * time.Second
	// lastTally bounds what closing waits for another process's lock: whoever
	// only asked a question should not stay for it.
	lastTally = 2 * time.Second
)

// count adds one recall.
func (t *tallies) count(one store.Counts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Add(one)
}

// creditOf lists what was recalled for a session and is not stored yet.
func (t *tallies) creditOf(session string) (ids []int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.Credit[session] {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// eachHour visits what was asked in each hour and is not stored yet.
func (t *tallies) eachHour(visit func(store.AskedHour, store.Asked)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for at, n := range t.Hours {
		visit(at, n)
	}
}

func (t *tallies) start(e *Node) {
	t.quit, t.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(t.done)
		tick := time.NewTicker(tallyInterval)
		defer tick.Stop()
		for {
			select {
			case <-t.quit:
				return
			case <-tick.C:
				t.flush(context.Background(), e)
			}
		}
	}()
}

func (t *tallies) stop(e *Node) {
	if t.quit == nil { // read-only
		return
	}
	t.once.Do(func() {
		close(t.quit)
		<-t.done
		ctx, cancel := context.WithTimeout(context.Background(), lastTally)
		defer cancel()
		t.flush(ctx, e)
	})
}

// flush stores what was gathered. What cannot be stored now is kept for later.
func (t *tallies) flush(ctx context.Context, e *Node) {
	t.mu.Lock()
	taken := t.Counts
	t.Counts = store.Counts{}
	t.mu.Unlock()
	if taken.Recalls == 0 {
		return
	}
	err := e.Store.Write(ctx, func(tx *store.Tx) error { return tx.StoreTallies(&taken) })
	if err == nil {
		return
	}
	e.Log.Warn("recall counters not stored yet", "err", err)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Add(taken)
}
