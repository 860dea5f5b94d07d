package robotmem

import (
	"compress/gzip"
	"io"
	"os"
	"testing"
)

// A large file of version 1 is brought to the present version within the memory
// that SQLite has here.
func TestMigrateLargeFile(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 400,000 rows")
	}
	path := t.TempDir() + "/memory.db"
	unpack(t, "testdata/v1.db.gz", path)
	c, err := openConn(t.Context(), path, connOptions{busyTimeout: defaultBusyTimeout, cacheKiB: writerCacheKiB, durability: DurabilityNormal})
	if err != nil {
		t.Fatal(err)
	}
	err = c.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000)
		INSERT INTO memories(uid, collection, type, content, human_summary, context, category, content_hash, valid_from, observed_at, created_at, updated_at, revision)
		SELECT 'u' || i, 'default', 'fact', 'fact ' || i || ' ' || hex(randomblob(180)), 'fact ' || i, '{}', 'code', randomblob(32), t, t, t, t, 1000 + i
		FROM n, (SELECT '2026-01-01T00:00:00.000000000Z' AS t)`)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	e, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func unpack(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
