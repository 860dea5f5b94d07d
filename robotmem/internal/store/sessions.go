package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/perception/recorder"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

const (
	lastScore = "(SELECT score FROM session_outcomes o WHERE o.session_id = s.external_id ORDER BY o.id DESC LIMIT 1)"
	orderNext = " NULLS LAST, "
	ofContext = "CASE WHEN json_valid(s.context) THEN coalesce(%s) END" // a damaged one has no values
)

var (
	sessionRobot = fmt.Sprintf(ofContext, "s.context ->> '$.robot.id', s.context ->> '$.robot.name', "+
		"s.context ->> '$.robot'")
	sessionTask = fmt.Sprintf(ofContext, "s.context ->> '$.task.name', s.context ->> '$.task.type', "+
		"s.context ->> '$.task.goal', s.context ->> '$.task'")
	sessionPlace = fmt.Sprintf(ofContext, "s.context ->> '$.spatial', NULL")
	sessionOrder = map[string]string{
		"time":    "s.created_at DESC, ",
		"outcome": lastScore + orderNext,
		"robot":   sessionRobot + orderNext,
		"task":    sessionTask + orderNext,
		"place":   sessionPlace + orderNext,
	}
)

// sessionsMatching returns the conditions of a list of sessions.
func sessionsMatching(r *robotmem.SessionsRequest) (match conditions) {
	match.inCollections("s.collection", r.Collection)
	match.add(true, "(? = '' OR s.status = ?)", r.Status, r.Status)
	match.add(r.Outcome == robotmem.OutcomeFailure, "s.external_id IN (SELECT session_id FROM session_outcomes "+
		"WHERE score <= ?) AND "+lastScore+" <= ?", record.FailureScore, record.FailureScore)
	match.add(r.Outcome == robotmem.OutcomeSuccess, lastScore+" >= ?", record.SuccessScore)
	match.add(r.Outcome == robotmem.OutcomePartial, lastScore+" > ? AND "+lastScore+" < ?", record.FailureScore,
		record.SuccessScore)
	match.add(r.Outcome == robotmem.OutcomeUnknown, lastScore+" IS NULL")
	match.add(r.Robot != "", sessionRobot+" = ?", r.Robot)
	match.add(r.Task != "", sessionTask+" = ?", r.Task)
	match.add(r.Words != "", "instr(lower(s.context), lower(?)) > 0", r.Words)
	match.within("s.created_at", r.After, r.Before)

	return match
}

// Sessions fills one page of sessions, newest first unless another order is asked for.
func (c *Conn) Sessions(r *robotmem.SessionsRequest, from *cursor, res *robotmem.SessionsResponse) (err error) {
	match := sessionsMatching(r)
	// The total is that of all pages, so the cursor is added to the conditions after it.
	if res.Total, err = c.Number("SELECT count(*) FROM sessions s"+match.String(), match.args...); err != nil {
		return err
	}
	if from != nil {
		match.add(true, "(s.created_at, s.id) < (?, ?)", from.At, from.ID)
	}

	page := []robotmem.Session{}
	ids := []int64{}

	sql := selectSession + ", s.id FROM sessions s" + match.String() +
		" ORDER BY " + sessionOrder[r.Sort] + "s.id DESC LIMIT ? OFFSET ?"
	err = c.Query(sql, append(match.args, r.Limit+1, (r.Page-1)*r.Limit), func(s Row) error {
		row, damage := scanSession(s)
		ids = append(ids, s.ColumnInt64(afterSession))
		if damage != nil {
			res.Degraded = append(res.Degraded, fmt.Sprintf("session %s: %s", row.SessionID, robotmem.Detail(damage)))
			row.Context, row.OutcomeScore = nil, nil
		}
		page = append(page, row.Session)

		return nil
	})

	// A cursor holds the time of a row, so other orders have pages by number only.
	var more bool
	if res.Sessions, more = Cut(page, r.Limit); more && r.Sort == "time" {
		res.Next = After("sessions", r, ids[r.Limit-1], FormatTime(page[r.Limit-1].CreatedAt))
	}

	return err
}

// ShownBy sets the perception of an incident's episode that shows the incident best: one with bytes before one
// without, a trace or sound before other kinds, one before the incident before one after it, then the nearest in time.
func (c *Conn) ShownBy(i *admin.Incident) error {
	if i.SessionID == "" || i.PerceptionID != 0 {
		return nil
	}

	const best = `SELECT id, perception_type, media_type, human_summary FROM memories WHERE session_id = ? AND type = 'perception' AND status = 'active'
		ORDER BY perception_data IS NULL, perception_type NOT IN ('tactile', 'proprioceptive', 'auditory'), observed_at > ?, abs(julianday(observed_at) - julianday(?)) LIMIT 1`
	at := FormatTime(i.At)
	_, err := c.One(best, []any{i.SessionID, at, at}, func(s Row) {
		i.PerceptionID = s.ColumnInt64(0)
		i.PerceptionType, i.MediaType = s.ColumnText(1), s.ColumnText(2)
		i.Summary = s.ColumnText(3)
	})

	return err
}

// JoinSession checks the record's session and sets its collection.
func (c *Conn) JoinSession(r *record.Record) error {
	r.By.Robot = record.RobotOf(r.Context)
	if r.SessionID == "" {
		r.Collection = cmp.Or(r.Collection, robotmem.DefaultCollection)
		return nil
	}

	s, err := c.OpenSession(r.SessionID)
	if err != nil {
		return err
	}

	r.Collection = cmp.Or(r.Collection, s.Collection)
	if r.By.Robot == "" {
		r.By.Robot = record.RobotOf(s.Context)
	}
	if r.Collection != s.Collection {
		return robotmem.Errorf(robotmem.Invalid, "collection",
			"is %q, but the session belongs to %q; leave collection out, "+
				"or start a session in it", r.Collection, s.Collection)
	}

	return nil
}

// OpenSession returns a session that has not ended.
func (c *Conn) OpenSession(id string) (*SessionRow, error) {
	s, err := c.Session(id)
	if err == nil && s.Status == "ended" {
		err = robotmem.Errorf(robotmem.Conflict, "session_id",
			"the session ended at %s and stays ended; start another one with "+
				"start_session", s.EndedAt.Format(time.RFC3339))
	}

	return s, err
}

// selectSession selects the columns of a session, its checksum and its counts;
// afterSession is the index of the next column.
var selectSession = "SELECT " + names(sessionColumns, "s.") + `, s.checksum,
	(SELECT count(*) FROM memories m WHERE m.session_id = s.external_id),
	(SELECT score FROM session_outcomes o WHERE o.session_id = s.external_id ORDER BY o.id DESC LIMIT 1),
	(SELECT group_concat(quote(score) || ' ' || created_at ORDER BY o.id) FROM session_outcomes o WHERE o.session_id = s.external_id)`

var afterSession = len(sessionColumns) + 4

// scanSession reads a row of selectSession. It fails with Corrupt if the row does
// not match its checksum.
func scanSession(s Row) (row SessionRow, err error) {
	sum, at := readSession(s, &row), len(sessionColumns)
	if !bytes.Equal(sum, s.ColumnRawBlob(at)) {
		err = errDamagedRow
	}
	row.MemoryCount = s.ColumnInt64(at + 1)
	if s.ColumnType(at+2) != Null {
		row.OutcomeScore = new(s.ColumnFloat(at + 2))
	}

	return row, err
}

// readSession scans the columns of a session and returns the checksum that belongs to them
// and to its outcomes.
func readSession(s Row, row *SessionRow) []byte {
	sum := read(s, sessionColumns, row)
	sum.add("outcomes", OrNull(s.ColumnText(afterSession-1)))
	return sum.sum(nil)
}

// updateSessionChecksum stores the checksum of a session as it is stored now.
func (c *Conn) updateSessionChecksum(id string) error {
	var sum []byte
	_, err := c.One(selectSession+" FROM sessions s WHERE s.external_id = ?", []any{id},
		func(s Row) { sum = readSession(s, &SessionRow{}) })
	return errors.Join(err, c.Exec("UPDATE sessions SET checksum = ? WHERE external_id = ?", sum, id))
}

// Session returns one session with its counts. It fails with NotFound if there is none,
// with Corrupt if it is damaged.
func (c *Conn) Session(id string) (*SessionRow, error) {
	row, err := c.findSession(id)
	if err == nil && row == nil {
		err = robotmem.Errorf(robotmem.NotFound, "session_id",
			"there is no session %q; start_session returns an id, or takes one of yours", id)
	}
	return row, err
}

func (c *Conn) findSession(id string) (*SessionRow, error) {
	var (
		row    SessionRow
		damage error
	)
	found, err := c.One(selectSession+" FROM sessions s WHERE s.external_id = ?", []any{id},
		func(s Row) { row, damage = scanSession(s) })
	if err != nil || !found {
		return nil, err
	}

	return &row, damage
}

// RecalledFor lists up to n memories that were recalled for a session, useful ones first, with those
// of pending.
func (c *Conn) RecalledFor(session string, pending []int64, n int, now time.Time) ([]robotmem.RecalledMemory, error) {
	more, err := robotmem.EncodeJSON(record.OrEmpty(pending))
	if err != nil {
		return nil, err
	}

	useful := map[int64]bool{}

	// Recalls that are counted but not yet stored are in pending. They have no row in session_recalls.
	var ids []int64
	err = c.Query(`SELECT m.id, coalesce(r.used, 0) AS helped
		FROM memories m LEFT JOIN session_recalls r ON r.session_id = ?1 AND r.memory_id = m.id
		WHERE m.id IN (SELECT memory_id FROM session_recalls WHERE session_id = ?1 UNION SELECT value FROM json_each(?2))
		ORDER BY helped DESC, m.id LIMIT ?3`, []any{session, string(more), n}, func(s Row) error {
		id := s.ColumnInt64(0)
		ids = append(ids, id)
		useful[id] = s.ColumnBool(1)
		return nil
	})
	if err != nil {
		return nil, err
	}

	found, _, err := c.FindAll(ids, now)

	out := make([]robotmem.RecalledMemory, len(found))
	for i, brief := range Briefs(found) {
		out[i] = robotmem.RecalledMemory{
			BriefMemory: brief,
			Collection:  found[i].Collection,
			Status:      found[i].Status,
			Type:        found[i].Type,
			Used:        useful[brief.MemoryID],
		}
	}

	return out, err
}

var (
	insertSession = "INSERT INTO sessions(" + names(sessionColumns, "") + ", checksum) VALUES (" +
		placeholders(len(sessionColumns)+1) + ")"
	updateSession = "UPDATE sessions SET " + assignments(sessionColumns) + " WHERE external_id = ?"
)

// InsertSession stores a session that started at its CreatedAt.
func (tx *Tx) InsertSession(s robotmem.Session) error {
	tx.NextRevision()
	s.Status = "active"
	args, sum := values(sessionColumns, &SessionRow{Session: s, Count: 1, UpdatedAt: tx.Now})
	_, err := tx.SQL.Insert(insertSession, append(args, sum.sum(nil))...)
	return err
}

// Known returns the session that a request names by its own id or by its origin, "" if there is
// none.
func (c *Conn) Known(r *robotmem.StartSessionRequest) (id string, err error) {
	if r.Origin != "" {
		_, err = c.One("SELECT session_id FROM session_origins WHERE collection = ? AND origin = ?",
			[]any{r.Collection, r.Origin}, func(s Row) { id = s.ColumnText(0) })
	}
	if err != nil || r.SessionID == "" || id == r.SessionID {
		return id, err
	}
	if id != "" {
		return "", robotmem.Errorf(robotmem.Conflict, "session_id",
			"is %q, but the session of this origin is %q; give one of session_id and origin", r.SessionID, id)
	}
	row, err := c.findSession(r.SessionID)
	if row != nil {
		id = r.SessionID
	}

	return id, err
}

func (tx *Tx) InsertSessionOrigin(collection, origin, id string) error {
	if origin == "" {
		return nil
	}
	return tx.Exec("INSERT INTO session_origins(collection, origin, session_id) VALUES (?,?,?)", collection, origin, id)
}

// SpanOfSession returns when a session began and ended. given is the end that the caller states. Without it the
// session ends now, except if all of its memories were observed before it was started: then the episode was stored
// later than it took place, and it spans the times of its first and its last memory.
func (tx *Tx) SpanOfSession(s *robotmem.Session, given *time.Time) (began, ended time.Time, err error) {
	began, ended = s.CreatedAt, tx.Now

	var first, last string
	_, err = tx.One("SELECT min(observed_at), max(observed_at) FROM memories "+
		"WHERE session_id = ?", []any{s.SessionID}, func(r Row) {
		first, last = r.ColumnText(0), r.ColumnText(1)
	})
	if later := ParseTime(last); last != "" && later.Before(s.CreatedAt) {
		began, ended = ParseTime(first), later
	}

	if given != nil {
		ended = given.UTC()
		if ended.Before(began) {
			err = errors.Join(err, robotmem.Errorf(robotmem.Invalid, "ended_at",
				"%s lies before the beginning of the episode, %s", FormatTime(ended), FormatTime(began)))
		}
	}

	return began, ended, err
}

// FinishSession marks a session as ended.
func (tx *Tx) FinishSession(id, summary string, score *float64, began, ended time.Time) error {
	row, err := tx.Session(id)
	if err != nil {
		return err
	}

	row.Status = "ended"
	row.Summary = summary
	row.CreatedAt, row.EndedAt, row.UpdatedAt = began, &ended, tx.Now

	// The checksum includes the outcomes, so it is updated after these are stored.
	tx.NextRevision()
	args, _ := values(sessionColumns, row)
	if err := tx.Exec(updateSession, append(args, id)...); err != nil {
		return err
	}

	if score != nil {
		err := tx.Exec("INSERT INTO session_outcomes(session_id, score, created_at) VALUES (?,?,?)", id, *score,
			FormatTime(tx.Now))
		if err != nil {
			return err
		}
	}

	return tx.updateSessionChecksum(id)
}

// LastSummary returns the summary of the session of a collection that ended last, "" if
// there is none.
func (c *Conn) LastSummary(collection string) (summary string, err error) {
	_, err = c.One("SELECT summary FROM sessions WHERE collection = ? AND status = 'ended' ORDER BY id DESC LIMIT 1",
		[]any{collection}, func(s Row) { summary = s.ColumnText(0) })
	return summary, err
}

// StoreRecallCounts adds counts of recalls to the stored ones and returns the total of recalls after that.
func (tx *Tx) StoreRecallCounts(c *RecallCounts) (total int64, err error) {
	for name, n := range map[string]int64{"recalls": c.Recalls, "zero_hits": c.ZeroHits} {
		if err := tx.Exec("UPDATE counters SET value = value + ? WHERE name = ?", n, name); err != nil {
			return 0, err
		}
	}

	for id, n := range c.returned {
		if err := tx.Exec("UPDATE memories SET return_count = return_count + ? WHERE id = ?", n, id); err != nil {
			return 0, err
		}
	}

	// A memory that was purged after its recall gets no credit, and its session no row.
	for to := range c.Credit {
		err := tx.Exec("INSERT OR IGNORE INTO session_recalls(session_id, memory_id) SELECT ?1, id FROM memories "+
			"WHERE id = ?2", to.Session, to.MemoryID)
		if err != nil {
			return 0, err
		}
	}

	for at, n := range c.Hours {
		err := tx.Exec(`INSERT INTO recall_hours(hour, collection, recalls, zero_hits) VALUES (?,?,?,?)
			ON CONFLICT(hour, collection) DO UPDATE SET recalls = recall_hours.recalls + excluded.recalls, zero_hits = recall_hours.zero_hits + excluded.zero_hits`,
			FormatTime(at.Hour), at.Collection, n.Recalls, n.ZeroHits)
		if err != nil {
			return 0, err
		}
	}

	return tx.Recalls()
}

// Recalls returns the total of recalls.
func (c *Conn) Recalls() (int64, error) {
	return c.Number("SELECT value FROM counters WHERE name = 'recalls'")
}

// Candidates returns the active facts of a session for consolidation.
func (c *Conn) Candidates(session, collection string) ([]consolidate.Candidate, error) {
	var out []consolidate.Candidate
	err := c.Query(`SELECT id, category, confidence, created_at, pinned, type, content, context
		FROM memories WHERE session_id = ? AND collection = ? AND status = 'active' ORDER BY id`, []any{session, collection}, func(s Row) error {
		cand := consolidate.Candidate{
			ID: s.ColumnInt64(0), Category: s.ColumnText(1), Confidence: s.ColumnFloat(2),
			CreatedAt: ParseTime(s.ColumnText(3)), Pinned: s.ColumnBool(4), Perception: s.ColumnText(5) == "perception",
		}

		var err error
		if consolidate.Mergeable(cand) {
			cand.Statement = record.StatementOf(s.ColumnText(6))
			cand.Context, err = robotmem.ParseObject(s.ColumnText(7)).Canonical(s.ColumnText(7))
		}
		out = append(out, cand)

		return err
	})

	return out, err
}

// CountStream adds to the counts of a stream.
func (tx *Tx) CountStream(session, collection string, n recorder.SourceCount) error {
	return tx.Exec(`INSERT INTO streams(session_id, collection, source, received, stored, dropped, missed, bytes, updated_at)
		VALUES (?,?,?,?,?,?,?,?,?)
		ON CONFLICT(session_id, collection, source) DO UPDATE SET received = streams.received + excluded.received,
			stored = streams.stored + excluded.stored, dropped = streams.dropped + excluded.dropped, missed = streams.missed + excluded.missed,
			bytes = streams.bytes + excluded.bytes, updated_at = excluded.updated_at`,
		session, collection, n.Source, int64(n.Received), int64(n.Stored), int64(n.Dropped), int64(n.Missed), int64(n.Bytes), FormatTime(tx.Now))
}

// Streams returns the counts of a session's sources, or the sums of every source over all sessions.
func (c *Conn) Streams(session string) (out []admin.StreamCount, err error) {
	err = c.Query(`SELECT source, sum(received), sum(stored), sum(dropped), sum(missed), sum(bytes) FROM streams
		WHERE ?1 = '' OR session_id = ?1 GROUP BY source ORDER BY source`, []any{session}, func(s Row) error {
		out = append(out, admin.StreamCount{
			Source: s.ColumnText(0), Received: s.ColumnInt64(1), Stored: s.ColumnInt64(2),
			Dropped: s.ColumnInt64(3), Missed: s.ColumnInt64(4), Bytes: s.ColumnInt64(5),
		})
		return nil
	})

	return out, err
}

// BatchCollection returns the collection of a batch. A batch of counts only is accepted
// after the session's end, because it reports samples that were dropped then.
func (c *Conn) BatchCollection(b *recorder.Batch) (string, error) {
	if len(b.Items) == 0 && b.SessionID != "" {
		s, err := c.Session(b.SessionID)
		if err != nil {
			return "", err
		}
		return s.Collection, nil
	}
	probe := record.Record{}
	probe.Collection, probe.SessionID = b.Collection, b.SessionID
	err := c.JoinSession(&probe)

	return probe.Collection, err
}

// SessionContexts returns the contexts of sessions, by session_id.
func (c *Conn) SessionContexts(ids []string) (map[string]robotmem.Object, error) {
	out := map[string]robotmem.Object{}

	for _, id := range ids {
		_, err := c.One("SELECT context FROM sessions WHERE external_id = ?", []any{id}, func(s Row) {
			out[id] = robotmem.ParseObject(s.ColumnText(0))
		})
		if err != nil {
			return nil, err
		}
	}

	return out, nil
}
