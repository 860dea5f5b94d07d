package main

import (
	"net/url"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"
)

// integrity is what SQLite's whole integrity_check says of a file: "ok", or
// what is wrong with it. The node's own check-up takes the quick one, which
// does not compare the indexes of the tables with them.
func integrity(path string) (said string, err error) {
	db, err := openFile(path)
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

// openFile opens a memory's file as the engine does, with checksums of its pages.
func openFile(path string) (*sqlite3.Conn, error) {
	name := url.URL{Scheme: "file", OmitHost: true, Path: path}
	return sqlite3.OpenFlags(name.String(), sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI)
}
