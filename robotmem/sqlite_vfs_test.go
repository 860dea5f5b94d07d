package robotmem

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/pagesum"
)

func everyPageFits(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		t.Fatal(len(data), err)
	}
	for n := 0; n < len(data); n += 4096 {
		if !pagesum.Fits(data[n:n+4096], uint32(n/4096)+1, pagesum.Reserved) {
			t.Errorf("page %d does not match its sum", n/4096+1)
		}
	}
}

// Whether pages have sums is told by the first, of which the file's may be
// damaged while the log has a whole one.
func TestPagesAreSummedThoughTheFirstIsInTheLog(t *testing.T) {
	connect := func(path string) *conn {
		t.Helper()
		c, err := openConn(t.Context(), path, connOptions{busyTimeout: time.Second, cacheKiB: 64})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	path, copied := filepath.Join(t.TempDir(), "a.db"), filepath.Join(t.TempDir(), "b.db")
	c := connect(path)
	const fifty = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) "
	if err := c.Exec("CREATE TABLE a(b); PRAGMA wal_checkpoint; " + fifty + "INSERT INTO a SELECT randomblob(3000) FROM n; CREATE TABLE b(c)"); err != nil {
		t.Fatal(err)
	}
	db, err := os.ReadFile(path)
	log, lerr := os.ReadFile(path + "-wal")
	if err := errors.Join(err, lerr, c.close()); err != nil {
		t.Fatal(err)
	}
	everyPageFits(t, path)
	clear(db[:512])
	if err := errors.Join(os.WriteFile(copied, db, 0o600), os.WriteFile(copied+"-wal", log, 0o600)); err != nil {
		t.Fatal(err)
	}
	reader := connect(copied)
	if err := reader.Exec("BEGIN; SELECT count(*) FROM a"); err != nil {
		t.Fatal(err)
	}
	// The first page's newest form is one that the reader must not see, and so
	// stays behind in the log.
	writer := connect(copied)
	if err := writer.Exec("INSERT INTO b VALUES (randomblob(9000)); PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(reader.close(), writer.Exec("INSERT INTO b VALUES (1)"), writer.close()); err != nil {
		t.Fatal(err)
	}
	everyPageFits(t, copied)
}
