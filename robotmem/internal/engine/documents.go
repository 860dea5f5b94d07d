package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/documents"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// SaveDocument stores the passages of a document that differ from those that are stored of it, in one transaction.
func (n *Engine) SaveDocument(ctx context.Context, req *robotmem.SaveDocumentRequest) (*robotmem.SaveDocumentResponse, error) {
	return serve("save_document", req, func(r *robotmem.SaveDocumentRequest) (*robotmem.SaveDocumentResponse, error) {
		if err := documents.CheckContext(r.Context); err != nil {
			return nil, err
		}

		res := &robotmem.SaveDocumentResponse{}
		records := make([]*record.Record, len(r.Passages))
		wanted := documents.Passages(r)
		errs := make([]error, len(wanted))

		parallel(len(wanted), func(i int) {
			if errs[i] = ctx.Err(); errs[i] == nil {
				records[i], errs[i] = n.passage(r, &wanted[i])
			}
		})
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		for i, rec := range records {
			// What is stored is compared with what would be: a masked secret is no change.
			wanted[i].Text, wanted[i].Context = rec.Content, rec.Context
		}

		return res, n.Store.WriteInTime(ctx, func(tx *store.Tx) error { return n.saveDocument(tx, r, wanted, records, res) })
	})
}

// passage prepares the record of a passage.
func (n *Engine) passage(r *robotmem.SaveDocumentRequest, p *documents.Passage) (*record.Record, error) {
	rec, err := n.records.Prepare(robotmem.TypeDocument, p.Text, p.Context)
	if err != nil {
		return nil, err
	}
	rec.Collection, rec.Summary = r.Collection, record.Summarize(p.Summary)

	return rec, nil
}

func (n *Engine) saveDocument(
	tx *store.Tx, r *robotmem.SaveDocumentRequest, wanted []documents.Passage, records []*record.Record, res *robotmem.SaveDocumentResponse,
) error {
	*res = robotmem.SaveDocumentResponse{Status: "created", Name: r.Name, Collection: r.Collection, Passages: len(wanted)}

	stored, err := tx.PassagesOf(r.Collection, r.Name)
	if err != nil {
		return err
	}

	if documents.HashOf(stored) == strings.ToLower(r.SHA256) && len(stored) > 0 {
		res.Status, res.Passages, res.Kept = "unchanged", len(stored), len(stored)
		return nil
	}
	if len(stored) > 0 {
		res.Status = "updated"
	}

	plan := documents.Compare(stored, wanted)
	res.Kept, res.Moved = plan.Kept, len(plan.Move)
	res.Added, res.Removed = len(plan.Add), len(plan.Remove)

	// The cache may hold signatures of a text that is rewritten.
	n.Store.Groups.Reset()

	reason := fmt.Sprintf("the text of %s with the hash %.12s does not have it", r.Name, r.SHA256)
	if err := forgetPassages(tx, plan.Remove, reason); err != nil {
		return err
	}

	for _, m := range plan.Move {
		if _, err := tx.Rewrite(m.ID, records[m.Index]); err != nil {
			return err
		}
	}

	for _, i := range plan.Add {
		if _, _, err := tx.Insert(records[i]); err != nil {
			return err
		}
		for _, remark := range records[i].Remarks {
			if len(res.Interpreted) < maxDocumentRemarks {
				res.Interpreted = append(res.Interpreted, remark)
			}
		}
	}

	return nil
}

const maxDocumentRemarks = 20

// forgetPassages forgets passages, so that restore brings them back.
func forgetPassages(tx *store.Tx, passages []store.StoredPassage, reason string) error {
	for _, p := range passages {
		m, err := tx.Memory(p.ID, tx.Now)
		if err != nil {
			return err
		}

		entry := store.AuditOf(store.ActionForgotten, m)
		entry.Reason, entry.Before = reason, store.TextHash(m.Content)
		if err := errors.Join(tx.Audit(entry), tx.SetStatus(p.ID, "invalidated", 0, "forgotten", reason)); err != nil {
			return err
		}
	}

	return nil
}

// Documents lists the documents.
func (n *Engine) Documents(ctx context.Context, req *robotmem.DocumentsRequest) (*robotmem.DocumentsResponse, error) {
	return read(ctx, n, "documents", req, func(c *store.Conn, r *robotmem.DocumentsRequest, res *robotmem.DocumentsResponse) error {
		res.Documents = []robotmem.Document{}

		stored, err := c.Documents()
		for i := range stored {
			if robotmem.InCollections(r.Collection, stored[i].Collection) {
				res.Documents = append(res.Documents, documents.Of(&stored[i]))
			}
		}

		return err
	})
}

// RemoveDocument forgets the passages of a document.
func (n *Engine) RemoveDocument(ctx context.Context, req *robotmem.RemoveDocumentRequest) (*robotmem.RemoveDocumentResponse, error) {
	return write(ctx, n, "remove_document", req, func(tx *store.Tx, r *robotmem.RemoveDocumentRequest, res *robotmem.RemoveDocumentResponse) error {
		stored, err := tx.PassagesOf(r.Collection, r.Name)
		if err == nil && len(stored) == 0 {
			err = robotmem.Errorf(robotmem.NotFound, "name", "there is no document %.100q in the collection %s; documents lists them", r.Name, r.Collection)
		}
		if err != nil {
			return err
		}

		*res = robotmem.RemoveDocumentResponse{Status: "removed", Name: r.Name, Collection: r.Collection, Passages: len(stored)}

		return forgetPassages(tx, stored, r.Reason)
	})
}
