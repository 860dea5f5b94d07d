package local

import (
	"context"
	"crypto/sha256"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
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
func changeOf(action string, m *robotmem.Memory) change {
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
func (e *Engine) Audit(ctx context.Context, req *robotmem.AuditRequest) (*robotmem.AuditResponse, error) {
	r := *req
	if err := robotmem.Validate("audit", &r); err != nil {
		return nil, err
	}
	from, err := resume("audit", paging{cursor: r.Cursor}, auditFilters(r))
	if err != nil {
		return nil, sqlite.Wrap("audit", err)
	}
	res := &robotmem.AuditResponse{Entries: []robotmem.AuditEntry{}, Limit: r.Limit}
	err = e.store.read(ctx, func(c *conn) error { return c.audit(&r, from, res) })
	if err != nil {
		return nil, sqlite.Wrap("audit", err)
	}
	return res, nil
}

func auditFilters(r robotmem.AuditRequest) any {
	r.Limit, r.Cursor = 0, ""
	return r
}
