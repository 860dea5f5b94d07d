package importerstest

import (
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"github.com/ncruces/go-sqlite3"
)

// EndlessTable makes the b-tree of a table of a SQLite file a graph of few pages in which a leaf is
// met 400^9 times: each interior page names one child, 400 times.
func EndlessTable(t testing.TB, path, table string) {
	t.Helper()
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Exec("PRAGMA journal_mode=DELETE; CREATE TABLE padding(x); INSERT INTO padding SELECT zeroblob(60000)"); err != nil {
		t.Fatal(err)
	}

	s, _, err := db.Prepare("SELECT rootpage, page_count, page_size FROM sqlite_schema, pragma_page_count, pragma_page_size WHERE name = '" + table + "'")
	if err != nil || !s.Step() {
		t.Fatal("the database does not say where its table begins: ", err)
	}

	root, pages, size := s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2)
	if err := errors.Join(s.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	page := func(n int64) []byte { return data[(n-1)*size : n*size] }

	const depth = 9
	fanout := (int(size) - 12) / 7 // entries of a page that is full
	leaf := pages                  // a page of the padding
	copy(page(leaf), page(root))

	for i := range int64(depth) {
		at, child := root, pages-i-1
		if i > 0 {
			at = pages - i
		}
		if i == depth-1 {
			child = leaf
		}
		p := page(at)
		clear(p)
		// An interior page of a table.
		p[0] = 5
		binary.BigEndian.PutUint16(p[3:], uint16(fanout))
		start := int(size) - 5*fanout
		binary.BigEndian.PutUint16(p[5:], uint16(start))
		binary.BigEndian.PutUint32(p[8:], uint32(child))

		for j := range fanout {
			binary.BigEndian.PutUint16(p[12+2*j:], uint16(start+5*j))
			binary.BigEndian.PutUint32(p[start+5*j:], uint32(child))
			p[start+5*j+4] = 5 // a rowid
		}
	}

	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
