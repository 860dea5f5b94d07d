package maintenance

import (
	"context"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// A purge destroys a memory for good. It has two parts. The first is one
// transaction that deletes every row which says anything of the memory: it is
// gone from then on, for every process. The second scrubs what is left of it
// where no row points: the file of its payload, old pages and log. That part may
// be interrupted, or held up by somebody who reads; the file says so until it is
// done, and whoever has the file open goes on with it.

const (
	// scrubPause is how long a node waits before it tries again.
	scrubPause = 10 * time.Second
	// scrubLook is how often it looks whether another process left a purge
	// unfinished.
	scrubLook = time.Minute
	// logPatience is how long the end of a purge waits for who reads.
	logPatience = 300 * time.Millisecond
)

// notReached is what the answer says of the world outside the file.
var notReached = []string{
	"backups and copies of the file",
	"exports that were made of it",
	"snapshots of the file system",
	"the free blocks of the disk and what a flash drive keeps aside: only an encrypted disk loses those",
	"what whoever recalled it has written down",
}

func (mt *Maintainer) Purge(ctx context.Context, r *robotmem.ForgetRequest) (*robotmem.ForgetResponse, error) {
	res := &robotmem.ForgetResponse{Status: "purged", MemoryID: r.MemoryID, Reason: r.Reason}
	err := mt.Store.Write(ctx, func(tx *store.Tx) (err error) {
		m, err := tx.Memory(r.MemoryID, tx.Now)
		if err != nil {
			return err
		}
		mt.Store.Forget()
		res.Purged, err = tx.Purge(m, r.Reason)
		return err
	})
	if err != nil {
		return nil, err
	}
	res.Purged.NotReached = slices.Clone(notReached)
	res.Purged.OldPages = "rewritten"
	// It is purged; what cannot be scrubbed now will be.
	if err := mt.Scrub(ctx); err != nil {
		mt.Log.Warn("a purge is not finished", "memory", r.MemoryID, "err", err)
		res.Purged.OldPages = "pending: " + store.DetailOf(sqlite.Wrap("forget", err))
		mt.rouseScrub()
	}
	return res, nil
}

func (mt *Maintainer) rouseScrub() {
	select {
	case mt.WakeScrub <- struct{}{}:
	default:
	}
}

// Scrub finishes the purges that the file says are not: it removes the files of
// their payloads, writes the file anew and empties the log.
func (mt *Maintainer) Scrub(ctx context.Context) error {
	var upto int64
	if err := mt.Store.Read(ctx, func(c *store.Conn) (err error) { upto, err = c.ToScrub(); return err }); err != nil || upto == 0 {
		return err
	}
	if err := mt.removePurgedFiles(ctx); err != nil {
		return err
	}
	if err := mt.Store.WriteAlone(ctx, func(c *store.Conn) error { return mt.RewriteAlone(ctx, c, upto) }); err != nil {
		return err
	}
	return mt.Store.Write(ctx, func(tx *store.Tx) error { return tx.Scrubbed(upto) })
}

func (mt *Maintainer) removePurgedFiles(ctx context.Context) error {
	return mt.Store.Write(ctx, func(tx *store.Tx) error {
		sums, err := tx.PurgedFiles()
		if err != nil {
			return err
		}
		for _, sum := range sums {
			if err := mt.Store.Payloads().Remove(sum); err != nil {
				return robotmem.Errorf(robotmem.Unavailable, "", "the payload's file cannot be removed (%s)", store.RootReason(err))
			}
		}
		if len(sums) == 0 {
			return nil
		}
		return tx.DropPurgedFiles()
	})
}

// RewriteAlone is scrub's work on the writing connection, for the purges up to a
// number. A caller that goes away ends it; the file is as it was then. Writing
// the file anew adds all of it to the log, which nobody can cut while somebody
// reads from it: so that comes first, and the file is written once.
func (mt *Maintainer) RewriteAlone(ctx context.Context, c *store.Conn, upto int64) (err error) {
	c.SetInterrupt(ctx)
	defer c.SetInterrupt(context.Background())
	if left, err := c.ToScrub(); err != nil || left == 0 {
		return err // another process was faster
	}
	if err := emptyLogSoon(c); err != nil {
		return err
	}
	if mt.Store.Rewritten != upto {
		if err := c.RewriteFile(); err != nil {
			return err
		}
		mt.Store.Rewritten = upto
	}
	return emptyLogSoon(c)
}

// emptyLogSoon waits a moment for who reads from the log, and not longer: other
// writers wait with it. The busy timeout is the writer's to set back.
func emptyLogSoon(c *store.Conn) error {
	if err := c.BusyTimeout(logPatience); err != nil {
		return err
	}
	done, err := c.EmptyLog()
	if err == nil && !done {
		err = robotmem.Errorf(robotmem.Unavailable, "", "another program reads from the file's log, which cannot be emptied before it ends")
	}
	return err
}

// RunScrub finishes purges that were interrupted or held up, in this process or
// in one that is gone.
func (mt *Maintainer) RunScrub(ctx context.Context) {
	for ctx.Err() == nil {
		pause := scrubLook
		if err := mt.Scrub(ctx); err != nil && ctx.Err() == nil {
			mt.Log.Warn("a purge is not finished", "err", err)
			pause = scrubPause
		}
		select {
		case <-ctx.Done():
		case <-mt.WakeScrub:
			select { // somebody reads still: not at once
			case <-ctx.Done():
			case <-time.After(scrubPause):
			}
		case <-time.After(pause):
		}
	}
}
