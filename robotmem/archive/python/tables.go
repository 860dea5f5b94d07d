package python

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// The Python robotmem keeps its memory.db in SQLite too, with tables of the same
// names and other columns. It is read here as it lies: by the names of columns,
// so that one of an older or newer version is read as far as it goes.

// pythonTables are what such a file holds, beside the tables of its indexes.
var pythonTables = []string{"memories", "sessions", "session_outcomes", "memory_tags", "tag_meta"}

// IsMemory reports whether a file is a memory.db of the Python robotmem. Not
// a byte of it changes.
func IsMemory(ctx context.Context, path string) (bool, error) {
	c, err := openUnchanged(ctx, path)
	if err != nil {
		return false, sqlite.Wrap("import", err)
	}
	is, err := isPython(c)
	return is, sqlite.Wrap("import", errors.Join(err, c.Close()))
}

func isPython(c *store.Conn) (bool, error) {
	app, err := c.Number("PRAGMA application_id")
	if err != nil || app != 0 {
		return false, err
	}
	n, err := c.Number("SELECT count(*) FROM pragma_table_info('memories') WHERE name IN ('id', 'content', 'collection', 'category', 'confidence')")
	return n == 5, err
}

// openUnchanged opens a file for reading alone, without a lock or a log of ours:
// nobody else may be writing it.
func openUnchanged(ctx context.Context, path string) (*store.Conn, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "file", "is not a path")
	}
	return store.OpenStoreConn(ctx, abs, sqlite.ConnOptions{ReadOnly: true, Immutable: true})
}

// openPython opens a memory.db. One with changes in a log beside it is copied to
// a folder of its own first, as they could not be read without writing there.
func openPython(ctx context.Context, path string) (c *store.Conn, folder string, err error) {
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
		c, err := openUnchanged(ctx, path)
		return c, "", err
	}
	if folder, err = os.MkdirTemp("", "robotmem-python-*"); err != nil {
		return nil, "", robotmem.Errorf(robotmem.Unavailable, "file", "no temporary folder can be made (%s)", store.RootReason(err))
	}
	for _, suffix := range []string{"", "-wal"} {
		if err := sqlite.CopyWhole(ctx, path+suffix, filepath.Join(folder, "memory.db"+suffix)); err != nil {
			return nil, folder, robotmem.Errorf(robotmem.Unavailable, "file", "cannot be copied to be read (%s)", store.RootReason(err))
		}
	}
	c, err = store.OpenStoreConn(ctx, filepath.Join(folder, "memory.db"), sqlite.ConnOptions{ReadOnly: true})
	return c, folder, err
}

// row is what the columns of a row hold, by their names: string, int64, float64
// or []byte. What is NULL is not in it.
type row map[string]any

// rows reads the rows of a statement.
func rows(c *store.Conn, sql string, args ...any) (out []row, err error) {
	err = c.Query(sql, args, func(s *sqlite.Stmt) error {
		r := row{}
		for i := range s.ColumnCount() {
			switch s.ColumnType(i) {
			case sqlite.Integer:
				r[s.ColumnName(i)] = s.ColumnInt64(i)
			case sqlite.Float:
				r[s.ColumnName(i)] = s.ColumnFloat(i)
			case sqlite.Text:
				r[s.ColumnName(i)] = s.ColumnText(i)
			case sqlite.Blob:
				r[s.ColumnName(i)] = s.ColumnBlob(i, nil)
			}
		}
		out = append(out, r)
		return nil
	})
	return out, err
}

// shape is what the file has of the tables.
type shape struct {
	tables  map[string]bool
	strange map[string]int64 // rows of tables that are none of Python's
	columns map[string]bool  // of memories
}

func pythonShape(c *store.Conn) (*shape, error) {
	p := &shape{tables: map[string]bool{}, strange: map[string]int64{}, columns: map[string]bool{}}
	tables, err := rows(c, "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		name, sql := t.text("name"), t.text("sql")
		p.tables[name] = true
		index := strings.HasPrefix(name, "memories_fts") || strings.HasPrefix(name, "memories_vec") || strings.Contains(strings.ToUpper(sql), "VIRTUAL TABLE")
		if index || slices.Contains(pythonTables, name) {
			continue
		}
		if p.strange[name], err = c.Number(`SELECT count(*) FROM "` + strings.ReplaceAll(name, `"`, `""`) + `"`); err != nil {
			return nil, err
		}
	}
	columns, err := rows(c, "SELECT name FROM pragma_table_info('memories')")
	for _, r := range columns {
		p.columns[r.text("name")] = true
	}
	return p, err
}

const pythonPage = 200 // memories read at once

// pythonMemories reads the next memories; their payloads and tags are read by
// themselves.
func pythonMemories(c *store.Conn, shape *shape, after int64) ([]row, error) {
	var names []string
	for name := range shape.columns {
		if name != "perception_data" {
			names = append(names, `m."`+strings.ReplaceAll(name, `"`, `""`)+`"`)
		}
	}
	slices.Sort(names)
	return rows(c, "SELECT "+strings.Join(names, ", ")+" FROM memories m WHERE m.id > ? ORDER BY m.id LIMIT ?", after, pythonPage)
}

// pythonPayload is the bytes of a memory, nil if it has none.
func pythonPayload(c *store.Conn, shape *shape, id int64) (data []byte, err error) {
	if !shape.columns["perception_data"] {
		return nil, nil
	}
	_, err = c.One("SELECT perception_data FROM memories WHERE id = ?", []any{id}, func(s *sqlite.Stmt) { data = s.ColumnBlob(0, nil) })
	return data, err
}

func pythonTags(c *store.Conn, shape *shape, id int64) ([]row, error) {
	if !shape.tables["memory_tags"] {
		return nil, nil
	}
	return rows(c, "SELECT * FROM memory_tags WHERE memory_id = ?", id)
}

// pythonByID reads what a memory's uid is made of.
func pythonByID(c *store.Conn, id int64) (row, error) {
	found, err := rows(c, "SELECT m.id, m.collection, m.session_id, m.created_at FROM memories m WHERE m.id = ?", id)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

func pythonSuccessors(c *store.Conn, after int64) ([]row, error) {
	return rows(c, "SELECT id, superseded_by FROM memories WHERE superseded_by IS NOT NULL AND id > ? ORDER BY id LIMIT ?", after, pythonPage)
}

func pythonSessions(c *store.Conn, shape *shape, after int64) ([]row, error) {
	if !shape.tables["sessions"] {
		return nil, nil
	}
	return rows(c, "SELECT s.* FROM sessions s WHERE s.id > ? ORDER BY s.id LIMIT ?", after, pythonPage)
}

// pythonLost are the sessions that memories name and no row describes.
func pythonLost(c *store.Conn, shape *shape) ([]row, error) {
	known := "(SELECT external_id FROM sessions)"
	if !shape.tables["sessions"] {
		known = "('')"
	}
	return rows(c, `SELECT session_id AS external_id, min(collection) AS collection, min(created_at) AS created_at, max(created_at) AS updated_at
		FROM memories WHERE session_id IS NOT NULL AND session_id <> '' AND session_id NOT IN `+known+` GROUP BY session_id ORDER BY session_id`)
}

func pythonOutcomes(c *store.Conn, shape *shape, session string) ([]row, error) {
	if !shape.tables["session_outcomes"] {
		return nil, nil
	}
	return rows(c, "SELECT * FROM session_outcomes WHERE session_id = ? ORDER BY id", session)
}

// pythonCounts is how much of each there is.
func pythonCounts(c *store.Conn, shape *shape) (memories, sessions int64, err error) {
	memories, err = c.Number("SELECT count(*) FROM memories")
	if err == nil && shape.tables["sessions"] {
		sessions, err = c.Number("SELECT count(*) FROM sessions")
	}
	return memories, sessions, err
}
