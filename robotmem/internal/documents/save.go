package documents

import (
	"errors"
	"fmt"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Save stores the passages of a document that differ from those that are stored of it. records are those of wanted.
func Save(
	tx *store.Tx, r *robotmem.SaveDocumentRequest, wanted []Passage, records []*record.Record, res *robotmem.SaveDocumentResponse,
) error {
	*res = robotmem.SaveDocumentResponse{Status: "created", Name: r.Name, Collection: r.Collection, Passages: len(wanted)}

	stored, err := tx.PassagesOf(r.Collection, r.Name)
	if err != nil {
		return err
	}

	if hashOf(stored) == strings.ToLower(r.SHA256) && len(stored) > 0 {
		res.Status, res.Passages, res.Kept = "unchanged", len(stored), len(stored)
		return nil
	}
	if len(stored) > 0 {
		res.Status = "updated"
	}

	plan := compare(stored, wanted)
	res.Kept, res.Moved = plan.Kept, len(plan.Move)
	res.Added, res.Removed = len(plan.Add), len(plan.Remove)

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
			if len(res.Interpreted) < maxRemarks {
				res.Interpreted = append(res.Interpreted, remark)
			}
		}
	}

	return nil
}

const maxRemarks = 20

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

// List lists the documents.
func List(c *store.Conn, r *robotmem.DocumentsRequest, res *robotmem.DocumentsResponse) error {
	res.Documents = []robotmem.Document{}

	stored, err := c.Documents()
	for i := range stored {
		if robotmem.InCollections(r.Collection, stored[i].Collection) {
			res.Documents = append(res.Documents, documentOf(&stored[i]))
		}
	}

	return err
}

// Remove forgets the passages of a document.
func Remove(tx *store.Tx, r *robotmem.RemoveDocumentRequest, res *robotmem.RemoveDocumentResponse) error {
	stored, err := tx.PassagesOf(r.Collection, r.Name)
	if err == nil && len(stored) == 0 {
		err = robotmem.Errorf(robotmem.NotFound, "name", "there is no document %.100q in the collection %s; documents lists them", r.Name, r.Collection)
	}
	if err != nil {
		return err
	}

	*res = robotmem.RemoveDocumentResponse{Status: "removed", Name: r.Name, Collection: r.Collection, Passages: len(stored)}

	return forgetPassages(tx, stored, r.Reason)
}
