package local

import (
	"errors"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
)

// joinSession checks the record's session and settles its collection.
func (c *conn) joinSession(r *record) error {
	r.robot = robotOf(r.context)
	if r.session == "" {
		if r.collection == "" {
			r.collection = defaultCollection
		}
		return nil
	}
	s, err := c.openSession(r.session)
	if err != nil {
		return err
	}
	if r.collection == "" {
		r.collection = s.Collection
	}
	if r.robot == "" {
		r.robot = robotOf(s.Context)
	}
	if r.collection != s.Collection {
		return robotmem.Errorf(robotmem.Invalid, "collection", "is %q, but the session belongs to %q; leave collection out, or start a session in it", r.collection, s.Collection)
	}
	return nil
}

// openSession returns a session that has not ended.
func (c *conn) openSession(id string) (*robotmem.Session, error) {
	s, err := c.session(id)
	if err == nil && s.Status == "ended" {
		err = robotmem.Errorf(robotmem.Conflict, "session_id", "the session ended at %s; start a new one with start_session", s.EndedAt.Format(time.RFC3339))
	}
	return s, err
}

const sessionColumns = `s.external_id, s.collection, s.status, s.context, s.created_at, s.ended_at, s.client_type,
	(SELECT count(*) FROM memories m WHERE m.session_id = s.external_id),
	(SELECT score FROM session_outcomes o WHERE o.session_id = s.external_id ORDER BY o.id DESC LIMIT 1)`

// sessionID is the number of the column that follows sessionColumns.
const sessionID = 9

func scanSession(s *sqlite3.Stmt) robotmem.Session {
	out := robotmem.Session{
		SessionID: s.ColumnText(0), Collection: s.ColumnText(1), Status: s.ColumnText(2), Context: robotmem.ParseObject(s.ColumnText(3)),
		CreatedAt: parseTime(s.ColumnText(4)), EndedAt: parseTimePtr(s.ColumnText(5)), ClientType: s.ColumnText(6), MemoryCount: s.ColumnInt64(7),
	}
	if s.ColumnType(8) != sqlite3.NULL {
		score := s.ColumnFloat(8)
		out.OutcomeScore = &score
	}
	return out
}

// session returns one session; NotFound if there is none.
func (c *conn) session(id string) (*robotmem.Session, error) {
	var out robotmem.Session
	found, err := c.One("SELECT external_id, collection, status, context, created_at, ended_at, client_type, 0, NULL FROM sessions WHERE external_id = ?", []any{id}, func(s *sqlite3.Stmt) { out = scanSession(s) })
	if err == nil && !found {
		err = robotmem.Errorf(robotmem.NotFound, "session_id", "there is no session %s; ids come from start_session", id)
	}
	return &out, err
}

// sessionWhole returns one session with its counts, and the summary that its
// end has stored.
func (c *conn) sessionWhole(id string) (out *robotmem.Session, summary string, err error) {
	if out, err = c.session(id); err != nil {
		return nil, "", err
	}
	_, err = c.One("SELECT "+sessionColumns+", s.summary FROM sessions s WHERE s.external_id = ?", []any{id}, func(s *sqlite3.Stmt) {
		*out, summary = scanSession(s), s.ColumnText(sessionID)
	})
	return out, summary, err
}

// recalledFor lists what was recalled for a session and, beside it, the
// memories of pending: the useful first, n at most.
func (c *conn) recalledFor(session string, pending []int64, n int, now time.Time) ([]robotmem.RecalledMemory, error) {
	more, err := robotmem.EncodeJSON(orEmpty(pending))
	if err != nil {
		return nil, err
	}
	out := []robotmem.RecalledMemory{}
	err = c.Query("SELECT "+memoryColumns+`, coalesce(r.used, 0) AS helped
		FROM memories m LEFT JOIN session_recalls r ON r.session_id = ?1 AND r.memory_id = m.id
		WHERE m.id IN (SELECT memory_id FROM session_recalls WHERE session_id = ?1 UNION SELECT value FROM json_each(?2))
		ORDER BY helped DESC, m.id LIMIT ?3`, []any{session, string(more), n}, func(s *sqlite3.Stmt) error {
		m := scanMemory(s, now)
		out = append(out, robotmem.RecalledMemory{
			BriefMemory: robotmem.BriefMemory{MemoryID: m.MemoryID, Summary: summarize(m.Content), Category: m.Category, Confidence: m.Confidence},
			Status:      m.Status, Type: m.Type, Used: s.ColumnBool(s.ColumnCount() - 1),
		})
		return nil
	})
	return out, err
}

func (tx *writeTx) insertSession(id, collection, context, clientType string) error {
	now := formatTime(tx.now)
	tx.nextRevision()
	return tx.Exec("INSERT INTO sessions(external_id, collection, context, client_type, created_at, updated_at) VALUES (?,?,?,?,?,?)",
		id, collection, context, clientType, now, now)
}

// sessionOf returns the session that has an origin, "" if none does.
func (c *conn) sessionOf(collection, origin string) (id string, err error) {
	if origin != "" {
		_, err = c.One("SELECT session_id FROM session_origins WHERE collection = ? AND origin = ?", []any{collection, origin}, func(s *sqlite3.Stmt) { id = s.ColumnText(0) })
	}
	return id, err
}

func (tx *writeTx) insertSessionOrigin(collection, origin, id string) error {
	if origin == "" {
		return nil
	}
	return tx.Exec("INSERT INTO session_origins(collection, origin, session_id) VALUES (?,?,?)", collection, origin, id)
}

// finishSession marks a session as ended.
func (tx *writeTx) finishSession(id, summary string, score *float64) error {
	now := formatTime(tx.now)
	tx.nextRevision()
	if err := tx.Exec("UPDATE sessions SET status = 'ended', summary = ?, ended_at = ?, updated_at = ? WHERE external_id = ?", summary, now, now, id); err != nil {
		return err
	}
	if score == nil {
		return nil
	}
	return tx.Exec("INSERT INTO session_outcomes(session_id, score, created_at) VALUES (?,?,?)", id, *score, now)
}

// sessionSummary returns what was stored when the last session of a
// collection ended, "" if none has.
func (c *conn) lastSummary(collection string) (summary string, err error) {
	_, err = c.One("SELECT summary FROM sessions WHERE collection = ? AND status = 'ended' ORDER BY id DESC LIMIT 1", []any{collection}, func(s *sqlite3.Stmt) { summary = s.ColumnText(0) })
	return summary, err
}

// used credits a memory with having helped: its clock of fading starts anew.
func (tx *writeTx) used(session string, id int64) error {
	ok, err := tx.Number("SELECT count(*) FROM memories WHERE id = ?", id)
	if err != nil {
		return err
	}
	if ok == 0 {
		return robotmem.Errorf(robotmem.NotFound, "used_memory_ids", "there is no memory %d; nothing was stored, the session is still open", id)
	}
	err = tx.Exec("INSERT INTO session_recalls(session_id, memory_id, used) VALUES (?,?,1) ON CONFLICT DO UPDATE SET used = 1", session, id)
	if err != nil {
		return err
	}
	return tx.Exec("UPDATE memories SET access_count = access_count + 1, last_accessed = ?, revision = ? WHERE id = ?", formatTime(tx.now), tx.nextRevision(), id)
}

// storeTallies writes what recalls have counted.
func (tx *writeTx) storeTallies(c *tally) error {
	for name, n := range map[string]int64{"recalls": c.recalls, "zero_hits": c.zeroHits} {
		if err := tx.Exec("UPDATE counters SET value = value + ? WHERE name = ?", n, name); err != nil {
			return err
		}
	}
	for id, n := range c.returned {
		if err := tx.Exec("UPDATE memories SET return_count = return_count + ? WHERE id = ?", n, id); err != nil {
			return err
		}
	}
	for session, ids := range c.credit {
		for id := range ids {
			err := tx.Exec("INSERT OR IGNORE INTO session_recalls(session_id, memory_id) SELECT ?1, id FROM memories WHERE id = ?2", session, id)
			if err != nil { // one that was purged since is not there
				return err
			}
		}
	}
	for at, n := range c.hours {
		err := tx.Exec(`INSERT INTO recall_hours(hour, collection, recalls, zero_hits) VALUES (?,?,?,?)
			ON CONFLICT DO UPDATE SET recalls = recalls + excluded.recalls, zero_hits = zero_hits + excluded.zero_hits`,
			formatTime(at.hour), at.collection, n.recalls, n.zeroHits)
		if err != nil {
			return err
		}
	}
	return nil
}

// candidates returns the active facts of a session for consolidation.
func (c *conn) candidates(session, collection string) ([]consolidate.Candidate, error) {
	var out []consolidate.Candidate
	err := c.Query(`SELECT id, category, confidence, access_count, created_at, pinned, type, content, context
		FROM memories WHERE session_id = ? AND collection = ? AND status = 'active' ORDER BY id`, []any{session, collection}, func(s *sqlite3.Stmt) error {
		cand := consolidate.Candidate{
			ID: s.ColumnInt64(0), Category: s.ColumnText(1), Confidence: s.ColumnFloat(2), AccessCount: s.ColumnInt(3),
			CreatedAt: parseTime(s.ColumnText(4)), Pinned: s.ColumnBool(5), Perception: s.ColumnText(6) == "perception",
		}
		if consolidate.Mergeable(cand) {
			describe(&cand, s.ColumnText(7), robotmem.ParseObject(s.ColumnText(8)))
		}
		out = append(out, cand)
		return nil
	})
	return out, err
}

// supersede makes one memory the representative of another.
func (tx *writeTx) supersede(id, by int64) error {
	if err := tx.unindexText(id); err != nil {
		return err
	}
	ch := change{action: actionSuperseded, memoryID: id, reason: fmt.Sprintf("memory %d says the same", by)}
	_, err := tx.One("SELECT uid, collection FROM memories WHERE id = ?", []any{id}, func(s *sqlite3.Stmt) {
		ch.uid, ch.collection = s.ColumnText(0), s.ColumnText(1)
	})
	if err := errors.Join(err, tx.audit(ch)); err != nil {
		return err
	}
	return tx.setSuperseded(id, by, "superseded")
}

func (tx *writeTx) setSuperseded(id, by int64, change string) error {
	if err := tx.archive(id, change, ""); err != nil {
		return err
	}
	now := formatTime(tx.now)
	return tx.Exec("UPDATE memories SET status = 'superseded', superseded_by = ?, valid_from = ?, updated_at = ?, revision = ? WHERE id = ?",
		by, now, now, tx.nextRevision(), id)
}
