package local

import (
	"context"
	"errors"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

const maxEcho = 100 // characters of a memory's text in a confirmation

// Forget implements Service.
func (e *Engine) Forget(ctx context.Context, req *robotmem.ForgetRequest) (*robotmem.ForgetResponse, error) {
	r := *req
	if err := robotmem.Validate("forget", &r); err != nil {
		return nil, err
	}
	if r.Purge {
		res, err := e.maintenance.purge(ctx, &r)
		return res, sqlite.Wrap("forget", err)
	}
	res := &robotmem.ForgetResponse{Status: "forgotten", MemoryID: r.MemoryID, Reason: r.Reason}
	err := e.store.writeInTime(ctx, func(tx *writeTx) error {
		m, err := tx.memory(r.MemoryID, tx.now)
		if err != nil {
			return err
		}
		if m.Status == "invalidated" {
			return robotmem.Errorf(robotmem.Conflict, "memory_id", "memory %d is forgotten already; restore makes it active again", r.MemoryID)
		}
		res.Content = text.Clip(m.Content, maxEcho)
		if err := tx.unindexText(m.MemoryID); err != nil {
			return err
		}
		ch := changeOf(actionForgotten, m)
		ch.reason, ch.before = r.Reason, m.Content
		if err := tx.audit(ch); err != nil {
			return err
		}
		return tx.setStatus(m.MemoryID, "invalidated", "forgotten", r.Reason)
	})
	if err != nil {
		return nil, sqlite.Wrap("forget", err)
	}
	return res, nil
}

// Restore implements Service.
func (e *Engine) Restore(ctx context.Context, req *robotmem.RestoreRequest) (*robotmem.RestoreResponse, error) {
	r := *req
	if err := robotmem.Validate("restore", &r); err != nil {
		return nil, err
	}
	res := &robotmem.RestoreResponse{Status: "restored", MemoryID: r.MemoryID}
	err := e.store.writeInTime(ctx, func(tx *writeTx) error {
		m, err := tx.memory(r.MemoryID, tx.now)
		if err != nil {
			return err
		}
		if m.Status == "active" {
			return robotmem.Errorf(robotmem.Conflict, "memory_id", "memory %d is active; only a forgotten or superseded one can be restored", r.MemoryID)
		}
		res.Content = text.Clip(m.Content, maxEcho)
		ch := changeOf(actionRestored, m)
		ch.after = m.Content
		by, err := tx.supersededBefore(m)
		if err := errors.Join(err, tx.audit(ch)); err != nil {
			return err
		}
		if by != 0 {
			return tx.setSuperseded(m.MemoryID, by, "restored")
		}
		rec, err := e.records.recordOf(m)
		if err != nil {
			return err
		}
		if err := tx.indexText(m.MemoryID, rec); err != nil {
			return err
		}
		return tx.setStatus(m.MemoryID, "active", "restored", "")
	})
	if err != nil {
		return nil, sqlite.Wrap("restore", err)
	}
	return res, nil
}

// Update implements Service.
func (e *Engine) Update(ctx context.Context, req *robotmem.UpdateRequest) (*robotmem.UpdateResponse, error) {
	r := *req
	if err := robotmem.Validate("update", &r); err != nil {
		return nil, err
	}
	res := &robotmem.UpdateResponse{Status: "updated", MemoryID: r.MemoryID, NewContent: r.NewContent}
	err := e.store.writeInTime(ctx, func(tx *writeTx) error { return e.update(tx, &r, res) })
	if err != nil {
		return nil, sqlite.Wrap("update", err)
	}
	return res, nil
}

func (e *Engine) update(tx *writeTx, r *robotmem.UpdateRequest, res *robotmem.UpdateResponse) error {
	m, err := tx.memory(r.MemoryID, tx.now)
	if err != nil {
		return err
	}
	if m.Status != "active" {
		return robotmem.Errorf(robotmem.Conflict, "memory_id", "memory %d is %s; restore it before it is updated", r.MemoryID, m.Status)
	}
	old, err := e.records.recordOf(m)
	if err != nil {
		return err
	}
	prepare, contextNow := e.records.recordFor, m.Context
	if r.Context != nil {
		prepare, contextNow = e.records.prepare, r.Context
	}
	rec, err := prepare(m.Type, r.NewContent, contextNow)
	if err != nil {
		return err
	}
	rec.collection, rec.session = m.Collection, m.SessionID
	// What its category pinned and somebody let go is not pinned by it again.
	rec.pinned = m.Pinned || rec.pinned && rec.inferred.Category != m.Category
	rec.perception, rec.ftsSummary = old.perception, old.ftsSummary
	if hasOwnSummary(m) {
		rec.summary = m.Summary
	}
	rec.userTags = m.UserTags
	ch := changeOf(actionUpdated, m)
	ch.before, ch.after = m.Content, r.NewContent
	if err := errors.Join(tx.audit(ch), tx.archive(m.MemoryID, "updated", "")); err != nil {
		return err
	}
	if err := tx.unindex(m.MemoryID, old); err != nil {
		return err
	}
	res.Version, res.OldContent, res.AutoInferred = m.Version+1, m.Content, rec.infer()
	e.store.groups.reset() // the old signature may be in it
	return tx.rewrite(m.MemoryID, rec, res.Version)
}

// Pin implements Service.
func (e *Engine) Pin(ctx context.Context, req *robotmem.PinRequest) (*robotmem.PinResponse, error) {
	r := *req
	if err := robotmem.Validate("pin", &r); err != nil {
		return nil, err
	}
	err := e.store.writeInTime(ctx, func(tx *writeTx) error {
		m, err := tx.memory(r.MemoryID, tx.now)
		if err != nil || m.Pinned == *r.Pinned {
			return err
		}
		action := actionUnpinned
		if *r.Pinned {
			action = actionPinned
		}
		return errors.Join(tx.audit(changeOf(action, m)), tx.setPinned(m, *r.Pinned))
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
func (e *Engine) History(ctx context.Context, req *robotmem.HistoryRequest) (*robotmem.HistoryResponse, error) {
	r := *req
	if err := robotmem.Validate("history", &r); err != nil {
		return nil, err
	}
	res := &robotmem.HistoryResponse{MemoryID: r.MemoryID}
	err := e.store.read(ctx, func(c *conn) error {
		m, err := c.memory(r.MemoryID, e.now())
		if err != nil {
			return err
		}
		if res.Versions, err = c.versions(r.MemoryID); err != nil {
			return err
		}
		stored, err := c.storedConfidence(r.MemoryID)
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
