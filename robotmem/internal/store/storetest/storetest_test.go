package storetest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

var update = flag.Bool("update", false, "write testdata")

func TestMain(m *testing.M) { os.Exit(postgrestest.Run(m)) }

// model is a model whose vectors the queries are about.
var model = store.Model{ID: 1}

// named returns a query, with a model if it needs one.
func named(d store.Describer, q store.Query) (store.Query, int, int, error) {
	params, columns, err := d.Describe(q)
	if err != nil && strings.Contains(err.Error(), "needs a model") {
		q = q.Of(&model)
		params, columns, err = d.Describe(q)
	}
	return q, params, columns, err
}

// newStore returns a store without indexes in memory.
func newStore() *store.Store {
	return &store.Store{Clock: time.Now, Changed: func(int64) {}}
}

// openFile opens a new file with the tables, and the table of a model.
func openFile(t *testing.T) (store.Database, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	s := newStore()
	db, err := sqlite.OpenDB(t.Context(), path, sqlite.Options{
		BusyTimeout: 5 * time.Second, Disk: disk.System{}, Log: slog.New(slog.DiscardHandler),
		Check: sqlite.RefuseForeign, Migrate: sqlite.Migrate(func() *record.Builder { return nil }),
		Version: sqlite.SchemaVersion(), Group: sqlite.GroupOf(s),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	file := sqlite.Database{DB: db}
	if err := file.Write(t.Context(), func(c store.SQL) error { return c.Exec(store.CreateVectors.Of(&model)) }); err != nil {
		t.Fatal(err)
	}
	return file, path
}

// openServer opens the tables of a tenant on a server.
func openServer(t *testing.T) (store.Database, string) {
	t.Helper()
	url := postgrestest.NewURL(t)
	s, err := postgres.Connect(t.Context(), url, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	tenant, err := s.MakeTenant(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	d := s.Open(tenant, t.TempDir(), time.Minute, newStore(), slog.New(slog.DiscardHandler), s.Close)
	t.Cleanup(func() { _ = d.Close() })
	return d, url
}

// shape is what a caller of a query sees of its text.
type shape struct{ Params, Columns int }

// shapes prepares every query.
func shapes(t *testing.T, d store.Database) map[string]shape {
	t.Helper()
	out := map[string]shape{}
	// Alone: SQLite runs a PRAGMA when it is prepared, some of them outside of transactions alone.
	err := d.WriteAlone(t.Context(), func(c store.SQL) error {
		for _, q := range store.Queries {
			if q == store.CreateFullText {
				continue // TestFullTextIsMadeAgain
			}
			_, params, columns, err := named(c.(store.Describer), q)
			if err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
			out[q.String()] = shape{params, columns}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every query fits the tables of a file.
func TestEveryQueryInAFile(t *testing.T) {
	d, _ := openFile(t)
	shapes(t, d)
}

// A repair makes the full-text index as the migrations made it.
func TestFullTextIsMadeAgain(t *testing.T) {
	d, path := openFile(t)
	schema := func() (sql string) {
		c, err := sqlite.Open(t.Context(), path, sqlite.ConnOptions{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		texts, err := c.Texts("SELECT sql FROM sqlite_schema WHERE name = 'memories_fts'")
		if err != nil || len(texts) != 1 {
			t.Fatal(texts, err)
		}
		return strings.NewReplacer("( ", "(", " )", ")").Replace(strings.Join(strings.Fields(texts[0]), " "))
	}
	before := schema()
	err := d.Write(t.Context(), func(c store.SQL) error {
		return errors.Join(c.Exec(store.DropFullText), c.Exec(store.CreateFullText))
	})
	if err != nil {
		t.Fatal(err)
	}
	if after := schema(); after != before {
		t.Errorf("got %s, want %s", after, before)
	}
}

// The two texts of a query take the same parameters and return the same columns.
func TestBothTextsHaveOneShape(t *testing.T) {
	file, _ := openFile(t)
	server, _ := openServer(t)
	inFile, onServer := shapes(t, file), shapes(t, server)
	both := 0
	for name, have := range inFile {
		want := onServer[name]
		if have == (shape{}) || want == (shape{}) {
			continue // one of them has nothing to do, or takes and returns nothing
		}
		both++
		if have != want {
			t.Errorf("%s: %+v in a file, %+v on a server", name, have, want)
		}
	}
	if both < 150 {
		t.Errorf("only %d queries have two texts", both)
	}
}

// onlyInFile are tables that a server has no use for, and onlyOnServer those of a site.
var (
	onlyInFile = []string{"identity", "tag_meta", "fleet_copies", "fleet_feeds", "fleet_links", "fleet_notes", "fleet_sent"}
	// A column that no version uses any more, and the time of arrival at a site.
	otherColumns = []string{"memories.embedding", "memories.received_at"}
	onlyOnServer = []string{"arrivals", "replicas", "conflicts", "feed", "feed_chunks", "feed_cursors", "feed_heads", "commits", "schema_versions", "tenants", "tokens"}
)

// Both schemas have the same columns. Types differ: a server has no dynamic ones.
func TestBothSchemasHaveTheSameColumns(t *testing.T) {
	_, path := openFile(t)
	_, url := openServer(t)

	c, err := sqlite.Open(t.Context(), path, sqlite.ConnOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	inFile := map[string]bool{}
	err = c.Query(`SELECT t.name, i.name FROM pragma_table_list t, pragma_table_info(t.name) i WHERE t.schema = 'main' AND t.type = 'table'
		AND t.name NOT LIKE 'sqlite%' AND t.name NOT LIKE 'memories_fts%' AND t.name NOT LIKE 'vectors%'`, nil, func(r store.Row) error {
		inFile[r.ColumnText(0)+"."+r.ColumnText(1)] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	url, _, _ = strings.Cut(url, "?")
	s, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	onServer := map[string]bool{}
	rows, err := s.Query(t.Context(), `SELECT table_name, column_name FROM information_schema.columns c JOIN pg_class t ON t.relname = c.table_name
		AND t.relnamespace = 'robotmem'::regnamespace AND NOT t.relispartition WHERE table_schema = 'robotmem'`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		onServer[table+"."+column] = true
	}

	tableOf := func(name string) string { table, _, _ := strings.Cut(name, "."); return table }
	for _, name := range slices.Sorted(maps.Keys(inFile)) {
		if !onServer[name] && !slices.Contains(onlyInFile, tableOf(name)) && !slices.Contains(otherColumns, name) {
			t.Errorf("a server lacks %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(onServer)) {
		_, column, _ := strings.Cut(name, ".")
		// A row of a file has its number anyway.
		if !inFile[name] && column != "tenant" && column != "rowid" && tableOf(name) != "vectors" && !slices.Contains(otherColumns, name) && !slices.Contains(onlyOnServer, tableOf(name)) {
			t.Errorf("a file lacks %s", name)
		}
	}
}

// TestPlans compares how SQLite runs each query with testdata/plans.txt, so that a scan of a whole table appears in a
// review.
func TestPlans(t *testing.T) {
	d, path := openFile(t)
	c, err := sqlite.Open(t.Context(), path, sqlite.ConnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	var out bytes.Buffer
	err = d.WriteAlone(t.Context(), func(sql store.SQL) error {
		for _, q := range store.Queries {
			if q == store.CreateFullText {
				continue
			}
			q, _, _, err := named(sql.(store.Describer), q)
			if err != nil {
				return err
			}
			text, err := sqlite.TextOf(q)
			if err != nil {
				return err
			}
			verb, _, _ := strings.Cut(text, " ")
			if !slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}, verb) {
				continue
			}
			plan := ""
			err = c.Query("EXPLAIN QUERY PLAN "+text, nil, func(r store.Row) error {
				plan += "    " + r.ColumnText(3) + "\n"
				return nil
			})
			if err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
			if plan != "" {
				out.WriteString(q.String() + "\n" + plan)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	const golden = "testdata/plans.txt"
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("the plans differ from %s; look at them, then go test ./robotmem/internal/store/storetest -run Plans -update (-want +got):\n%s", golden, diff)
	}
}
