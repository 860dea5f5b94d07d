package local

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
)

// pointPaths are the numbers of the paths that hold coordinates.
func (r *roster) pointPaths() []int64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.points))
}

// placeFields describes every column of coordinates, by frame, map and number
// of dimensions, as far as a set has them. names are the paths by number.
func (r *roster) placeFields(set *bitset.BitSet, names map[int64]string) []robotmem.PlaceField {
	r.mu.RLock()
	defer r.mu.RUnlock()
	type space struct {
		frame, mapID uint32
		dims         uint8
	}
	out := []robotmem.PlaceField{}
	for _, path := range slices.Sorted(maps.Keys(r.points)) {
		fields := map[space]*robotmem.PlaceField{}
		for i := range r.points[path].points {
			p := &r.points[path].points[i]
			if p.dims == 0 || !set.Test(uint(p.memoryID)) {
				continue
			}
			s := space{p.frame, p.mapID, p.dims}
			f := fields[s]
			xyz := [3]float64{p.x, p.y, p.z}
			if f == nil {
				f = &robotmem.PlaceField{Field: names[path], FrameID: r.text(p.frame), MapID: r.text(p.mapID), Dims: int(p.dims),
					Min: slices.Clone(xyz[:p.dims]), Max: slices.Clone(xyz[:p.dims])}
				fields[s] = f
			}
			f.Memories++
			for k := range f.Min {
				f.Min[k], f.Max[k] = min(f.Min[k], xyz[k]), max(f.Max[k], xyz[k])
			}
		}
		for _, f := range fields {
			out = append(out, *f)
		}
	}
	slices.SortFunc(out, func(a, b robotmem.PlaceField) int {
		return cmp.Or(cmp.Compare(b.Memories, a.Memories), strings.Compare(a.Field, b.Field),
			strings.Compare(a.FrameID, b.FrameID), strings.Compare(a.MapID, b.MapID), cmp.Compare(a.Dims, b.Dims))
	})
	return out[:min(len(out), maxPlaceFields)]
}

// within are the points at a path that a request asks for, by memory id.
func (r *roster) within(path int64, ask *robotmem.PlacesRequest, set *bitset.BitSet) []point {
	r.mu.RLock()
	defer r.mu.RUnlock()
	column := r.points[path]
	if column == nil {
		return nil
	}
	like := &robotmem.SpatialSort{FrameID: ask.FrameID, MapID: ask.MapID}
	type where struct{ frame, mapID uint32 }
	asked := map[where]bool{}
	var out []point
	for i := range column.points {
		p := &column.points[i]
		if p.dims == 0 || !set.Test(uint(p.memoryID)) || !withinBox(ask, p.x, p.y) {
			continue
		}
		w := where{p.frame, p.mapID}
		yes, known := asked[w]
		if !known {
			yes = comparesFrame(like, r.text(p.frame), r.text(p.mapID))
			asked[w] = yes
		}
		if yes {
			out = append(out, *p)
		}
	}
	return out
}

// withinBox reports whether x and y lie within the box, its edges included.
func withinBox(r *robotmem.PlacesRequest, x, y float64) bool {
	return (len(r.Min) == 0 || x >= r.Min[0] && y >= r.Min[1]) &&
		(len(r.Max) == 0 || x <= r.Max[0] && y <= r.Max[1])
}

// grid divides a box into square cells from its lowest corner on.
type grid struct {
	x, y, side float64
	cells      float64 // along a side, at most
}

// newGrid covers the box that is asked for, where it is open that of the points.
func newGrid(r *robotmem.PlacesRequest, points []point) grid {
	low, high := [2]float64{points[0].x, points[0].y}, [2]float64{points[0].x, points[0].y}
	for _, p := range points {
		low = [2]float64{min(low[0], p.x), min(low[1], p.y)}
		high = [2]float64{max(high[0], p.x), max(high[1], p.y)}
	}
	if len(r.Min) > 0 {
		low = [2]float64(r.Min)
	}
	if len(r.Max) > 0 {
		high = [2]float64(r.Max)
	}
	n := float64(r.Grid)
	side := max(high[0]/n-low[0]/n, high[1]/n-low[1]/n)
	return grid{x: low[0], y: low[1], cells: n, side: min(side, math.MaxFloat64)} // JSON has no infinity
}

// at is the cell of a point. What lies on the far edge belongs to the last one.
func (g *grid) at(x, y float64) [2]int {
	half := g.side / 2 // halves of numbers can be subtracted, however large
	if half == 0 {
		return [2]int{}
	}
	index := func(v, low float64) int { return int(min(g.cells-1, max(0, math.Floor((v/2-low/2)/half)))) }
	return [2]int{index(x, g.x), index(y, g.y)}
}

// count returns the cells that hold any point, by y, then x.
func (g *grid) count(points []point, o outcomes) []robotmem.PlaceCell {
	cells := map[[2]int]*robotmem.PlaceCell{}
	for i := range points {
		p := &points[i]
		at := g.at(p.x, p.y)
		c := cells[at]
		if c == nil {
			corner := func(low float64, i int) float64 { return 2 * (low/2 + float64(i)*(g.side/2)) } // halves, as in at
			c = &robotmem.PlaceCell{X: corner(g.x, at[0]), Y: corner(g.y, at[1])}
			cells[at] = c
		}
		c.Memories++
		if o.succeeded.Test(uint(p.memoryID)) {
			c.Successes++
		}
		if o.failed.Test(uint(p.memoryID)) {
			c.Failures++
		}
	}
	out := make([]robotmem.PlaceCell, 0, len(cells))
	for _, c := range cells {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b robotmem.PlaceCell) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) })
	return out
}
