package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Purges counts the memories that were purged.
func (c *Conn) Purges() (int64, error) {
	return c.Number(purgesSQL)
}

// Purge deletes a memory and everything derived from it, and logs it. secure_delete
// overwrites the deleted rows. Copies that earlier changes left in the file are removed
// by a rewrite after the commit.
func (tx *Tx) Purge(m *robotmem.Memory, reason string) (out *robotmem.Purged, err error) {
	if err := tx.Exec("PRAGMA secure_delete=ON"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tx.Exec("PRAGMA secure_delete=OFF")) }()

	// The report counts rows that purgeRows deletes, so they are read first.
	out = &robotmem.Purged{}
	versions, err := tx.Number("SELECT count(*) FROM versions WHERE memory_id = ?", m.MemoryID)
	if err != nil {
		return nil, err
	}
	out.Versions = int(versions)
	if out.StoodFor, err = tx.IDs("SELECT id FROM memories WHERE superseded_by = ? ORDER BY id",
		m.MemoryID); err != nil {
		return nil, err
	}

	return out, errors.Join(tx.purgeRows(m.MemoryID), tx.purgePayload(m, out), tx.markPurged(m, reason))
}

// unindexByID removes all index entries of a memory without using its record: the rules
// may have changed since, or the row is damaged. It scans whole indexes.
func (tx *Tx) unindexByID(id int64) error {
	return tx.each(id,
		"DELETE FROM signatures WHERE memory_id = ?",
		"DELETE FROM features WHERE memory_id = ?",
		"DELETE FROM memory_tags WHERE memory_id = ?",
		"DELETE FROM memories_fts WHERE rowid = ?",
	)
}

// each runs statements with one memory as their parameter.
func (tx *Tx) each(id int64, statements ...string) error {
	for _, sql := range statements {
		if err := tx.Exec(sql, id); err != nil {
			return err
		}
	}
	return nil
}

// UnindexDamaged removes the index entries of a memory whose row is damaged.
func (tx *Tx) UnindexDamaged(id int64) error {
	return errors.Join(tx.unindexByID(id), tx.unindexVectors(id))
}

// purgeRows deletes the memory's row and all rows derived from it.
func (tx *Tx) purgeRows(id int64) error {
	return errors.Join(tx.unindexByID(id), tx.each(id,
		"DELETE FROM versions WHERE memory_id = ?",
		"DELETE FROM session_recalls WHERE memory_id = ?",
		"DELETE FROM origins WHERE memory_id = ?",
		"DELETE FROM sightings WHERE memory_id = ?",
		"UPDATE versions SET superseded_by = NULL WHERE superseded_by = ?",
		"UPDATE memories SET superseded_by = NULL WHERE superseded_by = ?",
		"UPDATE audit SET reason = NULL, before = NULL, after = NULL WHERE memory_id = ?",
		"DELETE FROM memories WHERE id = ?",
	),
		// Snapshots of the in-memory indexes hold the words and values of the memory.
		tx.Exec("DELETE FROM snapshot_heads"),
		tx.Exec("DELETE FROM snapshots"),
		tx.BeginFeatureEpoch(),
		tx.forgetAnswers(id),
		tx.purgeVectors(id))
}

// purgeVectors sets the vectors of a memory to NULL under a new sequence number, so that
// other processes drop the vectors from their indexes.
func (tx *Tx) purgeVectors(id int64) error {
	return tx.eachModel(func(m *Model) error {
		return errors.Join(
			tx.Exec("UPDATE "+m.Table()+" SET vector = NULL, seq = ? WHERE memory_id = ?", m.Seq+1, id),
			tx.Exec("UPDATE models SET seq = ? WHERE id = ?", m.Seq+1, m.ID))
	})
}

// purgePayload deletes the payload unless another memory has it, and lists its file for removal.
func (tx *Tx) purgePayload(m *robotmem.Memory, out *robotmem.Purged) error {
	if m.SHA256 == "" {
		return nil
	}

	sum, err := hex.DecodeString(m.SHA256)
	if err != nil || len(sum) != sha256.Size {
		return fmt.Errorf("payload of memory %d: its name is not a SHA-256", m.MemoryID)
	}

	named, err := tx.Number("SELECT count(*) FROM memories WHERE perception_data = ? AND id NOT IN (SELECT memory_id "+
		"FROM evictions)", sum)
	if err != nil {
		return err
	}

	if named > 0 {
		out.Payload = "kept: another memory has the same bytes"
		return nil
	}

	out.Payload = "gone before"
	inFile := false
	found, err := tx.One("SELECT bytes, data IS NOT NULL FROM payloads "+
		"WHERE sha256 = ?", []any{sum}, func(s Row) {
		out.Payload, out.Bytes, inFile = "removed", s.ColumnInt64(0), s.ColumnBool(1)
	})
	if err != nil || !found {
		return err
	}
	if err := tx.Exec("DELETE FROM payloads WHERE sha256 = ?", sum); err != nil || inFile {
		return err
	}

	// The file is removed after the commit. The table remembers it, so that a crash does not leave it behind.
	return tx.Exec("INSERT OR IGNORE INTO purged_files(sha256) VALUES (?)", sum)
}

// markPurged logs that the memory existed, who stored it, and who purged it.
func (tx *Tx) markPurged(m *robotmem.Memory, reason string) error {
	revision := tx.NextRevision()
	err := errors.Join(
		tx.Exec("INSERT INTO purged(memory_id, uid, revision) VALUES (?,?,?)", m.MemoryID, m.UID, revision),
		tx.Exec("UPDATE counters SET value = value + 1 WHERE name = 'purges'"),
		tx.Exec("UPDATE counters SET value = ? WHERE name = 'scrub'", revision))
	if err != nil {
		return err
	}

	// The row that says who stored the memory is gone, so the log gets that entry now.
	if p := m.Provenance; p != nil {
		created := AuditOf(actionCreated, m)
		created.At, created.Who, created.Tool = m.CreatedAt, p.Who, p.Tool
		if err := tx.auditAs(created); err != nil {
			return err
		}
	}

	ch := AuditOf(actionPurged, m)
	ch.Reason = reason

	return tx.Audit(ch)
}

// ToScrub returns the revision of the last purge whose rewrite is not finished, 0 if there is none.
func (c *Conn) ToScrub() (int64, error) {
	return c.Number("SELECT value FROM counters WHERE name = 'scrub'")
}

func (tx *Tx) Scrubbed(upto int64) error {
	return tx.Exec("UPDATE counters SET value = 0 WHERE name = 'scrub' AND value <= ?", upto)
}

// PurgedFiles lists the files of purged payloads to remove. It leaves out a payload that
// was saved again since.
func (c *Conn) PurgedFiles() (sums [][sha256.Size]byte, err error) {
	err = c.Query("SELECT sha256 FROM purged_files WHERE sha256 NOT IN (SELECT sha256 FROM payloads "+
		"WHERE data IS NULL)", nil, func(s Row) error {
		if raw := s.ColumnRawBlob(0); len(raw) == sha256.Size {
			sums = append(sums, [sha256.Size]byte(raw))
		}
		return nil
	})

	return sums, err
}

func (tx *Tx) DropPurgedFiles() error { return tx.Exec("DELETE FROM purged_files") }

// RewriteFile rewrites the file from its tables. It rebuilds the full-text index first,
// because the terms of a deleted row remain in its segments until they are merged.
// VACUUM does not copy free pages and overwritten parts of pages.
func (c *Conn) RewriteFile() (err error) {
	if err := c.Exec("INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')"); err != nil {
		return err
	}
	// VACUUM copies the file, and the copy can be larger than memory.
	if err := c.Exec("PRAGMA temp_store=FILE"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Exec("PRAGMA temp_store=MEMORY")) }()

	return c.Exec("VACUUM")
}

// EmptyLog checkpoints and truncates the log. It reports false while another connection
// still reads from it.
func (c *Conn) EmptyLog() (done bool, err error) {
	_, err = c.One("PRAGMA wal_checkpoint(TRUNCATE)", nil, func(s Row) { done = s.ColumnInt64(0) == 0 })
	return done, err
}
