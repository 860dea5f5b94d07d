package store

import (
	"crypto/sha256"
	"encoding/hex"
	"math"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// auditColumns are the columns of the audit log, without id.
var auditColumns = []column[admin.AuditEntry, struct{}]{
	{"at", func(e *admin.AuditEntry) any { return &e.At }, nil, 0},
	{"action", func(e *admin.AuditEntry) any { return &e.Action }, nil, 0},
	{"memory_id", func(e *admin.AuditEntry) any { return &e.MemoryID }, nil, nullable},
	{"uid", func(e *admin.AuditEntry) any { return &e.UID }, nil, nullable},
	{"session_id", func(e *admin.AuditEntry) any { return &e.SessionID }, nil, nullable},
	{"collection", func(e *admin.AuditEntry) any { return &e.Collection }, nil, nullable},
	{"who", func(e *admin.AuditEntry) any { return &e.Who }, nil, nullable},
	{"tool", func(e *admin.AuditEntry) any { return &e.Tool }, nil, nullable},
	{"reason", func(e *admin.AuditEntry) any { return &e.Reason }, nil, nullable},
	{"before", func(e *admin.AuditEntry) any { return (*hexSum)(&e.Before) }, nil, nullable},
	{"after", func(e *admin.AuditEntry) any { return (*hexSum)(&e.After) }, nil, nullable},
}

// Audit logs a change, in the name of the caller.
func (tx *Tx) Audit(e admin.AuditEntry) error {
	e.At, e.Who, e.Tool = tx.Now, tx.caller.Who, throughTool(tx.caller)
	return tx.auditAs(e)
}

func (tx *Tx) auditAs(e admin.AuditEntry) error {
	args, _ := values(auditColumns, &e)
	return tx.Exec(InsertAudit, args...)
}

// Audit fills one page of the audit log, newest first.
func (c *Conn) Audit(r *admin.AuditRequest, from *cursor, res *admin.AuditResponse) error {
	last := int64(math.MaxInt64)
	if from != nil {
		last = from.ID
	}

	list := AuditPage
	args := inCollections(r.Collection)
	// One more entry than the page has tells whether there are others.
	args = append(args, r.Who, r.Action, timeOrEmpty(r.After), timeOrEmpty(r.Before), last, r.Limit+1)
	if r.MemoryID > 0 {
		list, args = AuditPageOfMemory, append(args, r.MemoryID)
	}

	err := c.Query(list, args, func(s Row) error {
		e := admin.AuditEntry{ID: s.ColumnInt64(len(auditColumns))}
		read(s, auditColumns, &e)
		res.Entries = append(res.Entries, e)
		return nil
	})
	if err != nil {
		return err
	}

	var more bool
	if res.Entries, more = Cut(res.Entries, r.Limit); more {
		res.Next = After("audit", r, res.Entries[r.Limit-1].ID, "")
	}

	return nil
}

// The actions in the audit log. Evictions by retention, merges at a session's end and
// repairs are logged too.
const (
	actionCreated    = "created" // logged with the purge, because the purge deletes the memory's row
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
	ActionPromoted   = "promoted" // by the record of its uses
	ActionDemoted    = "demoted"
	ActionImported   = "imported" // one entry per import, with its counts
	ActionGranted    = "granted"  // to a program that logged in
	ActionRevoked    = "revoked"
)

// AuditOf returns an audit entry for a change of a memory.
func AuditOf(action string, m *robotmem.Memory) admin.AuditEntry {
	return admin.AuditEntry{Action: action, MemoryID: m.MemoryID, UID: m.UID, Collection: m.Collection}
}

// TextHash returns the SHA-256 of a text in hex, "" for an empty text. The log holds no texts.
func TextHash(s string) string {
	if s == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
