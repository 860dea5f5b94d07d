package local

import (
	"encoding/hex"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// audit writes down a change, in the name of the job's caller.
func (tx *writeTx) audit(ch change) error {
	return tx.auditAs(ch, formatTime(tx.now), tx.caller.Who, throughTool(tx.caller))
}

func (tx *writeTx) auditAs(ch change, at, who, tool string) error {
	var memoryID any
	if ch.memoryID != 0 {
		memoryID = ch.memoryID
	}
	return tx.Exec(`INSERT INTO audit(at, action, memory_id, uid, session_id, collection, who, tool, reason, before, after)
		VALUES (?,?,?,?,?,?,?,?,?,?,?)`, at, ch.action, memoryID, sqlite.OrNull(ch.uid), sqlite.OrNull(ch.session), sqlite.OrNull(ch.collection),
		sqlite.OrNull(who), sqlite.OrNull(tool), sqlite.OrNull(ch.reason), textHash(ch.before), textHash(ch.after))
}

// audit fills one page of the log, newest first.
func (c *conn) audit(r *robotmem.AuditRequest, from *cursor, res *robotmem.AuditResponse) error {
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
		match.add("at >= ?", formatTime(*r.After))
	}
	if r.Before != nil {
		match.add("at < ?", formatTime(*r.Before))
	}
	if from != nil {
		match.add("id < ?", from.ID)
	}
	const entries = "SELECT id, at, action, memory_id, uid, session_id, collection, who, tool, reason, before, after FROM audit"
	err := c.Query(entries+match.String()+" ORDER BY id DESC LIMIT ?", append(match.args, r.Limit+1), func(s *sqlite3.Stmt) error {
		res.Entries = append(res.Entries, robotmem.AuditEntry{
			ID: s.ColumnInt64(0), At: parseTime(s.ColumnText(1)), Action: s.ColumnText(2), MemoryID: s.ColumnInt64(3), UID: s.ColumnText(4),
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
		res.Next = after("audit", auditFilters(*r), res.Entries[r.Limit-1].ID).String()
	}
	return nil
}

// purgedAt says when and by whom a memory was purged; found is false if it was
// not.
func (c *conn) purgedAt(id int64) (at time.Time, who string, found bool, err error) {
	found, err = c.One("SELECT at, coalesce(who, '') FROM audit WHERE memory_id = ? AND action = 'purged' ORDER BY id DESC LIMIT 1", []any{id}, func(s *sqlite3.Stmt) {
		at, who = parseTime(s.ColumnText(0)), s.ColumnText(1)
	})
	return at, who, found, err
}
