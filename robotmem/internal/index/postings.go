package index

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// ErrPostingsDropped says that a repair has dropped the posting lists that a query had waited for.
var ErrPostingsDropped = errors.New("the posting lists were dropped")

// Postings is the postings index in memory, the only lexical scorer. It is read from the
// segmented texts of memories_fts, or from a snapshot, at the first recall by words, and follows
// the change counter from then on. A recall waits until it is loaded, or until its deadline.
type Postings struct {
	Mu       sync.RWMutex // guards the fields below
	Index    *lexical.Index
	revision int64
	purges   int64    // the purge counter when it was started
	loading  *loading // nil unless a recall waits
}

// held returns what is loaded: index is nil before that.
func (w *Postings) held() (index *lexical.Index, revision, purges int64) {
	w.Mu.RLock()
	defer w.Mu.RUnlock()
	return w.Index, w.revision, w.purges
}

// Loaded reports whether the index is in memory.
func (w *Postings) Loaded() bool {
	index, _, _ := w.held()
	return index != nil
}

// loading is one attempt to load the index, shared by all recalls that wait.
type loading struct {
	done chan struct{}
	err  error // valid once done is closed
}

// ErrPostingsNotLoaded says that a recall has not waited long enough.
var ErrPostingsNotLoaded = robotmem.Errorf(robotmem.Unavailable, "",
	"the index of words is still being read into memory; allow more time with deadline_ms")

// AwaitPostings returns once the index is loaded. It fails if loading fails or takes longer than
// three quarters of the time until the deadline. The rest of the time is for an answer without the index.
func (x *Index) AwaitPostings(ctx context.Context) error {
	w := &x.Postings
	w.Mu.Lock()
	if w.Index != nil {
		w.Mu.Unlock()
		return nil
	}

	// All recalls that wait share one attempt to load.
	if w.loading == nil {
		w.loading = &loading{done: make(chan struct{})}
	}

	l := w.loading
	w.Mu.Unlock()
	signal(x.Wake)
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)*3/4)
		defer cancel()
	}

	select {
	case <-l.done:
		return l.err
	case <-ctx.Done():
		return ErrPostingsNotLoaded
	case <-x.Quitting:
		return store.ErrClosed
	}
}

// refreshPostings loads the index, unless that is done, and lets it catch up.
func (x *Index) refreshPostings(ctx context.Context) (err error) {
	w := &x.Postings
	defer func() { w.settle(err) }()
	if index, _, _ := w.held(); index == nil {
		// The new index catches up before recalls can use it, so that none of them has to read many changes.
		fresh := x.restorePostings(ctx)
		if err := x.catchUp(ctx, fresh); err != nil {
			return err
		}
		w.Mu.Lock()
		w.Index, w.revision, w.purges = fresh.Index, fresh.revision, fresh.purges
		w.Mu.Unlock()
	}

	return x.catchUp(ctx, w)
}

func (x *Index) catchUp(ctx context.Context, w *Postings) error {
	return x.inPages(ctx, func(c *store.Conn) (bool, error) {
		revision, err := c.Changes()
		if err != nil {
			return false, err
		}
		return w.Follow(c, revision)
	})
}

// settle ends the wait of recalls, with the error of loading.
func (w *Postings) settle(err error) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if l := w.loading; l != nil && (w.Index != nil || err != nil) {
		w.loading, l.err = nil, err
		close(l.done)
	}
}

// Held returns the index as it is loaded, nil if it is not. It may be behind or ahead of a snapshot.
func (w *Postings) Held() *lexical.Index {
	index, _, _ := w.held()
	return index
}

// At returns the index in step with the snapshot that c reads, nil if it is not loaded.
func (w *Postings) At(c *store.Conn) (*lexical.Index, error) {
	revision, err := c.Changes()
	if err != nil {
		return nil, err
	}
	index, held, _ := w.held()
	if index == nil || held >= revision {
		return index, nil
	}

	for done := false; !done; {
		if done, err = w.Follow(c, revision); err != nil {
			return nil, err
		}
	}
	// The index is nil now if a repair has dropped it.
	index, _, _ = w.held()

	return index, nil
}

// MovedOn reports whether the index follows a later commit than c reads.
func (w *Postings) MovedOn(c *store.Conn) (bool, error) {
	revision, err := c.Changes()
	index, held, _ := w.held()
	return index == nil || held > revision, err
}

// Follow reads a page of the memories that changed into the index. done is true when the index
// has reached a revision, and when there is no index: a repair may drop it at any time.
func (w *Postings) Follow(c *store.Conn, revision int64) (done bool, err error) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if w.Index == nil || w.revision >= revision {
		return true, nil
	}

	// As in Columns.Sync, a deadline must not end this.
	interrupt := c.SetInterrupt(context.Background())
	defer c.SetInterrupt(interrupt)
	purges, err := c.Purges()
	if err != nil {
		return false, err
	}

	// The index may hold words of a purged memory, so it is built again.
	if purges > w.purges {
		w.Index, w.revision, w.purges = lexical.New(lexical.Bm25Params), 0, purges
	}

	put, remove, upto, done, err := c.DocumentsSince(w.revision, pageRows)
	if err != nil {
		return false, err
	}

	w.Index.Apply(put, remove)
	w.revision = upto

	// The last change may concern no document, so no row has the revision of the snapshot.
	if done {
		w.revision = max(upto, revision)
	}

	return w.revision >= revision, nil
}
