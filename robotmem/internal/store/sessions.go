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

// sessionsMatching returns the parameters of a list of sessions.
func sessionsMatching(r *robotmem.SessionsRequest) []any {
	return append(inCollections(r.Collection), r.Status, r.Outcome, record.FailureScore, record.SuccessScore, r.Robot,
		r.Task, r.Words, timeOrEmpty(r.After), timeOrEmpty(r.Before))
}

// Sessions fills one page of sessions, newest first unless another order is asked for.
func (c *Conn) Sessions(r *robotmem.SessionsRequest, from *cursor, res *robotmem.SessionsResponse) (err error) {
	match := sessionsMatching(r)
	if res.Total, err = c.Number(CountSessionsMatching, match...); err != nil {
		return err
	}

	page := []robotmem.Session{}
	ids := []int64{}

	limit, offset := r.Limit+1, (r.Page-1)*r.Limit
	list, args := SessionsByColumn, append(match, r.Sort, limit, offset)
	if r.Sort == "time" {
		list, args = SessionsByTime, append(match, "", int64(0), limit, offset)
		if from != nil {
			args = append(match, from.At, from.ID, limit, offset)
		}
	}

	err = c.Query(list, args, func(s Row) error {
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

// ShownBy fills in the perception of the incident: the one of its episode that shows it best. It prefers one with
// bytes, then a trace or sound, then one that was observed before the incident, then the nearest in time.
func (c *Conn) ShownBy(i *admin.Incident) error {
	session := cmp.Or(i.Evidence, i.SessionID)
	if session == "" || i.PerceptionID != 0 {
		return nil
	}

	_, err := c.One(BestPerception, []any{session, FormatTime(i.At)}, func(s Row) {
		i.PerceptionID = s.ColumnInt64(0)
		i.PerceptionType, i.MediaType = s.ColumnText(1), s.ColumnText(2)
		i.Summary = s.ColumnText(3)
	})

	return err
}

// JoinSession checks the session that a record names, and sets the robot and the collection of the record.
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

// afterSession is the index of the column after those of a session, its checksum and its counts.
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
	_, err := c.One(SessionByID, []any{id},
		func(s Row) { sum = readSession(s, &SessionRow{}) })
	return errors.Join(err, c.Exec(SetSessionChecksum, sum, id))
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
	found, err := c.One(SessionByID, []any{id},
		func(s Row) { row, damage = scanSession(s) })
	if err != nil || !found {
		return nil, err
	}

	return &row, damage
}

// RecalledFor lists up to n memories that were recalled for a session or are in pending, useful ones
// first.
func (c *Conn) RecalledFor(session string, pending []int64, n int, now time.Time) ([]robotmem.RecalledMemory, error) {
	more, err := robotmem.EncodeJSON(record.OrEmpty(pending))
	if err != nil {
		return nil, err
	}

	useful := map[int64]bool{}

	// Recalls that are counted but not yet stored are in pending. They have no row in session_recalls.
	var ids []int64
	err = c.Query(RecallsOfSession, []any{session, string(more), n}, func(s Row) error {
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

// InsertSession stores a session that started at its CreatedAt.
func (tx *Tx) InsertSession(s robotmem.Session) error {
	tx.NextRevision()
	s.Status = "active"
	args, sum := values(sessionColumns, &SessionRow{Session: s, Count: 1, UpdatedAt: tx.Now})
	_, err := tx.SQL.Insert(InsertSession, append(args, sum.sum(nil))...)
	return err
}

// Known returns the session that a request names by its own id or by its origin, "" if there is
// none.
func (c *Conn) Known(r *robotmem.StartSessionRequest) (id string, err error) {
	if r.Origin != "" {
		_, err = c.One(SessionOfOrigin,
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
	return tx.Exec(InsertSessionOrigin, collection, origin, id)
}

// SpanOfSession returns when a session began and ended: from its start until now. If all of its memories were observed
// before it was started, the episode was stored later than it took place, and it spans the times of its first and its
// last memory. given is the end that the caller states. It replaces the end, and not the beginning.
func (tx *Tx) SpanOfSession(s *robotmem.Session, given *time.Time) (began, ended time.Time, err error) {
	began, ended = s.CreatedAt, tx.Now

	var first, last string
	_, err = tx.One(TimesOfSession, []any{s.SessionID}, func(r Row) {
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
	if err := tx.Exec(UpdateSession, append(args, id)...); err != nil {
		return err
	}

	if score != nil {
		err := tx.Exec(InsertOutcome, id, *score,
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
	_, err = c.One(LastSummary,
		[]any{collection}, func(s Row) { summary = s.ColumnText(0) })
	return summary, err
}

// StoreRecallCounts adds counts of recalls to the stored ones and returns the total of recalls after that.
func (tx *Tx) StoreRecallCounts(c *RecallCounts) (total int64, err error) {
	for name, n := range map[string]int64{"recalls": c.Recalls, "zero_hits": c.ZeroHits} {
		if err := tx.Exec(AddToCounter, n, name); err != nil {
			return 0, err
		}
	}

	for id, n := range c.returned {
		if err := tx.Exec(AddReturns, n, id); err != nil {
			return 0, err
		}
	}

	// The query stores no row for a memory that was purged after its recall.
	for to := range c.Credit {
		err := tx.Exec(InsertRecall, to.Session, to.MemoryID)
		if err != nil {
			return 0, err
		}
	}

	for at, n := range c.Hours {
		err := tx.Exec(AddRecallHour,
			FormatTime(at.Hour), at.Collection, n.Recalls, n.ZeroHits)
		if err != nil {
			return 0, err
		}
	}

	return tx.Recalls()
}

// Recalls returns the total of recalls.
func (c *Conn) Recalls() (int64, error) {
	return c.Number(CountRecalls)
}

// Candidates returns the active facts of a session for consolidation.
func (c *Conn) Candidates(session, collection string) ([]consolidate.Candidate, error) {
	var out []consolidate.Candidate
	err := c.Query(FactsOfSession, []any{session, collection}, func(s Row) error {
		cand := consolidate.Candidate{
			ID: s.ColumnInt64(0), Category: s.ColumnText(1), Confidence: s.ColumnFloat(2),
			CreatedAt: ParseTime(s.ColumnText(3)), Pinned: s.ColumnBool(4), Perception: s.ColumnText(5) != "fact",
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
	return tx.Exec(AddStream,
		session, collection, n.Source, int64(n.Received), int64(n.Stored), int64(n.Dropped), int64(n.Missed), int64(n.Bytes), FormatTime(tx.Now))
}

// Streams returns the counts of a session's sources. If the session is "", it returns the sums of each source over all
// sessions.
func (c *Conn) Streams(session string) (out []admin.StreamCount, err error) {
	err = c.Query(SumStreams, []any{session}, func(s Row) error {
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
		_, err := c.One(SessionContext, []any{id}, func(s Row) {
			out[id] = robotmem.ParseObject(s.ColumnText(0))
		})
		if err != nil {
			return nil, err
		}
	}

	return out, nil
}
