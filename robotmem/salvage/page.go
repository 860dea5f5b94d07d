package salvage

import (
	"encoding/binary"
	"sort"
)

// Kinds of pages of a tree.
const (
	indexInterior = 0x02
	tableInterior = 0x05
	indexLeaf     = 0x0a
	tableLeaf     = 0x0d
)

func treeKind(b byte) bool {
	return b == indexInterior || b == tableInterior || b == indexLeaf || b == tableLeaf
}

// node is a page of a tree, with the cells that are possible.
type node struct {
	kind  byte
	right uint32 // the last child, of an interior page
	cells []cell
	bad   int // cells that are not
}

// cell is an entry of a page. key is the row's number, of a table.
type cell struct {
	child    uint32
	key      int64
	size     int // of the record
	local    []byte
	overflow uint32
	types    []uint64 // of the record
	body     int      // where its values begin
}

// node takes a page apart. The page's bytes stay in use. ok is false when it is
// no page of a tree.
func (f *File) node(n uint32, page []byte) (nd node, ok bool) {
	at := 0
	if n == 1 {
		at = headerSize
	}
	p := page[:f.usable]
	nd.kind = p[at]
	if !treeKind(nd.kind) {
		return nd, false
	}
	count := int(binary.BigEndian.Uint16(p[at+3:]))
	start := int(binary.BigEndian.Uint16(p[at+5:]))
	if start == 0 {
		start = maxPageSize
	}
	array := at + 8
	if nd.kind == indexInterior || nd.kind == tableInterior {
		nd.right = binary.BigEndian.Uint32(p[at+8:])
		array = at + 12
	}
	if array+2*count > len(p) {
		return nd, false
	}
	// A damaged start of the cells says nothing of the cells themselves.
	if start < array+2*count || start > len(p) {
		start = array + 2*count
		nd.bad++
	}
	type span struct{ from, to int }
	var taken []span
	for i := range count {
		from := int(binary.BigEndian.Uint16(p[array+2*i:]))
		if from < start || from >= len(p) {
			nd.bad++
			continue
		}
		c, length, ok := f.cell(nd.kind, p[from:])
		if !ok {
			nd.bad++
			continue
		}
		// Cells do not overlap: an offset into another is none of its own.
		j := sort.Search(len(taken), func(j int) bool { return taken[j].to > from })
		if j < len(taken) && taken[j].from < from+length {
			nd.bad++
			continue
		}
		taken = append(taken, span{})
		copy(taken[j+1:], taken[j:])
		taken[j] = span{from, from + length}
		nd.cells = append(nd.cells, c)
	}
	if nd.kind == tableLeaf || nd.kind == tableInterior {
		nd.order()
	}
	return nd, true
}

// cell reads the cell at the beginning of p, and how many bytes it takes.
func (f *File) cell(kind byte, p []byte) (c cell, length int, ok bool) {
	at := 0
	if kind == indexInterior || kind == tableInterior {
		if len(p) < 4 {
			return c, 0, false
		}
		c.child = binary.BigEndian.Uint32(p)
		at = 4
	}
	if kind == tableInterior {
		key, n := varint(p[at:])
		c.key = int64(key)
		return c, at + n, n > 0
	}
	size, n := varint(p[at:])
	if n == 0 || size > maxRow {
		return c, 0, false
	}
	at += n
	if kind == tableLeaf {
		key, n := varint(p[at:])
		if n == 0 {
			return c, 0, false
		}
		c.key = int64(key)
		at += n
	}
	c.size = int(size)
	local := f.localBytes(kind, c.size)
	end := at + local
	if local < c.size {
		end += 4
	}
	if end > len(p) {
		return c, 0, false
	}
	c.local = p[at : at+local]
	if local < c.size {
		c.overflow = binary.BigEndian.Uint32(p[at+local:])
	}
	c.types, c.body, ok = header(c.local, c.size)
	return c, max(end, 4), ok // a cell takes four bytes at least
}

// localBytes is how much of a record lies in its cell: the formulas of section
// 1.6 of the file format, with U usable bytes in a page.
func (f *File) localBytes(kind byte, size int) int {
	u := f.usable
	most := u - 35
	if kind != tableLeaf {
		most = (u-12)*64/255 - 23
	}
	if size <= most {
		return size
	}
	least := (u-12)*32/255 - 23
	if k := least + (size-least)%(u-4); k <= most {
		return k
	}
	return least
}

// order drops the cells of a table whose keys are not in ascending order, so
// that the most stay: the longest rising sequence.
func (nd *node) order() {
	sorted := true
	for i := 1; i < len(nd.cells); i++ {
		sorted = sorted && nd.cells[i-1].key < nd.cells[i].key
	}
	if sorted {
		return
	}
	before := make([]int, len(nd.cells))
	var ends []int // of the best sequence of each length
	for i, c := range nd.cells {
		j := sort.Search(len(ends), func(j int) bool { return nd.cells[ends[j]].key >= c.key })
		before[i] = -1
		if j > 0 {
			before[i] = ends[j-1]
		}
		if j == len(ends) {
			ends = append(ends, i)
		} else {
			ends[j] = i
		}
	}
	kept := make([]cell, len(ends))
	for i, at := len(ends)-1, ends[len(ends)-1]; i >= 0; i, at = i-1, before[at] {
		kept[i] = nd.cells[at]
	}
	nd.bad += len(nd.cells) - len(kept)
	nd.cells = kept
}
