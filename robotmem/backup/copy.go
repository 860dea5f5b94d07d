package backup

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"strings"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

const (
	// backupStep is how many pages are copied between two looks at the context:
	// 4 MiB, some 20 ms of a disk.
	backupStep = 1024
	// backupCacheKiB is for pages that are read once.
	backupCacheKiB = 4 << 10
	// evictionsSince is the schema version that has them.
	evictionsSince = 3
)

// copyDatabase writes what c's open transaction sees to a new file, page by
// page, as a file without a log. The transaction is the reason that it takes one
// pass however much is written meanwhile: SQLite's online backup begins anew
// after another process's commit only where each step has a snapshot of its own.
// VACUUM INTO would write a file a little smaller, and take twice as long; it
// makes rows anew, and a copy should be what it is a copy of.
func copyDatabase(c *store.Conn, ctx context.Context, to string, m *progress.Meter) error {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := copyPages(c, ctx, to, m); err != nil {
		return err
	}
	// The file says of itself that it has a log, as the one it was copied from.
	// Without, it opens on a medium that cannot be written, and leaves no files.
	d, err := sqlite.OpenPlain(to)
	if err != nil {
		return err
	}
	if err := errors.Join(d.Exec("PRAGMA journal_mode=DELETE"), d.Close()); err != nil {
		return err
	}
	return sqlite.SyncPath(to)
}

func copyPages(c *store.Conn, ctx context.Context, to string, m *progress.Meter) (err error) {
	b, err := c.BackupInit("main", sqlite.URI(to))
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
		if !begun {
			m.Stage("copying the file", "pages", int64(b.PageCount()))
			begun, before = true, b.PageCount()
		}
		m.Add(int64(before - b.Remaining()))
	}
	return nil
}

// openCopy opens a file that nobody writes, without leaving anything beside it.
func openCopy(ctx context.Context, path string) (*store.Conn, error) {
	return store.OpenStoreConn(ctx, path, sqlite.ConnOptions{ReadOnly: true, BusyTimeout: local.DefaultBusyTimeout, CacheKiB: backupCacheKiB})
}

// figures counts what a file holds, within the transaction that c has open.
func figures(c *store.Conn) (f BackupFigures, err error) {
	for _, q := range []struct {
		to  *int64
		sql string
	}{
		{&f.SchemaVersion, "PRAGMA user_version"},
		{&f.Changes, "SELECT value FROM counters WHERE name = 'changes'"},
		{&f.Memories, "SELECT count(*) FROM memories"},
		{&f.Active, "SELECT count(*) FROM memories WHERE status = 'active'"},
		{&f.Sessions, "SELECT count(*) FROM sessions"},
		{&f.Payloads, "SELECT count(*) FROM payloads"},
		{&f.PayloadBytes, "SELECT coalesce(sum(bytes), 0) FROM payloads"},
	} {
		if *q.to, err = c.Number(q.sql); err != nil {
			return f, err
		}
	}
	for _, q := range []struct {
		to  *string
		sql string
	}{
		{&f.Oldest, "SELECT uid FROM memories ORDER BY id LIMIT 1"},
		{&f.Newest, "SELECT uid FROM memories ORDER BY id DESC LIMIT 1"},
	} {
		if _, err = c.One(q.sql, nil, func(s *sqlite.Stmt) { *q.to = s.ColumnText(0) }); err != nil {
			return f, err
		}
	}
	return f, nil
}

// bytes is how long the file is without its log.
func bytes(c *store.Conn) (int64, error) {
	return c.Number("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
}

// knows reports whether the file holds one of these memories.
func knows(c *store.Conn, uids ...string) (bool, error) {
	for _, uid := range uids {
		n, err := c.Number("SELECT count(*) FROM memories WHERE uid = ?", uid)
		if err != nil || n > 0 {
			return n > 0, err
		}
	}
	return false, nil
}

// keptPayload is a row of payloads, with whether an active memory names it.
type keptPayload struct {
	store.StoredPayload
	wanted bool
}

// keptPayloads calls f for each payload of the folder, or with inline for each
// of the file, whose bytes are only good until f returns.
func keptPayloads(c *store.Conn, inline bool, f func(keptPayload) error) error {
	where, data := "p.data IS NULL", []byte{}
	if inline {
		where = "p.data IS NOT NULL"
	}
	return c.Query(`SELECT p.sha256, p.bytes, p.codec, p.data,
			EXISTS (SELECT 1 FROM memories m WHERE m.perception_data = p.sha256 AND m.status = 'active')
		FROM payloads p WHERE `+where, nil, func(s *sqlite.Stmt) error {
		p := keptPayload{wanted: s.ColumnBool(4)}
		p.Size, p.Codec = s.ColumnInt64(1), payload.Codec(s.ColumnText(2))
		if copy(p.Sum[:], s.ColumnRawBlob(0)) != len(p.Sum) {
			return robotmem.Errorf(robotmem.Corrupt, "", "a payload is named wrongly; run robotmem doctor")
		}
		if inline {
			data = s.ColumnBlob(3, data[:0])
			p.Inline = data
		}
		return f(p)
	})
}

// unnamedPayloads counts the active memories whose payload has no row, and was
// not evicted.
func unnamedPayloads(c *store.Conn, schema int64) (int64, error) {
	if schema < evictionsSince {
		return 0, nil
	}
	return c.Number(`SELECT count(*) FROM memories WHERE perception_data IS NOT NULL AND status = 'active'
		AND perception_data NOT IN (SELECT sha256 FROM payloads) AND id NOT IN (SELECT memory_id FROM evictions)`)
}

// wholeIntegrity compares every index with its table too, which integrity leaves
// out beside a working robot. It returns what is wrong, "" if nothing.
func wholeIntegrity(c *store.Conn) (string, error) {
	var lines []string
	err := c.Query("PRAGMA integrity_check(10)", nil, func(s *sqlite.Stmt) error {
		if line := s.ColumnText(0); line != "ok" {
			lines = append(lines, line)
		}
		return nil
	})
	return text.Clip(strings.Join(lines, "; "), 500), err
}

// ownersOf says which active memories a payload belongs to, for an error.
func ownersOf(c *store.Conn, p keptPayload, what string) (string, error) {
	lost, err := maintenance.NamesOf(c, map[string]string{hex.EncodeToString(p.Sum[:]): what})
	return maintenance.LostText(lost), err
}

// foldLog moves what the log of a file holds into the file and takes the log
// away. It fails, busy, while anybody else has the file open. One that
// is damaged or not ours keeps its log, which may be needed to mend it.
func foldLog(ctx context.Context, path string) (held BackupFigures, err error) {
	o := sqlite.ConnOptions{BusyTimeout: foldTimeout, CacheKiB: backupCacheKiB, ReadOnly: true}
	c, err := store.OpenStoreConn(ctx, path, o)
	if err != nil {
		return held, err
	}
	held, err = ownFigures(c)
	if err := errors.Join(err, c.Close()); err != nil {
		return held, err
	}
	o.ReadOnly = false
	if c, err = store.OpenStoreConn(ctx, path, o); err != nil {
		return held, err
	}
	return held, errors.Join(c.Exec("PRAGMA journal_mode=DELETE"), c.Close())
}

// ownFigures are those of a file of ours, none of an empty one.
func ownFigures(c *store.Conn) (held BackupFigures, err error) {
	if version, err := store.RefuseForeign(c.Conn); err != nil || version == 0 {
		return held, err
	}
	return figures(c)
}
