package local

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// tallies gathers what recall has to count, so that a recall never waits for
// the disk: it is written every few seconds, before an episode ends, and at
// Close. Losing the last seconds of it loses no memory.
type tallies struct {
	mu sync.Mutex // guards the tally
	tally

	quit chan struct{}
	done chan struct{}
	once sync.Once
}

// tally is what has been counted since it was last stored.
type tally struct {
	recalls  int64
	zeroHits int64
	returned map[int64]int64
	credit   map[string]map[int64]bool // session -> what was recalled for it
	hours    map[askedHour]asked
}

// askedHour is a collection, * for all of them at once, in an hour. Names that no
// memory has are one, "": a caller may make up any number of them.
type askedHour struct {
	hour       time.Time // its beginning, in UTC
	collection string
}

// asked is how often it was.
type asked struct{ recalls, zeroHits int64 }

const (
	tallyInterval = 3 * time.Second
	// lastTally bounds what closing waits for another process's lock: whoever
	// only asked a question should not stay for it.
	lastTally = 2 * time.Second
)

// askedOf is the collection that a recall looks in, * for all.
func askedOf(r *robotmem.RecallRequest) string {
	switch {
	case r.Collection != "":
		return r.Collection
	case r.SessionID != "":
		return "*" // an episode lies in one collection, whichever it is
	}
	return defaultCollection
}

// oneRecall is a recall in a collection, at a time, that found n memories.
func oneRecall(collection string, n int, now time.Time) tally {
	one := tally{recalls: 1}
	if n == 0 {
		one.zeroHits = 1
	}
	one.hours = map[askedHour]asked{{now.UTC().Truncate(time.Hour), collection}: {1, one.zeroHits}}
	return one
}

// give credits the memories that were found, for a session if one is asking.
func (c *tally) give(found []robotmem.Memory, session string) {
	c.returned = map[int64]int64{}
	credit := map[int64]bool{}
	for i := range found {
		c.returned[found[i].MemoryID]++
		credit[found[i].MemoryID] = true
	}
	if session != "" {
		c.credit = map[string]map[int64]bool{session: credit}
	}
}

// count adds one recall.
func (t *tallies) count(one tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(one)
}

// add adds what was counted elsewhere.
func (c *tally) add(o tally) {
	if c.recalls == 0 {
		*c = tally{returned: map[int64]int64{}, credit: map[string]map[int64]bool{}, hours: map[askedHour]asked{}}
	}
	c.recalls += o.recalls
	c.zeroHits += o.zeroHits
	for id, n := range o.returned {
		c.returned[id] += n
	}
	for session, ids := range o.credit {
		if c.credit[session] == nil {
			c.credit[session] = map[int64]bool{}
		}
		for id := range ids {
			c.credit[session][id] = true
		}
	}
	for at, n := range o.hours {
		sum := c.hours[at]
		c.hours[at] = asked{sum.recalls + n.recalls, sum.zeroHits + n.zeroHits}
	}
}

// creditOf lists what was recalled for a session and is not stored yet.
func (t *tallies) creditOf(session string) (ids []int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.credit[session] {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// eachHour visits what was asked in each hour and is not stored yet.
func (t *tallies) eachHour(visit func(askedHour, asked)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for at, n := range t.hours {
		visit(at, n)
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
				t.flush(context.Background(), e)
			}
		}
	}()
}

func (t *tallies) stop(e *Engine) {
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
func (t *tallies) flush(ctx context.Context, e *Engine) {
	t.mu.Lock()
	taken := t.tally
	t.tally = tally{}
	t.mu.Unlock()
	if taken.recalls == 0 {
		return
	}
	err := e.store.write(ctx, func(tx *writeTx) error { return tx.storeTallies(&taken) })
	if err == nil {
		return
	}
	e.log.Warn("recall counters not stored yet", "err", err)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(taken)
}
