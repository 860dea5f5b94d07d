package engine

import (
	"context"

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

		return res, n.Store.WriteInTime(ctx, func(tx *store.Tx) error {
			// The cache may hold signatures of a text that is rewritten.
			n.Store.Groups.Reset()
			return documents.Save(tx, r, wanted, records, res)
		})
	})
}

// passage prepares the record of a passage.
func (n *Engine) passage(r *robotmem.SaveDocumentRequest, p *documents.Passage) (*record.Record, error) {
	rec, err := n.records.Prepare(robotmem.TypeDocument, p.Text, p.Context)
	if err != nil {
		return nil, err
	}
	rec.Collection, rec.Summary = r.Collection, record.Summarize(p.Summary)
	rec.By.Robot = record.RobotOf(rec.Context)

	return rec, nil
}

// Documents lists the documents.
func (n *Engine) Documents(ctx context.Context, req *robotmem.DocumentsRequest) (*robotmem.DocumentsResponse, error) {
	return read(ctx, n, "documents", req, func(c *store.Conn, r *robotmem.DocumentsRequest, res *robotmem.DocumentsResponse) error {
		return documents.List(c, r, res)
	})
}

// RemoveDocument forgets the passages of a document.
func (n *Engine) RemoveDocument(ctx context.Context, req *robotmem.RemoveDocumentRequest) (*robotmem.RemoveDocumentResponse, error) {
	return write(ctx, n, "remove_document", req, func(tx *store.Tx, r *robotmem.RemoveDocumentRequest, res *robotmem.RemoveDocumentResponse) error {
		return documents.Remove(tx, r, res)
	})
}
