// Package index holds what is read into memory from the file and follows it: the
// column cache with the filter caches, the postings index, the vector index, the
// context columns, and the features of perceptions.
package index

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Index holds the indexes in memory. [Index.Run] maintains them in the background.
type Index struct {
	Store       *store.Store
	Log         *slog.Logger
	Quitting    <-chan struct{} // closed when the memory is closed
	WithVectors bool            // there is an embedder

	Columns  Columns
	Postings Postings
	Vectors  vectors
	Features featureCache
	LoadMu   sync.Mutex    // held while postings and vectors are loaded or catch up
	Wake     chan struct{} // lets Run begin its work, or ends its pause
}

const (
	// maintenancePause is how long Run waits for further writes.
	maintenancePause = 10 * time.Second
	// fillRest is how long Run rests after a part of the full-text index, as a multiple of the time
	// that the part took. No recall waits for that index, and recalls need the cores.
	fillRest = 4
)

// Run maintains the indexes in the background until ctx ends: it loads the postings and vectors,
// from the first recall on, lets them catch up when they are far behind, centres the vector codes
// again as they grow, stores snapshots, and fills the full-text index.
func (x *Index) Run(ctx context.Context) {
	// Nothing is loaded before the first recall: a program that only writes needs no index.
	select {
	case <-ctx.Done():
		return
	case <-x.Wake:
	}

	for ctx.Err() == nil {
		err := errors.Join(x.refresh(ctx), x.SaveSnapshots(ctx))
		begun, pause := time.Now(), maintenancePause
		filled, e := x.Store.FillFullTextPart(ctx, store.FullTextLeast)
		if err = errors.Join(err, e); err != nil && ctx.Err() == nil {
			x.Log.Warn("maintaining the indexes", "err", err)
		} else if !filled {
			pause = fillRest * time.Since(begun)
		}

		select {
		case <-ctx.Done():
		case <-x.Wake:
		case <-time.After(pause):
		}
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Warm loads the indexes now, the columns beside the others.
func (x *Index) Warm(ctx context.Context) error {
	columns := make(chan error, 1)
	go func() { columns <- x.Store.Read(ctx, x.Columns.Sync) }()
	err := cmp.Or(x.refresh(ctx), <-columns)
	signal(x.Wake)
	return err
}

func (x *Index) refresh(ctx context.Context) error {
	x.LoadMu.Lock()
	defer x.LoadMu.Unlock()
	return errors.Join(x.refreshPostings(ctx), x.refreshVectors(ctx))
}

// inPages runs step until it is done or fails, each time in a snapshot of its own.
func (x *Index) inPages(ctx context.Context, step func(*store.Conn) (done bool, err error)) error {
	for done := false; !done; {
		err := x.Store.Read(ctx, func(c *store.Conn) (err error) { done, err = step(c); return err })
		if err != nil {
			return err
		}
	}

	return nil
}

// Drop discards the indexes in memory, so that they are read from the tables again.
func (x *Index) Drop() {
	x.Columns.Mu.Lock()
	x.Columns.forget()
	x.Columns.Mu.Unlock()
	x.Postings.Mu.Lock()
	x.Postings.Index, x.Postings.revision = nil, 0
	x.Postings.Mu.Unlock()
	x.Vectors.replace(Codebook{}, store.Model{})
}
