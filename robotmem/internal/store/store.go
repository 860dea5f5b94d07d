package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// Store is the file as tables of memories, sessions and perceptions.
type Store struct {
	*sqlite.DB
	Clock func() time.Time
	Disk  sqlite.Disk
	User  string // who runs this program
	// Changed is told the change counter after each commit that moved it.
	Changed func(revision int64)

	// The writer owns all below.
	tx        *Tx   // of the group that is being committed
	before    int64 // the change counter when the group began
	Groups    groupCache
	Paths     map[string]int64 // numbers of context paths
	purges    int64            // that the writer has followed
	Rewritten int64            // the last purge that the writer has rewritten the file for
}

// Conn is a connection that knows the tables.
type Conn struct{ *sqlite.Conn }

// Tx is what a job writes through. It is valid until the job returns.
type Tx struct {
	*Conn
	Store    *Store
	Now      time.Time
	Revision int64           // the change counter as of this job
	caller   robotmem.Caller // whose job it is
	pending  pending
}

var _ sqlite.Group = (*Store)(nil)

// NextRevision counts one change: of a memory, or of an episode's state.
func (tx *Tx) NextRevision() int64 {
	tx.Revision++
	return tx.Revision
}

// Begin implements sqlite.Group.
func (s *Store) Begin(c *sqlite.Conn) (err error) {
	s.tx = &Tx{Conn: &Conn{c}, Store: s, Now: s.Clock().UTC()}
	if s.tx.Revision, err = s.tx.Changes(); err != nil {
		return err
	}
	s.before = s.tx.Revision
	purges, err := s.tx.Purges()
	if err == nil && purges != s.purges {
		// Another process has purged: the number of a path that went may be another's now.
		s.purges = purges
		s.Forget()
	}
	return err
}

// Commit implements sqlite.Group.
func (s *Store) Commit(*sqlite.Conn) error {
	if s.tx.Revision == s.before {
		return nil
	}
	return s.tx.SetChanges(s.tx.Revision)
}

// Committed implements sqlite.Group.
func (s *Store) Committed() {
	if s.tx.Revision != s.before {
		s.Changed(s.tx.Revision)
	}
}

// Undone implements sqlite.Group: something that the writer remembers may have
// been undone.
func (s *Store) Undone() { s.Forget() }

// Forget drops what the writer remembers of the file.
func (s *Store) Forget() {
	s.Groups.Reset()
	clear(s.Paths)
}

// job is f as a job of the writer, in the name of a caller.
func (s *Store) job(caller robotmem.Caller, f func(*Tx) error) func(*sqlite.Conn) error {
	return func(*sqlite.Conn) error {
		tx, revision := s.tx, s.tx.Revision
		tx.pending, tx.caller = pending{}, caller
		err := f(tx)
		if err == nil {
			err = tx.Flush()
		}
		if err != nil {
			tx.Revision = revision // nothing was written, or all is undone
		}
		return err
	}
}

// Read runs f on a reading connection inside one snapshot.
func (s *Store) Read(ctx context.Context, f func(*Conn) error) error {
	return s.DB.Read(ctx, func(c *sqlite.Conn) error { return f(&Conn{c}) })
}

// Write runs f in a transaction and returns once it is durable, or has failed and
// left no trace.
func (s *Store) Write(ctx context.Context, f func(*Tx) error) error {
	return s.DB.Write(ctx, s.job(s.caller(ctx), f))
}

// WriteInTime is write for a caller who does not wait past the end of ctx for a
// disk that hangs.
func (s *Store) WriteInTime(ctx context.Context, f func(*Tx) error) error {
	return s.DB.WriteInTime(ctx, s.job(s.caller(ctx), f))
}

// WriteAlone runs f on the writing connection outside any transaction.
func (s *Store) WriteAlone(ctx context.Context, f func(*Conn) error) error {
	return s.DB.WriteAlone(ctx, func(c *sqlite.Conn) error { return f(&Conn{c}) })
}

// Payloads is the folder of large payloads, beside the file.
func (s *Store) Payloads() payload.Folder { return PayloadFolder(s.Path(), s.Disk) }

// PayloadFolder is the folder of large payloads of the file at path.
func PayloadFolder(path string, d sqlite.Disk) payload.Folder {
	return payload.Folder{Dir: path + PayloadsSuffix, Disk: d}
}

// PayloadsSuffix makes the folder's name of the file's.
const PayloadsSuffix = ".payloads"

// OpenStoreConn opens a connection to a file that is not this process's own.
func OpenStoreConn(ctx context.Context, path string, o sqlite.ConnOptions) (*Conn, error) {
	c, err := sqlite.Open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return &Conn{c}, nil
}

func (s *Store) Now() time.Time { return s.Clock().UTC() }

// Stats counts what only the file knows.
func (c *Conn) Stats(res *admin.StatsResponse) error {
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
	} {
		n, err := c.Number(q.sql)
		if err != nil {
			return err
		}
		*q.to = n
	}
	version, err := c.Number("PRAGMA user_version")
	if err != nil {
		return err
	}
	res.SchemaVersion = int(version)
	if res.Streams, err = c.Streams(""); err != nil {
		return err
	}
	return c.Query("SELECT name, value FROM counters WHERE name IN ('recalls', 'zero_hits')", nil, func(s *sqlite.Stmt) error {
		if s.ColumnText(0) == "recalls" {
			res.Recalls += s.ColumnInt64(1)
		} else {
			res.ZeroHits += s.ColumnInt64(1)
		}
		return nil
	})
}

// Integrity returns what SQLite finds wrong with the file, "" if nothing. A deep
// check compares SQLite's own indexes with their tables, too.
func (c *Conn) Integrity(deep bool) (string, error) {
	// FTS5 refreshes what a connection remembers of its structure when a query
	// begins, not when it is checked, and then takes another connection's
	// merge for damage.
	if _, err := c.Number("SELECT rowid FROM memories_fts LIMIT 1"); err != nil {
		return "", err
	}
	check := "PRAGMA quick_check(10)"
	if deep {
		check = "PRAGMA integrity_check(10)"
	}
	var lines []string
	err := c.Query(check, nil, func(s *sqlite.Stmt) error {
		if line := s.ColumnText(0); line != "ok" {
			lines = append(lines, line)
		}
		return nil
	})
	return text.Clip(strings.Join(lines, "; "), 500), err
}

// PageDamage is what integrity finds wrong with pages, "" if nothing. What a
// full-text index holds is made anew by Repair.
func (c *Conn) PageDamage() (string, error) {
	var lines []string
	err := c.Query("PRAGMA quick_check(100)", nil, func(s *sqlite.Stmt) error {
		if line := s.ColumnText(0); line != "ok" && !strings.Contains(line, "FTS5") {
			lines = append(lines, line)
		}
		return nil
	})
	return text.Clip(strings.Join(lines, "; "), 500), err
}

func DetailOf(err error) string {
	if e := (*robotmem.Error)(nil); errors.As(err, &e) {
		return e.Detail()
	}
	return strings.TrimSpace(err.Error())
}
