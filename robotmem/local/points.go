package local

import (
	"cmp"
	"slices"
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
