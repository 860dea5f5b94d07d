package sqlite

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A user without permission is not sent to look for space.
func TestPermissionIsNotAFullDisk(t *testing.T) {
	for _, errno := range []error{syscall.EACCES, syscall.EBADF} {
		err := explained(fmt.Errorf("%w: %w", sqlite3.IOERR, &fs.PathError{Op: "write", Path: "x", Err: errno}))
		if got := robotmem.Explain(err); got.Kind != robotmem.Unavailable || strings.Contains(got.Detail(), "full") || !strings.Contains(got.Detail(), "who owns") {
			t.Errorf("%v is told as %s: %s", errno, got.Kind, got.Detail())
		}
	}
}

// SQLite has no code of its own for a schema whose text was damaged.
func TestADamagedSchemaisCorrupt(t *testing.T) {
	c, err := Open(t.Context(), newFile(t), ConnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := c.Exec("CREATE TABLE t(a)"); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"SELECT b FROM t", "SELECT a FROM u", "INSERT INTO t(b) VALUES (1)",
		"ALTER TABLE t ADD COLUMN a", "CREATE TABLE t(a)", "SELECT json('{')",
		"CREATE VIRTUAL TABLE f USING fts5(a, tokenize = 'unicode61)", "CREATE VIRTUAL TABLE f USING fts5(a, tokenize = 'unicode62')",
		"CREATE VIRTUAL TABLE f USING fts5(a, detial = full)", "CREATE VIRTUAL TABLE f USING fts5(a, detail = fyll)",
		"CREATE VIRTUAL TABLE f USING fts6(a)", "CREATE VIRTUAL TABLE f USING fts5(a b)", "CREATE VIRTUAL TABLE f USING fts5(rank)",
	} {
		if err := c.Exec(sql); robotmem.Explain(err).Kind != robotmem.Corrupt {
			t.Errorf("%s fails with %v, which is %s", sql, err, robotmem.Explain(err).Kind)
		}
	}
}
