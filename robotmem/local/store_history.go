package local

import (
	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// archive keeps the present state of a memory as a past one, before it changes.
func (tx *writeTx) archive(id int64, change, why string) error {
	return tx.Exec(`INSERT INTO versions(memory_id, valid_to, valid_from, version, content, human_summary, context,
		category, confidence, status, superseded_by, change, reason)
		SELECT id, ?, valid_from, version, content, human_summary, context, category, confidence, status, superseded_by, ?, ?
		FROM memories WHERE id = ?`, formatTime(tx.now), change, sqlite.OrNull(why), id)
}

// setStatus changes a memory's status and keeps the old state.
func (tx *writeTx) setStatus(id int64, to, change, why string) error {
	if err := tx.archive(id, change, why); err != nil {
		return err
	}
	now := formatTime(tx.now)
	return tx.Exec("UPDATE memories SET status = ?, superseded_by = NULL, valid_from = ?, updated_at = ?, revision = ? WHERE id = ?",
		to, now, now, tx.nextRevision(), id)
}

// setPinned pins a memory or lets it go. What it has not lost while it was pinned
// it does not lose at once: its clock of fading starts anew.
func (tx *writeTx) setPinned(m *robotmem.Memory, pinned bool) error {
	now := formatTime(tx.now)
	if pinned {
		return tx.Exec("UPDATE memories SET pinned = 1, decay_rate = 0, updated_at = ?, revision = ? WHERE id = ?", now, tx.nextRevision(), m.MemoryID)
	}
	rate := decayOf(m.Category, false)
	return tx.Exec("UPDATE memories SET pinned = 0, decay_rate = ?, last_accessed = ?, updated_at = ?, revision = ? WHERE id = ?",
		rate, now, now, tx.nextRevision(), m.MemoryID)
}

// supersededBefore returns what a forgotten memory was superseded by when it
// was forgotten, 0 if it was active then or is not forgotten.
func (c *conn) supersededBefore(m *robotmem.Memory) (by int64, err error) {
	if m.Status != "invalidated" {
		return 0, nil
	}
	return c.Number("SELECT coalesce(superseded_by, 0) FROM versions WHERE memory_id = ? AND change = 'forgotten' ORDER BY rowid DESC LIMIT 1", m.MemoryID)
}

// rewrite gives a memory a new text and context under the same id.
func (tx *writeTx) rewrite(id int64, r *record, version int) error {
	now := formatTime(tx.now)
	revision := tx.nextRevision()
	err := tx.Exec(`UPDATE memories SET content = ?, human_summary = ?, context = ?, category = ?, confidence = ?,
		decay_rate = ?, pinned = ?, scope_files = ?, scope_entities = ?, content_hash = ?, version = ?, last_accessed = ?,
		valid_from = ?, updated_at = ?, revision = ? WHERE id = ?`,
		r.content, r.summary, r.contextRaw, r.inferred.Category, r.inferred.Confidence,
		r.decayRate(), r.pinned, listOrNull(r.inferred.ScopeFiles), listOrNull(r.inferred.ScopeEntities), r.hash(), version, now,
		now, now, revision, id)
	if err != nil {
		return err
	}
	return tx.index(id, r, revision)
}

// versions returns the past states of a memory, oldest first.
func (c *conn) versions(id int64) ([]robotmem.Version, error) {
	var out []robotmem.Version
	err := c.Query(`SELECT version, content, context, category, confidence, status, superseded_by, valid_from, valid_to, change, reason
		FROM versions WHERE memory_id = ? ORDER BY rowid`, []any{id}, func(s *sqlite3.Stmt) error {
		v := robotmem.Version{
			Version: s.ColumnInt(0), Content: s.ColumnText(1), Context: robotmem.ParseObject(s.ColumnText(2)), Category: s.ColumnText(3),
			Confidence: s.ColumnFloat(4), Status: s.ColumnText(5), SupersededBy: s.ColumnInt64(6),
			From: parseTime(s.ColumnText(7)), To: parseTimePtr(s.ColumnText(8)), Change: s.ColumnText(9), Reason: s.ColumnText(10),
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

// storedConfidence is the confidence as stored, before any fading.
func (c *conn) storedConfidence(id int64) (f float64, err error) {
	_, err = c.One("SELECT confidence FROM memories WHERE id = ?", []any{id}, func(s *sqlite3.Stmt) { f = s.ColumnFloat(0) })
	return f, err
}
