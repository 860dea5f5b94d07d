package local

import (
	"context"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Audit implements Service.
func (e *Node) Audit(ctx context.Context, req *robotmem.AuditRequest) (*robotmem.AuditResponse, error) {
	r := *req
	if err := robotmem.Validate("audit", &r); err != nil {
		return nil, err
	}
	from, err := store.Resume("audit", store.Paging{Cursor: r.Cursor}, store.AuditFilters(r))
	if err != nil {
		return nil, sqlite.Wrap("audit", err)
	}
	res := &robotmem.AuditResponse{Entries: []robotmem.AuditEntry{}, Limit: r.Limit}
	err = e.Store.Read(ctx, func(c *store.Conn) error { return c.Audit(&r, from, res) })
	if err != nil {
		return nil, sqlite.Wrap("audit", err)
	}
	return res, nil
}
