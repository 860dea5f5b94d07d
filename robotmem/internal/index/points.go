package index

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// placeColumns holds the coordinates of all contexts in the plane and in space, or those of more
// dimensions at the paths of one field, which only a question asks for: for each path in the order
// of the memories. A point that was removed leaves a gap, which its memory may fill again.
type placeColumns struct {
	paths  []string // nil for points of 2 and 3 dimensions
	points map[string][]Point
	names  interner[string] // frames and maps
	joints []float64        // the numbers of the points of more dimensions
}

// Point is a coordinate of a memory. Frame and MapID are interned.
type Point struct {
	MemoryID     int64
	X, Y, Z      float64 // above 3 dimensions X is the position in joints
	Frame, MapID uint32
	Dims, room   uint8 // Dims is 0 for a gap; room is how many numbers fit in joints
}

func (pc *placeColumns) read(context string) any {
	places := filter.Places(robotmem.ParseObject(context), func(path string, v any) bool {
		list, _ := v.([]any)
		return pc.paths == nil && len(list) <= 3 || slices.Contains(pc.paths, path)
	})
	return slices.DeleteFunc(places, func(p filter.Place) bool { return len(p.XYZ) > 3 != (pc.paths != nil) })
}

func (pc *placeColumns) put(id int64, kept any) {
	for _, points := range pc.points {
		if at, found := findPoint(points, id); found {
			points[at].Dims = 0
		}
	}
	places, _ := kept.([]filter.Place)
	for _, place := range places {
		points := pc.points[place.Path]
		at, found := findPoint(points, id)
		if !found {
			points = slices.Insert(points, at, Point{})
			pc.points[place.Path] = points
		}
		p := &points[at]
		p.MemoryID, p.Frame, p.MapID, p.Dims = id, pc.names.id(place.Frame), pc.names.id(place.MapID), uint8(len(place.XYZ))
		if pc.paths == nil {
			xyz := append(place.XYZ, 0)
			p.X, p.Y, p.Z = xyz[0], xyz[1], xyz[2]
			continue
		}
		if p.room < p.Dims {
			p.X, p.room = float64(len(pc.joints)), p.Dims
			pc.joints = append(pc.joints, place.XYZ...)
		}
		copy(pc.joints[int(p.X):], place.XYZ)
	}
}

func findPoint(points []Point, id int64) (at int, found bool) {
	if n := len(points); n == 0 || points[n-1].MemoryID < id {
		return n, false
	}
	return slices.BinarySearchFunc(points, id, func(p Point, id int64) int { return cmp.Compare(p.MemoryID, id) })
}

func (pc *placeColumns) bytes() (n int) {
	for _, points := range pc.points {
		n += int(unsafe.Sizeof(Point{})) * cap(points)
	}
	return n + 8*cap(pc.joints)
}

// numbers returns the coordinates of a point, in buffer or in place.
func (pc *placeColumns) numbers(p *Point, buffer []float64) []float64 {
	if pc.paths != nil {
		return pc.joints[int(p.X):][:p.Dims]
	}
	return append(buffer[:0], p.X, p.Y, p.Z)[:p.Dims]
}

// each visits the points at a path that members of a set have in the frame and the map of
// a question, with the dimensions of its target (of any without one). It returns which
// pairs of frame and map occurred, true for those that were visited.
func (pc *placeColumns) each(path string, s *robotmem.SpatialSort, set *bitset.BitSet, visit func(*Point)) map[[2]uint32]bool {
	wanted := map[[2]uint32]bool{}
	var last [2]uint32 // most points are in the frame of the one before
	yes, known := false, false
	points := pc.points[path]
	for i := range points {
		p := &points[i]
		if p.Dims == 0 || s.Target != nil && !filter.ComparesDims(s, int(p.Dims)) || !set.Test(uint(p.MemoryID)) {
			continue
		}
		if where := [2]uint32{p.Frame, p.MapID}; !known || where != last {
			last = where
			if yes, known = wanted[where]; !known {
				yes, known = filter.ComparesFrame(s, pc.names.Values[p.Frame], pc.names.Values[p.MapID]), true
				wanted[where] = yes
			}
		}
		if yes {
			visit(p)
		}
	}
	return wanted
}

// Nearest is the answer of Near.
type Nearest struct {
	Items  []recall.Ranked // at least the nearest limit
	Frames map[string]bool // pairs of frame and map that were compared
	Flat   bool            // points in space were compared with one in the plane
}

// Near compares every coordinate that a question asks for. A memory may have several.
func (r *Columns) Near(c *store.Conn, s *robotmem.SpatialSort, set *bitset.BitSet, limit int) (n Nearest, err error) {
	err = withColumn(r, c, columnOfPlaces(s.Field, len(s.Target)), func(pc *placeColumns) {
		buffer := make([]float64, 0, 3)
		n.Frames = map[string]bool{}
		for _, path := range filter.PlacePaths(s.Field) {
			var items []recall.Ranked
			met := pc.each(path, s, set, func(p *Point) {
				n.Flat = n.Flat || int(p.Dims) > len(s.Target)
				if d, ok := filter.DistanceTo(s, pc.numbers(p, buffer), pc.names.Values[p.Frame]); ok {
					items = recall.KeepSmallest(items, recall.Ranked{ID: p.MemoryID, Value: d}, limit)
				}
			})
			n.Items = append(n.Items, items...)
			for where, yes := range met {
				if yes {
					n.Frames[pc.names.Values[where[0]]+"\x00"+pc.names.Values[where[1]]] = true
				}
			}
		}
	})
	return n, err
}

// EachPlace visits the places of a set at the field of a question, however far from its target.
func (r *Columns) EachPlace(c *store.Conn, s *robotmem.SpatialSort, set *bitset.BitSet, visit func(id int64, xyz []float64, distance float64)) error {
	return withColumn(r, c, columnOfPlaces(s.Field, len(s.Target)), func(pc *placeColumns) {
		buffer := make([]float64, 0, 3)
		for _, path := range filter.PlacePaths(s.Field) {
			pc.each(path, s, set, func(p *Point) {
				xyz := pc.numbers(p, buffer)
				d, _ := filter.DistanceTo(s, xyz, pc.names.Values[p.Frame])
				visit(p.MemoryID, xyz, d)
			})
		}
	})
}

// columnOfPlaces names the column of the coordinates of so many dimensions at a field.
func columnOfPlaces(field string, dims int) string {
	if dims <= 3 {
		return placesColumn
	}
	return jointsColumn + field
}

// PlaceFields describes every column of coordinates in the plane and in space that members
// of a set have, by frame, map and number of dimensions.
func (r *Columns) PlaceFields(c *store.Conn, set *bitset.BitSet) ([]admin.PlaceField, error) {
	out := []admin.PlaceField{}
	err := withColumn(r, c, placesColumn, func(pc *placeColumns) {
		type space struct {
			frame, mapID uint32
			dims         uint8
		}
		for path, points := range pc.points {
			fields := map[space]*admin.PlaceField{}
			for i := range points {
				p := &points[i]
				if p.Dims == 0 || !set.Test(uint(p.MemoryID)) {
					continue
				}
				s := space{p.Frame, p.MapID, p.Dims}
				f := fields[s]
				xyz := [3]float64{p.X, p.Y, p.Z}
				if f == nil {
					f = &admin.PlaceField{Field: path, FrameID: pc.names.Values[p.Frame], MapID: pc.names.Values[p.MapID], Dims: int(p.Dims),
						Min: slices.Clone(xyz[:p.Dims]), Max: slices.Clone(xyz[:p.Dims])}
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
	})
	slices.SortFunc(out, func(a, b admin.PlaceField) int {
		return cmp.Or(cmp.Compare(b.Memories, a.Memories), strings.Compare(a.Field, b.Field),
			strings.Compare(a.FrameID, b.FrameID), strings.Compare(a.MapID, b.MapID), cmp.Compare(a.Dims, b.Dims))
	})
	return out[:min(len(out), maxPlaceFields)], err
}

// Dims returns the numbers of dimensions that coordinates at a field have.
func (r *Columns) Dims(c *store.Conn, field string) (dims []int, err error) {
	sets, err := r.contexts(c, placesColumn, jointsColumn+field)
	if err != nil {
		return nil, err
	}
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	for _, s := range sets {
		pc, _ := s.contextColumn.(*placeColumns)
		for _, path := range filter.PlacePaths(field) {
			for _, p := range pc.points[path] {
				if n := int(p.Dims); n > 0 && !slices.Contains(dims, n) {
					dims = append(dims, n)
				}
			}
		}
	}
	return dims, nil
}

// Within returns the points at a path that a request asks for, by memory id. The edges of its box
// are included.
func (r *Columns) Within(c *store.Conn, ask *robotmem.PlacesRequest, set *bitset.BitSet) (out []Point, err error) {
	err = withColumn(r, c, placesColumn, func(pc *placeColumns) {
		pc.each(ask.Field, &robotmem.SpatialSort{FrameID: ask.FrameID, MapID: ask.MapID}, set, func(p *Point) {
			above := len(ask.Min) == 0 || p.X >= ask.Min[0] && p.Y >= ask.Min[1]
			below := len(ask.Max) == 0 || p.X <= ask.Max[0] && p.Y <= ask.Max[1]
			if above && below {
				out = append(out, *p)
			}
		})
	})
	return out, err
}

// grid divides a box into square cells, from its lowest corner on.
type grid struct {
	x, y, Side float64
	cells      float64 // along a side, at most
}

// NewGrid covers the box of a request; where that is open, the points.
func NewGrid(r *robotmem.PlacesRequest, points []Point) grid {
	low, high := [2]float64{points[0].X, points[0].Y}, [2]float64{points[0].X, points[0].Y}
	for _, p := range points {
		low = [2]float64{min(low[0], p.X), min(low[1], p.Y)}
		high = [2]float64{max(high[0], p.X), max(high[1], p.Y)}
	}
	if len(r.Min) > 0 {
		low = [2]float64(r.Min)
	}
	if len(r.Max) > 0 {
		high = [2]float64(r.Max)
	}
	n := float64(r.Grid)
	side := max(high[0]/n-low[0]/n, high[1]/n-low[1]/n)
	return grid{x: low[0], y: low[1], cells: n, Side: min(side, math.MaxFloat64)} // JSON has no infinity
}

// at is the cell of a point. A point on the far edge belongs to the last one.
func (g *grid) at(x, y float64) [2]int {
	half := g.Side / 2 // halves do not overflow when they are subtracted
	if half == 0 {
		return [2]int{}
	}
	index := func(v, low float64) int { return int(min(g.cells-1, max(0, math.Floor((v/2-low/2)/half)))) }
	return [2]int{index(x, g.x), index(y, g.y)}
}

// Count returns the cells that hold any point, by y, then x.
func (g *grid) Count(points []Point, of *Columns) []admin.PlaceCell {
	cells := map[[2]int]admin.PlaceCell{}
	corner := func(low float64, i int) float64 { return 2 * (low/2 + float64(i)*(g.Side/2)) } // halves, as in at
	for _, p := range points {
		at := g.at(p.X, p.Y)
		c := cells[at]
		c.X, c.Y = corner(g.x, at[0]), corner(g.y, at[1])
		c.Memories++
		switch row, _ := of.Row(p.MemoryID); row.Outcome {
		case Success:
			c.Successes++
		case Failure:
			c.Failures++
		}
		cells[at] = c
	}
	return slices.SortedFunc(maps.Values(cells), func(a, b admin.PlaceCell) int {
		return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X))
	})
}

const maxPlaceFields = 1000
