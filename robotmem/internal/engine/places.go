package engine

import (
	"context"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

func (n *Engine) Places(ctx context.Context, req *robotmem.PlacesRequest) (*admin.PlacesResponse, error) {
	return read(ctx, n, "places", req, n.places)
}

func (n *Engine) places(c *store.Conn, r *robotmem.PlacesRequest, res *admin.PlacesResponse) error {
	*res = admin.PlacesResponse{Fields: []admin.PlaceField{}, Points: []admin.PlacePoint{}, Cells: []admin.PlaceCell{}}
	if len(r.Min) > 0 && len(r.Max) > 0 && (r.Max[0] < r.Min[0] || r.Max[1] < r.Min[1]) {
		return robotmem.Errorf(robotmem.Invalid, "max", "must not lie below min in x or y")
	}

	// An unknown session is an error and not an empty map.
	if r.SessionID != "" {
		if _, err := c.Session(r.SessionID); err != nil {
			return err
		}
	}

	scope := index.Scope{Collection: r.Collection, Session: r.SessionID, Category: r.Category, Kind: r.Type}
	set, err := n.matching(c, index.Selection{Scope: scope, After: r.After, Before: r.Before}, r.ContextFilter)
	if err != nil {
		return err
	}
	if res.Fields, err = n.index.Columns.PlaceFields(c, set); err != nil || r.Field == "" {
		return err
	}

	points, err := n.index.Columns.Within(c, r, set)
	if err != nil {
		return err
	}

	res.Total = len(points)

	// The cells count all points, because the list below may be a sample.
	if r.Grid > 0 && len(points) > 0 {
		g := index.NewGrid(r, points)
		res.Cell, res.Cells = g.Side, g.Count(points, &n.index.Columns)
	}

	res.Sampled = len(points) > r.Limit
	res.Points, err = n.placePoints(c, points, min(len(points), r.Limit))

	return err
}

// placePoints returns as many of the points as asked for, evenly spaced in their order, with the fields of their
// memories.
func (n *Engine) placePoints(c *store.Conn, points []index.Point, many int) ([]admin.PlacePoint, error) {
	out := make([]admin.PlacePoint, 0, many)
	for i := range many {
		p := points[i*len(points)/many]
		row, known := n.index.Columns.Row(p.MemoryID)
		if !known {
			continue
		}
		at := admin.PlacePoint{MemoryID: p.MemoryID, X: p.X, Y: p.Y, ObservedAt: time.Unix(0, row.Observed).UTC()}
		if p.Dims == 3 {
			at.Z = new(p.Z)
		}
		if row.Outcome == index.Success || row.Outcome == index.Failure {
			at.Success = new(row.Outcome == index.Success)
		}
		found, err := c.Describe(&at)
		if err != nil {
			return nil, err
		}
		if found {
			out = append(out, at)
		}
	}

	return out, nil
}
