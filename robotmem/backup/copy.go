package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/keys"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

const (
	// backupStep is the number of pages copied between two checks of the context: 4 MiB,
	// about 20 ms.
	backupStep = 1024
	// backupCacheKiB is small because each page is read once.
	backupCacheKiB = 4 << 10
	// evictionsSince is the first schema version with the table evictions.
	evictionsSince = 3
)

// copyDatabase copies the snapshot of c's open transaction to a new file, page by page,
// without a log. The transaction makes one pass sufficient: SQLite's online backup
// restarts after another process's commit only if each step has its own snapshot. VACUUM
// INTO takes twice as long and makes a slightly smaller file. It fails before it writes
// anything if the disk has no space for the copy.
func copyDatabase(c *sqlite.Tables, ctx context.Context, to string, k *keys.Keys, m *progress.Meter) error {
	// This is the size of the copy, which has no log.
	size, err := c.Number(store.FileSize)
	if err == nil {
		err = checkSpace(filepath.Dir(to), size)
	}
	if err != nil {
		return err
	}

	// SQLite would create the file with the default permissions.
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := copyPages(c, ctx, sqlite.URI(to, k), m); err != nil {
		return err
	}

	// The header of the source sets WAL mode. Without WAL mode the copy can be opened on
	// a read-only medium and leaves no log files.
	d, err := sqlite.OpenPlain(to, k)
	if err != nil {
		return err
	}
	if err := errors.Join(d.Exec("PRAGMA journal_mode=DELETE"), d.Close()); err != nil {
		return err
	}

	return disk.SyncPath(to)
}

func copyPages(c *sqlite.Tables, ctx context.Context, uri string, m *progress.Meter) (err error) {
	b, err := c.File.BackupInit("main", uri)
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, b.Close()) }()

	for done, begun := false, false; !done; {
		if err := ctx.Err(); err != nil {
			return err
		}
		before := b.Remaining()
		if done, err = b.Step(backupStep); err != nil {
			return err
		}

		// The number of pages is known only after the first step.
		if !begun {
			m.Stage("copying the file", "pages", int64(b.PageCount()))
			begun, before = true, b.PageCount()
		}
		m.Add(int64(before - b.Remaining()))
	}

	return nil
}

// openCopy opens a file for reading without creating files beside it. k are its keys, nil if it is in clear.
func openCopy(ctx context.Context, path string, k *keys.Keys) (*sqlite.Tables, error) {
	return sqlite.OpenTables(ctx, path, sqlite.ConnOptions{
		Keys:        k,
		ReadOnly:    true,
		BusyTimeout: local.DefaultBusyTimeout,
		CacheKiB:    backupCacheKiB,
	})
}

// figures returns the counts of a file in the open transaction of c.
func figures(c *sqlite.Tables) (f Figures, err error) {
	_, err = c.File.One(`SELECT (SELECT user_version FROM pragma_user_version), (SELECT max(value, (SELECT coalesce(max(revision), 0) FROM memories)) FROM counters
			WHERE name = 'changes'),
		(SELECT count(*) FROM memories), (SELECT count(*) FROM memories WHERE status = 'active'), (SELECT count(*) FROM sessions),
		(SELECT count(*) FROM payloads), (SELECT coalesce(sum(bytes), 0) FROM payloads),
		(SELECT uid FROM memories ORDER BY id LIMIT 1), (SELECT uid FROM memories ORDER BY id DESC LIMIT 1)`, nil, func(s store.Row) {
		for i, to := range []*int64{
			&f.SchemaVersion, &f.Changes, &f.Memories, &f.Active, &f.Sessions, &f.Payloads, &f.PayloadBytes,
		} {
			*to = s.ColumnInt64(i)
		}
		f.Oldest, f.Newest = s.ColumnText(7), s.ColumnText(8)
	})

	return f, err
}

// unnamedPayloads counts the active memories whose payload has no row and was not evicted.
func unnamedPayloads(c *sqlite.Tables, schema int64) (int64, error) {
	if schema < evictionsSince {
		return 0, nil
	}
	return c.File.Number(`SELECT count(*) FROM memories WHERE perception_data IS NOT NULL AND status = 'active'
		AND perception_data NOT IN (SELECT sha256 FROM payloads) AND id NOT IN (SELECT memory_id FROM evictions)`)
}

// checkpointLog checkpoints the log into the file and removes the log. It fails as busy while
// another program has the file open. A file that is damaged or not a robotmem file keeps
// its log, because a recovery may need it.
func checkpointLog(ctx context.Context, path string, k *keys.Keys) (held Figures, err error) {
	o := sqlite.ConnOptions{Keys: k, BusyTimeout: checkpointTimeout, CacheKiB: backupCacheKiB, ReadOnly: true}
	c, err := sqlite.OpenTables(ctx, path, o)
	if err != nil {
		return held, err
	}

	// The first connection only reads: a file that fails here keeps its log, and the second connection would remove it.
	version, err := sqlite.RefuseForeign(c.File)
	if err == nil && version != 0 {
		held, err = figures(c)
	}
	if err := errors.Join(err, c.Close()); err != nil {
		return held, err
	}

	o.ReadOnly = false
	if c, err = sqlite.OpenTables(ctx, path, o); err != nil {
		return held, err
	}

	return held, errors.Join(c.File.Exec("PRAGMA journal_mode=DELETE"), c.Close())
}
