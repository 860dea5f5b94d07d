package local

import (
	"context"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Paths implements Service.
func (e *Node) Paths(ctx context.Context, req *robotmem.PathsRequest) (*robotmem.PathsResponse, error) {
	r := *req
	if err := robotmem.Validate("paths", &r); err != nil {
		return nil, err
	}
	res := &robotmem.PathsResponse{Paths: []robotmem.ContextPath{}}
	err := e.Store.Read(ctx, func(c *store.Conn) error { return e.listPaths(c, &r, res) })
	if err != nil {
		return nil, sqlite.Wrap("paths", err)
	}
	return res, nil
}

func (e *Node) listPaths(c *store.Conn, r *robotmem.PathsRequest, res *robotmem.PathsResponse) error {
	if err := e.index.Columns.Sync(c); err != nil {
		return err
	}
	set, err := e.index.Admit(c, index.Selection{Scope: index.Scope{Collection: r.Collection}, Now: e.Now()})
	if err != nil {
		return err
	}
	if err := e.index.Paths.Sync(c); err != nil {
		return err
	}
	groups := e.index.Paths.Count(set, func(path string) bool {
		return (r.Path == "" || path == r.Path) && strings.HasPrefix(path, r.Prefix)
	})
	res.Total = len(groups)
	for _, g := range groups[:min(index.MaxPaths, len(groups))] {
		p, err := index.ContextPath(c, g, set)
		if err != nil {
			return err
		}
		if r.Path != "" {
			if p.Values, err = index.PathValues(c, &g, set); err != nil {
				return err
			}
		}
		res.Paths = append(res.Paths, p)
	}
	return nil
}
