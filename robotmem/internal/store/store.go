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
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// Store reads and writes memories, sessions and perceptions in a database file.
type Store struct {
	Database
	Clock func() time.Time
	Disk  disk.Disk
	User  string // the user that runs this program
	// Changed is called with the change counter after each commit that changed it.
	Changed func(revision int64)

	// Only the writer uses the fields below.
	tx        *Tx   // the running transaction
	before    int64 // the change counter at the begin of the transaction
	Groups    groupCache
	purges    int64 // number of purges that the caches reflect
	Rewritten int64 // revision of the last purge after which the file was rewritten
}

// Database holds the tables: it is an SQLite file or a PostgreSQL database.
type Database interface {
	// Read runs f in one snapshot.
	Read(ctx context.Context, f func(SQL) error) error
	// Write runs f in a transaction and returns once it is durable, or has failed and was undone.
	Write(ctx context.Context, f func(SQL) error) error
	// WriteInTime is Write, but does not wait past the end of ctx for a commit that hangs.
	WriteInTime(ctx context.Context, f func(SQL) error) error
	// WriteAlone runs f outside any transaction.
	WriteAlone(ctx context.Context, f func(SQL) error) error
	ReadOnly() string // why nothing can be written, "" if writing is possible
	Writable() error
	InPlace() error // why writes would be lost, nil if they are not
	Path() string
	Files() files.Memory
	Waiting() int
	Written() (commits, bytes int64)
	DiskFull(field string, cause error) error
	Hold() (release func(), ok bool)
	// Examine returns the checks of the database itself for the doctor.
	Examine(c SQL) ([]admin.Check, error)
	Close() error
}

// SQL runs statements. A parameter is ? or ?1. Statements use only syntax that SQLite and PostgreSQL both accept.
type SQL interface {
	// Exec runs a statement that returns no rows.
	Exec(sql string, args ...any) error
	// Changed is Exec, and returns the number of rows that were changed.
	Changed(sql string, args ...any) (int64, error)
	// Insert runs an INSERT of one row and returns its id.
	Insert(sql string, args ...any) (int64, error)
	// Query calls row for each row until row fails; io.EOF ends it without an error.
	Query(sql string, args []any, row func(sqlite.Row) error) error
	// One reads at most one row and reports whether there was one.
	One(sql string, args []any, row func(sqlite.Row)) (bool, error)
	// Number returns the first column of the first row, 0 without a row.
	Number(sql string, args ...any) (int64, error)
	// SetInterrupt makes statements fail once ctx ends, and returns the context before.
	SetInterrupt(ctx context.Context) context.Context
}

// Conn is a connection with methods for the tables.
type Conn struct{ SQL }

// File returns the connection of a file, nil on another database.
func (c *Conn) File() *sqlite.Conn {
	f, _ := c.SQL.(*sqlite.Conn)
	return f
}

// InFile reports whether the tables are in a file, which has a full-text index of its own.
func (s *Store) InFile() bool {
	_, in := s.Database.(InFile)
	return in
}

// Examine implements Database: a file is examined by SQLite itself.
func (InFile) Examine(SQL) ([]admin.Check, error) { return nil, nil }

// Close closes the connection of a file.
func (c *Conn) Close() error { return c.File().Close() }

// InFile is a file as a Database.
type InFile struct{ *sqlite.DB }

// Group returns what a file calls around the jobs that share a commit.
func (s *Store) Group() sqlite.Group { return groupInFile{s} }

type groupInFile struct{ *Store }

func (g groupInFile) Begin(c *sqlite.Conn) error  { return g.Store.Begin(c) }
func (g groupInFile) Commit(c *sqlite.Conn) error { return g.Store.Commit(c) }

func (d InFile) Read(ctx context.Context, f func(SQL) error) error {
	return d.DB.Read(ctx, func(c *sqlite.Conn) error { return f(c) })
}

func (d InFile) Write(ctx context.Context, f func(SQL) error) error {
	return d.DB.Write(ctx, func(c *sqlite.Conn) error { return f(c) })
}

func (d InFile) WriteInTime(ctx context.Context, f func(SQL) error) error {
	return d.DB.WriteInTime(ctx, func(c *sqlite.Conn) error { return f(c) })
}

func (d InFile) WriteAlone(ctx context.Context, f func(SQL) error) error {
	return d.DB.WriteAlone(ctx, func(c *sqlite.Conn) error { return f(c) })
}

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
func (s *Store) Payloads() payload.Folder { return PayloadFolder(s.Files(), s.Disk) }

// PayloadFolder returns the folder of large payloads of a memory.
func PayloadFolder(m files.Memory, d disk.Disk) payload.Folder {
	return payload.Folder{Dir: m.Payloads(), Disk: d}
}

// OpenStoreConn opens a connection to a file without a Store.
func OpenStoreConn(ctx context.Context, path string, o sqlite.ConnOptions) (*Conn, error) {
	c, err := sqlite.Open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return &Conn{c}, nil
}

func (s *Store) Now() time.Time { return s.Clock().UTC() }

// Stats counts the rows and sizes in the file.
func (c *Conn) Stats(res *admin.StatsResponse) (err error) {
	var version int64
	for _, q := range []struct {
		to  *int64
		sql string
	}{
		{&res.Sessions, "SELECT count(*) FROM sessions"},
		{&res.PayloadBytes, "SELECT coalesce(sum(bytes), 0) FROM payloads"},
		{&res.StoredBytes, "SELECT coalesce(sum(" + payloadBytes + "), 0) FROM payloads"},
		{&res.Evicted, "SELECT count(*) FROM evictions"},
		{&res.EvictedBytes, "SELECT coalesce(sum(bytes), 0) FROM evictions"},
		{&res.DBBytes, "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"},
		{&version, "PRAGMA user_version"},
	} {
		if *q.to, err = c.Number(q.sql); err != nil {
			return err
		}
	}

	res.SchemaVersion = int(version)
	if res.Streams, err = c.Streams(""); err != nil {
		return err
	}

	return c.Query("SELECT name, value FROM counters WHERE name IN ('recalls', "+
		"'zero_hits')", nil, func(s sqlite.Row) error {
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
	if _, err := c.Number("SELECT rowid FROM memories_fts LIMIT 1"); err != nil {
		return "", err
	}
	check := "PRAGMA quick_check(10)"
	if deep {
		check = "PRAGMA integrity_check(10)"
	}

	return c.errorsOf(check, func(line string) bool { return line != "ok" })
}

// PageDamage returns the errors of quick_check, "" if there are none. It ignores errors
// in the full-text index, which Repair rebuilds.
func (c *Conn) PageDamage() (string, error) {
	return c.errorsOf("PRAGMA quick_check(100)", func(line string) bool { return line != "ok" && !strings.Contains(line, "FTS5") })
}

// errorsOf returns the lines of a check for which counts returns true.
func (c *Conn) errorsOf(check string, counts func(line string) bool) (string, error) {
	lines, err := c.Texts(check)
	lines = slices.DeleteFunc(lines, func(line string) bool { return !counts(line) })
	return robotmem.Clip(strings.Join(lines, "; "), 500), err
}
