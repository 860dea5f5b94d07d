package index

import (
	"context"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Postings is the postings index in memory. It is read from the segmented texts of
// memories_fts, or from a snapshot, at the first recall by words, and follows the
// change counter from then on. It is the only scorer: a recall waits until it is
// loaded, or until its deadline.
type Postings struct {
	Mu       sync.RWMutex // guards the fields below
	Index    *lexical.Index
	revision int64
	purges   int64 // that were done when it was begun
	loading  *loading
}

// loading is one attempt to load the index, shared by all recalls that wait.
type loading struct {
	done chan struct{}
	err  error // valid once done is closed
}

var ErrPostingsNotLoaded = robotmem.Errorf(robotmem.Unavailable, "", "the index of words is still being read into memory; allow more time with deadline_ms")

// AwaitPostings returns once the index is loaded. It fails when it cannot be loaded,
// or not within three quarters of the time until the deadline: the rest is for
// what can be answered without it.
func (x *Index) AwaitPostings(ctx context.Context) error {
	w := &x.Postings
	w.Mu.Lock()
	if w.Index != nil {
		w.Mu.Unlock()
		return nil
	}
	if w.loading == nil {
		w.loading = &loading{done: make(chan struct{})}
	}
	l := w.loading
	w.Mu.Unlock()
	x.wakeMaintenance()
	patience := (<-chan time.Time)(nil)
	if deadline, ok := ctx.Deadline(); ok {
		timer := time.NewTimer(time.Until(deadline) * 3 / 4)
		defer timer.Stop()
		patience = timer.C
	}
	select {
	case <-l.done:
		return l.err
	case <-patience:
		return ErrPostingsNotLoaded
	case <-ctx.Done():
		return ErrPostingsNotLoaded
	case <-x.Quitting:
		return sqlite.ErrClosed
	}
}

// settle tells the recalls that wait how loading the index ended.
func (w *Postings) settle(err error) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if l := w.loading; l != nil && (w.Index != nil || err != nil) {
		w.loading, l.err = nil, err
		close(l.done)
	}
}

// At returns the index in step with the snapshot that c reads, nil if it is not
// loaded.
func (w *Postings) At(c *store.Conn) (*lexical.Index, error) {
	revision, err := c.Changes()
	if err != nil {
		return nil, err
	}
	w.Mu.RLock()
	index, held := w.Index, w.revision
	w.Mu.RUnlock()
	if index == nil || held >= revision {
		return index, nil
	}
	for done := false; !done; {
		if done, err = w.Follow(c, revision); err != nil {
			return nil, err
		}
	}
	w.Mu.RLock()
	defer w.Mu.RUnlock()
	return w.Index, nil // a repair may have dropped the other
}

// MovedOn reports whether the index follows a later commit than c reads.
func (w *Postings) MovedOn(c *store.Conn) (bool, error) {
	revision, err := c.Changes()
	w.Mu.RLock()
	defer w.Mu.RUnlock()
	return w.Index == nil || w.revision > revision, err
}

// Follow reads changed memories into the index: a page of them, or all where no
// more changed. done is true when the index is in step with a revision, and when
// there is none: a repair drops it while others are about to follow.
func (w *Postings) Follow(c *store.Conn, revision int64) (done bool, err error) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if w.Index == nil || w.revision >= revision {
		return true, nil
	}
	hurry := c.SetInterrupt(context.Background())
	defer c.SetInterrupt(hurry)
	purges, err := c.Purges()
	if err != nil {
		return false, err
	}
	if purges > w.purges { // the words of a memory that went are in the index: it is begun anew
		w.Index, w.revision, w.purges = lexical.New(lexical.Bm25Params), 0, purges
	}
	put, remove, upto, done, err := c.DocumentsSince(w.revision, fewBehind)
	if err != nil {
		return false, err
	}
	w.Index.Apply(put, remove)
	w.revision = upto
	if done {
		w.revision = max(upto, revision)
	}
	return w.revision >= revision, nil
}
