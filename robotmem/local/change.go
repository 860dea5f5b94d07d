package local

import (
	"context"
	"errors"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

const maxEcho = 100 // characters of a memory's text in a confirmation

// Forget implements Service.
func (e *Node) Forget(ctx context.Context, req *robotmem.ForgetRequest) (*robotmem.ForgetResponse, error) {
	r := *req
	if err := robotmem.Validate("forget", &r); err != nil {
		return nil, err
	}
	if r.Purge {
		res, err := e.maintenance.Purge(ctx, &r)
		return res, sqlite.Wrap("forget", err)
	}
	res := &robotmem.ForgetResponse{Status: "forgotten", MemoryID: r.MemoryID, Reason: r.Reason}
	err := e.Store.WriteInTime(ctx, func(tx *store.Tx) error {
		m, err := tx.Memory(r.MemoryID, tx.Now)
		if err != nil {
			return err
		}
		if m.Status == "invalidated" {
			return robotmem.Errorf(robotmem.Conflict, "memory_id", "memory %d is forgotten already; restore makes it active again", r.MemoryID)
		}
		res.Content = text.Clip(m.Content, maxEcho)
		if err := tx.UnindexText(m.MemoryID); err != nil {
			return err
		}
		ch := store.ChangeOf(store.ActionForgotten, m)
		ch.Reason, ch.Before = r.Reason, m.Content
		if err := tx.Audit(ch); err != nil {
			return err
		}
		return tx.SetStatus(m.MemoryID, "invalidated", "forgotten", r.Reason)
	})
	if err != nil {
		return nil, sqlite.Wrap("forget", err)
	}
	return res, nil
}

// Restore implements Service.
func (e *Node) Restore(ctx context.Context, req *robotmem.RestoreRequest) (*robotmem.RestoreResponse, error) {
	r := *req
	if err := robotmem.Validate("restore", &r); err != nil {
		return nil, err
	}
	res := &robotmem.RestoreResponse{Status: "restored", MemoryID: r.MemoryID}
	err := e.Store.WriteInTime(ctx, func(tx *store.Tx) error {
		m, err := tx.Memory(r.MemoryID, tx.Now)
		if err != nil {
			return err
		}
		if m.Status == "active" {
			return robotmem.Errorf(robotmem.Conflict, "memory_id", "memory %d is active; only a forgotten or superseded one can be restored", r.MemoryID)
		}
		res.Content = text.Clip(m.Content, maxEcho)
		ch := store.ChangeOf(store.ActionRestored, m)
		ch.After = m.Content
		by, err := tx.SupersededBefore(m)
		if err := errors.Join(err, tx.Audit(ch)); err != nil {
			return err
		}
		if by != 0 {
			return tx.SetSuperseded(m.MemoryID, by, "restored")
		}
		rec, err := e.records.RecordOf(m)
		if err != nil {
			return err
		}
		if err := tx.IndexText(m.MemoryID, rec); err != nil {
			return err
		}
		return tx.SetStatus(m.MemoryID, "active", "restored", "")
	})
	if err != nil {
		return nil, sqlite.Wrap("restore", err)
	}
	return res, nil
}

// Update implements Service.
func (e *Node) Update(ctx context.Context, req *robotmem.UpdateRequest) (*robotmem.UpdateResponse, error) {
	r := *req
	if err := robotmem.Validate("update", &r); err != nil {
		return nil, err
	}
	res := &robotmem.UpdateResponse{Status: "updated", MemoryID: r.MemoryID, NewContent: r.NewContent}
	err := e.Store.WriteInTime(ctx, func(tx *store.Tx) error { return e.update(tx, &r, res) })
	if err != nil {
		return nil, sqlite.Wrap("update", err)
	}
	return res, nil
}

func (e *Node) update(tx *store.Tx, r *robotmem.UpdateRequest, res *robotmem.UpdateResponse) error {
	m, err := tx.Memory(r.MemoryID, tx.Now)
	if err != nil {
		return err
	}
	if m.Status != "active" {
		return robotmem.Errorf(robotmem.Conflict, "memory_id", "memory %d is %s; restore it before it is updated", r.MemoryID, m.Status)
	}
	old, err := e.records.RecordOf(m)
	if err != nil {
		return err
	}
	prepare, contextNow := e.records.RecordFor, m.Context
	if r.Context != nil {
		prepare, contextNow = e.records.Prepare, r.Context
	}
	rec, err := prepare(m.Type, r.NewContent, contextNow)
	if err != nil {
		return err
	}
	rec.Collection, rec.Session = m.Collection, m.SessionID
	// What its category pinned and somebody let go is not pinned by it again.
	rec.Pinned = m.Pinned || rec.Pinned && rec.Inferred.Category != m.Category
	rec.Perception, rec.FtsSummary = old.Perception, old.FtsSummary
	if record.HasOwnSummary(m) {
		rec.Summary = m.Summary
	}
	rec.UserTags = m.UserTags
	ch := store.ChangeOf(store.ActionUpdated, m)
	ch.Before, ch.After = m.Content, r.NewContent
	if err := errors.Join(tx.Audit(ch), tx.Archive(m.MemoryID, "updated", "")); err != nil {
		return err
	}
	if err := tx.Unindex(m.MemoryID, old); err != nil {
		return err
	}
	res.Version, res.OldContent, res.AutoInferred = m.Version+1, m.Content, rec.Infer()
	e.Store.Groups.Reset() // the old signature may be in it
	return tx.Rewrite(m.MemoryID, rec, res.Version)
}

// Pin implements Service.
func (e *Node) Pin(ctx context.Context, req *robotmem.PinRequest) (*robotmem.PinResponse, error) {
	r := *req
	if err := robotmem.Validate("pin", &r); err != nil {
		return nil, err
	}
	err := e.Store.WriteInTime(ctx, func(tx *store.Tx) error {
		m, err := tx.Memory(r.MemoryID, tx.Now)
		if err != nil || m.Pinned == *r.Pinned {
			return err
		}
		action := store.ActionUnpinned
		if *r.Pinned {
			action = store.ActionPinned
		}
		return errors.Join(tx.Audit(store.ChangeOf(action, m)), tx.SetPinned(m, *r.Pinned))
	})
	if err != nil {
		return nil, sqlite.Wrap("pin", err)
	}
	res := &robotmem.PinResponse{Status: "unpinned", MemoryID: r.MemoryID, Pinned: *r.Pinned}
	if res.Pinned {
		res.Status = "pinned"
	}
	return res, nil
}

// History implements Service.
func (e *Node) History(ctx context.Context, req *robotmem.HistoryRequest) (*robotmem.HistoryResponse, error) {
	r := *req
	if err := robotmem.Validate("history", &r); err != nil {
		return nil, err
	}
	res := &robotmem.HistoryResponse{MemoryID: r.MemoryID}
	err := e.Store.Read(ctx, func(c *store.Conn) error {
		m, err := c.Memory(r.MemoryID, e.Now())
		if err != nil {
			return err
		}
		if res.Versions, err = c.Versions(r.MemoryID); err != nil {
			return err
		}
		stored, err := c.StoredConfidence(r.MemoryID)
		if err != nil {
			return err
		}
		from := m.CreatedAt
		if n := len(res.Versions); n > 0 {
			from = *res.Versions[n-1].To
		}
		res.UID = m.UID
		res.Versions = append(res.Versions, robotmem.Version{
			Version: m.Version, Content: m.Content, Context: m.Context, Category: m.Category, Confidence: stored,
			Status: m.Status, SupersededBy: m.SupersededBy, From: from,
		})
		return nil
	})
	if err != nil {
		return nil, sqlite.Wrap("history", err)
	}
	return res, nil
}
