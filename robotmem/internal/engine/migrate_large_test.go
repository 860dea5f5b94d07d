package engine

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/budget"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// The migration of a large file of version 1 stays within the memory limit of SQLite
// here.
func TestMigrateLargeFile(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("writes many rows")
	}
	rows := rounds.Of(4_000, 400_000) // the latter is more than SQLite may hold in memory here
	path := t.TempDir() + "/memory.db"
	unpack(t, "../../local/testdata/v1.db.gz", path)
	c, err := sqlite.OpenTables(t.Context(), path, sqlite.ConnOptions{CacheKiB: budget.ReaderCacheKiB, Normal: true})
	if err != nil {
		t.Fatal(err)
	}
	err = c.File.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO memories(uid, collection, type, content, human_summary, context, category, content_hash, valid_from, observed_at, created_at, updated_at, revision)
		SELECT 'u' || i, 'default', 'fact', 'fact ' || i || ' ' || hex(randomblob(180)), 'fact ' || i, '{}', 'code', randomblob(32), t, t, t, t, 1000 + i
		FROM n, (SELECT '2026-01-01T00:00:00.000000000Z' AS t)`, rows)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	e, err := openFile(t.Context(), path, Options{})
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

// Facts with units in a file of an older version are found as duplicates in another
// unit, and their signatures equal those that Repair computes.
func TestSignaturesOfOlderFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../local/testdata/v[1-6].db.gz")
	if err != nil || len(files) == 0 {
		t.Fatal("no stored files", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			path := t.TempDir() + "/memory.db"
			unpack(t, name, path)
			c, err := sqlite.OpenTables(t.Context(), path, sqlite.ConnOptions{CacheKiB: budget.ReaderCacheKiB, Normal: true})
			if err != nil {
				t.Fatal(err)
			}
			// As computed by version 5.
			old := []struct {
				content string
				sig     record.Signature
			}{
				{"the shelf above the bench is 1000 mm wide", record.Signature{Terms: 7, Numbers: 5774876429445146868, Skeleton: -8804179262566189209, Sketch: consolidate.Sketch{0xfcb84ff8770cd1b7, 0x10de9a42663f29fb}}},
				{"the oven of the east lab cools in 2 hours", record.Signature{Terms: 7, Numbers: 2711625374352219237, Skeleton: -4920536063327908452, Sketch: consolidate.Sketch{0x60ef66849b402e8d, 0x66ed83b322351a05}}},
				{"no number in this one", record.Signature{Terms: 3, Numbers: -2991082272771026769, Skeleton: -458735883398717237, Sketch: consolidate.Sketch{0x49584c0b0c4e8280, 0x27b17a8870de90af}}},
			}
			for i, o := range old {
				id := int64(1000 + i)
				if err := insertOldFact(c.Conn, id, o.content, nil); err != nil {
					t.Fatal(err)
				}
				err := c.File.Exec("INSERT INTO signatures(group_key, seq, memory_id, terms, numbers, skeleton, sketch_a, sketch_b) VALUES (?,?,?,?,?,?,?,?)",
					record.Hash64("default", "{}"), id, id, o.sig.Terms, o.sig.Numbers, o.sig.Skeleton, int64(o.sig.Sketch[0]), int64(o.sig.Sketch[1]))
				if err != nil {
					t.Fatal(err)
				}
			}
			// More than one batch.
			err = c.File.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
				INSERT INTO signatures(group_key, seq, memory_id, terms, numbers, skeleton, sketch_a, sketch_b) SELECT i, 5000 + i, 1000, 0, 0, 0, 0, 0 FROM n`)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(name, "v6") { // the first version with checksums
				if err := c.File.Exec("INSERT INTO counters VALUES ('unsealed', 1)"); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			e, err := openFile(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			for i, content := range []string{"the shelf above the bench is 1 m wide", "the oven of the east lab cools in 120 min", "no number in this one"} {
				res, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: content})
				if err != nil || res.Status != "duplicate" || res.MemoryID != int64(1000+i) {
					t.Errorf("%q: got %+v, %v, want a duplicate of %d", content, res, err, 1000+i)
				}
			}
			signatures := func() (rows []string) {
				err := e.Store.Read(t.Context(), func(c *store.Conn) error {
					return sqlite.FileOf(c).Query("SELECT DISTINCT memory_id, sequence, terms, numbers, skeleton, sketch_a, sketch_b FROM signatures ORDER BY 1", nil, func(s store.Row) error {
						row := ""
						for i := range 7 {
							row += s.ColumnText(i) + " "
						}
						rows = append(rows, row)
						return nil
					})
				})
				if err != nil {
					t.Fatal(err)
				}
				return rows
			}
			migrated := signatures()
			if _, err := e.Repair(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(signatures(), migrated); diff != "" {
				t.Errorf("the signatures are not those that are computed now (-now +migrated):\n%s", diff)
			}
		})
	}
}
