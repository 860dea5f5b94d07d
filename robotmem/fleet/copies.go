package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// LeaveOptions say what becomes of the copies of other robots' facts. The zero value keeps them.
type LeaveOptions struct {
	DropCopies bool // forget them
	Purge      bool // with DropCopies: delete them permanently, also those that were forgotten before
}

// LeaveReport says what a memory has left, and how many facts of other robots it still holds.
type LeaveReport struct {
	Site      string `json:"site,omitempty"` // empty if the memory had joined none
	Dropped   int64  `json:"dropped"`
	Kept      int64  `json:"kept"`           // copies that recall finds
	Forgotten int64  `json:"kept_forgotten"` // copies that were forgotten, whose text is still in the file
}

const (
	// lockPatience is how long a departure waits for another process that syncs.
	lockPatience = 5 * time.Second
	lockPause    = 50 * time.Millisecond
	// dropBatch is how many copies a transaction forgets. Other writers wait meanwhile.
	dropBatch = 500
)

// LeaveSite forgets the site of a memory, and the copies of what other robots learnt if the options say so. With
// DropCopies it also works on a memory that has left its site before. Without a site and without DropCopies it fails
// with NotFound. A copy whose row is damaged is kept.
func LeaveSite(ctx context.Context, n *local.Node, o LeaveOptions) (*LeaveReport, error) {
	// A memory that was copied together with the file of the site may leave it too.
	p, err := PeerOf(n)
	if err != nil && !errors.Is(err, robotmem.Conflict) {
		return nil, err
	}
	if p == nil && err == nil && !o.DropCopies {
		return nil, robotmem.Errorf(robotmem.NotFound, "fleet", "this memory has joined no site; run robotmem fleet join URL")
	}

	// A replicator in another process must store no copies behind those that are dropped here.
	if o.DropCopies {
		unlock, err := lockSite(ctx, n)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}

	path := engine.Of(n).Store.Files().Site()
	if p == nil {
		// Of another file, or absent.
		p = &Peer{}
		if data, err := os.ReadFile(path); err == nil {
			_ = json.Unmarshal(data, p)
		}
	}
	report := &LeaveReport{Site: p.URL}

	// The site is left first. After a crash the copies can still be dropped, and nothing is fetched in between.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, robotmem.Errorf(robotmem.Unavailable, "fleet", "the file of the site cannot be removed (%s)",
			robotmem.Reason(err))
	}

	if o.DropCopies {
		if report.Dropped, err = drop(ctx, n, o.Purge, report.Site); err != nil {
			return report, err
		}
	}

	active, forgotten, err := copiesIn(ctx, n)
	report.Kept, report.Forgotten = int64(len(active)), int64(len(forgotten))

	return report, err
}

// lockSite keeps replicators of other processes from syncing until unlock.
func lockSite(ctx context.Context, n *local.Node) (unlock func(), err error) {
	for until := time.Now().Add(lockPatience); ; time.Sleep(lockPause) {
		unlock, err = sqlite.LockFile(engine.Of(n).Store.Files().SiteLock())
		switch {
		case err == nil:
			return unlock, nil
		case !errors.Is(err, sqlite.ErrLocked):
			return nil, robotmem.Errorf(robotmem.Unavailable, "fleet", "the lock of the site cannot be taken (%s)",
				robotmem.Reason(err))
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case time.Now().After(until):
			return nil, robotmem.Errorf(robotmem.Unavailable, "fleet",
				"another process is syncing this memory with its site; nothing was changed; try again, or stop it first")
		}
	}
}

// copiesIn returns the ids of the copies that a memory holds.
func copiesIn(ctx context.Context, n *local.Node) (active, forgotten []int64, err error) {
	err = engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		return c.Query(store.MemoriesOfTool, []any{Tool}, func(r store.Row) error {
			if r.ColumnText(1) == "invalidated" {
				forgotten = append(forgotten, r.ColumnInt64(0))
			} else {
				active = append(active, r.ColumnInt64(0))
			}
			return nil
		})
	})

	return active, forgotten, err
}

// drop forgets or purges all copies and returns how many.
func drop(ctx context.Context, n *local.Node, purge bool, site string) (dropped int64, err error) {
	active, forgotten, err := copiesIn(ctx, n)
	if err != nil {
		return 0, err
	}

	reason := "a fact of another robot: this robot has left its site"
	if site != "" {
		reason = "a fact of another robot: this robot has left " + site
	}
	// Without the places in the feeds, a memory that joins again reads all copies anew.
	err = engine.Of(n).Store.Write(ctx, func(tx *store.Tx) error {
		return errors.Join(tx.Exec(store.DeleteFleetCopies), tx.Exec(store.DeleteFleetFeeds))
	})
	if err != nil {
		return 0, err
	}

	if purge {
		return engine.Of(n).PurgeAll(ctx, append(active, forgotten...), reason)
	}

	for batch := range slices.Chunk(active, dropBatch) {
		done := int64(0)
		err := engine.Of(n).Store.Write(ctx, func(tx *store.Tx) error {
			var err error
			if done, err = forgetCopies(tx, batch, reason); err != nil {
				return err
			}

			return tx.Audit(admin.AuditEntry{
				Action: store.ActionForgotten, Reason: fmt.Sprintf("%d facts of other robots: %s", done, reason),
			})
		})
		if err != nil {
			return dropped, err
		}
		dropped += done
	}

	return dropped, nil
}

// forgetCopies forgets copies and returns how many. One whose row is damaged is kept: it must not keep the others.
func forgetCopies(tx *store.Tx, ids []int64, reason string) (done int64, err error) {
	for _, id := range ids {
		err := tx.SetStatus(id, "invalidated", 0, "forgotten", reason)
		switch {
		case errors.Is(err, robotmem.Corrupt), errors.Is(err, robotmem.NotFound):
			continue
		case err != nil:
			return done, err
		}
		done++
	}

	return done, nil
}
