package local

import (
	"context"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// words is the postings index in memory. It is read from the segmented texts of
// memories_fts, or from a snapshot, at the first recall by words, and follows the
// change counter from then on. It is the only scorer: a recall waits until it is
// loaded, or until its deadline.
type words struct {
	mu       sync.RWMutex // guards the fields below
	index    *lexical.Index
	revision int64
	purges   int64 // that were done when it was begun
	loading  *wordsLoad
}

// wordsLoad is one attempt to load the index, shared by all recalls that wait.
type wordsLoad struct {
	done chan struct{}
	err  error // valid once done is closed
}

var errWordsNotRead = robotmem.Errorf(robotmem.Unavailable, "", "the index of words is still being read into memory; allow more time with deadline_ms")

// awaitWords returns once the index is loaded. It fails when it cannot be loaded,
// or not within three quarters of the time until the deadline: the rest is for
// what can be answered without it.
func (x *indexes) awaitWords(ctx context.Context) error {
	w := &x.words
	w.mu.Lock()
	if w.index != nil {
		w.mu.Unlock()
		return nil
	}
	if w.loading == nil {
		w.loading = &wordsLoad{done: make(chan struct{})}
	}
	l := w.loading
	w.mu.Unlock()
	x.rouseKeeper()
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
		return errWordsNotRead
	case <-ctx.Done():
		return errWordsNotRead
	case <-x.quitting:
		return sqlite.ErrClosed
	}
}

// settle tells the recalls that wait how loading the index ended.
func (w *words) settle(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.loading; l != nil && (w.index != nil || err != nil) {
		w.loading, l.err = nil, err
		close(l.done)
	}
}

// bm25Params are BM25's parameters by the mean length of a collection's texts.
// In short facts a word says as much once as three times, and a long fact is no
// worse than a short one; long texts want FTS5's own values. Both ends are
// measured, see docs/recall.md; between them the parameters change with the
// logarithm of the length.
func bm25Params(average float64) lexical.Params {
	const shortTerms, longTerms = 32, 256
	long := math.Log(average/shortTerms) / math.Log(longTerms/shortTerms)
	long = min(1, max(0, long))
	return lexical.Params{K1: 0.9 + 0.3*long, B: 0.4 + 0.35*long}
}

// at returns the index in step with the snapshot that c reads, nil if it is not
// loaded.
func (w *words) at(c *conn) (*lexical.Index, error) {
	revision, err := c.changes()
	if err != nil {
		return nil, err
	}
	w.mu.RLock()
	index, held := w.index, w.revision
	w.mu.RUnlock()
	if index == nil || held >= revision {
		return index, nil
	}
	for done := false; !done; {
		if done, err = w.follow(c, revision); err != nil {
			return nil, err
		}
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.index, nil // a repair may have dropped the other
}

// movedOn reports whether the index follows a later commit than c reads.
func (w *words) movedOn(c *conn) (bool, error) {
	revision, err := c.changes()
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.index == nil || w.revision > revision, err
}

// follow reads changed memories into the index: a page of them, or all where no
// more changed. done is true when the index is in step with a revision, and when
// there is none: a repair drops it while others are about to follow.
func (w *words) follow(c *conn, revision int64) (done bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.index == nil || w.revision >= revision {
		return true, nil
	}
	hurry := c.SetInterrupt(context.Background())
	defer c.SetInterrupt(hurry)
	purges, err := c.purges()
	if err != nil {
		return false, err
	}
	if purges > w.purges { // the words of a memory that went are in the index: it is begun anew
		w.index, w.revision, w.purges = lexical.New(bm25Params), 0, purges
	}
	put, remove, upto, err := c.documentsSince(w.revision, fewBehind)
	if err != nil {
		return false, err
	}
	w.index.Apply(put, remove)
	w.revision = upto
	if len(put)+len(remove) < fewBehind {
		w.revision = max(upto, revision)
	}
	return w.revision >= revision, nil
}

// documentsSince reads the next memories that changed after a revision, as the
// postings index wants them, and how far it came.
func (c *conn) documentsSince(revision, most int64) (put []lexical.Document, remove []int64, upto int64, err error) {
	upto = revision
	err = c.Query(`SELECT m.id, m.collection, m.status = 'active', m.revision, f.content, f.human_summary, f.scope_files, f.scope_entities
		FROM memories m LEFT JOIN memories_fts f ON f.rowid = m.id
		WHERE m.revision > ? ORDER BY m.revision LIMIT ?`, []any{revision, most}, func(s *sqlite3.Stmt) error {
		upto = s.ColumnInt64(3)
		if !s.ColumnBool(2) {
			remove = append(remove, s.ColumnInt64(0))
			return nil
		}
		var terms []string
		for column := 4; column < 8; column++ {
			for _, t := range strings.Fields(s.ColumnText(column)) {
				terms = append(terms, text.Stem(t))
			}
		}
		put = append(put, lexical.Document{ID: s.ColumnInt64(0), Collection: s.ColumnText(1), Terms: terms})
		return nil
	})
	return put, remove, upto, err
}
