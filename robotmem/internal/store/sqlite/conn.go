package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"
	"github.com/robotmem/robotmem-go/robotmem/internal/budget"
	"github.com/robotmem/robotmem-go/robotmem/internal/keys"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// stmt is a prepared statement, and the row that it is at.
type stmt struct{ *sqlite3.Stmt }

var _ store.Row = (*stmt)(nil)

// ColumnType implements store.Row, whose types are in the order of SQLite's.
func (s *stmt) ColumnType(i int) store.Type { return store.Type(s.Stmt.ColumnType(i)) }

// Conn is one connection to the file, with its prepared statements. It is used
// by one goroutine at a time.
type Conn struct {
	*sqlite3.Conn
	stmts map[string]*stmt
	named map[store.Query]*stmt // the prepared statements of queries, which are also in stmts
	inJob bool                  // no statement is run outside of the transaction that has begun
}

// errRolledBack is the error of a statement whose transaction SQLite has rolled back after an
// error of the disk: alone it would be committed at once.
var errRolledBack = errors.New("the transaction was rolled back")

func (c *Conn) mayRun() error {
	if c.inJob && c.GetAutocommit() {
		return errRolledBack
	}
	return nil
}

// ConnOptions say how a connection is opened.
type ConnOptions struct {
	Normal      bool          // synchronous=NORMAL: a power failure may take the last commits
	BusyTimeout time.Duration // how long to wait for another process's lock
	CacheKiB    int           // pages that are kept in memory
	ReadOnly    bool
	// Exclusive takes the lock of the whole file at the first read, and leaves the
	// log as it is when the connection is closed.
	Exclusive bool
	Immutable bool              // there is no log, and no program writes the file
	Keys      *keys.Keys        // of an encrypted file; nil if it is in clear
	VFS       string            // under which the driver knows the disk; its own if empty
	SetUp     func(*Conn) error // registers functions; may be nil
}

// Open opens a connection to a file that exists. While another process creates or removes
// the log, SQLite answers busy at once, whatever the busy timeout; Open retries until then.
func Open(ctx context.Context, path string, o ConnOptions) (*Conn, error) {
	for deadline := time.Now().Add(o.BusyTimeout); ; time.Sleep(openRetry) {
		c, err := openOnce(ctx, path, o)
		if !errors.Is(err, sqlite3.BUSY) || ctx.Err() != nil || time.Now().After(deadline) {
			return c, err
		}
	}
}

const openRetry = 5 * time.Millisecond

// openOnce opens a connection and sets it up.
func openOnce(ctx context.Context, path string, o ConnOptions) (*Conn, error) {
	mode := "&mode=rw"
	if o.ReadOnly {
		mode = "&mode=ro"
	}
	db, err := openDriver(fileURI(path, o) + mode)
	if err != nil {
		return nil, explained(err)
	}
	c := &Conn{Conn: db, stmts: map[string]*stmt{}, named: map[store.Query]*stmt{}}
	if err := c.setUp(ctx, o); err != nil {
		return nil, explained(errors.Join(err, c.Close()))
	}

	return c, nil
}

// OpenPlain opens a file for writing and sets up nothing. k are its keys, nil if it is in clear.
func OpenPlain(path string, k *keys.Keys) (*sqlite3.Conn, error) {
	return openDriver(URI(path, k))
}

// openDriver opens a connection for reading and writing, which creates the file, unless
// the URI has a mode. Its memory fits into the address space.
func openDriver(uri string) (*sqlite3.Conn, error) {
	return sqlite3.OpenContext(sqlite3.WithMaxMemory(context.Background(), budget.ConnSpace()), uri)
}

func (c *Conn) setUp(ctx context.Context, o ConnOptions) error {
	// Both settings must precede the first read of the file.
	if o.Exclusive {
		if _, err := c.Config(sqlite3.DBCONFIG_NO_CKPT_ON_CLOSE, true); err != nil {
			return err
		}
		if err := c.Exec("PRAGMA locking_mode=EXCLUSIVE"); err != nil {
			return err
		}
	}

	err := errors.Join(fts5.Register(c.Conn), c.BusyTimeout(o.BusyTimeout))
	if err == nil && o.SetUp != nil {
		err = o.SetUp(c)
	}
	if err != nil {
		return err
	}

	sync := "FULL"
	if o.Normal {
		sync = "NORMAL"
	}

	// checksum_verification=OFF: pages of files of older versions may end in checksums,
	// which other SQLite programs do not update.
	pragmas := fmt.Sprintf("PRAGMA synchronous=%s; PRAGMA cache_size=-%d; PRAGMA temp_store=MEMORY; PRAGMA foreign_keys=OFF; PRAGMA trusted_schema=OFF; PRAGMA checksum_verification=OFF;", sync, o.CacheKiB)
	if !o.ReadOnly && !o.Exclusive {
		pragmas += fmt.Sprintf("PRAGMA page_size=%d; ", PageSize) +
			"PRAGMA journal_mode=WAL; PRAGMA journal_size_limit=67108864; PRAGMA wal_autocheckpoint=8000;"
	}

	// The change to WAL may wait for a lock, which ctx ends.
	c.SetInterrupt(ctx)
	defer c.SetInterrupt(context.Background())

	return c.Exec(pragmas)
}

// Close closes the connection and its statements.
func (c *Conn) Close() error {
	for _, s := range c.stmts {
		// Close reports the error of the last run, which was handled.
		_ = s.Close()
	}
	return c.Conn.Close()
}

// prepared returns the prepared statement of a query, which the connection caches. It fails in a
// job whose transaction was rolled back.
func (c *Conn) prepared(sql string) (*stmt, error) {
	if err := c.mayRun(); err != nil {
		return nil, err
	}
	if s, ok := c.stmts[sql]; ok {
		return s, nil
	}
	prepared, _, err := c.PrepareFlags(sql, sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, explained(fmt.Errorf("%w: in %s", err, sql))
	}
	s := &stmt{prepared}
	c.stmts[sql] = s

	return s, nil
}

// Statements lists the queries that the connection has prepared, sorted.
func (c *Conn) Statements() []string { return slices.Sorted(maps.Keys(c.stmts)) }

func bind(s *stmt, args []any) error {
	for i, a := range args {
		var err error

		switch a := a.(type) {
		case nil:
			err = s.BindNull(i + 1)
		case string:
			err = s.BindText(i+1, a)
		case int64:
			err = s.BindInt64(i+1, a)
		case int:
			err = s.BindInt64(i+1, int64(a))
		case float64:
			err = s.BindFloat(i+1, a)
		case bool:
			err = s.BindBool(i+1, a)
		case []byte:
			if a == nil {
				err = s.BindNull(i + 1)
			} else {
				err = s.BindBlob(i+1, a)
			}
		default:
			panic(fmt.Sprintf("sqlite: cannot bind %T", a))
		}
		if err != nil {
			return err
		}
	}

	return nil
}

// Exec runs a statement that returns no rows. Without arguments sql may hold several statements.
func (c *Conn) Exec(sql string, args ...any) error {
	if len(args) == 0 {
		if err := c.mayRun(); err != nil {
			return err
		}
		return explained(c.Conn.Exec(sql))
	}

	return c.Query(sql, args, func(store.Row) error { return nil })
}

// Query runs a statement and calls row for each row, until row fails. io.EOF from
// row ends the query without an error.
func (c *Conn) Query(sql string, args []any, row func(store.Row) error) error {
	s, err := c.prepared(sql)
	if err != nil {
		return err
	}

	return run(s, args, row)
}

// run runs a prepared statement as Query does.
func run(s *stmt, args []any, row func(store.Row) error) error {
	if err := bind(s, args); err != nil {
		return explained(errors.Join(err, s.Reset()))
	}

	for s.Step() {
		if err := row(s); err != nil {
			// The statement is kept, and at a row it would keep the snapshot open.
			_ = s.Reset()
			if err == io.EOF {
				return nil
			}
			return err
		}
	}

	return explained(cmp.Or(s.Err(), s.Reset()))
}

// One runs a statement that returns at most one row and reports whether it did.
func (c *Conn) One(sql string, args []any, row func(store.Row)) (bool, error) {
	found := false
	err := c.Query(sql, args, func(s store.Row) error {
		found = true
		row(s)
		return io.EOF
	})

	return found, err
}

// Number returns the first column of the first row, 0 without a row.
func (c *Conn) Number(sql string, args ...any) (n int64, err error) {
	_, err = c.One(sql, args, func(s store.Row) { n = s.ColumnInt64(0) })
	return n, err
}

// IDs returns the first column of all rows, as numbers.
func (c *Conn) IDs(sql string, args ...any) (ids []int64, err error) {
	err = c.Query(sql, args, func(s store.Row) error {
		ids = append(ids, s.ColumnInt64(0))
		return nil
	})
	return ids, err
}

// Texts returns the first column of all rows, as texts.
func (c *Conn) Texts(sql string, args ...any) (out []string, err error) {
	err = c.Query(sql, args, func(s store.Row) error {
		out = append(out, s.ColumnText(0))
		return nil
	})
	return out, err
}

// pagesWritten returns the pages that the connection has written to the log, or tried to, since the last call.
func (c *Conn) pagesWritten() int64 {
	n, _, _ := c.Status(sqlite3.DBSTATUS_CACHE_WRITE, true) // 0 if it fails
	return n
}
