package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/keys"
)

// Store reads and writes memories, sessions and perceptions in a database file.
type Store struct {
	Database
	Clock func() time.Time
	Disk  disk.Disk
	User  string     // the user that runs this program
	Keys  *keys.Keys // of an encrypted memory; nil if it is in clear
	// Changed is called with the change counter after each commit that changed it.
	Changed func(revision int64)

	// Only the writer uses the fields below.
	tx        *Tx   // the running transaction
	before    int64 // the change counter at the begin of the transaction
	Groups    groupCache
	purges    int64 // number of purges that the caches reflect
	Rewritten int64 // revision of the last purge after which the file was rewritten
}

// Conn is a connection with methods for the tables.
type Conn struct{ SQL }

// Tx is a write transaction. It is valid until the function of Write returns.
type Tx struct {
	*Conn
	Store    *Store
	Now      time.Time
	Revision int64           // the change counter
	caller   robotmem.Caller // on whose behalf it writes
}

// NextRevision counts one change of a memory or of a session's state.
func (tx *Tx) NextRevision() int64 {
	tx.Revision++
	return tx.Revision
}

func (s *Store) Begin(c SQL) (err error) {
	s.tx = &Tx{Conn: &Conn{c}, Store: s, Now: s.Clock().UTC()}
	if s.tx.Revision, err = s.tx.Changes(); err != nil {
		return err
	}
	s.before = s.tx.Revision
	purges, err := s.tx.Purges()
	if err == nil && purges != s.purges {
		// Another process has purged memories, whose signatures the cache may hold.
		s.purges = purges
		s.Groups.Reset()
	}

	return err
}

func (s *Store) Commit(SQL) error {
	if s.tx.Revision == s.before {
		return nil
	}
	if n, err := s.tx.Changes(); err != nil || n == s.tx.Revision {
		return err
	}

	return s.tx.SetChanges(s.tx.Revision)
}

func (s *Store) Committed() {
	if s.tx.Revision != s.before {
		s.Changed(s.tx.Revision)
	}
}

// Undone implements sqlite.Group: cached values may have been rolled back.
func (s *Store) Undone() { s.Groups.Reset() }

// job returns f as a function of the write queue, on behalf of a caller.
func (s *Store) job(caller robotmem.Caller, f func(*Tx) error) func(SQL) error {
	return func(SQL) error {
		tx := s.tx
		revision := tx.Revision
		tx.caller = caller

		// The changes of a function that fails are rolled back, so its revisions are not used.
		err := f(tx)
		if err != nil {
			tx.Revision = revision
		}

		return err
	}
}

// Read runs f on a reading connection in one snapshot.
func (s *Store) Read(ctx context.Context, f func(*Conn) error) error {
	return s.Database.Read(ctx, func(c SQL) error { return f(&Conn{c}) })
}

// Write runs f in a transaction and returns when it is durable or has failed without any change.
func (s *Store) Write(ctx context.Context, f func(*Tx) error) error {
	return s.Database.Write(ctx, s.job(s.caller(ctx), f))
}

// WriteInTime is Write, but does not wait past the end of ctx for a disk that does not respond.
func (s *Store) WriteInTime(ctx context.Context, f func(*Tx) error) error {
	return s.Database.WriteInTime(ctx, s.job(s.caller(ctx), f))
}

// WriteAlone runs f on the writing connection outside any transaction.
func (s *Store) WriteAlone(ctx context.Context, f func(*Conn) error) error {
	return s.Database.WriteAlone(ctx, func(c SQL) error { return f(&Conn{c}) })
}

// Payloads returns the folder of large payloads, beside the file.
func (s *Store) Payloads() payload.Folder { return PayloadFolder(s.Files(), s.Disk, s.Keys) }

// PayloadFolder returns the folder of large payloads of a memory. k are its keys, nil if it is in clear.
func PayloadFolder(m files.Memory, d disk.Disk, k *keys.Keys) payload.Folder {
	return payload.Folder{Dir: m.Payloads(), Disk: d, Cipher: k.Payloads()}
}

func (s *Store) Now() time.Time { return s.Clock().UTC() }

// Stats counts the rows and sizes in the file.
func (c *Conn) Stats(res *admin.StatsResponse) (err error) {
	var version int64
	for _, q := range []struct {
		to    *int64
		query Query
	}{
		{&res.Sessions, CountSessions},
		{&res.PayloadBytes, SumPayloads},
		{&res.StoredBytes, SumStored},
		{&res.Evicted, CountEvictions},
		{&res.EvictedBytes, SumEvicted},
		{&res.DBBytes, FileSize},
		{&version, SchemaVersion},
	} {
		if *q.to, err = c.Number(q.query); err != nil {
			return err
		}
	}

	res.SchemaVersion = int(version)
	if res.Streams, err = c.Streams(""); err != nil {
		return err
	}

	return c.Query(RecallCounters, nil, func(s Row) error {
		if s.ColumnText(0) == "recalls" {
			res.Recalls += s.ColumnInt64(1)
		} else {
			res.ZeroHits += s.ColumnInt64(1)
		}
		return nil
	})
}

// Integrity returns the errors that SQLite finds in the file, "" if there are none. A
// deep check also compares SQLite's indexes with their tables.
func (c *Conn) Integrity(deep bool) (string, error) {
	// FTS5 updates the cached structure of a connection when a query begins, but not
	// before a check, which would then report another connection's merge as corruption.
	if _, err := c.Number(TouchFullText); err != nil {
		return "", err
	}
	check := QuickCheck
	if deep {
		check = IntegrityCheck
	}

	return c.errorsOf(check, func(line string) bool { return line != "ok" })
}

// PageDamage returns the errors of quick_check, "" if there are none. It ignores errors
// in the full-text index, which Repair rebuilds.
func (c *Conn) PageDamage() (string, error) {
	return c.errorsOf(PageCheck, func(line string) bool { return line != "ok" && !strings.Contains(line, "FTS5") })
}

// errorsOf returns the lines of a check for which counts returns true.
func (c *Conn) errorsOf(check Query, counts func(line string) bool) (string, error) {
	lines, err := c.Texts(check)
	lines = slices.DeleteFunc(lines, func(line string) bool { return !counts(line) })
	return robotmem.Clip(strings.Join(lines, "; "), 500), err
}
