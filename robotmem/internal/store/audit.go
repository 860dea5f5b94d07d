package store

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// Audit writes down a change, in the name of the job's caller.
func (tx *Tx) Audit(ch Change) error {
	return tx.auditAs(ch, FormatTime(tx.Now), tx.caller.Who, throughTool(tx.caller))
}

func (tx *Tx) auditAs(ch Change, at, who, tool string) error {
	var memoryID any
	if ch.memoryID != 0 {
		memoryID = ch.memoryID
	}
	return tx.Exec(`INSERT INTO audit(at, action, memory_id, uid, session_id, collection, who, tool, reason, before, after)
		VALUES (?,?,?,?,?,?,?,?,?,?,?)`, at, ch.Action, memoryID, sqlite.OrNull(ch.uid), sqlite.OrNull(ch.Session), sqlite.OrNull(ch.Collection),
		sqlite.OrNull(who), sqlite.OrNull(tool), sqlite.OrNull(ch.Reason), textHash(ch.Before), textHash(ch.After))
}

// Audit fills one page of the log, newest first.
func (c *Conn) Audit(r *robotmem.AuditRequest, from *cursor, res *robotmem.AuditResponse) error {
	var match conditions
	if r.MemoryID > 0 {
		match.add("memory_id = ?", r.MemoryID)
	}
	if r.Collection != "*" {
		match.add("collection = ?", r.Collection)
	}
	if r.Who != "" {
		match.add("who = ?", r.Who)
	}
	if r.Action != "" {
		match.add("action = ?", r.Action)
	}
	if r.After != nil {
		match.add("at >= ?", FormatTime(*r.After))
	}
	if r.Before != nil {
		match.add("at < ?", FormatTime(*r.Before))
	}
	if from != nil {
		match.add("id < ?", from.ID)
	}
	const entries = "SELECT id, at, action, memory_id, uid, session_id, collection, who, tool, reason, before, after FROM audit"
	err := c.Query(entries+match.String()+" ORDER BY id DESC LIMIT ?", append(match.args, r.Limit+1), func(s *sqlite.Stmt) error {
		res.Entries = append(res.Entries, robotmem.AuditEntry{
			ID: s.ColumnInt64(0), At: ParseTime(s.ColumnText(1)), Action: s.ColumnText(2), MemoryID: s.ColumnInt64(3), UID: s.ColumnText(4),
			SessionID: s.ColumnText(5), Collection: s.ColumnText(6), Who: s.ColumnText(7), Tool: s.ColumnText(8), Reason: s.ColumnText(9),
			Before: hex.EncodeToString(s.ColumnRawBlob(10)), After: hex.EncodeToString(s.ColumnRawBlob(11)),
		})
		return nil
	})
	if err != nil {
		return err
	}
	var more bool
	if res.Entries, more = cut(res.Entries, r.Limit); more {
		res.Next = after("audit", AuditFilters(*r), res.Entries[r.Limit-1].ID).String()
	}
	return nil
}

// purgedAt says when and by whom a memory was purged; found is false if it was
// not.
func (c *Conn) purgedAt(id int64) (at time.Time, who string, found bool, err error) {
	found, err = c.One("SELECT at, coalesce(who, '') FROM audit WHERE memory_id = ? AND action = 'purged' ORDER BY id DESC LIMIT 1", []any{id}, func(s *sqlite.Stmt) {
		at, who = ParseTime(s.ColumnText(0)), s.ColumnText(1)
	})
	return at, who, found, err
}

// The actions that the audit log knows. What a budget takes away, what an
// episode's end merges and what a repair rebuilds is in it too.
const (
	actionCreated    = "created" // of a memory that was purged: its row held it before
	ActionUpdated    = "updated"
	ActionForgotten  = "forgotten"
	ActionRestored   = "restored"
	ActionPinned     = "pinned"
	ActionUnpinned   = "unpinned"
	actionSuperseded = "superseded"
	actionEvicted    = "evicted"
	actionPurged     = "purged"
	ActionEnded      = "ended"
	ActionRepaired   = "repaired"
	ActionImported   = "imported" // one of a whole import, with what it stored
)

// Change is an entry of the audit log on its way into the file. before and
// after are texts; only their hashes are kept.
type Change struct {
	Action        string
	memoryID      int64
	uid           string
	Session       string
	Collection    string
	Reason        string
	Before, After string
}

// ChangeOf is a change of a memory.
func ChangeOf(action string, m *robotmem.Memory) Change {
	return Change{Action: action, memoryID: m.MemoryID, uid: m.UID, Collection: m.Collection}
}

func textHash(s string) any {
	if s == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(s))
	return sum[:]
}

func AuditFilters(r robotmem.AuditRequest) any {
	r.Limit, r.Cursor = 0, ""
	return r
}
