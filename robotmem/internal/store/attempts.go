package store

import (
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// maxOpenSessions limits the open episodes of a collection that are searched for an attempt, the newest ones.
const maxOpenSessions = 10_000

// OpenSession is the id and the context of an episode that has not ended.
type OpenSession struct {
	ID      string
	Context robotmem.Object
}

// OpenSessionsWith returns the open episodes of a collection whose context has a section of that name, the newest
// first.
func (c *Conn) OpenSessionsWith(collection, section string) (out []OpenSession, err error) {
	err = c.Query(OpenSessionsOf, []any{collection, maxOpenSessions}, func(s Row) error {
		// Most episodes are none, and need not be decoded.
		stored := s.ColumnText(1)
		if !strings.Contains(stored, `"`+section+`"`) {
			return nil
		}
		if context := robotmem.ParseObject(stored); context[section] != nil {
			out = append(out, OpenSession{s.ColumnText(0), context})
		}

		return nil
	})

	return out, err
}

// StoredTry is a fact of an episode, as an attempt reads it.
type StoredTry struct {
	ID      int64
	Content string
	Context robotmem.Object
	Outcome string
	At      string
}

// TriesOf returns the active facts of an episode whose context has a section of that name, in the order in which they
// were stored.
func (c *Conn) TriesOf(session, collection, section string) (out []StoredTry, err error) {
	err = c.Query(TriesOfSession, []any{session, collection}, func(s Row) error {
		t := StoredTry{
			ID: s.ColumnInt64(0), Content: s.ColumnText(1), Context: robotmem.ParseObject(s.ColumnText(2)),
			Outcome: s.ColumnText(3), At: s.ColumnText(4),
		}
		if t.Context[section] != nil {
			out = append(out, t)
		}

		return nil
	})

	return out, err
}
