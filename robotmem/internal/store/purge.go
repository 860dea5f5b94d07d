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
	return c.Number(PurgeCounter)
}

// Purge deletes a memory and everything derived from it, and logs it. secure_delete
// overwrites the deleted rows. Copies that earlier changes left in the file are removed
// by a rewrite after the commit.
func (tx *Tx) Purge(m *robotmem.Memory, reason string) (out *robotmem.Purged, err error) {
	if err := tx.Exec(SecureDeleteOn); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tx.Exec(SecureDeleteOff)) }()

	// The report counts rows that purgeRows deletes, so they are read first.
	out = &robotmem.Purged{}
	versions, err := tx.Number(CountVersions, m.MemoryID)
	if err != nil {
		return nil, err
	}
	out.Versions = int(versions)
	if out.StoodFor, err = tx.IDs(SupersededBy,
		m.MemoryID); err != nil {
		return nil, err
	}

	return out, errors.Join(tx.purgeRows(m.MemoryID), tx.purgePayload(m, out), tx.markPurged(m, reason))
}

// unindexByID removes all index entries of a memory without using its record: the rules
// may have changed since, or the row is damaged. It scans whole indexes.
func (tx *Tx) unindexByID(id int64) error {
	return tx.each(id,
		DeleteSignaturesOfMemory, DeleteFeaturesOfMemory, DeleteTags, DeleteFullText,
	)
}

// each runs queries with one memory as their parameter.
func (tx *Tx) each(id int64, queries ...Query) error {
	for _, q := range queries {
		if err := tx.Exec(q, id); err != nil {
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
		DeleteVersions, DeleteRecallsOfMemory, DeleteOriginsOfMemory, DeleteSightingsOfMemory, ClearPastSuccessors,
		ClearSuccessors, ClearAudit, DeleteMemory,
	),
		// Snapshots of the in-memory indexes hold the words and values of the memory.
		tx.Exec(DeleteSnapshotHeads),
		tx.Exec(DeleteSnapshots),
		tx.BeginFeatureEpoch(),
		tx.forgetAnswers(id),
		tx.purgeVectors(id))
}

// purgeVectors sets the vectors of a memory to NULL under a new sequence number, so that
// other processes drop the vectors from their indexes.
func (tx *Tx) purgeVectors(id int64) error {
	return tx.eachModel(func(m *Model) error {
		return errors.Join(
			tx.Exec(PurgeVector.Of(m), m.Seq+1, id),
			tx.Exec(SetModelSeq, m.Seq+1, m.ID))
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

	named, err := tx.Number(CountNaming, sum)
	if err != nil {
		return err
	}

	if named > 0 {
		out.Payload = "kept: another memory has the same bytes"
		return nil
	}

	out.Payload = "gone before"
	inFile := false
	found, err := tx.One(PayloadSize, []any{sum}, func(s Row) {
		out.Payload, out.Bytes, inFile = "removed", s.ColumnInt64(0), s.ColumnBool(1)
	})
	if err != nil || !found {
		return err
	}
	if err := tx.Exec(DeletePayload, sum); err != nil || inFile {
		return err
	}

	// The file is removed after the commit. The table remembers it, so that a crash does not leave it behind.
	return tx.Exec(InsertPurgedFile, sum)
}

// markPurged logs that the memory existed, who stored it, and who purged it.
func (tx *Tx) markPurged(m *robotmem.Memory, reason string) error {
	revision := tx.NextRevision()
	err := errors.Join(
		tx.Exec(InsertPurged, m.MemoryID, m.UID, revision),
		tx.Exec(AddPurge),
		tx.Exec(SetScrub, revision))
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
	return c.Number(ScrubUpto)
}

func (tx *Tx) Scrubbed(upto int64) error {
	return tx.Exec(ClearScrub, upto)
}

// PurgedFiles lists the files of purged payloads to remove. It leaves out a payload that
// was saved again since.
func (c *Conn) PurgedFiles() (sums [][sha256.Size]byte, err error) {
	err = c.Query(PurgedFiles, nil, func(s Row) error {
		if raw := s.ColumnRawBlob(0); len(raw) == sha256.Size {
			sums = append(sums, [sha256.Size]byte(raw))
		}
		return nil
	})

	return sums, err
}

func (tx *Tx) DropPurgedFiles() error { return tx.Exec(DeletePurgedFiles) }

// RewriteFile rewrites the file from its tables. It rebuilds the full-text index first,
// because the terms of a deleted row remain in its segments until they are merged.
// VACUUM does not copy free pages and overwritten parts of pages.
func (c *Conn) RewriteFile() (err error) {
	if err := c.Exec(RebuildFullText); err != nil {
		return err
	}
	// VACUUM copies the file, and the copy can be larger than memory.
	if err := c.Exec(TemporariesInFile); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Exec(TemporariesInMemory)) }()

	return c.Exec(RewriteFile)
}

// EmptyLog checkpoints and truncates the log. It reports false while another connection
// still reads from it.
func (c *Conn) EmptyLog() (done bool, err error) {
	_, err = c.One(TruncateLog, nil, func(s Row) { done = s.ColumnInt64(0) == 0 })
	return done, err
}
