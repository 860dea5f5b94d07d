package main

import (
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"
)

// integrity is what SQLite's whole integrity_check says of a file: "ok", or
// what is wrong with it. The node's own check-up takes the quick one, which
// does not compare the indexes of the tables with them.
func integrity(path string) (said string, err error) {
	db, err := sqlite3.OpenFlags(path, sqlite3.OPEN_READWRITE)
	if err != nil {
		return "", err
	}
	defer func() { _ = db.Close() }() // of what was read
	if err := fts5.Register(db); err != nil {
		return "", err
	}
	s, _, err := db.Prepare("PRAGMA integrity_check")
	if err != nil {
		return "", err
	}
	defer func() { _ = s.Close() }()
	var lines []string
	for s.Step() {
		lines = append(lines, s.ColumnText(0))
	}
	return strings.Join(lines, "; "), s.Err()
}
