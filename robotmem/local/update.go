package local

import (
	"context"
	"errors"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// read validates a request and calls f with a copy of it in a read transaction.
func read[Request any](ctx context.Context, n *Node, op string, req *Request, f func(*store.Conn, *Request) error) error {
	r := *req
	if err := robotmem.Validate(op, &r); err != nil {
		return err
	}
	return sqlite.Wrap(op, n.Store.Read(ctx, func(c *store.Conn) error { return f(c, &r) }))
}

// write validates a request and calls f with a copy of it in a write transaction. It
// returns when the commit is durable.
func write[Request any](ctx context.Context, n *Node, op string, req *Request, f func(*store.Tx, *Request) error) error {
	r := *req
	if err := robotmem.Validate(op, &r); err != nil {
		return err
	}
	return sqlite.Wrap(op, n.Store.WriteInTime(ctx, func(tx *store.Tx) error { return f(tx, &r) }))
}

// orNil returns res, or nil with an error.
func orNil[Response any](res *Response, err error) (*Response, error) {
	if err != nil {
		return nil, err
	}
	return res, nil
}

const maxEcho = 100 // characters of a memory's text in a confirmation

// Forget implements Service.
func (n *Node) Forget(ctx context.Context, req *robotmem.ForgetRequest) (*robotmem.ForgetResponse, error) {
	if req.Purge {
		return n.purge(ctx, req)
	}
	res := &robotmem.ForgetResponse{}
	return orNil(res, write(ctx, n, "forget", req, func(tx *store.Tx, r *robotmem.ForgetRequest) error {
		m, err := tx.Memory(r.MemoryID, tx.Now)
		if err != nil {
			return err
		}
		if m.Status == "invalidated" {
			return robotmem.Errorf(robotmem.Conflict, "memory_id", "memory %d is forgotten already; restore makes it active again", r.MemoryID)
		}
		*res = robotmem.ForgetResponse{Status: "forgotten", MemoryID: r.MemoryID, Reason: r.Reason, Content: robotmem.Clip(m.Content, maxEcho)}
		entry := store.AuditOf(store.ActionForgotten, m)
		entry.Reason, entry.Before = r.Reason, store.TextHash(m.Content)
		if err := tx.Audit(entry); err != nil {
			return err
		}
		return tx.SetStatus(m.MemoryID, "invalidated", "forgotten", r.Reason)
	}))
}

func (n *Node) purge(ctx context.Context, req *robotmem.ForgetRequest) (*robotmem.ForgetResponse, error) {
	r := *req
	if err := robotmem.Validate("forget", &r); err != nil {
		return nil, err
	}
	res, err := n.maintenance.Purge(ctx, &r)
	return res, sqlite.Wrap("forget", err)
}

// Restore implements Service.
func (n *Node) Restore(ctx context.Context, req *robotmem.MemoryRequest) (*robotmem.RestoreResponse, error) {
	res := &robotmem.RestoreResponse{}
	return orNil(res, write(ctx, n, "restore", req, func(tx *store.Tx, r *robotmem.MemoryRequest) error {
		m, err := tx.Memory(r.MemoryID, tx.Now)
		if err != nil {
			return err
		}
		if m.Status == "active" {
			return robotmem.Errorf(robotmem.Conflict, "memory_id", "memory %d is active; only a forgotten or superseded one can be restored", r.MemoryID)
		}
		*res = robotmem.RestoreResponse{Status: "restored", MemoryID: r.MemoryID, Content: robotmem.Clip(m.Content, maxEcho)}
		entry := store.AuditOf(store.ActionRestored, m)
		entry.After = store.TextHash(m.Content)
		by, err := tx.SupersededBefore(m)
		if err := errors.Join(err, tx.Audit(entry)); err != nil {
			return err
		}
		if by != 0 {
			return tx.SetSuperseded(m.MemoryID, by, "restored")
		}
		return tx.SetStatus(m.MemoryID, "active", "restored", "")
	}))
}

// Update implements Service.
func (n *Node) Update(ctx context.Context, req *robotmem.UpdateRequest) (*robotmem.UpdateResponse, error) {
	res := &robotmem.UpdateResponse{}
	return orNil(res, write(ctx, n, "update", req, func(tx *store.Tx, r *robotmem.UpdateRequest) error {
		m, err := tx.Memory(r.MemoryID, tx.Now)
		if err != nil {
			return err
		}
		if m.Status != "active" {
			return robotmem.Errorf(robotmem.Conflict, "memory_id", "memory %d is %s; restore it before it is updated", r.MemoryID, m.Status)
		}
		rec, err := n.rewritten(m, r)
		if err != nil {
			return err
		}
		entry := store.AuditOf(store.ActionUpdated, m)
		entry.Before, entry.After = store.TextHash(m.Content), store.TextHash(r.NewContent)
		if err := tx.Audit(entry); err != nil {
			return err
		}
		n.Store.Groups.Reset() // the old signature may be in it
		*res = robotmem.UpdateResponse{Status: "updated", MemoryID: r.MemoryID, NewContent: r.NewContent, OldContent: m.Content, AutoInferred: rec.Inferred()}
		res.Version, err = tx.Rewrite(m.MemoryID, rec)
		return err
	}))
}

// storedOutcome is the outcome as the table holds it.
func storedOutcome(m *robotmem.Memory) string {
	if m.Outcome == robotmem.OutcomeUnknown {
		return ""
	}
	return m.Outcome
}

// rewritten returns the record of an updated memory.
func (n *Node) rewritten(m *robotmem.Memory, r *robotmem.UpdateRequest) (rec *record.Record, err error) {
	if r.Context != nil {
		rec, err = n.records.Prepare(m.Type, r.NewContent, r.Context)
	} else {
		rec, err = n.records.RecordFor(m.Type, r.NewContent, m.Context)
	}
	if err != nil {
		return nil, err
	}
	rec.Collection, rec.SessionID, rec.UserTags = m.Collection, m.SessionID, m.UserTags
	if rec.OutcomeSource != record.FromContext && (m.OutcomeSource == record.FromCaller || m.OutcomeSource == record.FromSession) {
		rec.Outcome, rec.OutcomeSource = storedOutcome(m), m.OutcomeSource
	}
	// A memory that was unpinned by hand is pinned again only by a new category.
	rec.Pinned = m.Pinned || rec.Pinned && rec.Category != m.Category
	if record.HasOwnSummary(m) {
		rec.Summary = m.Summary
	}
	return rec, nil
}

// Pin implements Service.
func (n *Node) Pin(ctx context.Context, req *robotmem.PinRequest) (*robotmem.PinResponse, error) {
	res := &robotmem.PinResponse{}
	return orNil(res, write(ctx, n, "pin", req, func(tx *store.Tx, r *robotmem.PinRequest) error {
		status, action := "unpinned", store.ActionUnpinned
		if *r.Pinned {
			status, action = "pinned", store.ActionPinned
		}
		*res = robotmem.PinResponse{Status: status, MemoryID: r.MemoryID, Pinned: *r.Pinned}
		m, err := tx.Memory(r.MemoryID, tx.Now)
		if err != nil || m.Pinned == *r.Pinned {
			return err
		}
		return errors.Join(tx.Audit(store.AuditOf(action, m)), tx.SetPinned(m.MemoryID, *r.Pinned))
	}))
}

// Audit implements Service.
func (n *Node) Audit(ctx context.Context, req *admin.AuditRequest) (*admin.AuditResponse, error) {
	res := &admin.AuditResponse{Entries: []admin.AuditEntry{}}
	return orNil(res, read(ctx, n, "audit", req, func(c *store.Conn, r *admin.AuditRequest) error {
		res.Limit = r.Limit
		from, err := store.Resume("audit", store.Paging{Cursor: r.Cursor}, store.AuditFilters(*r))
		if err != nil {
			return err
		}
		return c.Audit(r, from, res)
	}))
}
