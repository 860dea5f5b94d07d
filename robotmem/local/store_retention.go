package local

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
)

// payloadBytes is what a row of payloads takes. The column stored lies behind the
// bytes of what is in the file, and reading it would read all of them.
const payloadBytes = "CASE WHEN data IS NULL THEN coalesce(stored, bytes) ELSE length(data) END"

// storedBytes is what all payloads take.
func (c *conn) storedBytes() (int64, error) {
	return c.Number("SELECT coalesce(sum(" + payloadBytes + "), 0) FROM payloads")
}

// holdings are all perceptions that have a payload.
func (c *conn) holdings() (held []holding, err error) {
	useful := map[int64]bool{}
	err = c.Query("SELECT DISTINCT memory_id FROM session_recalls WHERE used = 1", nil, func(s *sqlite3.Stmt) error {
		useful[s.ColumnInt64(0)] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = c.Query(`WITH failed(session_id) AS (SELECT session_id FROM session_outcomes GROUP BY session_id HAVING min(score) < 0.5)
		SELECT m.id, m.collection, m.perception_type, m.session_id, coalesce(m.source, ''), m.observed_at, p.sha256,
			`+payloadBytes+`, p.data IS NULL, m.status, m.pinned, m.access_count + m.return_count,
			m.session_id IN (SELECT session_id FROM failed) OR
				instr(m.context, '"success":false') > 0 AND json_extract(m.context, '$.task.success') = 0
		FROM memories m INDEXED BY idx_mem_payload JOIN payloads p ON p.sha256 = m.perception_data
		WHERE m.perception_data IS NOT NULL AND m.id NOT IN (SELECT memory_id FROM evictions)`, nil, func(s *sqlite3.Stmt) error {
		h := holding{
			id: s.ColumnInt64(0), collection: s.ColumnText(1), perceptionType: s.ColumnText(2), observed: s.ColumnText(5),
			sum: string(s.ColumnRawBlob(6)), bytes: s.ColumnInt64(7), inFolder: s.ColumnBool(8),
		}
		if session := s.ColumnText(3); session != "" {
			h.recording = session + "\x00" + h.perceptionType + "\x00" + s.ColumnText(4)
		}
		switch {
		case s.ColumnText(9) != "active":
			h.tier = tierGone
		case s.ColumnBool(10):
			h.tier = tierPinned
		case s.ColumnBool(12):
			h.tier = tierFailed
		case useful[h.id]:
			h.tier = tierUseful
		case s.ColumnInt(11) > 0:
			h.tier = tierRecalled
		default:
			h.tier = tierPlain
		}
		held = append(held, h)
		return nil
	})
	return held, err
}

// evict takes perceptions out of recall, removes their payloads and records it.
// It returns those that went: one that has changed since it was planned stays.
func (s *store) evict(ctx context.Context, plan []evicted) (gone []evicted, err error) {
	if err := s.mayRemove(plan); err != nil {
		return nil, err
	}
	var files [][sha256.Size]byte
	err = s.write(ctx, func(tx *writeTx) error {
		gone, files = nil, nil // a job may run twice
		for _, p := range plan {
			m, err := tx.memory(p.id, tx.now)
			if err != nil {
				return err
			}
			same, err := tx.unchanged(m, &p)
			if err != nil {
				return err
			}
			if !same {
				continue
			}
			if err := tx.evict(m, &p); err != nil {
				return err
			}
			if p.freed > 0 && p.inFolder {
				files = append(files, [sha256.Size]byte([]byte(p.sum)))
			}
			gone = append(gone, p)
		}
		return nil
	})
	if err != nil || len(files) == 0 {
		return gone, err
	}
	return gone, s.removeFiles(ctx, files)
}

// mayRemove fails when the folder keeps its files: perceptions would be lost and
// no room made. A full disk does not stop it.
func (s *store) mayRemove(plan []evicted) error {
	if !slices.ContainsFunc(plan, func(p evicted) bool { return p.inFolder }) {
		return nil
	}
	name := filepath.Join(s.payloads().Dir, "tmp-"+rand.Text()) // one that is swept
	probe, err := s.disk.Create(name, 0o600)
	if err == nil {
		err = errors.Join(probe.Close(), s.disk.Remove(name))
	}
	for _, final := range []error{fs.ErrPermission, syscall.EROFS, syscall.ENOTDIR} {
		if errors.Is(err, final) {
			return robotmem.Errorf(robotmem.Unavailable, "", "files cannot be removed from the folder of payloads (%s); nothing was evicted", rootReason(err))
		}
	}
	return nil
}

// unchanged reports whether a perception is still what the plan took it for.
// Another node may have evicted it meanwhile, or a caller restored or pinned it.
func (tx *writeTx) unchanged(m *robotmem.Memory, p *evicted) (bool, error) {
	if m.SHA256 != hex.EncodeToString([]byte(p.sum)) || (m.Status != "active") != (p.tier == tierGone) || m.Status == "active" && m.Pinned != (p.tier == tierPinned) {
		return false, nil
	}
	gone, err := tx.evicted(m.MemoryID)
	return !gone, err
}

// evicted reports whether a perception was evicted, restored since or not.
func (c *conn) evicted(id int64) (bool, error) {
	n, err := c.Number("SELECT count(*) FROM evictions WHERE memory_id = ?", id)
	return n > 0, err
}

// evict is the part of one perception. It sets what that freed: nothing while
// another names the payload.
func (tx *writeTx) evict(m *robotmem.Memory, p *evicted) error {
	if m.Status == "active" {
		if err := tx.unindexText(m.MemoryID); err != nil {
			return err
		}
		if err := tx.setStatus(m.MemoryID, "invalidated", "evicted", p.reason); err != nil {
			return err
		}
	}
	named, err := tx.Number("SELECT count(*) FROM memories WHERE perception_data = ? AND id <> ? AND id NOT IN (SELECT memory_id FROM evictions)", []byte(p.sum), m.MemoryID)
	if err != nil {
		return err
	}
	if p.freed = 0; named == 0 {
		p.freed = p.bytes
		if err := tx.Exec("DELETE FROM payloads WHERE sha256 = ?", []byte(p.sum)); err != nil {
			return err
		}
	}
	ch := changeOf(actionEvicted, m)
	ch.reason = p.reason
	if err := errors.Join(tx.audit(ch), tx.insertFeatures(m.MemoryID, &features{})); err != nil {
		return err
	}
	return tx.Exec("INSERT INTO evictions(memory_id, collection, perception_type, bytes, reason, evicted_at) VALUES (?,?,?,?,?,?)",
		m.MemoryID, p.collection, p.perceptionType, p.freed, p.reason, formatTime(tx.now))
}

// removeFiles removes files that no row names. The rows went in a commit before:
// a crash between the two leaves files that nothing names, and loses nothing.
func (s *store) removeFiles(ctx context.Context, sums [][sha256.Size]byte) error {
	return s.write(ctx, func(tx *writeTx) error {
		for _, sum := range sums {
			n, err := tx.Number("SELECT count(*) FROM payloads WHERE sha256 = ? AND data IS NULL", sum[:])
			if err != nil {
				return err
			}
			if n > 0 {
				continue // saved again meanwhile
			}
			if err := s.payloads().Remove(sum); err != nil {
				return robotmem.Errorf(robotmem.Unavailable, "", "a payload's file cannot be removed (%s)", rootReason(err))
			}
		}
		return nil
	})
}
