package index

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
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
	paths  []string           // nil for points of 2 and 3 dimensions
	turns  bool               // the orientations at the paths, x, y, z, w, instead of the coordinates
	points map[string][]point // by key: several points of a memory at a path are places of a list
	listed map[string]int     // by path, the number of its keys
	spaces interner[space]    // number 0 is that of a gap
	joints []float64          // the numbers of the points of more dimensions
}

// point is a coordinate of a memory. Above 3 dimensions X is the position in joints and Y how many
// numbers fit there.
type point struct {
	X, Y, Z   float64
	ID, Space uint32 // the memory's; in spaces
}

// space is a frame, a map and a number of dimensions, which many coordinates share.
type space struct {
	frame, mapID string
	dims         uint8
}

// Point is a coordinate of a memory in the plane or in space.
type Point struct {
	MemoryID int64
	X, Y, Z  float64
	Dims     int
}

func newPlaceColumns(paths []string, turns bool) *placeColumns {
	return &placeColumns{paths: paths, turns: turns, points: map[string][]point{}, listed: map[string]int{}}
}

func (pc *placeColumns) read(context string) any {
	places := filter.Places(robotmem.ParseObject(context), func(path string, v any) bool {
		list, _ := v.([]any)
		// A longer list may be a transform, whose rows are lists.
		short := len(list) <= 3
		if !short {
			_, short = list[0].([]any)
		}

		return pc.paths == nil && short || slices.Contains(pc.paths, path)
	})

	places = slices.DeleteFunc(places, func(p filter.Place) bool { return !pc.turns && len(p.XYZ) > 3 != (pc.paths != nil) })
	if pc.turns {
		for i := range places {
			places[i].XYZ = places[i].Quaternion
		}
	}

	return places
}

// key is that of the nth point of a memory at a path.
func key(path string, nth int) string {
	if nth == 0 {
		return path
	}
	return path + "\x00" + strconv.Itoa(nth)
}

// keys returns the keys at which there are points of some paths.
func (pc *placeColumns) keys(paths ...string) (keys []string) {
	for _, path := range paths {
		for nth := range pc.listed[path] {
			keys = append(keys, key(path, nth))
		}
	}
	return keys
}

func (pc *placeColumns) put(id int64, kept any) {
	// The old points of the memory become gaps, which its new points at the same paths fill again.
	for _, points := range pc.points {
		if at, found := findPoint(points, id); found {
			points[at].Space = 0
		}
	}

	pc.spaces.id(space{})

	places, _ := kept.([]filter.Place)
	nth := 0

	for i, place := range places {
		if nth++; i == 0 || places[i-1].Path != place.Path {
			nth = 0
		}
		if place.XYZ == nil {
			continue // no orientation
		}

		key := key(place.Path, nth)
		points := pc.points[key]
		pc.listed[place.Path] = max(pc.listed[place.Path], nth+1)
		at, found := findPoint(points, id)
		if !found {
			// The slice grows by a sixteenth, because append would keep room for a quarter more.
			if n := len(points); n == cap(points) {
				points = append(make([]point, 0, n+n/16+16), points...)
			}
			points = slices.Insert(points, at, point{ID: uint32(id)})
			pc.points[key] = points
		}
		p := &points[at]
		p.Space = pc.spaces.id(space{place.Frame, place.MapID, uint8(len(place.XYZ))})
		if pc.paths == nil {
			xyz := append(place.XYZ, 0)
			p.X, p.Y, p.Z = xyz[0], xyz[1], xyz[2]
			continue
		}
		// More numbers than fit at the old position of the point are added at the end.
		if n := float64(len(place.XYZ)); p.Y < n {
			p.X, p.Y = float64(len(pc.joints)), n
			pc.joints = append(pc.joints, place.XYZ...)
		}
		copy(pc.joints[int(p.X):], place.XYZ)
	}
}

func findPoint(points []point, id int64) (at int, found bool) {
	if n := len(points); n == 0 || int64(points[n-1].ID) < id {
		return n, false
	}
	return slices.BinarySearchFunc(points, id, func(p point, id int64) int { return cmp.Compare(int64(p.ID), id) })
}

func (pc *placeColumns) bytes() (n int) {
	for _, points := range pc.points {
		n += int(unsafe.Sizeof(point{})) * cap(points)
	}
	return n + 8*cap(pc.joints)
}

// numbers returns the coordinates of a point, in buffer or in place.
func (pc *placeColumns) numbers(p *point, dims uint8, buffer []float64) []float64 {
	if pc.paths != nil {
		return pc.joints[int(p.X):][:dims]
	}
	return append(buffer[:0], p.X, p.Y, p.Z)[:dims]
}

// each visits the points of a key that members of a set have in the frame and the map of
// a question, with the dimensions of its target (of any without one). It returns which
// frames and maps occurred, true for those that were visited, and how many points were left out for
// the number of their dimensions.
func (pc *placeColumns) each(key string, s *robotmem.SpatialSort, set *bitset.BitSet,
	visit func(*point, *space)) (met map[string]bool, other int) {
	const skipped, elsewhere, wanted = 1, 2, 3

	// Whether a space is wanted is decided once, at its first point.
	kinds := make([]uint8, len(pc.spaces.Values)) // 0 for a space that has not occurred
	met = map[string]bool{}

	points := pc.points[key]
	for i := range points {
		p := &points[i]
		if !set.Test(uint(p.ID)) {
			continue
		}
		in := &pc.spaces.Values[p.Space]
		if kinds[p.Space] == 0 {
			if kinds[p.Space] = skipped; in.dims > 0 && (s.Target == nil || filter.ComparesDims(s, int(in.dims))) {
				kinds[p.Space] = elsewhere
				if filter.ComparesFrame(s, in.frame, in.mapID) {
					kinds[p.Space] = wanted
				}
				met[in.frame+"\x00"+in.mapID] = kinds[p.Space] == wanted
			}
		}
		if kinds[p.Space] == wanted {
			visit(p, in)
		} else if kinds[p.Space] == skipped && in.dims > 0 {
			other++
		}
	}

	return met, other
}

// Nearest is the answer of Near.
type Nearest struct {
	Items  []recall.Ranked // at least the nearest limit
	Frames map[string]bool // pairs of frame and map that were compared
	Flat   bool            // points in space were compared with one in the plane
	Raised bool            // points in the plane were compared with one in space
	Other  int             // coordinates that were left out for the number of their dimensions
	Still  int             // those that were left out because no orientation is given there
	Away   int             // those that look another way than the question asks for
}

// Near compares every coordinate that a question asks for. A memory may have several.
func (r *Columns) Near(c *store.Conn, s *robotmem.SpatialSort, set *bitset.BitSet, limit int) (n Nearest, err error) {
	facing, err := r.facing(c, s)
	if err != nil {
		return n, err
	}

	err = withColumn(r, c, columnOfPlaces(s.Field, len(s.Target)), func(pc *placeColumns) {
		buffer := make([]float64, 0, 3)
		n.Frames = map[string]bool{}

		for _, key := range pc.keys(filter.PlacePaths(s.Field)...) {
			// Each key keeps as many as the limit, because a memory at several places counts once in the end.
			var items []recall.Ranked
			met, other := pc.each(key, s, set, func(p *point, in *space) {
				within, known := facing.at(key, p.ID)
				if !known {
					n.Still++
					return
				}
				n.Flat = n.Flat || int(in.dims) > len(s.Target)
				n.Raised = n.Raised || int(in.dims) < len(s.Target)

				d, near := filter.DistanceTo(s, pc.numbers(p, in.dims, buffer), in.frame)
				switch {
				case near && !within:
					n.Away++
				case near:
					items = recall.KeepSmallest(items, recall.Ranked{ID: int64(p.ID), Value: d}, limit)
				}
			})
			n.Items = append(n.Items, items...)
			n.Other += other

			for where, yes := range met {
				if yes {
					n.Frames[where] = true
				}
			}
		}
	})

	return n, err
}

// orientations tells by key and memory whether the orientation there is within the angle of a question. Nil admits all.
type orientations map[string]map[uint32]bool

func (o orientations) at(key string, id uint32) (within, known bool) {
	if o == nil {
		return true, true
	}
	within, known = o[key][id]

	return within, known
}

// facing compares every orientation at the field of a question, nil if it does not narrow by orientation.
func (r *Columns) facing(c *store.Conn, s *robotmem.SpatialSort) (o orientations, err error) {
	if !filter.Turned(s) {
		return nil, nil
	}

	o = orientations{}
	err = withColumn(r, c, turnsColumn+s.Field, func(pc *placeColumns) {
		for _, key := range pc.keys(filter.PlacePaths(s.Field)...) {
			o[key] = map[uint32]bool{}
			for i := range pc.points[key] {
				if p := &pc.points[key][i]; p.Space != 0 {
					o[key][p.ID] = filter.Faces(s, pc.numbers(p, quaternionDims, nil))
				}
			}
		}
	})

	return o, err
}

const quaternionDims = 4

// EachPlace visits the places of a set at the field of a question, however far from its target.
func (r *Columns) EachPlace(c *store.Conn, s *robotmem.SpatialSort, set *bitset.BitSet,
	visit func(id int64, xyz []float64, distance float64)) error {
	facing, err := r.facing(c, s)
	if err != nil {
		return err
	}

	return withColumn(r, c, columnOfPlaces(s.Field, len(s.Target)), func(pc *placeColumns) {
		buffer := make([]float64, 0, 3)

		for _, key := range pc.keys(filter.PlacePaths(s.Field)...) {
			pc.each(key, s, set, func(p *point, in *space) {
				if within, _ := facing.at(key, p.ID); !within {
					return
				}
				xyz := pc.numbers(p, in.dims, buffer)
				d, _ := filter.DistanceTo(s, xyz, in.frame)
				visit(int64(p.ID), xyz, d)
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
		for path := range pc.listed {
			fields := map[uint32]*admin.PlaceField{}

			for nth, key := range pc.keys(path) {
				for i := range pc.points[key] {
					p := &pc.points[key][i]
					if p.Space == 0 || !set.Test(uint(p.ID)) {
						continue
					}
					f := fields[p.Space]
					xyz := [3]float64{p.X, p.Y, p.Z}
					if f == nil {
						in := &pc.spaces.Values[p.Space]
						f = &admin.PlaceField{Field: path, FrameID: in.frame, MapID: in.mapID, Dims: int(in.dims),
							Min: slices.Clone(xyz[:in.dims]), Max: slices.Clone(xyz[:in.dims])}
						fields[p.Space] = f
					}

					// Further places of a list belong to a memory that is counted already.
					first, counted := findPoint(pc.points[path], int64(p.ID))
					if nth == 0 || !counted || pc.points[path][first].Space != p.Space {
						f.Memories++
					}

					for k := range f.Min {
						f.Min[k], f.Max[k] = min(f.Min[k], xyz[k]), max(f.Max[k], xyz[k])
					}
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
		for _, key := range pc.keys(filter.PlacePaths(field)...) {
			for _, p := range pc.points[key] {
				if n := int(pc.spaces.Values[p.Space].dims); n > 0 && !slices.Contains(dims, n) {
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
		at := &robotmem.SpatialSort{FrameID: ask.FrameID, MapID: ask.MapID}

		collect := func(p *point, in *space) {
			above := len(ask.Min) == 0 || p.X >= ask.Min[0] && p.Y >= ask.Min[1]
			below := len(ask.Max) == 0 || p.X <= ask.Max[0] && p.Y <= ask.Max[1]
			if above && below {
				out = append(out, Point{int64(p.ID), p.X, p.Y, p.Z, int(in.dims)})
			}
		}
		for _, key := range pc.keys(ask.Field) {
			pc.each(key, at, set, collect)
		}
	})

	return out, err
}

// grid divides a box into square cells, from its lowest corner on.
type grid struct {
	x, y, Side float64
	cells      float64 // along a side, at most
}

// NewGrid covers the box of a request. On a side where the box is open it covers the points.
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

	// The limits are divided first, because their difference may overflow.
	side := max(high[0]/n-low[0]/n, high[1]/n-low[1]/n)

	// The side is limited, because JSON has no infinity.
	return grid{x: low[0], y: low[1], cells: n, Side: min(side, math.MaxFloat64)}
}

// at returns the cell of a point. A point on the far edge belongs to the last cell.
func (g *grid) at(x, y float64) [2]int {
	// Halves do not overflow when they are subtracted.
	half := g.Side / 2
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
