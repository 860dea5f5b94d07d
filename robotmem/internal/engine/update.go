package engine

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

const maxEcho = 100 // characters of a memory's text in a confirmation

func (n *Engine) Forget(ctx context.Context, req *robotmem.ForgetRequest) (*robotmem.ForgetResponse, error) {
	if req.Purge {
		return serve("forget", req, func(r *robotmem.ForgetRequest) (*robotmem.ForgetResponse, error) {
			if err := n.Number(ctx, r); err != nil {
				return nil, err
			}
			return n.maintenance.Purge(ctx, r)
		})
	}

	return write(ctx, n, "forget", req, func(tx *store.Tx, r *robotmem.ForgetRequest, res *robotmem.ForgetResponse) error {
		m, err := tx.Memory(r.MemoryID, tx.Now)
		if err != nil {
			return err
		}
		if err := n.changeable(m); err != nil {
			return err
		}
		if m.Status == "invalidated" {
			return robotmem.Errorf(robotmem.Conflict, "memory_id",
				"memory %d is forgotten already; restore makes it active again", r.MemoryID)
		}
		*res = robotmem.ForgetResponse{
			Status: "forgotten", MemoryID: r.MemoryID, Reason: r.Reason, Content: robotmem.Clip(m.Content, maxEcho),
		}
		entry := store.AuditOf(store.ActionForgotten, m)
		entry.Reason, entry.Before = r.Reason, store.TextHash(m.Content)

		return errors.Join(tx.Audit(entry), tx.SetStatus(m.MemoryID, "invalidated", 0, "forgotten", r.Reason))
	})
}

func (n *Engine) PurgeAll(ctx context.Context, ids []int64, reason string) (purged int64, err error) {
	return n.maintenance.PurgeAll(ctx, ids, reason)
}

// changeable fails with Forbidden for a copy of what another robot learnt, while the memory has a site: the next change
// there would replace what is changed here. Purging it is allowed.
func (n *Engine) changeable(m *robotmem.Memory) error {
	if m.Provenance == nil || m.Provenance.Tool != robotmem.ToolFleet || !n.Store.InFile() {
		return nil
	}
	if _, err := os.Stat(n.Store.Files().Site()); err != nil {
		return nil
	}

	return robotmem.Errorf(robotmem.Forbidden, "memory_id",
		"memory %d is a copy of what the robot %s learnt, and follows the site; learn a fact of your own that says what is so",
		m.MemoryID, m.Provenance.Robot)
}

func (n *Engine) Restore(ctx context.Context, req *robotmem.MemoryRequest) (*robotmem.RestoreResponse, error) {
	return write(ctx, n, "restore", req, func(tx *store.Tx, r *robotmem.MemoryRequest, res *robotmem.RestoreResponse) error {
		m, err := tx.Memory(r.MemoryID, tx.Now)
		if err != nil {
			return err
		}
		if err := n.changeable(m); err != nil {
			return err
		}
		if m.Status == "active" {
			return robotmem.Errorf(robotmem.Conflict, "memory_id",
				"memory %d is active; only a forgotten or superseded one can be restored", r.MemoryID)
		}

		*res = robotmem.RestoreResponse{
			Status: "restored", MemoryID: r.MemoryID, Content: robotmem.Clip(m.Content, maxEcho),
		}
		entry := store.AuditOf(store.ActionRestored, m)
		entry.After = store.TextHash(m.Content)
		by, err := tx.SupersededBefore(m)
		if err := errors.Join(err, tx.Audit(entry)); err != nil {
			return err
		}

		// A memory that was superseded before it was forgotten becomes superseded again, because restore undoes the
		// last step only.
		if by != 0 {
			return tx.SetStatus(m.MemoryID, "superseded", by, "restored", "")
		}

		return tx.SetStatus(m.MemoryID, "active", 0, "restored", "")
	})
}

func (n *Engine) Update(ctx context.Context, req *robotmem.UpdateRequest) (*robotmem.UpdateResponse, error) {
	return write(ctx, n, "update", req, func(tx *store.Tx, r *robotmem.UpdateRequest, res *robotmem.UpdateResponse) error {
		m, err := tx.Memory(r.MemoryID, tx.Now)
		if err != nil {
			return err
		}
		if err := n.changeable(m); err != nil {
			return err
		}
		if m.Status != "active" {
			return robotmem.Errorf(robotmem.Conflict, "memory_id", "memory %d is %s; restore it before it is updated",
				r.MemoryID, m.Status)
		}
		// Without a new text only the context changes.
		if r.NewContent == "" {
			r.NewContent = m.Content
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

		// The cache may hold the signature of the old text.
		n.Store.Groups.Reset()
		*res = robotmem.UpdateResponse{
			Status: "updated", MemoryID: r.MemoryID, NewContent: r.NewContent, OldContent: m.Content,
			AutoInferred: rec.Inferred(),
		}

		for _, s := range record.StaleIn(rec.Context, m.Content, r.NewContent) {
			res.Notes = append(res.Notes, fmt.Sprintf("context: %s is still %s, and the text says %s now; "+
				"update with a context that has the new value", s.Path, s.Kept, s.Stated))
		}

		res.Version, err = tx.Rewrite(m.MemoryID, rec)

		return err
	})
}

// rewritten returns the record of an updated memory.
func (n *Engine) rewritten(m *robotmem.Memory, r *robotmem.UpdateRequest) (rec *record.Record, err error) {
	if r.Context != nil {
		rec, err = n.records.Prepare(m.Type, r.NewContent, r.Context)
	} else {
		rec, err = n.records.PrepareText(m.Type, r.NewContent, m.Context)
	}

	if err != nil {
		return nil, err
	}

	rec.Collection, rec.SessionID, rec.UserTags = m.Collection, m.SessionID, m.UserTags

	// What the caller stated holds for the new text too, unless the new context states an outcome.
	if rec.OutcomeSource != record.FromContext && m.OutcomeSource == record.FromCaller {
		rec.Outcome, rec.OutcomeSource = m.Outcome, m.OutcomeSource
		if m.Outcome == robotmem.OutcomeUnknown {
			// The table stores an unknown outcome as an empty text.
			rec.Outcome = ""
		}
	}

	// A memory that was unpinned by hand is pinned again only by a new category.
	rec.Pinned = m.Pinned || rec.Pinned && rec.Category != m.Category
	if record.HasOwnSummary(m) {
		rec.Summary = m.Summary
	}

	return rec, nil
}

func (n *Engine) Pin(ctx context.Context, req *admin.PinRequest) (*admin.PinResponse, error) {
	return write(ctx, n, "pin", req, func(tx *store.Tx, r *admin.PinRequest, res *admin.PinResponse) error {
		action := store.ActionUnpinned
		if *r.Pinned {
			action = store.ActionPinned
		}
		*res = admin.PinResponse{Status: action, MemoryID: r.MemoryID, Pinned: *r.Pinned}
		m, err := tx.Memory(r.MemoryID, tx.Now)
		if err != nil || m.Pinned == *r.Pinned {
			return err
		}
		if err := n.changeable(m); err != nil {
			return err
		}

		return errors.Join(tx.Audit(store.AuditOf(action, m)), tx.SetPinned(m.MemoryID, *r.Pinned))
	})
}

// NoteGrant writes into the audit log that a program was allowed to use the memory, or that this has ended.
func (n *Engine) NoteGrant(ctx context.Context, made bool, reason string) error {
	entry := admin.AuditEntry{Action: store.ActionRevoked, Reason: reason}
	if made {
		entry.Action = store.ActionGranted
	}

	return robotmem.Wrap("audit", n.Store.Write(ctx, func(tx *store.Tx) error { return tx.Audit(entry) }))
}

func (n *Engine) Audit(ctx context.Context, req *admin.AuditRequest) (*admin.AuditResponse, error) {
	return read(ctx, n, "audit", req, func(c *store.Conn, r *admin.AuditRequest, res *admin.AuditResponse) error {
		res.Entries = []admin.AuditEntry{}
		res.Limit = r.Limit
		from, err := store.Resume("audit", store.Paging{Cursor: r.Cursor}, r)
		if err != nil {
			return err
		}

		return c.Audit(r, from, res)
	})
}
