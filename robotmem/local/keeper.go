package local

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
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
func (x *indexes) run(ctx context.Context) {
	select { // nothing is read before somebody asks
	case <-ctx.Done():
		return
	case <-x.asked:
	}
	for ctx.Err() == nil {
		if err := errors.Join(x.keepIndexes(ctx), x.keepSnapshots(ctx)); err != nil && ctx.Err() == nil {
			x.log.Warn("keeping the indexes", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-x.asked:
		case <-time.After(keeperPause):
		}
	}
}

// rouseKeeper begins the keeper's work, or ends its pause.
func (x *indexes) rouseKeeper() {
	select {
	case x.asked <- struct{}{}:
	default:
	}
}

// warm reads the indexes into memory now.
func (x *indexes) warm(ctx context.Context) error {
	err := x.store.read(ctx, x.roster.sync)
	if err == nil {
		err = x.keepIndexes(ctx)
	}
	x.rouseKeeper()
	return err
}

func (x *indexes) keepIndexes(ctx context.Context) error {
	x.keeping.Lock()
	defer x.keeping.Unlock()
	return errors.Join(x.keepWords(ctx), x.keepCodes(ctx))
}

// keepWords reads the postings index from its snapshot, or builds it, and
// brings it into step.
func (x *indexes) keepWords(ctx context.Context) (err error) {
	defer func() { x.words.settle(err) }()
	x.words.mu.RLock()
	have := x.words.index != nil
	x.words.mu.RUnlock()
	if !have {
		fresh := x.restoreWords(ctx)
		if err := x.catchUp(ctx, fresh); err != nil {
			return err
		}
		x.words.mu.Lock()
		x.words.index, x.words.revision, x.words.purges = fresh.index, fresh.revision, fresh.purges
		x.words.mu.Unlock()
	}
	return x.catchUp(ctx, &x.words)
}

// catchUp follows page by page, each in a snapshot of its own.
func (x *indexes) catchUp(ctx context.Context, w *words) error {
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := x.store.read(ctx, func(c *conn) error {
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

func (x *indexes) restoreWords(ctx context.Context) *words {
	stored := &words{}
	err := x.store.read(ctx, func(c *conn) (err error) {
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
		x.log.Warn("the snapshot of the words cannot be read; the index is built anew", "err", err)
	}
	return &words{index: lexical.New(bm25Params), purges: stored.purges}
}

// keepCodes reads the vectors' codes, and takes their mean anew when there are
// four times as many as it was taken of.
func (x *indexes) keepCodes(ctx context.Context) error {
	if !x.withVectors {
		return nil
	}
	var m model
	if err := x.store.read(ctx, func(c *conn) (err error) { m, err = c.presentModel(); return err }); err != nil || m.id == 0 {
		return err
	}
	g := &x.vectors
	g.mu.RLock()
	held := g.model
	g.mu.RUnlock()
	if held.id != m.id {
		if err := x.restoreCodes(ctx, m); err != nil {
			return err
		}
	}
	if err := x.followCodes(ctx, m.id); err != nil {
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
	return x.centre(ctx, m)
}

// followCodes brings the codes of a model into step, page by page, while the
// model is there: the reembed of another process may end at any time.
func (x *indexes) followCodes(ctx context.Context, id int64) error {
	for done := false; !done; {
		err := x.store.read(ctx, func(c *conn) error {
			m, err := c.model(id)
			if done = m.id == 0; err != nil || done {
				return err
			}
			_, held, err := x.vectors.follow(c, m, fewBehind)
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
func (x *indexes) keepSnapshots(ctx context.Context) error {
	if x.store.ReadOnly() != "" {
		return nil
	}
	var errs []error
	// Revisions are counted from first.
	keep := func(name string, purges, first, revision, size int64, write func(io.Writer) error) {
		if revision == first || ctx.Err() != nil {
			return
		}
		var stored int64
		err := x.store.read(ctx, func(c *conn) (err error) { stored, err = c.snapshotRevision(name); return err })
		if err == nil && revision-max(first, stored) >= max(snapshotLeast, size/snapshotShare) {
			err = x.store.saveSnapshot(ctx, name, revision, purges, write)
		}
		if err != nil && !errors.Is(err, errSuperseded) {
			errs = append(errs, err)
		}
	}
	x.roster.mu.RLock()
	revision, purges, size := x.roster.revision, x.roster.purges, int64(x.roster.actives)
	x.roster.mu.RUnlock()
	keep(rosterSnapshot, purges, 0, revision, size, func(w io.Writer) error { return x.roster.freeze().write(w) })

	x.words.mu.RLock()
	index, revision, purges := x.words.index, x.words.revision, x.words.purges
	x.words.mu.RUnlock()
	if index != nil {
		keep(wordsSnapshot, purges, 0, revision, size, func(w io.Writer) error {
			_, err := index.Freeze().WriteTo(w)
			return err
		})
	}
	g := &x.vectors
	g.mu.RLock()
	book, m, purges := g.codebook, g.model, g.purges
	g.mu.RUnlock()
	if book.codes != nil {
		keep(codesSnapshot, purges, codesRevision(m.id, 0), codesRevision(m.id, m.seq), size, func(w io.Writer) error { return writeCodes(w, book, m) })
	}
	return errors.Join(errs...)
}

// indexes are what is kept in memory and follows the file.
type indexes struct {
	store       *store
	log         *slog.Logger
	quitting    <-chan struct{} // closed when the memory is closed
	withVectors bool            // there is an embedder

	roster   roster
	words    words
	vectors  vectors
	paths    pathIndex
	features keptFeatures
	keeping  sync.Mutex    // held by who brings words and vectors up from far behind
	asked    chan struct{} // rouses the keeper
}

// drop forgets what was read into memory, so that it is read from the tables again.
func (x *indexes) drop() {
	x.roster.reset()
	x.paths.reset()
	x.words.mu.Lock()
	x.words.index, x.words.revision = nil, 0
	x.words.mu.Unlock()
	x.vectors.mu.Lock()
	x.vectors.model, x.vectors.codebook = model{}, codebook{}
	x.vectors.mu.Unlock()
}
