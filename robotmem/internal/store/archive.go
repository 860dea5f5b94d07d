package store

import (
	"bytes"
	"encoding/json"

	"github.com/robotmem/robotmem-go/robotmem/archive"
)

// Records are read in the order of their uids, which is the same on every node.

// The parameters of an export's scope: ?1 is a collection, ?2 a session, each empty for all.
const (
	memoryInScope  = "(?1 = '' OR m.collection = ?1) AND (?2 = '' OR m.session_id = ?2)"
	sessionInScope = "(?1 = '' OR s.collection = ?1) AND (?2 = '' OR s.external_id = ?2)"
)

// Archived is a memory in the archive's form, with its state in this file.
type Archived struct {
	archive.Memory
	ID      int64
	Damaged bool // the row does not match its checksum
}

var selectArchived = "SELECT " + names(memoryColumns, "m.") +
	", m.checksum, m.id, (SELECT o.uid FROM memories o WHERE o.id = m.superseded_by)" +
	", (SELECT p.bytes FROM payloads p WHERE p.sha256 = m.perception_data)"

// EachArchived visits the memories in the scope of an export.
func (c *Conn) EachArchived(collection, session string, visit func(*Archived) error) error {
	sql := selectArchived + " FROM memories m WHERE " + memoryInScope + " ORDER BY m.uid"

	return c.Query(sql, []any{collection, session}, func(s Row) error {
		m, err := c.scanArchived(s)
		if err != nil {
			return err
		}
		return visit(m)
	})
}

// scanArchived reads a row of selectArchived and the rows of other tables that belong to it.
func (c *Conn) scanArchived(s Row) (*Archived, error) {
	m := &Archived{}
	at := len(memoryColumns)
	sum := readArchived(s, memoryColumns, &m.Memory)
	m.ID, m.SupersededBy = s.ColumnInt64(at+1), s.ColumnText(at+2)
	if p := m.Payload; p != nil {
		if sumBytes(p.SHA256) == nil {
			return nil, errPayloadName
		}
		p.Bytes, p.Lost = s.ColumnInt64(at+3), s.ColumnType(at+3) == Null
	}

	// The checksum includes the user tags, so it is compared after these were read.
	err := c.addArchivedRows(m)
	m.Damaged = !bytes.Equal(sum.sum(m.UserTags), s.ColumnRawBlob(at))

	return m, err
}

// ArchivedObject returns a stored JSON object for an archive: nil if it is empty or
// invalid, which doctor reports.
func ArchivedObject(text string) json.RawMessage {
	if text == "" || text == "{}" || !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}

func (c *Conn) addArchivedRows(m *Archived) error {
	id := []any{m.ID}

	var err error
	if m.UserTags, err = c.Texts(userTags, m.ID); err != nil {
		return err
	}

	err = c.Query("SELECT "+names(versionColumns, "v.")+`, (SELECT uid FROM memories o WHERE o.id = v.superseded_by), v.checksum, v.memory_id
		FROM versions v WHERE v.memory_id = ? ORDER BY v.valid_to, v.version, v.rowid`, id, func(s Row) error {
		v, at := archive.Version{}, len(versionColumns)
		sum := readArchived(s, versionColumns, &v)
		v.SupersededBy = s.ColumnText(at)
		sum.add("memory_id", s.ColumnInt64(at+2))
		// An archive leaves out a damaged state. Doctor reports it.
		if bytes.Equal(sum.sum(nil), s.ColumnRawBlob(at+1)) {
			m.Versions = append(m.Versions, v)
		}

		return nil
	})
	if err != nil {
		return err
	}

	return c.Query("SELECT perception_type, bytes, reason, evicted_at FROM evictions WHERE memory_id = ? "+
		"ORDER BY evicted_at, id", id, func(s Row) error {
		m.Evictions = append(m.Evictions, archive.Eviction{
			PerceptionType: s.ColumnText(0), Bytes: s.ColumnInt64(1),
			Reason: s.ColumnText(2), EvictedAt: s.ColumnText(3),
		})
		return nil
	})
}

// EachArchivedSession visits the sessions of an export; id selects one.
func (c *Conn) EachArchivedSession(collection, id string, visit func(*archive.Session) error) error {
	sql := "SELECT " + names(sessionColumns, "s.") + " FROM sessions s WHERE " + sessionInScope +
		" ORDER BY external_id"

	return c.Query(sql, []any{collection, id}, func(s Row) error {
		out := &archive.Session{}
		readArchived(s, sessionColumns, out)
		id := []any{out.SessionID}
		err := c.Query("SELECT score, created_at FROM session_outcomes WHERE session_id = ? "+
			"ORDER BY created_at, id", id, func(s Row) error {
			out.Outcomes = append(out.Outcomes, archive.Outcome{Score: s.ColumnFloat(0), CreatedAt: s.ColumnText(1)})
			return nil
		})
		if err != nil {
			return err
		}

		err = c.Query(`SELECT collection, source, received, stored, dropped, missed, bytes, updated_at
			FROM streams WHERE session_id = ? ORDER BY collection, source`, id, func(s Row) error {
			out.Streams = append(out.Streams, archive.Stream{
				Collection: s.ColumnText(0), Source: s.ColumnText(1),
				Received: s.ColumnInt64(2), Stored: s.ColumnInt64(3), Dropped: s.ColumnInt64(4),
				Missed: s.ColumnInt64(5), Bytes: s.ColumnInt64(6), UpdatedAt: s.ColumnText(7),
			})
			return nil
		})
		if err != nil {
			return err
		}

		return visit(out)
	})
}

// archivedLinks has one query for each kind of link, with the columns of archive.Link: successors of memories,
// successors of past states, recalls of sessions, origins of memories and origins of sessions.
var archivedLinks = []string{
	`SELECT m.uid, o.uid, 0, '', '', 0, '', '', '' FROM memories m JOIN memories o ON o.id = m.superseded_by
		WHERE m.superseded_by IS NOT NULL AND ` + memoryInScope + ` ORDER BY m.uid`,
	`SELECT m.uid, o.uid, v.version, v.valid_to, '', 0, '', '', '' FROM versions v JOIN memories m ON m.id = v.memory_id JOIN memories o ON o.id = v.superseded_by
		WHERE v.superseded_by IS NOT NULL AND ` + memoryInScope + ` ORDER BY m.uid, v.valid_to, v.version`,
	`SELECT m.uid, '', 0, '', r.session_id, r.used, '', '', '' FROM session_recalls r JOIN memories m ON m.id = r.memory_id JOIN sessions s ON s.external_id = r.session_id
		WHERE ` + sessionInScope + ` ORDER BY r.session_id, m.uid`,
	`SELECT m.uid, '', 0, '', g.session_id, 0, '', '', g.seen_at FROM sightings g JOIN memories m ON m.id = g.memory_id JOIN sessions s ON s.external_id = g.session_id
		WHERE ` + sessionInScope + ` ORDER BY g.session_id, m.uid`,
	`SELECT m.uid, '', 0, '', '', 0, o.collection, o.origin, '' FROM origins o JOIN memories m ON m.id = o.memory_id
		WHERE ` + memoryInScope + ` ORDER BY o.collection, o.origin`,
	`SELECT '', '', 0, '', o.session_id, 0, o.collection, o.origin, '' FROM session_origins o JOIN sessions s ON s.external_id = o.session_id
		WHERE ` + sessionInScope + ` ORDER BY o.collection, o.origin`,
}

// EachArchivedLink visits the links of an export.
func (c *Conn) EachArchivedLink(collection, session string, visit func(*archive.Link) error) error {
	for _, sql := range archivedLinks {
		err := c.Query(sql, []any{collection, session}, func(s Row) error {
			return visit(&archive.Link{
				Memory: s.ColumnText(0), SupersededBy: s.ColumnText(1),
				Version: s.ColumnInt64(2), ValidTo: s.ColumnText(3),
				SessionID: s.ColumnText(4), Used: s.ColumnBool(5), Collection: s.ColumnText(6), Origin: s.ColumnText(7),
				Seen: s.ColumnText(8),
			})
		})
		if err != nil {
			return err
		}
	}

	return nil
}
