package robotmem

import (
	"context"
	"crypto/sha256"
	"time"
)

// The actions that the audit log knows. What a budget takes away, what an
// episode's end merges and what a repair rebuilds is in it too.
const (
	actionCreated    = "created" // of a memory that was purged: its row held it before
	actionUpdated    = "updated"
	actionForgotten  = "forgotten"
	actionRestored   = "restored"
	actionPinned     = "pinned"
	actionUnpinned   = "unpinned"
	actionSuperseded = "superseded"
	actionEvicted    = "evicted"
	actionPurged     = "purged"
	actionEnded      = "ended"
	actionRepaired   = "repaired"
	actionImported   = "imported" // one of a whole import, with what it stored
)

// change is an entry of the audit log on its way into the file. before and
// after are texts; only their hashes are kept.
type change struct {
	action        string
	memoryID      int64
	uid           string
	session       string
	collection    string
	reason        string
	before, after string
}

// changeOf is a change of a memory.
func changeOf(action string, m *Memory) change {
	return change{action: action, memoryID: m.MemoryID, uid: m.UID, collection: m.Collection}
}

func textHash(s string) any {
	if s == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(s))
	return sum[:]
}

// Audit implements Service.
func (e *Engine) Audit(ctx context.Context, req *AuditRequest) (*AuditResponse, error) {
	r := *req
	if err := Validate("audit", &r); err != nil {
		return nil, err
	}
	from, err := resume("audit", paging{cursor: r.Cursor}, r.filters())
	if err != nil {
		return nil, wrap("audit", err)
	}
	res := &AuditResponse{Entries: []AuditEntry{}, Limit: r.Limit}
	err = e.read(ctx, func(c *conn) error { return c.audit(&r, from, res) })
	if err != nil {
		return nil, wrap("audit", err)
	}
	return res, nil
}

func (r AuditRequest) filters() any {
	r.Limit, r.Cursor = 0, ""
	return r
}

// AuditRequest pages through the audit log.
type AuditRequest struct {
	MemoryID   int64      `json:"memory_id,omitempty" validate:"min=0" doc:"Only changes of this memory."`
	Collection string     `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace; all if absent."`
	Who        string     `json:"who,omitempty" validate:"utf8,max=64" doc:"Only changes by this token or user."`
	Action     string     `json:"action,omitempty" validate:"omitempty,oneof=created updated forgotten restored pinned unpinned superseded evicted purged ended repaired imported" doc:"Only this action."`
	After      *time.Time `json:"after,omitempty" validate:"omitempty,instant" doc:"Only at or after this time (RFC 3339)."`
	Before     *time.Time `json:"before,omitempty" validate:"omitempty,instant" doc:"Only before this time (RFC 3339)."`
	Limit      int        `json:"limit,omitempty" validate:"min=1,max=1000" default:"50" doc:"Entries a page, 1 to 1,000."`
	Cursor     string     `json:"cursor,omitempty" validate:"max=512" doc:"next of the page before: goes on after it, whatever was changed meanwhile."`
}

// AuditResponse is a page of the audit log, newest first.
type AuditResponse struct {
	Entries []AuditEntry `json:"entries"`
	Limit   int          `json:"limit"`
	Next    string       `json:"next,omitempty" doc:"The cursor of the next page; absent on the last."`
}

// AuditEntry is one change.
type AuditEntry struct {
	ID         int64     `json:"id"`
	At         time.Time `json:"at"`
	Action     string    `json:"action" doc:"updated, forgotten, restored, pinned, unpinned, superseded, evicted, purged, ended (an episode), repaired or imported (one of a whole import); created only of what was purged, since a memory itself says who stored it."`
	MemoryID   int64     `json:"memory_id,omitempty"`
	UID        string    `json:"uid,omitempty"`
	SessionID  string    `json:"session_id,omitempty" doc:"Of an episode that ended."`
	Collection string    `json:"collection,omitempty"`
	Who        string    `json:"who,omitempty" doc:"The name of the token, or the user of the machine; absent where nobody was asked for a name."`
	Tool       string    `json:"tool,omitempty" doc:"The face and the program behind it as it calls itself: mcp claude-code/2.0.1, rest curl/8.5.0, cli, library, import, recorder, node."`
	Reason     string    `json:"reason,omitempty"`
	Before     string    `json:"before,omitempty" doc:"SHA-256 of the text before, hex."`
	After      string    `json:"after,omitempty" doc:"SHA-256 of the text after, hex."`
}
