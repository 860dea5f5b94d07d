package index

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// The keeper is a goroutine that does what no caller should wait for: it reads
// the indexes of words and meaning into memory, begun by the first recall,
// brings them into step when they are far behind, takes the vectors' mean anew
// as they grow, and stores snapshots of it all.

const (
	maintenancePause = 5 * time.Second
	// A snapshot is worth storing once so many memories have changed since the
	// last, and at least a part of them all: what has changed since is read one
	// by one at the next opening.
	SnapshotLeast = 2000
	snapshotShare = 8
)

// runKeeper works until ctx ends. Each call of rouse, and each pause, lets it
// look again.
func (x *Index) Run(ctx context.Context) {
	select { // nothing is read before somebody asks
	case <-ctx.Done():
		return
	case <-x.Wake:
	}
	for ctx.Err() == nil {
		if err := errors.Join(x.refresh(ctx), x.SaveSnapshots(ctx)); err != nil && ctx.Err() == nil {
			x.Log.Warn("keeping the indexes", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-x.Wake:
		case <-time.After(maintenancePause):
		}
	}
}

// wakeMaintenance begins the keeper's work, or ends its pause.
func (x *Index) wakeMaintenance() {
	select {
	case x.Wake <- struct{}{}:
	default:
	}
}

// Warm reads the indexes into memory now.
func (x *Index) Warm(ctx context.Context) error {
	err := x.Store.Read(ctx, x.Columns.Sync)
	if err == nil {
		err = x.refresh(ctx)
	}
	x.wakeMaintenance()
	return err
}

func (x *Index) refresh(ctx context.Context) error {
	x.LoadMu.Lock()
	defer x.LoadMu.Unlock()
	return errors.Join(x.refreshPostings(ctx), x.refreshVectors(ctx))
}

// refreshPostings reads the postings index from its snapshot, or builds it, and
// brings it into step.
func (x *Index) refreshPostings(ctx context.Context) (err error) {
	defer func() { x.Postings.settle(err) }()
	x.Postings.Mu.RLock()
	have := x.Postings.Index != nil
	x.Postings.Mu.RUnlock()
	if !have {
		fresh := x.restorePostings(ctx)
		if err := x.catchUp(ctx, fresh); err != nil {
			return err
		}
		x.Postings.Mu.Lock()
		x.Postings.Index, x.Postings.revision, x.Postings.purges = fresh.Index, fresh.revision, fresh.purges
		x.Postings.Mu.Unlock()
	}
	return x.catchUp(ctx, &x.Postings)
}

// catchUp follows page by page, each in a snapshot of its own.
func (x *Index) catchUp(ctx context.Context, w *Postings) error {
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := x.Store.Read(ctx, func(c *store.Conn) error {
			revision, err := c.Changes()
			if err != nil {
				return err
			}
			done, err = w.Follow(c, revision)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *Index) restorePostings(ctx context.Context) *Postings {
	stored := &Postings{}
	err := x.Store.Read(ctx, func(c *store.Conn) (err error) {
		if stored.purges, err = c.Purges(); err != nil {
			return err
		}
		stored.revision, err = c.LoadSnapshot(store.PostingsSnapshot, func(in io.Reader) (err error) {
			stored.Index, err = lexical.Read(in, lexical.Bm25Params)
			return err
		})
		return err
	})
	if err == nil {
		return stored
	}
	if !errors.Is(err, store.ErrNoSnapshot) && ctx.Err() == nil {
		x.Log.Warn("the snapshot of the words cannot be read; the index is built anew", "err", err)
	}
	return &Postings{Index: lexical.New(lexical.Bm25Params), purges: stored.purges}
}

// refreshVectors reads the vectors' codes, and takes their mean anew when there are
// four times as many as it was taken of.
func (x *Index) refreshVectors(ctx context.Context) error {
	if !x.WithVectors {
		return nil
	}
	var m store.Model
	if err := x.Store.Read(ctx, func(c *store.Conn) (err error) { m, err = c.PresentModel(); return err }); err != nil || m.ID == 0 {
		return err
	}
	g := &x.Vectors
	g.Mu.RLock()
	held := g.Model
	g.Mu.RUnlock()
	if held.ID != m.ID {
		if err := x.RestoreVectors(ctx, m); err != nil {
			return err
		}
	}
	if err := x.FollowVectors(ctx, m.ID); err != nil {
		return err
	}
	g.Mu.RLock()
	codes, taken := g.Codes, g.taken
	g.Mu.RUnlock()
	if codes == nil { // dropped by a repair, or with its model
		return nil
	}
	has := codes.Len()
	if has < centredLeast || has < 4*taken {
		return nil
	}
	return x.centre(ctx, m)
}

// FollowVectors brings the codes of a model into step, page by page, while the
// model is there: the reembed of another process may end at any time.
func (x *Index) FollowVectors(ctx context.Context, id int64) error {
	for done := false; !done; {
		err := x.Store.Read(ctx, func(c *store.Conn) error {
			m, err := c.Model(id)
			if done = m.ID == 0; err != nil || done {
				return err
			}
			_, held, err := x.Vectors.follow(c, m, fewBehind)
			done = held.Seq >= m.Seq || held.ID != m.ID
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

// SaveSnapshots stores what has moved on far enough since the last snapshot.
func (x *Index) SaveSnapshots(ctx context.Context) error {
	if x.Store.ReadOnly() != "" {
		return nil
	}
	var errs []error
	// Revisions are counted from first.
	keep := func(name string, purges, first, revision, size int64, write func(io.Writer) error) {
		if revision == first || ctx.Err() != nil {
			return
		}
		var stored int64
		err := x.Store.Read(ctx, func(c *store.Conn) (err error) { stored, err = c.SnapshotRevision(name); return err })
		if err == nil && revision-max(first, stored) >= max(SnapshotLeast, size/snapshotShare) {
			err = x.Store.SaveSnapshot(ctx, name, revision, purges, write)
		}
		if err != nil && !errors.Is(err, store.ErrSuperseded) {
			errs = append(errs, err)
		}
	}
	x.Columns.Mu.RLock()
	revision, purges, size := x.Columns.Revision, x.Columns.purges, int64(x.Columns.Actives)
	x.Columns.Mu.RUnlock()
	keep(store.ColumnsSnapshot, purges, 0, revision, size, func(w io.Writer) error { return x.Columns.Freeze().Write(w) })

	x.Postings.Mu.RLock()
	index, revision, purges := x.Postings.Index, x.Postings.revision, x.Postings.purges
	x.Postings.Mu.RUnlock()
	if index != nil {
		keep(store.PostingsSnapshot, purges, 0, revision, size, func(w io.Writer) error {
			_, err := index.Freeze().WriteTo(w)
			return err
		})
	}
	g := &x.Vectors
	g.Mu.RLock()
	book, m, purges := g.Codebook, g.Model, g.purges
	g.Mu.RUnlock()
	if book.Codes != nil {
		keep(store.VectorsSnapshot, purges, CodesRevision(m.ID, 0), CodesRevision(m.ID, m.Seq), size, func(w io.Writer) error { return WriteCodes(w, book, m) })
	}
	return errors.Join(errs...)
}

// Index are what is kept in memory and follows the file.
type Index struct {
	Store       *store.Store
	Log         *slog.Logger
	Quitting    <-chan struct{} // closed when the memory is closed
	WithVectors bool            // there is an embedder

	Columns  Columns
	Postings Postings
	Vectors  vectors
	Paths    pathIndex
	Features featureCache
	LoadMu   sync.Mutex    // held while postings or vectors are loaded, or catch up
	Wake     chan struct{} // ends the pause of the background maintenance
}

// Drop forgets what was read into memory, so that it is read from the tables again.
func (x *Index) Drop() {
	x.Columns.reset()
	x.Paths.reset()
	x.Postings.Mu.Lock()
	x.Postings.Index, x.Postings.revision = nil, 0
	x.Postings.Mu.Unlock()
	x.Vectors.Mu.Lock()
	x.Vectors.Model, x.Vectors.Codebook = store.Model{}, Codebook{}
	x.Vectors.Mu.Unlock()
}
