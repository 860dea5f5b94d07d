package vector_test

import (
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// stored writes s to a SQLite file as the engine does and returns a source that reads
// it with one prepared statement, once for each id.
func stored(t testing.TB, s *set) (*sqlite3.Conn, vector.Source) {
	t.Helper()
	c, err := sqlite3.Open(filepath.Join(t.TempDir(), "vectors.db"))
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	must(t, c.Exec(`PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA cache_size=-16384; CREATE TABLE vectors(memory_id INTEGER PRIMARY KEY, vector BLOB); BEGIN`))
	insert, _, err := c.Prepare(`INSERT INTO vectors VALUES(?, ?)`)
	must(t, err)
	for id := int64(1); id <= int64(s.len()); id++ {
		must(t, insert.BindInt64(1, id))
		must(t, insert.BindBlob(2, s.row(id)))
		must(t, insert.Exec())
	}
	must(t, insert.Close())
	must(t, c.Exec(`COMMIT; PRAGMA wal_checkpoint(TRUNCATE)`))

	read, _, err := c.Prepare(`SELECT vector FROM vectors WHERE memory_id = ?`)
	must(t, err)
	t.Cleanup(func() { must(t, read.Close()) })
	return c, func(ids []int64, each func(int64, []byte) error) error {
		// One read transaction, or each step would take the locks again.
		tx := c.Begin()
		defer func() { must(t, tx.Commit()) }()
		for _, id := range ids {
			if err := read.BindInt64(1, id); err != nil {
				return err
			}
			if read.Step() {
				if err := each(id, read.ColumnRawBlob(0)); err != nil {
					return err
				}
			}
			if err := read.Reset(); err != nil {
				return err
			}
		}
		return nil
	}
}
