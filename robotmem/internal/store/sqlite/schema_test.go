package sqlite

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

var update = flag.Bool("update", false, "write schema.sql")

// A new file has the tables, indexes, triggers and rows that all migrations make of an empty file.
func TestSchemaIsThatOfTheMigrations(t *testing.T) {
	migrated := dump(t, migrations()...)
	if *update {
		script := "-- What the migrations make of an empty file. Written by go test -run Schema -update.\n" + strings.ReplaceAll(migrated, text.Tokenize, "{{tokenize}}")
		if err := os.WriteFile("schema.sql", []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile("schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(migrated, dump(t, strings.ReplaceAll(string(data), "{{tokenize}}", text.Tokenize))); diff != "" {
		t.Errorf("run go test -run Schema -update (-migrations +schema.sql):\n%s", diff)
	}
}

// dump runs scripts on an empty file and returns SQL that makes the same.
func dump(t *testing.T, scripts ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Open(t.Context(), path, ConnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, s := range scripts {
		if err := c.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Number("DELETE FROM counters WHERE name = 'unsealed' RETURNING 1"); err != nil { // a new file has nothing to seal
		t.Fatal(err)
	}
	var out strings.Builder
	var tables []string
	// Tables first; those of full-text search come with the virtual table.
	err = c.Query(`SELECT type, name, sql FROM sqlite_schema
		WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'memories_fts_%'
		ORDER BY type = 'table' DESC, rowid`, nil, func(s store.Row) error {
		out.WriteString(s.ColumnText(2) + ";\n")
		if s.ColumnText(0) == "table" && s.ColumnText(1) != "memories_fts" {
			tables = append(tables, s.ColumnText(1))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range append(tables, "sqlite_sequence") {
		columns := ""
		err := c.Query("SELECT group_concat(quote(name), ', ') FROM (SELECT name FROM pragma_table_info(?))", []any{table}, func(s store.Row) error {
			columns = strings.ReplaceAll(s.ColumnText(0), "'", "\"")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		quoted := "quote(" + strings.ReplaceAll(columns, ", ", ") || ', ' || quote(") + ")"
		err = c.Query("SELECT "+quoted+" FROM "+table+" ORDER BY 1", nil, func(s store.Row) error {
			out.WriteString("INSERT INTO " + table + " VALUES (" + s.ColumnText(0) + ");\n")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}
