package local

import (
	"errors"
	"fmt"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// model is a row of models.
type model struct {
	id    int64
	name  string
	dims  int
	upto  int64 // memories changed up to this revision have their vector
	seq   int64 // of the last vector written
	state string
}

const (
	modelPresent = "present"
	modelFilling = "filling"
)

func (m *model) table() string { return fmt.Sprintf("vectors_%d", m.id) }

const modelColumns = "id, name, dims, upto, seq, state"

func scanModel(s *sqlite3.Stmt) model {
	return model{s.ColumnInt64(0), s.ColumnText(1), s.ColumnInt(2), s.ColumnInt64(3), s.ColumnInt64(4), s.ColumnText(5)}
}

// presentModel returns the model that recall asks; its id is 0 if there is none.
func (c *conn) presentModel() (m model, err error) {
	_, err = c.One("SELECT "+modelColumns+" FROM models WHERE state = 'present'", nil, func(s *sqlite3.Stmt) { m = scanModel(s) })
	return m, err
}

// model reads the row of a model again; its id is 0 if it is gone.
func (c *conn) model(id int64) (m model, err error) {
	_, err = c.One("SELECT "+modelColumns+" FROM models WHERE id = ?", []any{id}, func(s *sqlite3.Stmt) { m = scanModel(s) })
	return m, err
}

func (c *conn) models() (all []model, err error) {
	err = c.Query("SELECT "+modelColumns+" FROM models ORDER BY id", nil, func(s *sqlite3.Stmt) error {
		all = append(all, scanModel(s))
		return nil
	})
	return all, err
}

// createModel makes a model with its table, or returns the one of that name. One
// that an interrupted reembed left becomes the present model when that is asked
// for; one whose vectors have another dimension by now begins anew, and stays
// present if it was.
func (tx *writeTx) createModel(name string, dims int, state string) (model, error) {
	var m model
	found, err := tx.One("SELECT "+modelColumns+" FROM models WHERE name = ?", []any{name}, func(s *sqlite3.Stmt) { m = scanModel(s) })
	if err != nil {
		return m, err
	}
	if found && m.state == modelPresent {
		state = modelPresent
	}
	switch {
	case found && m.dims != dims:
		if err := tx.dropModel(&m); err != nil {
			return m, err
		}
	case found && m.state != state:
		m.state = state
		return m, tx.Exec("UPDATE models SET state = ? WHERE id = ?", state, m.id)
	case found:
		return m, nil
	}
	if err := tx.Exec("INSERT INTO models(name, dims, state) VALUES (?,?,?)", name, dims, state); err != nil {
		return m, err
	}
	m = model{id: tx.LastInsertRowID(), name: name, dims: dims, state: state}
	return m, tx.Exec(createVectors(m.table()))
}

// createVectors makes the table of a model's vectors, if it is not there.
func createVectors(table string) string {
	return fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %[1]s(memory_id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, vector BLOB);
		CREATE INDEX IF NOT EXISTS idx_%[1]s_seq ON %[1]s(seq)`, table)
}

// dropModel deletes a model with its vectors.
func (tx *writeTx) dropModel(m *model) error {
	if err := tx.Exec("DELETE FROM models WHERE id = ?", m.id); err != nil {
		return err
	}
	if m.state == modelPresent {
		if err := tx.Exec("DELETE FROM snapshot_heads WHERE name = ?", codesSnapshot); err != nil {
			return err
		}
	}
	return tx.Exec("DROP TABLE IF EXISTS " + m.table())
}

// unindexVectors drops the vectors of a text that has changed.
func (tx *writeTx) unindexVectors(id int64) error {
	all, err := tx.models()
	if err != nil {
		return err
	}
	for i := range all {
		if err := tx.Exec("DELETE FROM "+all[i].table()+" WHERE memory_id = ?", id); err != nil {
			return err
		}
	}
	return nil
}

// empty reports whether the file holds no memory.
func (c *conn) empty() (bool, error) {
	n, err := c.Number("SELECT EXISTS (SELECT 1 FROM memories)")
	return n == 0, err
}

// damagedVectors lists the memories whose vector of a model is not of its
// dimension or not of length 1. It reads them all.
func (c *conn) damagedVectors(m *model) (ids []int64, err error) {
	v := make([]float32, m.dims)
	err = c.Query("SELECT memory_id, vector FROM "+m.table()+" WHERE vector IS NOT NULL", nil, func(s *sqlite3.Stmt) error {
		if raw := s.ColumnRawBlob(1); len(raw) != 4*m.dims || !decodeUnit(v, raw) {
			ids = append(ids, s.ColumnInt64(0))
		}
		return nil
	})
	return ids, err
}

// dropDamagedVectors lets those be made anew.
func (tx *writeTx) dropDamagedVectors() error {
	all, err := tx.models()
	if err != nil {
		return err
	}
	for i := range all {
		damaged, err := tx.damagedVectors(&all[i])
		if err != nil {
			return err
		}
		for _, id := range damaged {
			if err := tx.Exec("DELETE FROM "+all[i].table()+" WHERE memory_id = ?", id); err != nil {
				return err
			}
		}
		if err := tx.Exec("UPDATE models SET upto = 0 WHERE id = ?", all[i].id); err != nil {
			return err
		}
	}
	return nil
}

// waiting is a memory without a vector.
type waiting struct {
	id, version int64
	text        string
}

// nextWaiting returns the next memories, in order of their last change, that a
// model has no vector of, and the revision up to which it looked. It looks at
// so many rows at most; done is true when there are no more.
func (c *conn) nextWaiting(m *model, rows int) (found []waiting, upto int64, done bool, err error) {
	upto = m.upto
	seen := 0
	err = c.Query(`SELECT m.id, m.version, m.type, m.content, m.human_summary, m.revision,
		m.status = 'active' AND NOT EXISTS (SELECT 1 FROM `+m.table()+` v WHERE v.memory_id = m.id)
		FROM memories m WHERE m.revision > ? ORDER BY m.revision LIMIT ?`, []any{m.upto, rows}, func(s *sqlite3.Stmt) error {
		seen++
		upto = s.ColumnInt64(5)
		if s.ColumnBool(6) {
			text := s.ColumnText(3)
			if s.ColumnText(2) == "perception" {
				text += "\n" + s.ColumnText(4)
			}
			found = append(found, waiting{s.ColumnInt64(0), s.ColumnInt64(1), text})
		}
		return nil
	})
	return found, upto, seen < rows, err
}

// backlog counts the active memories that a model has no vector of.
func (c *conn) backlog(m *model) (int64, error) {
	return c.Number("SELECT count(*) FROM memories m WHERE m.revision > ? AND m.status = 'active' AND NOT EXISTS (SELECT 1 FROM "+m.table()+" v WHERE v.memory_id = m.id)", m.upto)
}

// storeVectors stores what was made of some memories' texts. A nil vector says
// that the model refused the text. A text that changed meanwhile waits again.
func (tx *writeTx) storeVectors(id int64, items []waiting, vectors [][]float32, upto int64) error {
	m, err := tx.model(id)
	if err != nil || m.id == 0 {
		return err // dropped by a reembed of another process
	}
	for i, item := range items {
		version, err := tx.Number("SELECT version FROM memories WHERE id = ?", item.id)
		if err != nil {
			return err
		}
		if version != item.version {
			continue
		}
		m.seq++
		var blob []byte
		if vectors[i] != nil {
			blob = vector.Encode(vectors[i])
		}
		if err := tx.Exec("INSERT OR REPLACE INTO "+m.table()+"(memory_id, seq, vector) VALUES (?,?,?)", item.id, m.seq, blob); err != nil {
			return err
		}
	}
	return tx.Exec("UPDATE models SET seq = ?, upto = max(upto, ?) WHERE id = ?", m.seq, upto, m.id)
}

// retryRefused lets the texts wait again that a model has refused, and returns
// the model as it is then; its id is 0 if it is gone.
func (tx *writeTx) retryRefused(id int64) (model, error) {
	m, err := tx.model(id)
	if err != nil || m.id == 0 {
		return m, err
	}
	refused, err := tx.Number("SELECT EXISTS (SELECT 1 FROM " + m.table() + " WHERE vector IS NULL)")
	if err != nil || refused == 0 {
		return m, err
	}
	m.upto = 0
	if err := tx.Exec("DELETE FROM " + m.table() + " WHERE vector IS NULL"); err != nil {
		return m, err
	}
	return m, tx.Exec("UPDATE models SET upto = 0 WHERE id = ?", m.id)
}

// vectorsSince calls each for the next vectors written after seq, in that
// order.
func (c *conn) vectorsSince(m *model, seq, most int64, each func(id, seq int64, raw []byte) error) error {
	return c.Query("SELECT memory_id, seq, vector FROM "+m.table()+" WHERE seq > ? ORDER BY seq LIMIT ?", []any{seq, most}, func(s *sqlite3.Stmt) error {
		return each(s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnRawBlob(2))
	})
}

// vectors reads the stored vectors of some memories; those without one, or
// with one that is damaged, are skipped. raw is valid until each returns.
func (c *conn) vectors(m *model, ids []int64, each func(id int64, raw []byte) error) error {
	sql := "SELECT vector FROM " + m.table() + " WHERE memory_id = ?"
	s, err := c.Prepared(sql)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.BindInt64(1, id); err != nil {
			return err
		}
		if s.Step() {
			if raw := s.ColumnRawBlob(0); len(raw) == 4*m.dims && finite(raw) {
				if err := each(id, raw); err != nil {
					return errors.Join(err, s.Reset())
				}
			}
		}
		if err := s.Reset(); err != nil {
			return err
		}
	}
	return nil
}

// promote makes a model the one that recall asks, and drops the others.
func (tx *writeTx) promote(id int64) error {
	all, err := tx.models()
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].id != id {
			if err := tx.dropModel(&all[i]); err != nil {
				return err
			}
		}
	}
	if err := tx.Exec("DELETE FROM snapshot_heads WHERE name = ?", codesSnapshot); err != nil {
		return err
	}
	return tx.Exec("UPDATE models SET state = 'present' WHERE id = ?", id)
}
