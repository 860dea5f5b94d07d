package local

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// The keeper is a goroutine that does what no caller should wait for: it reads
// the indexes of words and meaning into memory, begun by the first recall,
// brings them into step when they are far behind, takes the vectors' mean anew
// as they grow, and stores snapshots of it all.

const (
	keeperPause = 5 * time.Second
	// A snapshot is worth storing once so many memories have changed since the
	// last, and at least a part of them all: what has changed since is read one
	// by one at the next opening.
	snapshotLeast = 2000
	snapshotShare = 8
)

// runKeeper works until ctx ends. Each call of rouse, and each pause, lets it
// look again.
func (e *Engine) runKeeper(ctx context.Context) {
	select { // nothing is read before somebody asks
	case <-ctx.Done():
		return
	case <-e.asked:
	}
	for ctx.Err() == nil {
		if err := errors.Join(e.keepIndexes(ctx), e.keepSnapshots(ctx)); err != nil && ctx.Err() == nil {
			e.log.Warn("keeping the indexes", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-e.asked:
		case <-time.After(keeperPause):
		}
	}
}

// rouseKeeper begins the keeper's work, or ends its pause.
func (e *Engine) rouseKeeper() {
	select {
	case e.asked <- struct{}{}:
	default:
	}
}

// Warm reads the indexes into memory now, so that the first recall finds them
// there. Without it the first recall waits for them.
func (e *Engine) Warm(ctx context.Context) error {
	err := e.store.read(ctx, e.roster.sync)
	if err == nil {
		err = e.keepIndexes(ctx)
	}
	e.rouseKeeper()
	return sqlite.Wrap("warm", err)
}

func (e *Engine) keepIndexes(ctx context.Context) error {
	e.keeping.Lock()
	defer e.keeping.Unlock()
	return errors.Join(e.keepWords(ctx), e.keepCodes(ctx))
}

// keepWords reads the postings index from its snapshot, or builds it, and
// brings it into step.
func (e *Engine) keepWords(ctx context.Context) (err error) {
	defer func() { e.words.settle(err) }()
	e.words.mu.RLock()
	have := e.words.index != nil
	e.words.mu.RUnlock()
	if !have {
		fresh := e.restoreWords(ctx)
		if err := e.catchUp(ctx, fresh); err != nil {
			return err
		}
		e.words.mu.Lock()
		e.words.index, e.words.revision, e.words.purges = fresh.index, fresh.revision, fresh.purges
		e.words.mu.Unlock()
	}
	return e.catchUp(ctx, &e.words)
}

// catchUp follows page by page, each in a snapshot of its own.
func (e *Engine) catchUp(ctx context.Context, w *words) error {
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := e.store.read(ctx, func(c *conn) error {
			revision, err := c.changes()
			if err != nil {
				return err
			}
			done, err = w.follow(c, revision)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const (
	wordsSnapshot = "words"
	codesSnapshot = "codes"
)

func (e *Engine) restoreWords(ctx context.Context) *words {
	stored := &words{}
	err := e.store.read(ctx, func(c *conn) (err error) {
		if stored.purges, err = c.purges(); err != nil {
			return err
		}
		stored.revision, err = c.loadSnapshot(wordsSnapshot, func(in io.Reader) (err error) {
			stored.index, err = lexical.Read(in, bm25Params)
			return err
		})
		return err
	})
	if err == nil {
		return stored
	}
	if !errors.Is(err, errNoSnapshot) && ctx.Err() == nil {
		e.log.Warn("the snapshot of the words cannot be read; the index is built anew", "err", err)
	}
	return &words{index: lexical.New(bm25Params), purges: stored.purges}
}

// keepCodes reads the vectors' codes, and takes their mean anew when there are
// four times as many as it was taken of.
func (e *Engine) keepCodes(ctx context.Context) error {
	if e.meaning.embedder == nil {
		return nil
	}
	var m model
	if err := e.store.read(ctx, func(c *conn) (err error) { m, err = c.presentModel(); return err }); err != nil || m.id == 0 {
		return err
	}
	g := &e.meaning
	g.mu.RLock()
	held := g.model
	g.mu.RUnlock()
	if held.id != m.id {
		if err := e.restoreCodes(ctx, m); err != nil {
			return err
		}
	}
	if err := e.followCodes(ctx, m.id); err != nil {
		return err
	}
	g.mu.RLock()
	codes, taken := g.codes, g.taken
	g.mu.RUnlock()
	if codes == nil { // dropped by a repair, or with its model
		return nil
	}
	has := codes.Len()
	if has < centredLeast || has < 4*taken {
		return nil
	}
	return e.centre(ctx, m)
}

// followCodes brings the codes of a model into step, page by page, while the
// model is there: the reembed of another process may end at any time.
func (e *Engine) followCodes(ctx context.Context, id int64) error {
	for done := false; !done; {
		err := e.store.read(ctx, func(c *conn) error {
			m, err := c.model(id)
			if done = m.id == 0; err != nil || done {
				return err
			}
			_, held, err := e.meaning.follow(c, m, fewBehind)
			done = held.seq >= m.seq || held.id != m.id
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// centredLeast is how many vectors it takes until their mean says something.
const centredLeast = 2

// keepSnapshots stores what has moved on far enough since the last snapshot.
func (e *Engine) keepSnapshots(ctx context.Context) error {
	if e.store.ReadOnly() != "" {
		return nil
	}
	var errs []error
	// Revisions are counted from first.
	keep := func(name string, purges, first, revision, size int64, write func(io.Writer) error) {
		if revision == first || ctx.Err() != nil {
			return
		}
		var stored int64
		err := e.store.read(ctx, func(c *conn) (err error) { stored, err = c.snapshotRevision(name); return err })
		if err == nil && revision-max(first, stored) >= max(snapshotLeast, size/snapshotShare) {
			err = e.store.saveSnapshot(ctx, name, revision, purges, write)
		}
		if err != nil && !errors.Is(err, errSuperseded) {
			errs = append(errs, err)
		}
	}
	e.roster.mu.RLock()
	revision, purges, size := e.roster.revision, e.roster.purges, int64(e.roster.actives)
	e.roster.mu.RUnlock()
	keep(rosterSnapshot, purges, 0, revision, size, func(w io.Writer) error { return e.roster.freeze().write(w) })

	e.words.mu.RLock()
	index, revision, purges := e.words.index, e.words.revision, e.words.purges
	e.words.mu.RUnlock()
	if index != nil {
		keep(wordsSnapshot, purges, 0, revision, size, func(w io.Writer) error {
			_, err := index.Freeze().WriteTo(w)
			return err
		})
	}
	g := &e.meaning
	g.mu.RLock()
	book, m, purges := g.codebook, g.model, g.purges
	g.mu.RUnlock()
	if book.codes != nil {
		keep(codesSnapshot, purges, codesRevision(m.id, 0), codesRevision(m.id, m.seq), size, func(w io.Writer) error { return writeCodes(w, book, m) })
	}
	return errors.Join(errs...)
}
