package salvage_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem/salvage"
)

// made is a small file with its log, as a crash leaves them: a table with a long
// row, one without row numbers, an index, free pages.
func made(t testing.TB, pageSize int) (db, log []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	c, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var sql strings.Builder
	fmt.Fprintf(&sql, `PRAGMA page_size=%d; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;
		CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL, weight REAL, data BLOB);
		CREATE TABLE tag(note INTEGER NOT NULL, tag TEXT NOT NULL, n INTEGER, PRIMARY KEY (tag, note)) WITHOUT ROWID;
		CREATE INDEX note_text ON note(text); CREATE TABLE gone(x); INSERT INTO gone VALUES (zeroblob(9000));`, pageSize)
	for i := range 60 {
		fmt.Fprintf(&sql, "INSERT INTO note VALUES (%d, 'note %d', %d.5, zeroblob(%d)); INSERT INTO tag VALUES (%d, 'tag %d', %d);", i+1, i, i, i%3*700, i+1, i, i*1000)
	}
	sql.WriteString("PRAGMA wal_checkpoint; DROP TABLE gone; UPDATE note SET weight = NULL WHERE id = 7;")
	if err := c.Exec(sql.String()); err != nil {
		t.Fatal(err)
	}
	db, err = os.ReadFile(path)
	log, lerr := os.ReadFile(path + "-wal")
	if err := errors.Join(err, lerr, c.Close()); err != nil {
		t.Fatal(err)
	}
	return db, log
}

var shapes = []salvage.Table{
	{Name: "note", Keep: true, Columns: []salvage.Column{{Name: "id", Key: true, Type: salvage.Integer}, {Name: "text", Type: salvage.Text, NotNull: true}, {Name: "weight", Type: salvage.Real}, {Name: "data", Type: salvage.Blob}}},
	{Name: "tag", Keep: true, WithoutRowid: true, Columns: []salvage.Column{{Name: "tag", Type: salvage.Text, NotNull: true}, {Name: "note", Type: salvage.Integer, NotNull: true}, {Name: "n", Type: salvage.Integer}}},
}

// rowsOf are the rows that were found, as text.
func rowsOf(t testing.TB, db, log []byte) (map[string]int, *salvage.Report) {
	t.Helper()
	var reader *bytes.Reader
	f := salvage.New(bytes.NewReader(db), int64(len(db)), nil, 0)
	if log != nil {
		reader = bytes.NewReader(log)
		f = salvage.New(bytes.NewReader(db), int64(len(db)), reader, int64(len(log)))
	}
	found := map[string]int{}
	report, err := f.Rows(t.Context(), salvage.Plan{Tables: shapes}, func(r salvage.Row) error {
		for i, v := range r.Values {
			if b, ok := v.([]byte); ok {
				r.Values[i] = len(b)
			}
		}
		found[fmt.Sprint(shapes[r.Table].Name, " ", r.Key, " ", r.Values)]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found, report
}

// Every page size, reached or stray, with and without the log.
func TestRows(t *testing.T) {
	for size := 512; size <= 65536; size *= 2 {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			db, log := made(t, size)
			all, report := rowsOf(t, db, log)
			if len(all) != 120 || all["note 7 [7 note 6 <nil> 0]"] != 1 || all["tag 0 [tag 59 60 59000]"] != 1 || all["note 60 [60 note 59 59.5 1400]"] != 1 {
				t.Errorf("%d rows: %v", len(all), all)
			}
			if report.DamagedPages != 0 || report.FreeUnread {
				t.Errorf("report %+v", report)
			}
			old, _ := rowsOf(t, db, nil)
			if len(old) != 120 || old["note 7 [7 note 6 6.5 0]"] != 1 {
				t.Errorf("without the log %d rows", len(old))
			}
			headless := bytes.Clone(db)
			clear(headless[:100])
			if found, _ := rowsOf(t, headless, nil); len(found) != 120 {
				t.Errorf("without a head %d rows", len(found))
			}
		})
	}
}

// Each byte in turn: what is found is what was there, but for the damaged page.
func TestRowsOfFlippedPages(t *testing.T) {
	db, _ := made(t, 1024)
	whole, _ := rowsOf(t, db, nil)
	for at := 100; at < len(db); at += 37 {
		db[at] ^= 0x55
		found, _ := rowsOf(t, db, nil)
		same := 0
		for row := range found {
			if whole[row] > 0 {
				same++
			}
		}
		if len(found)-same > 45 || same < 120-45 {
			t.Errorf("byte %d flipped: %d rows as they were, %d not", at, same, len(found)-same)
		}
		db[at] ^= 0x55
	}
}

// FuzzSalvage reads any bytes: no panic, and no more work than the file is large.
func FuzzSalvage(f *testing.F) {
	for _, size := range []int{512, 1024} {
		db, log := made(f, size)
		f.Add(db, log)
		f.Add(db, []byte(nil))
		f.Add(append(make([]byte, 100), db[100:]...), log)
	}
	f.Add([]byte("SQLite format 3\x00"), []byte("\x37\x7f\x06\x82"))
	f.Fuzz(func(t *testing.T, db, log []byte) {
		if len(db) > 1<<18 || len(log) > 1<<18 {
			t.Skip("larger than it needs")
		}
		file := salvage.New(bytes.NewReader(db), int64(len(db)), bytes.NewReader(log), int64(len(log)))
		if _, err := file.Schema(t.Context()); err != nil {
			t.Error(err)
		}
		read := 0
		if _, err := file.Rows(t.Context(), salvage.Plan{Tables: shapes}, func(r salvage.Row) error {
			for _, v := range r.Values {
				switch v := v.(type) {
				case string:
					read += len(v)
				case []byte:
					read += len(v)
				}
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		// Cells of a page do not overlap, and a chain is followed once for the
		// file and once for the late pages of its log.
		if most := 4 * (len(db) + len(log) + 2<<16); read > most {
			t.Errorf("%d bytes were read of a file of %d and a log of %d", read, len(db), len(log))
		}
	})
}
