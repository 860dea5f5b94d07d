package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"
	"github.com/ncruces/go-sqlite3/ext/vec1"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// conn is one connection to the file, with its prepared statements. It is used
// by one goroutine at a time.
type conn struct {
	*sqlite3.Conn
	stmts map[string]*sqlite3.Stmt
	// admit limits queries that call admitted(id) to these memories; nil admits all.
	admit *bitset.BitSet
	// paths are the numbers of context paths that this connection has met.
	paths map[string]int64
}

type connOptions struct {
	durability  Durability
	busyTimeout time.Duration
	cacheKiB    int
	readOnly    bool
	vfs         string // the name of the disk; the system's if empty
	noLog       bool   // and nobody writes: the file is read as it lies
	exclusive   bool   // keeps the lock of the whole file, and leaves the log as it is
	logIndex    string // file of the log's index; beside the database if empty
	// nearest answers memories_vec; without it there is no such table.
	nearest func(c *conn, unit []float32, k int) ([]vector.Hit, error)
}

// openConn opens a connection. While another process makes or removes the log,
// SQLite answers busy at once, whatever the time limit; that passes.
func openConn(ctx context.Context, path string, o connOptions) (*conn, error) {
	for deadline := time.Now().Add(o.busyTimeout); ; time.Sleep(openRetry) {
		c, err := openOnce(ctx, path, o)
		if !errors.Is(err, sqlite3.BUSY) || ctx.Err() != nil || time.Now().After(deadline) {
			return c, err
		}
	}
}

const openRetry = 5 * time.Millisecond

// openOnce is the one place where a connection is opened and set up.
func openOnce(ctx context.Context, path string, o connOptions) (*conn, error) {
	flags := sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE
	if o.readOnly {
		flags = sqlite3.OPEN_READONLY
	}
	db, err := sqlite3.OpenFlags(fileURI(path, o), flags|sqlite3.OPEN_URI)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: db, stmts: map[string]*sqlite3.Stmt{}, paths: map[string]int64{}}
	if err := c.setUp(ctx, o); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *conn) setUp(ctx context.Context, o connOptions) error {
	if o.exclusive { // before anything reads the file
		if _, err := c.Config(sqlite3.DBCONFIG_NO_CKPT_ON_CLOSE, true); err != nil {
			return err
		}
		if err := c.Exec("PRAGMA locking_mode=EXCLUSIVE"); err != nil {
			return err
		}
	}
	if err := errors.Join(fts5.Register(c.Conn), vec1.Register(c.Conn)); err != nil {
		return err
	}
	if o.nearest != nil {
		err := vector.Register(c.Conn, "memories_vec", func(unit []float32, k int) ([]vector.Hit, error) { return o.nearest(c, unit, k) })
		if err != nil {
			return err
		}
	}
	err := c.CreateFunction("admitted", 1, sqlite3.DIRECTONLY, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		ctx.ResultBool(c.admit == nil || c.admit.Test(uint(arg[0].Int64())))
	})
	if err != nil {
		return err
	}
	if err := c.BusyTimeout(o.busyTimeout); err != nil {
		return err
	}
	sync := "FULL"
	if o.durability == DurabilityNormal {
		sync = "NORMAL"
	}
	pragmas := fmt.Sprintf("PRAGMA synchronous=%s; PRAGMA cache_size=-%d; PRAGMA temp_store=MEMORY; PRAGMA foreign_keys=OFF; PRAGMA trusted_schema=OFF; PRAGMA checksum_verification=OFF;", sync, o.cacheKiB)
	if !o.readOnly && !o.exclusive {
		pragmas += "PRAGMA journal_mode=WAL; PRAGMA journal_size_limit=67108864; PRAGMA wal_autocheckpoint=4000;"
	}
	c.SetInterrupt(ctx)
	defer c.SetInterrupt(context.Background())
	return c.Exec(pragmas)
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		_ = s.Close() // reports the error of its last run, which was handled
	}
	return c.Conn.Close()
}

// stmt returns the prepared statement of a query, ready to bind.
func (c *conn) stmt(sql string) (*sqlite3.Stmt, error) {
	if s, ok := c.stmts[sql]; ok {
		return s, nil
	}
	s, _, err := c.PrepareFlags(sql, sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, fmt.Errorf("%w: in %s", err, sql)
	}
	c.stmts[sql] = s
	return s, nil
}

func bind(s *sqlite3.Stmt, args []any) error {
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
			panic(fmt.Sprintf("robotmem: cannot bind %T", a))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// exec runs a statement that returns no rows.
func (c *conn) exec(sql string, args ...any) error {
	return c.query(sql, args, func(*sqlite3.Stmt) error { return nil })
}

// query runs a statement and calls row for each row, until row fails. io.EOF
// from row ends the query without an error.
func (c *conn) query(sql string, args []any, row func(*sqlite3.Stmt) error) error {
	s, err := c.stmt(sql)
	if err != nil {
		return err
	}
	if err := bind(s, args); err != nil {
		return errors.Join(err, s.Reset())
	}
	for s.Step() {
		if err := row(s); err != nil {
			_ = s.Reset()
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
	err = s.Err()
	if rerr := s.Reset(); err == nil {
		err = rerr
	}
	return err
}

// one runs a statement that returns at most one row and reports whether it did.
func (c *conn) one(sql string, args []any, row func(*sqlite3.Stmt)) (bool, error) {
	found := false
	err := c.query(sql, args, func(s *sqlite3.Stmt) error {
		found = true
		row(s)
		return io.EOF
	})
	return found, err
}

// number returns the first column of the first row, 0 without a row.
func (c *conn) number(sql string, args ...any) (n int64, err error) {
	_, err = c.one(sql, args, func(s *sqlite3.Stmt) { n = s.ColumnInt64(0) })
	return n, err
}

// wrap gives err its operation. Anything that is not an *Error yet is
// classified here, so that no SQL, path or stack reaches a caller.
func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	named := *classifySQLite(err)
	if e := (*robotmem.Error)(nil); errors.As(err, &e) {
		named = *e
	}
	if named.Op == "" {
		named.Op = op
	}
	return &named
}

// classifySQLite gives an error of the file its kind and a text that a caller
// may see: what failed and the next step, no SQL and no path.
func classifySQLite(err error) *robotmem.Error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: errors.New("the deadline passed before it was done; allow more time")}
	}
	if errors.Is(err, context.Canceled) {
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: errors.New("cancelled by the caller before it was done")}
	}
	var code sqlite3.ErrorCode
	if !errors.As(err, &code) {
		return &robotmem.Error{Kind: robotmem.Internal, Err: &hidden{"an internal error; see the node's log", err}}
	}
	if errors.Is(err, sqlite3.IOERR_DATA) || errors.Is(err, sqlite3.IOERR_CORRUPTFS) {
		code = sqlite3.CORRUPT // the driver's checksum of a page, in a file of an older version
	}
	if code == sqlite3.ERROR && strings.Contains(err.Error(), "malformed JSON") {
		code = sqlite3.CORRUPT // all JSON in the file is ours: it is read from a page that is not
	}
	text, kind := "an internal error; see the node's log", robotmem.Internal
	if noSpace(err) {
		code = sqlite3.FULL
	}
	switch code {
	case sqlite3.BUSY, sqlite3.LOCKED, sqlite3.PROTOCOL:
		kind, text = robotmem.Unavailable, "another program holds the file's lock; nothing was stored; try again, or stop the other program"
	case sqlite3.FULL:
		kind, text = robotmem.Unavailable, "the disk is full; nothing was stored; free some space and try again"
	case sqlite3.IOERR:
		kind, text = robotmem.Unavailable, "the disk did not read or write, perhaps because it is full; nothing was stored; check its space and health, then try again"
		if errors.Is(err, syscall.EROFS) {
			text = "the disk can only be read, as one is after a fault; nothing was stored; recall goes on; check its health and mount it for writing"
		}
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EBADF) { // EBADF: it was opened for reading alone
			text = "the system does not allow this program to read or write the file or its log; nothing was stored; check who owns and may write the file, its -wal and -shm and their folder"
		}
	case sqlite3.READONLY, sqlite3.CANTOPEN, sqlite3.PERM, sqlite3.AUTH:
		kind, text = robotmem.Unavailable, "the file cannot be opened for writing; check that its folder exists and is writable, or pass another --db"
	case sqlite3.NOTADB:
		kind, text = robotmem.Corrupt, "the file is not a SQLite database; it was left as it is; pass another --db, or, if it was a memory and is damaged, run robotmem doctor --repair"
	case sqlite3.CORRUPT:
		kind, text = robotmem.Corrupt, "the file is damaged and was left as it is; stop every robotmem that uses it, then run robotmem doctor --repair, which recovers what can be read into a new file and keeps this one; or bring it back from a backup"
	case sqlite3.INTERRUPT:
		kind, text = robotmem.Unavailable, "interrupted before it was done; try again"
	case sqlite3.TOOBIG:
		kind, text = robotmem.TooLarge, "the value is larger than the file can hold"
	case sqlite3.NOMEM:
		kind, text = robotmem.Unavailable, "out of memory; nothing was stored"
	}
	return &robotmem.Error{Kind: kind, Err: &hidden{text, err}}
}

// hidden is an error with a text for callers and a cause for the log.
type hidden struct {
	text  string
	cause error
}

func (h *hidden) Error() string { return h.text }

func (h *hidden) Unwrap() error { return h.cause }
