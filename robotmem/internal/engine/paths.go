package engine

import (
	"context"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

func (n *Engine) Paths(ctx context.Context, req *admin.PathsRequest) (*admin.PathsResponse, error) {
	return read(ctx, n, "paths", req, n.paths)
}

func (n *Engine) paths(c *store.Conn, r *admin.PathsRequest, res *admin.PathsResponse) error {
	set, err := n.matching(c, index.Selection{Scope: index.Scope{Collection: r.Collection}}, nil)
	if err != nil {
		return err
	}

	asked := index.PathsAsked{Prefix: r.Prefix, Limit: index.MaxPaths, Ranges: true}
	if r.Path != "" {
		if !strings.HasPrefix(r.Path, r.Prefix) {
			res.Paths = []admin.ContextPath{}
			return nil
		}
		asked.Prefix, asked.Wanted = r.Path, func(path string) bool { return path == r.Path }
	}

	paths, total, err := n.index.Columns.ContextPaths(c, set, asked)
	if err != nil {
		return err
	}

	res.Total, res.Paths = total, append([]admin.ContextPath{}, paths...)
	if r.Path != "" && len(paths) > 0 {
		res.Paths[0].Values, err = n.index.Columns.PathValues(c, &paths[0], set)
	}

	return err
}
