package local

import (
	"context"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

func (n *Node) Paths(ctx context.Context, req *admin.PathsRequest) (*admin.PathsResponse, error) {
	return read(ctx, n, "paths", req, n.paths)
}

func (n *Node) paths(c *store.Conn, r *admin.PathsRequest, res *admin.PathsResponse) error {
	set, err := n.matching(c, index.Selection{Scope: index.Scope{Collection: r.Collection}}, nil)
	if err != nil {
		return err
	}
	paths, err := n.index.Columns.ContextPaths(c, set, true, func(path string) bool {
		return (r.Path == "" || path == r.Path) && strings.HasPrefix(path, r.Prefix)
	})
	if err != nil {
		return err
	}
	res.Total = len(paths)
	res.Paths = append([]admin.ContextPath{}, paths[:min(index.MaxPaths, len(paths))]...)
	if r.Path != "" && len(paths) > 0 {
		res.Paths[0].Values, err = n.index.Columns.PathValues(c, &paths[0], set)
	}
	return err
}
