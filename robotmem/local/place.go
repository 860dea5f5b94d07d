package local

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
)

// placeSignal orders the admitted memories by Euclidean distance, nearest
// first, ties by id. It is exact: every coordinate is compared.
func (e *Engine) placeSignal(c *conn, q *question, a *admitted) ([]ranked, error) {
	path, err := c.knownPath(q.SpatialSort.Field)
	if err != nil {
		return nil, err
	}
	limit := q.listDepth()
	if q.strict() {
		limit = q.N
	}
	items, frames := e.index.roster.near(path, q.SpatialSort, a.set, limit)
	for id, s := range a.past {
		_, places := filter.Flatten(s.memory.Context)
		for _, p := range places {
			if p.Path != q.SpatialSort.Field || !comparesFrame(q.SpatialSort, p.Frame, p.MapID) {
				continue
			}
			if d, ok := distanceTo(q.SpatialSort, p.XYZ); ok {
				items = append(items, ranked{id, d})
				frames[p.Frame+"\x00"+p.MapID] = true
			}
		}
	}
	if len(frames) > 1 {
		q.degraded = append(q.degraded, fmt.Sprintf("place: coordinates of %d different frames or maps were compared; name one with frame_id or map_id", len(frames)))
	}
	slices.SortFunc(items, nearer)
	return items[:min(limit, len(items))], nil
}

// nearer orders by distance, ties by id.
func nearer(x, y ranked) int { return cmp.Or(cmp.Compare(x.value, y.value), cmp.Compare(x.id, y.id)) }

// comparesFrame reports whether coordinates of a frame and a map are asked for.
func comparesFrame(s *robotmem.SpatialSort, frame, mapID string) bool {
	return (s.FrameID == "" || s.FrameID == frame) && (s.MapID == "" || s.MapID == mapID)
}

// distanceTo is Euclidean; ok is false for another number of dimensions, or
// beyond the largest distance.
func distanceTo(s *robotmem.SpatialSort, xyz []float64) (d float64, ok bool) {
	if len(xyz) != len(s.Target) {
		return 0, false
	}
	sum := 0.0
	for i := range xyz {
		sum += (xyz[i] - s.Target[i]) * (xyz[i] - s.Target[i])
	}
	d = math.Sqrt(sum)
	if math.IsInf(d, 0) {
		d = math.MaxFloat64 // JSON has no infinity
	}
	return d, s.MaxDistance == nil || d <= *s.MaxDistance
}

// near compares every coordinate at a path and returns at least the nearest
// limit; frames are the pairs of frame and map that were met.
func (r *roster) near(path int64, s *robotmem.SpatialSort, set *bitset.BitSet, limit int) (items []ranked, frames map[string]bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	frames = map[string]bool{}
	column := r.points[path]
	if column == nil {
		return nil, frames
	}
	type where struct{ frame, mapID uint32 }
	asked := map[where]bool{} // false: not of the frame and map in question
	xyz := make([]float64, 0, 3)
	for i := range column.points {
		p := &column.points[i]
		if int(p.dims) != len(s.Target) || !set.Test(uint(p.memoryID)) {
			continue
		}
		w := where{p.frame, p.mapID}
		yes, known := asked[w]
		if !known {
			yes = comparesFrame(s, r.text(p.frame), r.text(p.mapID))
			asked[w] = yes
			if yes {
				frames[r.text(p.frame)+"\x00"+r.text(p.mapID)] = true
			}
		}
		if !yes {
			continue
		}
		xyz = append(xyz[:0], p.x, p.y, p.z)[:p.dims]
		if d, ok := distanceTo(s, xyz); ok {
			items = keepNearest(items, ranked{p.memoryID, d}, limit)
		}
	}
	return items, frames
}

// keepNearest adds one entry to the nearest limit, in order by insertion, which
// costs nothing for the many that are farther.
func keepNearest(items []ranked, r ranked, limit int) []ranked {
	if len(items) == limit && nearer(items[limit-1], r) <= 0 {
		return items
	}
	at, _ := slices.BinarySearchFunc(items, r, nearer)
	items = slices.Insert(items, at, r)
	return items[:min(len(items), limit)]
}
