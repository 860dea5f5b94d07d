package maintenance

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

// A purge removes a memory irrecoverably, in two parts. The first is one transaction that deletes
// every row with data of the memory. The second, the scrub, removes the file of its payload and
// overwrites old pages and the log. It may be interrupted, or delayed by a reader; a counter in
// the file says so until it is done, and any process that has the file open continues it.

const (
	scrubRetry = 10 * time.Second // after a scrub that could not finish
	scrubLook  = time.Minute      // between two looks for purges that another process left unfinished
	// logPatience is how long a scrub waits for readers of the log.
	logPatience = 300 * time.Millisecond
)

// notReached lists what a purge cannot remove.
var notReached = []string{
	"backups and copies of the file",
	"exports that were made of it",
	"copies that the robots of a fleet keep: they are forgotten at the next sync, and not purged",
	"snapshots of the file system",
	"the free blocks of the disk and what a flash drive keeps aside: only an encrypted disk loses those",
	"what whoever recalled it has written down",
}

// Purge removes a memory irrecoverably.
func (mt *Maintainer) Purge(ctx context.Context, r *robotmem.ForgetRequest) (*robotmem.ForgetResponse, error) {
	res := &robotmem.ForgetResponse{Status: "purged", MemoryID: r.MemoryID, Reason: r.Reason}
	err := mt.Store.Write(ctx, func(tx *store.Tx) (err error) {
		m, err := tx.Memory(r.MemoryID, tx.Now)
		if err != nil {
			return err
		}
		mt.Store.Groups.Reset()
		if res.Purged, err = tx.Purge(m, r.Reason); err != nil {
			return err
		}

		return mt.keepForeign(tx, res.Purged)
	})
	if err != nil {
		return nil, err
	}

	res.Purged.NotReached = slices.Clone(notReached)
	res.Purged.OldPages = "rewritten"
	if !mt.Store.InFile() {
		res.Purged.OldPages = "left to VACUUM on the server, and to the end of its logs"
	}

	// The rows are purged now. If a reader delays the scrub, RunScrub repeats it.
	if err := mt.Scrub(ctx); err != nil {
		mt.Log.Warn("a purge is not finished", "memory", r.MemoryID, "err", err)
		res.Purged.OldPages = "pending: " + robotmem.Detail(robotmem.Wrap("forget", err))
		Wake(mt.WakeScrub)
	}

	return res, nil
}

// purgeBatch is how many memories a transaction of PurgeAll purges. Other writers wait meanwhile.
const purgeBatch = 100

// PurgeAll purges memories, and rewrites the file once for all of them. It leaves out those whose rows are damaged,
// which only a repair can remove, and those that are gone. After an error what was purged before it stays purged.
func (mt *Maintainer) PurgeAll(ctx context.Context, ids []int64, reason string) (purged int64, err error) {
	for batch := range slices.Chunk(ids, purgeBatch) {
		done := int64(0)
		err := mt.Store.Write(ctx, func(tx *store.Tx) error {
			done = 0
			mt.Store.Groups.Reset()

			for _, id := range batch {
				m, err := tx.Memory(id, tx.Now)
				if errors.Is(err, robotmem.NotFound) || errors.Is(err, robotmem.Corrupt) {
					continue
				}
				if err != nil {
					return err
				}

				out, err := tx.Purge(m, reason)
				if err == nil {
					err = mt.keepForeign(tx, out)
				}
				if err != nil {
					return err
				}
				done++
			}

			return nil
		})
		if err != nil {
			return purged, err
		}
		purged += done
	}

	if err := mt.Scrub(ctx); err != nil {
		mt.Log.Warn("a purge is not finished", "memories", purged, "err", err)
		Wake(mt.WakeScrub)
	}

	return purged, nil
}

// keepForeign keeps the file of a purged payload if the folder is of another memory, which may have the same bytes.
func (mt *Maintainer) keepForeign(tx *store.Tx, purged *robotmem.Purged) error {
	foreign, err := mt.Store.ForeignFolder(tx.Conn)
	if err != nil || !foreign {
		return err
	}

	sums, err := tx.PurgedFiles()
	if err != nil || len(sums) == 0 {
		return err
	}

	purged.Payload, purged.Bytes = "kept: the folder of payloads is noted to be of another file", 0

	return tx.DropPurgedFiles()
}

// Scrub finishes all unfinished purges: it removes the files of their payloads,
// rewrites the database and empties the log.
func (mt *Maintainer) Scrub(ctx context.Context) error {
	var upto int64
	err := mt.Store.Read(ctx, func(c *store.Conn) (err error) { upto, err = c.ToScrub(); return err })
	if err != nil || upto == 0 {
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
				return robotmem.Errorf(robotmem.Unavailable, "", "the payload's file cannot be removed (%s)",
					robotmem.Reason(err))
			}
		}

		return tx.DropPurgedFiles()
	})
}

// RewriteAlone does the work of Scrub on the writing connection, for the purges up to a revision. The
// end of ctx interrupts it without harm. Rewriting the file adds all of it to the log, which cannot
// be emptied while a reader uses it. Therefore the log is emptied first, and the file is rewritten only once.
func (mt *Maintainer) RewriteAlone(ctx context.Context, c *store.Conn, upto int64) (err error) {
	c.SetInterrupt(ctx)
	defer c.SetInterrupt(context.Background())
	if left, err := c.ToScrub(); err != nil || left == 0 || !mt.Store.InFile() {
		// Another process has finished the scrub.
		return err
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

// emptyLogSoon empties the log. It waits for readers of the log only for logPatience, because
// other writers wait meanwhile. The writer restores the busy timeout.
func emptyLogSoon(c *store.Conn) error {
	if err := sqlite.FileOf(c).BusyTimeout(logPatience); err != nil {
		return err
	}
	done, err := c.EmptyLog()
	if err == nil && !done {
		err = robotmem.Errorf(robotmem.Unavailable, "", "another program reads from the file's log, "+
			"which cannot be emptied before it ends")
	}

	return err
}

// RunScrub finishes purges that were interrupted or delayed, in this process or in
// one that has ended.
func (mt *Maintainer) RunScrub(ctx context.Context) {
	Repeat(ctx, mt.WakeScrub, scrubRetry, func() time.Duration {
		if err := mt.Scrub(ctx); err != nil && ctx.Err() == nil {
			mt.Log.Warn("a purge is not finished", "err", err)
			return scrubRetry
		}
		return scrubLook
	})
}
