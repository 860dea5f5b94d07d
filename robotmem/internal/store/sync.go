package store

import (
	"github.com/robotmem/robotmem-go/robotmem/archive"
)

// The change counter orders the changes that are still to be sent to another memory. A write and the number of its
// change are one commit, so no change is missed.

// EachArchivedSince visits the memories that changed after a revision, at most most, in the order of
// their last change.
func (c *Conn) EachArchivedSince(after, most int64, visit func(a *Archived, revision int64) error) error {
	at := len(memoryColumns) + 4

	return c.Query(ArchivedSince, []any{after, most}, func(s Row) error {
		revision := s.ColumnInt64(at)
		m, err := c.scanArchived(s)
		if err != nil {
			return err
		}
		return visit(m, revision)
	})
}

// SupersededBetween returns the successors of memories, if one of the two changed between two revisions.
func (c *Conn) SupersededBetween(after, upto int64) (links []archive.Link, err error) {
	err = c.Query(SuccessorsChanged, []any{after, upto}, func(s Row) error {
		links = append(links, archive.Link{Memory: s.ColumnText(0), SupersededBy: s.ColumnText(1)})
		return nil
	})
	return links, err
}

// PurgedBetween returns the uids of the memories that were purged between two revisions.
func (c *Conn) PurgedBetween(after, upto int64) (uids []string, err error) {
	err = c.Query(PurgedBetween, []any{after, upto}, func(s Row) error {
		uids = append(uids, s.ColumnText(0))
		return nil
	})
	return uids, err
}

// EndedSince returns the sessions that ended after an entry of the audit log, and the last entry.
func (c *Conn) EndedSince(entry int64) (sessions []string, last int64, err error) {
	last = entry
	err = c.Query(EndedAfter, []any{entry}, func(s Row) error {
		last = s.ColumnInt64(0)
		sessions = append(sessions, s.ColumnText(1))
		return nil
	})

	return sessions, last, err
}

// KeepVersion stores a state that did not become the present one as a past state.
func (tx *Tx) KeepVersion(id int64, v *archive.Version) error {
	tx.NextRevision()
	args, sum := archivedValues(versionColumns, v, func(string) any { return nil })
	return tx.insertVersion(id, args, sum)
}

// Counter returns a counter, 0 if there is none.
func (c *Conn) Counter(name string) (int64, error) {
	return c.Number(CounterNamed, name)
}

// SetCounter stores a counter.
func (tx *Tx) SetCounter(name string, value int64) error {
	return tx.Exec(SetCounter, name, value)
}
