package robotmem

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem/salvage"
)

// The rows of a damaged file are known by the layouts of its tables, and those
// are what the migrations make: each version is built in memory and asked. A new
// migration needs nothing here.

// layout is what the tables of a schema version look like.
type layout struct {
	tables []salvage.Table
	sql    map[string]string // of each table and index, as sqlite_schema has it
}

// derived are the tables that are made from others; a prefix ends with *.
var derived = []string{"paths", "attributes", "points", "signatures", "features", "tag_meta", "snapshots", "snapshot_heads", "memories_fts*", "sqlite_*"}

const sequences = "sqlite_sequence" // the largest id that each table has given

func isTruth(table string) bool {
	if table == sequences {
		return true
	}
	return !slices.ContainsFunc(derived, func(d string) bool {
		prefix, cut := strings.CutSuffix(d, "*")
		return table == prefix || cut && strings.HasPrefix(table, prefix)
	})
}

// layouts returns the layout of every version, that of version v at v-1.
func layouts(ctx context.Context) (all []layout, err error) {
	scripts, err := migrations()
	if err != nil {
		return nil, err
	}
	c, err := openMemory(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	least := map[string]int{}
	for _, script := range scripts {
		if err := c.Exec(script); err != nil {
			return nil, err
		}
		l, err := c.layout()
		if err != nil {
			return nil, err
		}
		for i := range l.tables {
			t := &l.tables[i]
			if least[t.Name] == 0 {
				least[t.Name] = len(t.Columns)
			}
			t.Least = least[t.Name]
		}
		all = append(all, l)
	}
	return all, nil
}

// openMemory opens a database that is nowhere on a disk.
func openMemory(ctx context.Context) (*conn, error) {
	db, err := sqlite3.OpenFlags(":memory:", sqlite3.OPEN_READWRITE|sqlite3.OPEN_CREATE)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: db, stmts: map[string]*sqlite3.Stmt{}, paths: map[string]int64{}}
	if err := c.setUp(ctx, connOptions{readOnly: true, busyTimeout: time.Second, cacheKiB: readerCacheKiB}); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// layout reads the tables of a connection's file.
func (c *conn) layout() (l layout, err error) {
	l.sql = map[string]string{}
	err = c.query("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL", nil, func(s *sqlite3.Stmt) error {
		l.sql[s.ColumnText(0)] = s.ColumnText(1)
		return nil
	})
	if err != nil {
		return l, err
	}
	err = c.query("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow') AND name <> 'sqlite_schema' ORDER BY name", nil, func(s *sqlite3.Stmt) error {
		l.tables = append(l.tables, salvage.Table{Name: s.ColumnText(0), WithoutRowid: s.ColumnBool(1), Keep: isTruth(s.ColumnText(0))})
		return nil
	})
	for i := range l.tables {
		err = errors.Join(err, c.columns(&l.tables[i]))
	}
	// What others point at comes first, and memories before all.
	slices.SortStableFunc(l.tables, func(a, b salvage.Table) int { return rankOf(a.Name) - rankOf(b.Name) })
	return l, err
}

func rankOf(table string) int {
	switch table {
	case sequences:
		return 0
	case "memories":
		return 1
	case "payloads":
		return 2
	}
	return 3
}

// columns reads the columns of a table in the order in which they are stored.
func (c *conn) columns(t *salvage.Table) error {
	type column struct {
		salvage.Column
		pk int
	}
	var all []column
	keys := 0
	err := c.query("SELECT name, type, \"notnull\", pk FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid", []any{t.Name}, func(s *sqlite3.Stmt) error {
		col := column{salvage.Column{Name: s.ColumnText(0), NotNull: s.ColumnBool(2) || s.ColumnInt(3) > 0}, s.ColumnInt(3)}
		switch declared := strings.ToUpper(s.ColumnText(1)); {
		case strings.Contains(declared, "INT"):
			col.Type = salvage.Integer
		case strings.Contains(declared, "TEXT"):
			col.Type = salvage.Text
		case declared == "BLOB":
			col.Type = salvage.Blob
		case declared == "REAL":
			col.Type = salvage.Real
		}
		// An INTEGER PRIMARY KEY is another name of the row's number.
		col.Key = !t.WithoutRowid && col.pk == 1 && col.Type == salvage.Integer
		if col.pk > 0 {
			keys++
		}
		all = append(all, col)
		return nil
	})
	if err != nil {
		return err
	}
	if t.WithoutRowid {
		slices.SortStableFunc(all, func(a, b column) int {
			rank := func(c column) int {
				if c.pk == 0 {
					return len(all) + 1
				}
				return c.pk
			}
			return rank(a) - rank(b)
		})
	}
	for _, col := range all {
		col.Key = col.Key && keys == 1
		t.Columns = append(t.Columns, col.Column)
	}
	return nil
}

// identity is what a damaged file is known to be.
type identity struct {
	version int
	tables  []salvage.Table
	// certain says that the file itself tells; else only its rows can.
	certain bool
}

// identify finds out whether a file is ours and of which version. What the
// schema says goes before the head, of which a byte may be damaged.
func identify(ctx context.Context, f *salvage.File) (*identity, error) {
	known, err := layouts(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := f.Schema(ctx)
	if err != nil {
		return nil, err
	}
	info := f.Info()
	id := &identity{version: versionOf(entries, known)}
	version := int(info.UserVersion)
	switch {
	case id.version > 0:
		id.certain = true
	case info.HeaderWhole && info.ApplicationID == applicationID:
		if version > len(known) {
			return nil, newer(version, len(known))
		}
		id.version, id.certain = version, true
	}
	if id.version == 0 {
		id.version = len(known)
	}
	id.tables = slices.Clone(known[id.version-1].tables)
	for _, e := range entries {
		if e.Type == "table" && isVectors(e.Name) {
			id.tables = append(id.tables, salvage.Table{Name: e.Name, Keep: true, Columns: []salvage.Column{
				{Name: "memory_id", Type: salvage.Integer, Key: true}, {Name: "seq", Type: salvage.Integer, NotNull: true}, {Name: "vector", Type: salvage.Blob},
			}})
		}
	}
	return id, nil
}

// isVectors reports whether a table is that of a model's vectors.
func isVectors(table string) bool {
	var n int64
	return len(table) < 30 && scan(table, "vectors_%d", &n) && n > 0 && table == fmt.Sprintf("vectors_%d", n)
}

func scan(s, format string, to ...any) bool {
	n, err := fmt.Sscanf(s, format, to...)
	return err == nil && n == len(to)
}

// versionOf returns the version whose every table and index the schema has, word
// for word; 0 if none.
func versionOf(entries []salvage.Entry, known []layout) int {
	has := map[string]string{}
	for _, e := range entries {
		has[e.Name] = e.SQL
	}
	for v := len(known); v > 0; v-- {
		whole := true
		for name, sql := range known[v-1].sql {
			whole = whole && has[name] == sql
		}
		if whole {
			return v
		}
	}
	return 0
}
