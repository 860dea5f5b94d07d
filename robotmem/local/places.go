package local

import (
	"context"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

const maxPlaceFields = 1000

// Places implements Service.
func (e *Engine) Places(ctx context.Context, req *robotmem.PlacesRequest) (*robotmem.PlacesResponse, error) {
	r := *req
	if err := robotmem.Validate("places", &r); err != nil {
		return nil, err
	}
	filter, err := filter.Parse(r.ContextFilter)
	if err != nil {
		return nil, sqlite.Wrap("places", err)
	}
	if len(r.Min) > 0 && len(r.Max) > 0 && (r.Max[0] < r.Min[0] || r.Max[1] < r.Min[1]) {
		return nil, sqlite.Wrap("places", robotmem.Errorf(robotmem.Invalid, "max", "must not lie below min in x or y"))
	}
	res := &robotmem.PlacesResponse{Fields: []robotmem.PlaceField{}, Points: []robotmem.PlacePoint{}, Cells: []robotmem.PlaceCell{}}
	if err := e.store.read(ctx, func(c *conn) error { return e.putOnMap(c, &r, filter, res) }); err != nil {
		return nil, sqlite.Wrap("places", err)
	}
	return res, nil
}

func (e *Engine) putOnMap(c *conn, r *robotmem.PlacesRequest, filter *filter.Condition, res *robotmem.PlacesResponse) error {
	if err := e.index.roster.sync(c); err != nil {
		return err
	}
	if r.SessionID != "" {
		if _, err := c.session(r.SessionID); err != nil {
			return err
		}
	}
	now := e.now()
	set, _, err := e.index.admit(c, basic{
		audience: audience{collection: r.Collection, session: r.SessionID, category: r.Category, kind: r.Type},
		after:    r.After, before: r.Before, now: now,
	})
	if err != nil {
		return err
	}
	if set, err = e.index.narrow(c, filter, set, now); err != nil {
		return err
	}
	names, err := c.pathNames(e.index.roster.pointPaths())
	if err != nil {
		return err
	}
	res.Fields = e.index.roster.placeFields(set, names)
	if r.Field == "" {
		return nil
	}
	path, err := c.knownPath(r.Field)
	if err != nil {
		return err
	}
	points := e.index.roster.within(path, r, set)
	outcome, err := e.outcomes(c, set)
	if err != nil {
		return err
	}
	res.Total = len(points)
	if r.Grid > 0 && len(points) > 0 {
		g := newGrid(r, points)
		res.Cell, res.Cells = g.side, g.count(points, outcome)
	}
	res.Sampled = len(points) > r.Limit
	res.Points, err = e.placePoints(c, sample(points, r.Limit), outcome)
	return err
}

// outcomes are the members of a set whose task succeeded, and those whose
// failed.
type outcomes struct{ succeeded, failed *bitset.BitSet }

func (e *Engine) outcomes(c *conn, set *bitset.BitSet) (o outcomes, err error) {
	said := func(blob string) (*bitset.BitSet, error) {
		return e.index.attributes(c, &filter.Condition{Op: "$eq", Path: "task.success", Values: []any{[]byte(blob)}}, set)
	}
	if o.succeeded, err = said(filter.BlobTrue); err == nil {
		o.failed, err = said(filter.BlobFalse)
	}
	return o, err
}

// sample is an even sample of n points, by their order.
func sample(points []point, n int) []point {
	if len(points) <= n {
		return points
	}
	out := make([]point, n)
	for i := range out {
		out[i] = points[i*len(points)/n]
	}
	return out
}

// placePoints says what each point is.
func (e *Engine) placePoints(c *conn, points []point, o outcomes) ([]robotmem.PlacePoint, error) {
	out := make([]robotmem.PlacePoint, 0, len(points))
	for _, p := range points {
		row, known := e.index.roster.row(p.memoryID)
		if !known {
			continue
		}
		at := robotmem.PlacePoint{MemoryID: p.memoryID, X: p.x, Y: p.y, ObservedAt: time.Unix(0, row.observed).UTC()}
		if p.dims == 3 {
			at.Z = new(p.z)
		}
		switch id := uint(p.memoryID); {
		case o.succeeded.Test(id):
			at.Success = new(true)
		case o.failed.Test(id):
			at.Success = new(false)
		}
		found, err := c.describe(&at)
		if err != nil {
			return nil, err
		}
		if found {
			out = append(out, at)
		}
	}
	return out, nil
}
