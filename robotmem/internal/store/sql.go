package store

import (
	"context"
	"errors"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
)

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

// InFile is a Database in a file, which has a full-text index, an identity and a folder of payloads of its own.
type InFile interface {
	Database
	// TryRead is Read for further connections of a call that is reading. It does nothing if none is idle.
	TryRead(ctx context.Context, f func(SQL) error) error
}

// InFile reports whether the tables are in a file.
func (s *Store) InFile() bool {
	_, in := s.Database.(InFile)
	return in
}

// SQL runs the queries of this package by their names.
type SQL interface {
	// Exec runs a query that returns no rows.
	Exec(q Query, args ...any) error
	// Changed is Exec, and returns the number of rows that were changed.
	Changed(q Query, args ...any) (int64, error)
	// Insert runs a query that inserts one row and returns its id.
	Insert(q Query, args ...any) (int64, error)
	// Query calls row for each row until row fails; io.EOF ends it without an error.
	Query(q Query, args []any, row func(Row) error) error
	// SetInterrupt makes statements fail once ctx ends, and returns the context before.
	SetInterrupt(ctx context.Context) context.Context
}

// Row is the current row of a query. A value of another type is converted as SQLite does. The raw
// bytes are valid until the next row.
type Row interface {
	ColumnType(i int) Type
	ColumnBool(i int) bool
	ColumnInt(i int) int
	ColumnInt64(i int) int64
	ColumnFloat(i int) float64
	ColumnText(i int) string
	ColumnBlob(i int, buf []byte) []byte
	ColumnRawText(i int) []byte
	ColumnRawBlob(i int) []byte
	ColumnCount() int
	ColumnName(i int) string
	Columns(to ...any) error // sets each to the value of a column
}

// Type is the type of a value.
type Type uint8

// The types of values, with the numbers that SQLite gives them.
const (
	Integer Type = iota + 1
	Float
	Text
	Blob
	Null
)

// OrNull is a text as a column value, NULL for "".
func OrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// ErrDamagedPage matches the errors of a statement that met a page of the file which cannot be read. Other rows may
// be readable one by one.
var ErrDamagedPage = errors.New("a page of the file is damaged")
