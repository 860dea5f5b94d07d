package local

import (
	"cmp"
	"math"
	"slices"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
)

// pointColumn holds the coordinates of one context path, by memory id. A point
// that was taken out stays as a gap until its memory comes back.
type pointColumn struct{ points []point }

type point struct {
	memoryID     int64
	x, y, z      float64
	frame, mapID uint32
	dims         uint8 // 2 or 3, 0 for a gap
}

func (c *pointColumn) find(id int64) (at int, found bool) {
	if n := len(c.points); n == 0 || c.points[n-1].memoryID < id {
		return n, false
	}
	return slices.BinarySearchFunc(c.points, id, func(p point, id int64) int { return cmp.Compare(p.memoryID, id) })
}

func (c *pointColumn) put(p point) {
	if at, found := c.find(p.memoryID); found {
		c.points[at] = p
	} else {
		c.points = slices.Insert(c.points, at, p)
	}
}

func (c *pointColumn) drop(id int64) {
	if at, found := c.find(id); found {
		c.points[at].dims = 0
	}
}

// near compares every coordinate at a path and returns at least the nearest
// limit; frames are the pairs of frame and map that were met.
func (r *roster) near(path int64, s *robotmem.SpatialSort, set *bitset.BitSet, limit int) (items []recall.Ranked, frames map[string]bool) {
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
			items = recall.KeepSmallest(items, recall.Ranked{ID: p.memoryID, Value: d}, limit)
		}
	}
	return items, frames
}

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
