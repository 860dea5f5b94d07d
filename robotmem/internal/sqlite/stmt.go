package sqlite

import (
	"errors"
	"slices"

	"github.com/ncruces/go-sqlite3"
)

// Stmt is a running statement, at a row.
type Stmt = sqlite3.Stmt

// The types of a value.
const (
	Integer = sqlite3.INTEGER
	Float   = sqlite3.FLOAT
	Text    = sqlite3.TEXT
	Blob    = sqlite3.BLOB
	Null    = sqlite3.NULL
)

// IsBusy reports whether another connection has a lock.
func IsBusy(err error) bool { return errors.Is(err, sqlite3.BUSY) }

// IsConstraint reports whether a row breaks a rule of its table.
func IsConstraint(err error) bool { return errors.Is(err, sqlite3.CONSTRAINT) }

// IsDamage reports whether a part of the file cannot be read.
func IsDamage(err error) bool {
	return isAny(err, sqlite3.CORRUPT, sqlite3.IOERR, sqlite3.NOTADB, sqlite3.ERROR)
}

func isAny[Code error](err error, codes ...Code) bool {
	return slices.ContainsFunc(codes, func(code Code) bool { return errors.Is(err, code) })
}
