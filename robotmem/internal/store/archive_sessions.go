package store

import (
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// JudgeSession says what becomes of an episode.
func (c *Conn) JudgeSession(s *archive.Session, counts *ImportCount) (v verdict, err error) {
	var known *archive.Session
	err = c.EachArchivedSession("", s.SessionID, func(found *archive.Session) error { known = found; return nil })
	if err != nil {
		return v, err
	}
	v = VerdictCreate
	if known != nil {
		mine, err := known.Hash()
		if err != nil {
			return v, err
		}
		theirs, err := s.Hash()
		if err != nil {
			return v, err
		}
		switch {
		case mine == theirs:
			v = VerdictSame
		case s.UpdatedAt > known.UpdatedAt:
			v = VerdictReplace
		default:
			v = verdictKeep
		}
	}
	counts.Count(v)
	return v, nil
}

func (tx *Tx) StoreSession(s *archive.Session, counts *ImportCount) error {
	v, err := tx.JudgeSession(s, counts)
	if err != nil || v == VerdictSame || v == verdictKeep {
		return err
	}
	tx.NextRevision()
	err = tx.Exec(`INSERT INTO sessions(external_id, collection, context, session_count, status, client_type, summary, created_at, updated_at, ended_at)
		VALUES (?,?,?,?,?,?,?,?,?,?) ON CONFLICT(external_id) DO UPDATE SET context = excluded.context, session_count = excluded.session_count,
		status = excluded.status, client_type = excluded.client_type, summary = excluded.summary, updated_at = excluded.updated_at, ended_at = excluded.ended_at`,
		s.SessionID, s.Collection, objectText(s.Context), s.Count, s.Status, sqlite.OrNull(s.ClientType), sqlite.OrNull(string(s.Summary)), s.CreatedAt, s.UpdatedAt, sqlite.OrNull(s.EndedAt))
	if err != nil {
		return err
	}
	for _, o := range s.Outcomes {
		err := tx.Exec(`INSERT INTO session_outcomes(session_id, score, created_at) SELECT ?1, ?2, ?3
			WHERE NOT EXISTS (SELECT 1 FROM session_outcomes WHERE session_id = ?1 AND score = ?2 AND created_at = ?3)`, s.SessionID, o.Score, o.CreatedAt)
		if err != nil {
			return err
		}
	}
	for _, n := range s.Streams {
		err := tx.Exec(`INSERT OR REPLACE INTO streams(session_id, collection, source, received, stored, dropped, missed, bytes, updated_at)
			VALUES (?,?,?,?,?,?,?,?,?)`, s.SessionID, n.Collection, n.Source, n.Received, n.Stored, n.Dropped, n.Missed, n.Bytes, n.UpdatedAt)
		if err != nil {
			return err
		}
	}
	return nil
}

// StoreLink sets a reference whose ends are both known. One that is set already
// is left alone.
func (tx *Tx) StoreLink(l *archive.Link, counts *LinkCount) error {
	memory, err := tx.IdOf(l.Memory)
	if err != nil {
		return err
	}
	successor, err := tx.IdOf(l.SupersededBy)
	if err != nil {
		return err
	}
	session := int64(0)
	if l.SessionID != "" {
		if session, err = tx.Number("SELECT id FROM sessions WHERE external_id = ?", l.SessionID); err != nil {
			return err
		}
	}
	dangling := l.Memory != "" && memory == 0 || l.SupersededBy != "" && successor == 0 || l.SessionID != "" && session == 0
	if dangling {
		counts.Dangling++
		return nil
	}
	counts.Set++
	switch {
	case memory != 0 && successor != 0 && l.ValidTo != "":
		return tx.Exec("UPDATE versions SET superseded_by = ? WHERE memory_id = ? AND version = ? AND valid_to = ? AND status = 'superseded' AND superseded_by IS NULL", successor, memory, l.Version, l.ValidTo)
	case memory != 0 && successor != 0:
		return tx.setSuccessor(memory, successor)
	case memory != 0 && session != 0:
		return tx.Exec("INSERT INTO session_recalls(session_id, memory_id, used) VALUES (?,?,?) ON CONFLICT DO UPDATE SET used = max(used, excluded.used)", l.SessionID, memory, l.Used)
	case memory != 0 && l.Origin != "":
		return tx.Exec("INSERT OR IGNORE INTO origins(collection, origin, memory_id) VALUES (?,?,?)", l.Collection, l.Origin, memory)
	case session != 0 && l.Origin != "":
		return tx.Exec("INSERT OR IGNORE INTO session_origins(collection, origin, session_id) VALUES (?,?,?)", l.Collection, l.Origin, l.SessionID)
	}
	return nil
}

// setSuccessor fills in what supersedes a memory, where that was not known yet.
func (tx *Tx) setSuccessor(id, by int64) error {
	before := tx.TotalChanges()
	err := tx.Exec("UPDATE memories SET superseded_by = ?, revision = ? WHERE id = ? AND status = 'superseded' AND superseded_by IS NULL", by, tx.Revision+1, id)
	if err == nil && tx.TotalChanges() != before {
		tx.NextRevision()
	}
	return err
}
