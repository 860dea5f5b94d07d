package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/perception/recorder"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// Sessions fills one page of episodes, newest first.
func (c *Conn) Sessions(r *robotmem.SessionsRequest, from *cursor, res *robotmem.SessionsResponse) (err error) {
	match, args := " FROM sessions s WHERE (? = '*' OR s.collection = ?) AND (? = '' OR s.status = ?)", []any{r.Collection, r.Collection, r.Status, r.Status}
	if res.Total, err = c.Number("SELECT count(*)"+match, args...); err != nil {
		return err
	}
	if from != nil {
		match, args = match+" AND s.id < ?", append(args, from.ID)
	}
	page, ids := []robotmem.Session{}, []int64{}
	err = c.Query("SELECT "+sessionColumns+", s.id"+match+" ORDER BY s.id DESC LIMIT ? OFFSET ?", append(args, r.Limit+1, (r.Page-1)*r.Limit), func(s *sqlite.Stmt) error {
		page, ids = append(page, scanSession(s)), append(ids, s.ColumnInt64(sessionID))
		return nil
	})
	var more bool
	if res.Sessions, more = cut(page, r.Limit); more {
		res.Next = after("sessions", SessionsFilters(*r), ids[r.Limit-1]).String()
	}
	return err
}

// SessionMemories fills one page of an episode's, whatever their status, as it
// was lived.
func (c *Conn) SessionMemories(r *robotmem.SessionMemoriesRequest, from *cursor, now time.Time, res *robotmem.ListResponse) (err error) {
	if res.Total, err = c.Number("SELECT count(*) FROM memories WHERE session_id = ?", r.SessionID); err != nil {
		return err
	}
	match, args := " FROM memories m WHERE m.session_id = ?", []any{r.SessionID}
	if from != nil {
		match, args = match+" AND (m.observed_at, m.id) > (?, ?)", append(args, from.At, from.ID)
	}
	page, err := c.Page(match+" ORDER BY m.observed_at, m.id LIMIT ? OFFSET ?", append(args, r.Limit+1, (r.Page-1)*r.Limit), now)
	if err != nil {
		return err
	}
	var more bool
	if res.Memories, more = cut(page, r.Limit); more {
		last := &res.Memories[r.Limit-1]
		next := after("session_memories", SessionMemoriesFilters(*r), last.MemoryID)
		next.At = FormatTime(last.ObservedAt)
		res.Next = next.String()
	}
	return nil
}

// JoinSession checks the record's session and settles its collection.
func (c *Conn) JoinSession(r *record.Record) error {
	r.Robot = record.RobotOf(r.Context)
	if r.Session == "" {
		if r.Collection == "" {
			r.Collection = robotmem.DefaultCollection
		}
		return nil
	}
	s, err := c.OpenSession(r.Session)
	if err != nil {
		return err
	}
	if r.Collection == "" {
		r.Collection = s.Collection
	}
	if r.Robot == "" {
		r.Robot = record.RobotOf(s.Context)
	}
	if r.Collection != s.Collection {
		return robotmem.Errorf(robotmem.Invalid, "collection", "is %q, but the session belongs to %q; leave collection out, or start a session in it", r.Collection, s.Collection)
	}
	return nil
}

// OpenSession returns a session that has not ended.
func (c *Conn) OpenSession(id string) (*robotmem.Session, error) {
	s, err := c.Session(id)
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

func scanSession(s *sqlite.Stmt) robotmem.Session {
	out := robotmem.Session{
		SessionID: s.ColumnText(0), Collection: s.ColumnText(1), Status: s.ColumnText(2), Context: robotmem.ParseObject(s.ColumnText(3)),
		CreatedAt: ParseTime(s.ColumnText(4)), EndedAt: parseTimePtr(s.ColumnText(5)), ClientType: s.ColumnText(6), MemoryCount: s.ColumnInt64(7),
	}
	if s.ColumnType(8) != sqlite.Null {
		score := s.ColumnFloat(8)
		out.OutcomeScore = &score
	}
	return out
}

// Session returns one session; NotFound if there is none.
func (c *Conn) Session(id string) (*robotmem.Session, error) {
	var out robotmem.Session
	found, err := c.One("SELECT external_id, collection, status, context, created_at, ended_at, client_type, 0, NULL FROM sessions WHERE external_id = ?", []any{id}, func(s *sqlite.Stmt) { out = scanSession(s) })
	if err == nil && !found {
		err = robotmem.Errorf(robotmem.NotFound, "session_id", "there is no session %s; ids come from start_session", id)
	}
	return &out, err
}

// SessionWhole returns one session with its counts, and the summary that its
// end has stored.
func (c *Conn) SessionWhole(id string) (out *robotmem.Session, summary string, err error) {
	if out, err = c.Session(id); err != nil {
		return nil, "", err
	}
	_, err = c.One("SELECT "+sessionColumns+", s.summary FROM sessions s WHERE s.external_id = ?", []any{id}, func(s *sqlite.Stmt) {
		*out, summary = scanSession(s), s.ColumnText(sessionID)
	})
	return out, summary, err
}

// RecalledFor lists what was recalled for a session and, beside it, the
// memories of pending: the useful first, n at most.
func (c *Conn) RecalledFor(session string, pending []int64, n int, now time.Time) ([]robotmem.RecalledMemory, error) {
	more, err := robotmem.EncodeJSON(record.OrEmpty(pending))
	if err != nil {
		return nil, err
	}
	out := []robotmem.RecalledMemory{}
	err = c.Query("SELECT "+MemoryColumns+`, coalesce(r.used, 0) AS helped
		FROM memories m LEFT JOIN session_recalls r ON r.session_id = ?1 AND r.memory_id = m.id
		WHERE m.id IN (SELECT memory_id FROM session_recalls WHERE session_id = ?1 UNION SELECT value FROM json_each(?2))
		ORDER BY helped DESC, m.id LIMIT ?3`, []any{session, string(more), n}, func(s *sqlite.Stmt) error {
		m := ScanMemory(s, now)
		out = append(out, robotmem.RecalledMemory{
			BriefMemory: robotmem.BriefMemory{MemoryID: m.MemoryID, Summary: record.Summarize(m.Content), Category: m.Category, Confidence: m.Confidence},
			Status:      m.Status, Type: m.Type, Used: s.ColumnBool(s.ColumnCount() - 1),
		})
		return nil
	})
	return out, err
}

func (tx *Tx) InsertSession(id, collection, context, clientType string) error {
	now := FormatTime(tx.Now)
	tx.NextRevision()
	return tx.Exec("INSERT INTO sessions(external_id, collection, context, client_type, created_at, updated_at) VALUES (?,?,?,?,?,?)",
		id, collection, context, clientType, now, now)
}

// SessionOf returns the session that has an origin, "" if none does.
func (c *Conn) SessionOf(collection, origin string) (id string, err error) {
	if origin != "" {
		_, err = c.One("SELECT session_id FROM session_origins WHERE collection = ? AND origin = ?", []any{collection, origin}, func(s *sqlite.Stmt) { id = s.ColumnText(0) })
	}
	return id, err
}

func (tx *Tx) InsertSessionOrigin(collection, origin, id string) error {
	if origin == "" {
		return nil
	}
	return tx.Exec("INSERT INTO session_origins(collection, origin, session_id) VALUES (?,?,?)", collection, origin, id)
}

// FinishSession marks a session as ended.
func (tx *Tx) FinishSession(id, summary string, score *float64) error {
	now := FormatTime(tx.Now)
	tx.NextRevision()
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
func (c *Conn) LastSummary(collection string) (summary string, err error) {
	_, err = c.One("SELECT summary FROM sessions WHERE collection = ? AND status = 'ended' ORDER BY id DESC LIMIT 1", []any{collection}, func(s *sqlite.Stmt) { summary = s.ColumnText(0) })
	return summary, err
}

// Used credits a memory with having helped: its clock of fading starts anew.
func (tx *Tx) Used(session string, id int64) error {
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
	return tx.Exec("UPDATE memories SET access_count = access_count + 1, last_accessed = ?, revision = ? WHERE id = ?", FormatTime(tx.Now), tx.NextRevision(), id)
}

// StoreTallies writes what recalls have counted.
func (tx *Tx) StoreTallies(c *Counts) error {
	for name, n := range map[string]int64{"recalls": c.Recalls, "zero_hits": c.ZeroHits} {
		if err := tx.Exec("UPDATE counters SET value = value + ? WHERE name = ?", n, name); err != nil {
			return err
		}
	}
	for id, n := range c.returned {
		if err := tx.Exec("UPDATE memories SET return_count = return_count + ? WHERE id = ?", n, id); err != nil {
			return err
		}
	}
	for session, ids := range c.Credit {
		for id := range ids {
			err := tx.Exec("INSERT OR IGNORE INTO session_recalls(session_id, memory_id) SELECT ?1, id FROM memories WHERE id = ?2", session, id)
			if err != nil { // one that was purged since is not there
				return err
			}
		}
	}
	for at, n := range c.Hours {
		err := tx.Exec(`INSERT INTO recall_hours(hour, collection, recalls, zero_hits) VALUES (?,?,?,?)
			ON CONFLICT DO UPDATE SET recalls = recalls + excluded.recalls, zero_hits = zero_hits + excluded.zero_hits`,
			FormatTime(at.Hour), at.Collection, n.Recalls, n.ZeroHits)
		if err != nil {
			return err
		}
	}
	return nil
}

// Candidates returns the active facts of a session for consolidation.
func (c *Conn) Candidates(session, collection string) ([]consolidate.Candidate, error) {
	var out []consolidate.Candidate
	err := c.Query(`SELECT id, category, confidence, access_count, created_at, pinned, type, content, context
		FROM memories WHERE session_id = ? AND collection = ? AND status = 'active' ORDER BY id`, []any{session, collection}, func(s *sqlite.Stmt) error {
		cand := consolidate.Candidate{
			ID: s.ColumnInt64(0), Category: s.ColumnText(1), Confidence: s.ColumnFloat(2), AccessCount: s.ColumnInt(3),
			CreatedAt: ParseTime(s.ColumnText(4)), Pinned: s.ColumnBool(5), Perception: s.ColumnText(6) == "perception",
		}
		if consolidate.Mergeable(cand) {
			describe(&cand, s.ColumnText(7), robotmem.ParseObject(s.ColumnText(8)))
		}
		out = append(out, cand)
		return nil
	})
	return out, err
}

// Supersede makes one memory the representative of another.
func (tx *Tx) Supersede(id, by int64) error {
	if err := tx.UnindexText(id); err != nil {
		return err
	}
	ch := Change{Action: actionSuperseded, memoryID: id, Reason: fmt.Sprintf("memory %d says the same", by)}
	_, err := tx.One("SELECT uid, collection FROM memories WHERE id = ?", []any{id}, func(s *sqlite.Stmt) {
		ch.uid, ch.Collection = s.ColumnText(0), s.ColumnText(1)
	})
	if err := errors.Join(err, tx.Audit(ch)); err != nil {
		return err
	}
	return tx.SetSuperseded(id, by, "superseded")
}

func (tx *Tx) SetSuperseded(id, by int64, change string) error {
	if err := tx.Archive(id, change, ""); err != nil {
		return err
	}
	now := FormatTime(tx.Now)
	return tx.Exec("UPDATE memories SET status = 'superseded', superseded_by = ?, valid_from = ?, updated_at = ?, revision = ? WHERE id = ?",
		by, now, now, tx.NextRevision(), id)
}

// CountStream adds to the account of a stream.
func (tx *Tx) CountStream(session, collection string, n recorder.SourceCount) error {
	return tx.Exec(`INSERT INTO streams(session_id, collection, source, received, stored, dropped, missed, bytes, updated_at)
		VALUES (?,?,?,?,?,?,?,?,?)
		ON CONFLICT(session_id, collection, source) DO UPDATE SET received = received + excluded.received,
			stored = stored + excluded.stored, dropped = dropped + excluded.dropped, missed = missed + excluded.missed,
			bytes = bytes + excluded.bytes, updated_at = excluded.updated_at`,
		session, collection, n.Source, int64(n.Received), int64(n.Stored), int64(n.Dropped), int64(n.Missed), int64(n.Bytes), FormatTime(tx.Now))
}

// Streams are the accounts of a session's sources, or of every source over all
// sessions.
func (c *Conn) Streams(session string) (out []robotmem.StreamCount, err error) {
	err = c.Query(`SELECT source, sum(received), sum(stored), sum(dropped), sum(missed), sum(bytes) FROM streams
		WHERE ?1 = '' OR session_id = ?1 GROUP BY source ORDER BY source`, []any{session}, func(s *sqlite.Stmt) error {
		out = append(out, robotmem.StreamCount{Source: s.ColumnText(0), Received: s.ColumnInt64(1), Stored: s.ColumnInt64(2), Dropped: s.ColumnInt64(3), Missed: s.ColumnInt64(4), Bytes: s.ColumnInt64(5)})
		return nil
	})
	return out, err
}

// BatchCollection is where a batch belongs. Counts alone are taken after the
// session's end too: what came too late is on its account.
func (c *Conn) BatchCollection(b *recorder.Batch) (string, error) {
	if len(b.Items) == 0 && b.SessionID != "" {
		s, err := c.Session(b.SessionID)
		if err != nil {
			return "", err
		}
		return s.Collection, nil
	}
	probe := record.Record{Collection: b.Collection, Session: b.SessionID}
	err := c.JoinSession(&probe)
	return probe.Collection, err
}
