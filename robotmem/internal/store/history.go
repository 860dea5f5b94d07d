package store

import (
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// Archive keeps the present state of a memory as a past one, before it changes.
func (tx *Tx) Archive(id int64, change, why string) error {
	return tx.Exec(`INSERT INTO versions(memory_id, valid_to, valid_from, version, content, human_summary, context,
		category, confidence, status, superseded_by, change, reason)
		SELECT id, ?, valid_from, version, content, human_summary, context, category, confidence, status, superseded_by, ?, ?
		FROM memories WHERE id = ?`, FormatTime(tx.Now), change, sqlite.OrNull(why), id)
}

// SetStatus changes a memory's status and keeps the old state.
func (tx *Tx) SetStatus(id int64, to, change, why string) error {
	if err := tx.Archive(id, change, why); err != nil {
		return err
	}
	now := FormatTime(tx.Now)
	return tx.Exec("UPDATE memories SET status = ?, superseded_by = NULL, valid_from = ?, updated_at = ?, revision = ? WHERE id = ?",
		to, now, now, tx.NextRevision(), id)
}

// SetPinned pins a memory or lets it go. What it has not lost while it was pinned
// it does not lose at once: its clock of fading starts anew.
func (tx *Tx) SetPinned(m *robotmem.Memory, pinned bool) error {
	now := FormatTime(tx.Now)
	if pinned {
		return tx.Exec("UPDATE memories SET pinned = 1, decay_rate = 0, updated_at = ?, revision = ? WHERE id = ?", now, tx.NextRevision(), m.MemoryID)
	}
	rate := record.DecayOf(m.Category, false)
	return tx.Exec("UPDATE memories SET pinned = 0, decay_rate = ?, last_accessed = ?, updated_at = ?, revision = ? WHERE id = ?",
		rate, now, now, tx.NextRevision(), m.MemoryID)
}

// SupersededBefore returns what a forgotten memory was superseded by when it
// was forgotten, 0 if it was active then or is not forgotten.
func (c *Conn) SupersededBefore(m *robotmem.Memory) (by int64, err error) {
	if m.Status != "invalidated" {
		return 0, nil
	}
	return c.Number("SELECT coalesce(superseded_by, 0) FROM versions WHERE memory_id = ? AND change = 'forgotten' ORDER BY rowid DESC LIMIT 1", m.MemoryID)
}

// Rewrite gives a memory a new text and context under the same id.
func (tx *Tx) Rewrite(id int64, r *record.Record, version int) error {
	now := FormatTime(tx.Now)
	revision := tx.NextRevision()
	err := tx.Exec(`UPDATE memories SET content = ?, human_summary = ?, context = ?, category = ?, confidence = ?,
		decay_rate = ?, pinned = ?, scope_files = ?, scope_entities = ?, content_hash = ?, version = ?, last_accessed = ?,
		valid_from = ?, updated_at = ?, revision = ? WHERE id = ?`,
		r.Content, r.Summary, r.ContextRaw, r.Inferred.Category, r.Inferred.Confidence,
		r.DecayRate(), r.Pinned, listOrNull(r.Inferred.ScopeFiles), listOrNull(r.Inferred.ScopeEntities), r.Hash(), version, now,
		now, now, revision, id)
	if err != nil {
		return err
	}
	return tx.Index(id, r, revision)
}

// Versions returns the past states of a memory, oldest first.
func (c *Conn) Versions(id int64) ([]robotmem.Version, error) {
	var out []robotmem.Version
	err := c.Query(`SELECT version, content, context, category, confidence, status, superseded_by, valid_from, valid_to, change, reason
		FROM versions WHERE memory_id = ? ORDER BY rowid`, []any{id}, func(s *sqlite.Stmt) error {
		v := robotmem.Version{
			Version: s.ColumnInt(0), Content: s.ColumnText(1), Context: robotmem.ParseObject(s.ColumnText(2)), Category: s.ColumnText(3),
			Confidence: s.ColumnFloat(4), Status: s.ColumnText(5), SupersededBy: s.ColumnInt64(6),
			From: ParseTime(s.ColumnText(7)), To: parseTimePtr(s.ColumnText(8)), Change: s.ColumnText(9), Reason: s.ColumnText(10),
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

// StoredConfidence is the confidence as stored, before any fading.
func (c *Conn) StoredConfidence(id int64) (f float64, err error) {
	_, err = c.One("SELECT confidence FROM memories WHERE id = ?", []any{id}, func(s *sqlite.Stmt) { f = s.ColumnFloat(0) })
	return f, err
}
