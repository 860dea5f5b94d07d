package sqlite

import (
	"context"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Database is a file that holds the tables of a memory.
type Database struct{ *DB }

var _ store.InFile = Database{}

// Tables is a connection to a file with the methods for the tables.
type Tables struct {
	*store.Conn
	File *Conn
}

// Close closes the connection.
func (t *Tables) Close() error { return t.File.Close() }

// OpenTables opens a connection to the tables in a file, for a caller without a [store.Store].
func OpenTables(ctx context.Context, path string, o ConnOptions) (*Tables, error) {
	c, err := Open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return c.Tables(), nil
}

// Tables returns the connection with the methods for the tables.
func (c *Conn) Tables() *Tables { return &Tables{Conn: &store.Conn{SQL: namedConn{c}}, File: c} }

// FileOf returns the connection to a file on which the methods for the tables run, nil on another database.
func FileOf(c *store.Conn) *Conn {
	file, _ := c.SQL.(namedConn)
	return file.Conn
}

// GroupOf returns what the writer of a file does around the jobs that share a commit.
func GroupOf(s *store.Store) Group { return group{s} }

type group struct{ *store.Store }

func (g group) Begin(c *Conn) error  { return g.Store.Begin(namedConn{c}) }
func (g group) Commit(c *Conn) error { return g.Store.Commit(namedConn{c}) }

// Examine implements store.Database: a file is examined by SQLite itself.
func (Database) Examine(store.SQL) ([]admin.Check, error) { return nil, nil }

// Read implements store.Database.
func (d Database) Read(ctx context.Context, f func(store.SQL) error) error {
	return d.DB.Read(ctx, func(c *Conn) error { return f(namedConn{c}) })
}

// TryRead implements store.InFile.
func (d Database) TryRead(ctx context.Context, f func(store.SQL) error) error {
	return d.DB.TryRead(ctx, func(c *Conn) error { return f(namedConn{c}) })
}

// Write implements store.Database.
func (d Database) Write(ctx context.Context, f func(store.SQL) error) error {
	return d.DB.Write(ctx, func(c *Conn) error { return f(namedConn{c}) })
}

// WriteInTime implements store.Database.
func (d Database) WriteInTime(ctx context.Context, f func(store.SQL) error) error {
	return d.DB.WriteInTime(ctx, func(c *Conn) error { return f(namedConn{c}) })
}

// WriteAlone implements store.Database.
func (d Database) WriteAlone(ctx context.Context, f func(store.SQL) error) error {
	return d.DB.WriteAlone(ctx, func(c *Conn) error { return f(namedConn{c}) })
}
