package store

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/robotmem/robotmem-go/robotmem/archive"
)

// Records are read in the order of their uids, which is the same on every node.

// Archived is a memory in the archive's form, with its state in this file.
type Archived struct {
	archive.Memory
	ID      int64
	Damaged bool // the row does not match its checksum
}

// EachArchived visits the memories in the scope of an export: a collection and a session, each empty for all.
func (c *Conn) EachArchived(collection, session string, visit func(*Archived) error) error {
	return c.Query(ArchivedMemories, []any{collection, session}, func(s Row) error {
		m, err := c.scanArchived(s)
		if err != nil {
			return err
		}
		return visit(m)
	})
}

// ArchivedNamed returns the memory with a uid, nil without one.
func (c *Conn) ArchivedNamed(uid string) (m *Archived, err error) {
	failed := error(nil)
	_, err = c.One(ArchivedByUID, []any{uid}, func(s Row) { m, failed = c.scanArchived(s) })
	return m, cmp.Or(err, failed)
}

// scanArchived reads a row of ArchivedMemories and the rows of other tables that belong to it.
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
	if m.UserTags, err = c.Texts(UserTags, m.ID); err != nil {
		return err
	}

	err = c.Query(ArchivedVersions, id, func(s Row) error {
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

	return c.Query(EvictionsOf, id, func(s Row) error {
		m.Evictions = append(m.Evictions, archive.Eviction{
			PerceptionType: s.ColumnText(0), Bytes: s.ColumnInt64(1),
			Reason: s.ColumnText(2), EvictedAt: s.ColumnText(3),
		})
		return nil
	})
}

// EachArchivedSession visits the sessions of an export; id selects one.
func (c *Conn) EachArchivedSession(collection, id string, visit func(*archive.Session) error) error {
	return c.Query(ArchivedSessions, []any{collection, id}, func(s Row) error {
		out := &archive.Session{}
		readArchived(s, sessionColumns, out)
		id := []any{out.SessionID}
		err := c.Query(OutcomesOf, id, func(s Row) error {
			out.Outcomes = append(out.Outcomes, archive.Outcome{Score: s.ColumnFloat(0), CreatedAt: s.ColumnText(1)})
			return nil
		})
		if err != nil {
			return err
		}

		err = c.Query(StreamsOf, id, func(s Row) error {
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

// archivedLinks has one query for each kind of link, with the columns of archive.Link.
var archivedLinks = []Query{
	ArchivedSuccessors, ArchivedPastSuccessors, ArchivedRecalls, ArchivedSightings, ArchivedOrigins,
	ArchivedSessionOrigins,
}

// EachArchivedLink visits the links of an export.
func (c *Conn) EachArchivedLink(collection, session string, visit func(*archive.Link) error) error {
	for _, links := range archivedLinks {
		err := c.Query(links, []any{collection, session}, func(s Row) error {
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
