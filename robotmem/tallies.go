package robotmem

import (
	"context"
	"sync"
	"time"
)

// tallies gathers what recall has to count, so that a recall never waits for
// the disk: it is written every few seconds, before an episode ends, and at
// Close. Losing the last seconds of it loses no memory.
type tallies struct {
	mu       sync.Mutex // guards the fields below
	recalls  int64
	zeroHits int64
	returned map[int64]int64
	credit   map[string]map[int64]bool // session -> what was recalled for it

	quit chan struct{}
	done chan struct{}
	once sync.Once
}

const tallyInterval = 3 * time.Second

func (t *tallies) count(forSession string, ids []int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recalls++
	if len(ids) == 0 {
		t.zeroHits++
	}
	if t.returned == nil {
		t.returned = map[int64]int64{}
	}
	for _, id := range ids {
		t.returned[id]++
	}
	if forSession == "" {
		return
	}
	if t.credit == nil {
		t.credit = map[string]map[int64]bool{}
	}
	if t.credit[forSession] == nil {
		t.credit[forSession] = map[int64]bool{}
	}
	for _, id := range ids {
		t.credit[forSession][id] = true
	}
}

func (t *tallies) start(e *Engine) {
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
				t.flush(e)
			}
		}
	}()
}

func (t *tallies) stop(e *Engine) {
	t.once.Do(func() {
		close(t.quit)
		<-t.done
		t.flush(e)
	})
}

// flush stores what was gathered. What cannot be stored now is kept for later.
func (t *tallies) flush(e *Engine) {
	t.mu.Lock()
	recalls, zero, returned, credit := t.recalls, t.zeroHits, t.returned, t.credit
	t.recalls, t.zeroHits, t.returned, t.credit = 0, 0, nil, nil
	t.mu.Unlock()
	if recalls == 0 {
		return
	}
	err := e.write(context.Background(), func(tx *writeTx) error {
		return storeTallies(tx, recalls, zero, returned, credit)
	})
	if err == nil {
		return
	}
	e.log.Warn("recall counters not stored yet", "err", err)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recalls += recalls
	t.zeroHits += zero
	if t.returned == nil {
		t.returned = map[int64]int64{}
	}
	for id, n := range returned {
		t.returned[id] += n
	}
	if t.credit == nil {
		t.credit = map[string]map[int64]bool{}
	}
	for s, ids := range credit {
		if t.credit[s] == nil {
			t.credit[s] = ids
			continue
		}
		for id := range ids {
			t.credit[s][id] = true
		}
	}
}
