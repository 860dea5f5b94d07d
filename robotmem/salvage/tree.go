package salvage

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"slices"
)

// State of a page, as bits.
const (
	pageReached = 1 << iota // by a tree
	pageFree                // on the list of free pages
	pageChain               // holds what overflows from a cell
	pageDamaged
)

// maxDepth is more than a tree of 2^32 pages has.
const maxDepth = 24

// tree is a table or an index on its way through the file.
type tree struct {
	shape *Table // nil: known by its name alone
	index int    // of the tables that were given
	root  uint32
	first byte // kind of its root, of one without a shape
	TableReport
}

// scan is one walk through a file.
type scan struct {
	f       *File
	ctx     context.Context
	state   []uint8
	shared  uint32 // pages that the chains of two rows hold
	buffers [maxDepth + 1][]byte
	spill   []byte // one page of a chain
	take    func(Row) error
	seen    func(page uint32)
	err     error   // of take or ctx; ends the walk
	torn    []*tree // with holes, that have a shape
	report  Report
}

func (f *File) newScan(ctx context.Context, take func(Row) error, seen func(uint32)) *scan {
	s := &scan{f: f, ctx: ctx, state: make([]uint8, int64(f.info.Pages)+1), spill: make([]byte, f.pageSize), take: take, seen: seen}
	s.readFree()
	return s
}

// readFree marks the free pages: trunk pages, each with the next trunk and the
// numbers of further ones.
func (s *scan) readFree() {
	page := s.buffer(0)
	s.report.FreeUnread = true
	if !s.f.page(1, page) || !headWhole(page) {
		return
	}
	next, left := binary.BigEndian.Uint32(page[32:]), binary.BigEndian.Uint32(page[36:])
	for next != 0 {
		if next > s.f.info.Pages || s.state[next]&pageFree != 0 || !s.f.page(next, page) {
			return
		}
		s.state[next] |= pageFree
		count := binary.BigEndian.Uint32(page[4:])
		if uint64(count) > uint64(s.f.usable/4-2) || count+1 > left {
			return
		}
		for i := range count {
			if n := binary.BigEndian.Uint32(page[8+4*i:]); n != 0 && n <= s.f.info.Pages {
				s.state[n] |= pageFree
			}
		}
		left -= count + 1
		next = binary.BigEndian.Uint32(page)
	}
	s.report.FreeUnread = left != 0
}

func (s *scan) buffer(depth int) []byte {
	if s.buffers[depth] == nil {
		s.buffers[depth] = make([]byte, s.f.pageSize)
	}
	return s.buffers[depth]
}

// damaged counts a page once.
func (s *scan) damaged(n uint32) {
	if int64(n) < int64(len(s.state)) && s.state[n]&pageDamaged == 0 {
		s.state[n] |= pageDamaged
		s.report.DamagedPages++
	}
}

// walk follows a tree from page n on, which holds the keys of a span.
func (s *scan) walk(t *tree, n uint32, in Span, depth int) {
	if s.stopped() {
		return
	}
	if n == 0 || n > s.f.info.Pages || depth > maxDepth || s.state[n]&pageReached != 0 {
		t.Holes = append(t.Holes, in)
		return
	}
	page := s.buffer(depth)
	whole := s.f.page(n, page)
	nd, ok := s.f.node(n, page)
	if !ok || !t.takes(nd.kind) || !s.owns(t, &nd, in) {
		// Where it is another table's, that one or its shape will find it.
		if !ok || !whole {
			s.damaged(n)
		}
		t.Holes = append(t.Holes, in)
		return
	}
	s.state[n] |= pageReached
	s.seen(n)
	if !whole || nd.bad > 0 {
		s.damaged(n)
		t.Holes = append(t.Holes, in)
	}
	switch nd.kind {
	case tableLeaf, indexLeaf:
		s.rows(t, &nd, []Span{in}, Row{Doubtful: !whole})
	case tableInterior:
		from := in.Above
		for _, c := range nd.cells {
			if !in.has(c.key) {
				t.Holes = append(t.Holes, in)
				continue
			}
			s.walk(t, c.child, Span{from, c.key}, depth+1)
			from = c.key
		}
		s.walk(t, nd.right, Span{from, in.UpTo}, depth+1)
	case indexInterior:
		s.rows(t, &nd, []Span{in}, Row{Doubtful: !whole})
		for _, c := range nd.cells {
			s.walk(t, c.child, in, depth+1)
		}
		s.walk(t, nd.right, in, depth+1)
	}
}

func (s *scan) stopped() bool {
	if s.err == nil {
		s.err = s.ctx.Err()
	}
	return s.err != nil
}

// takes reports whether a tree has pages of a kind. All pages of one are those of
// a table, or those of an index.
func (t *tree) takes(kind byte) bool {
	if t.shape == nil {
		if t.first == 0 {
			t.first = kind
		}
		return isIndex(t.first) == isIndex(kind)
	}
	return t.shape.WithoutRowid == isIndex(kind)
}

func isIndex(kind byte) bool { return kind == indexLeaf || kind == indexInterior }

// owns reports whether a page that a tree leads to looks as if it were its own:
// most of its cells do. A pointer may be damaged, too. Of a tree of no known
// shape it is its own unless it looks like one that another tree misses.
func (s *scan) owns(t *tree, nd *node, in Span) bool {
	switch {
	case nd.kind == tableInterior || len(nd.cells) == 0:
		return true
	case t.shape == nil:
		return len(s.torn) == 0 || s.ownerOf(nd, s.torn) == nil
	}
	return 2*t.fitting(nd, []Span{in}) > len(nd.cells)
}

func (t *tree) fitting(nd *node, in []Span) (n int) {
	for i := range nd.cells {
		if t.fits(&nd.cells[i], nd.kind, in) {
			n++
		}
	}
	return n
}

func (t *tree) fits(c *cell, kind byte, in []Span) bool {
	inside := kind != tableLeaf || slices.ContainsFunc(in, func(s Span) bool { return s.has(c.key) })
	return inside && t.shape.fits(c.types)
}

// rows gives on the rows of a page, as far as they can be read.
func (s *scan) rows(t *tree, nd *node, in []Span, row Row) {
	if t.shape == nil || !t.shape.Keep {
		return
	}
	t.Unreadable += int64(nd.bad)
	row.Table = t.index
	row.Doubtful = row.Doubtful || nd.bad > 0
	for i := range nd.cells {
		c := &nd.cells[i]
		if !t.fits(c, nd.kind, in) {
			if !row.Stray {
				t.Unreadable++
			}
			continue
		}
		body, chained, ok := s.record(c)
		if !ok {
			t.Unreadable++
			continue
		}
		one := row
		one.Key, one.Values, one.Doubtful = c.key, values(c.types, body), row.Doubtful || !chained
		if row.Stray && t.shape.Fits != nil && !t.shape.Fits(one.Values) {
			continue
		}
		for i := range one.Values {
			if t.shape.Columns[i].Key {
				one.Values[i] = c.key
			}
		}
		t.count(one)
		if s.err = s.take(one); s.err != nil {
			return
		}
	}
}

func (t *tree) count(r Row) {
	t.Found++
	if r.Doubtful {
		t.Doubtful++
	}
	if r.Stray {
		t.Stray++
	}
}

// record reads the values of a cell, with what overflows. Each page of a chain
// is followed once in all, so that no file costs more than its size. whole is
// false when a page of the chain does not check.
func (s *scan) record(c *cell) (body []byte, whole, ok bool) {
	if len(c.local) == c.size {
		return c.local[c.body:], true, true
	}
	if c.body > len(c.local) || int64(c.size) > int64(s.f.info.Pages)*int64(s.f.usable) {
		return nil, false, false
	}
	data := append(make([]byte, 0, c.size), c.local...)
	whole = true
	for next := c.overflow; len(data) < c.size; {
		if next == 0 || next > s.f.info.Pages || s.state[next]&pageReached != 0 {
			return nil, false, false
		}
		if s.state[next]&pageChain != 0 {
			// Two rows lead here, and one of them by a damaged page. Which, their
			// contents say. All such pages together are at most those of the file.
			if s.shared == s.f.info.Pages {
				return nil, false, false
			}
			s.shared++
			whole = false
		}
		s.state[next] |= pageChain
		if !s.f.page(next, s.spill) {
			s.damaged(next)
			whole = false
		}
		s.seen(next)
		data = append(data, s.spill[4:min(s.f.usable, 4+c.size-len(data))]...)
		next = binary.BigEndian.Uint32(s.spill)
	}
	return data[c.body:], whole, true
}

// findTorn keeps the trees with holes.
func (s *scan) findTorn(trees []*tree) {
	s.torn = nil
	for _, t := range trees {
		if t.Holes = merge(t.Holes); len(t.Holes) > 0 {
			s.torn = append(s.torn, t)
		}
	}
}

// strays looks for the rows of torn trees on pages that nothing leads to.
func (s *scan) strays() {
	if len(s.torn) == 0 {
		return
	}
	for n := uint32(1); n <= s.f.info.Pages && !s.stopped(); n++ {
		if s.state[n]&(pageReached|pageFree|pageChain) != 0 {
			continue
		}
		s.seen(n)
		page := s.buffer(0)
		whole := s.f.page(n, page)
		if !whole {
			s.damaged(n)
		}
		nd, ok := s.f.node(n, page)
		if zeros(page) {
			s.damaged(n) // no page in use is empty
		}
		if !ok || nd.kind == tableInterior || len(nd.cells) == 0 {
			continue
		}
		t := s.ownerOf(&nd, s.torn)
		if t == nil {
			s.report.Unclaimed++
			continue
		}
		s.state[n] |= pageReached
		s.rows(t, &nd, t.Holes, Row{Doubtful: !whole, Stray: true})
	}
}

// lateRows adds the rows of those pages of the log that follow a damaged one.
func (s *scan) lateRows(trees []*tree) {
	if s.f.log == nil || len(s.f.log.late) == 0 {
		return
	}
	s.f.late = true
	defer func() { s.f.late = false }()
	clear(s.state) // a page of the file and its late one are two
	var wanted []*tree
	for _, t := range trees {
		wanted = append(wanted, &tree{shape: t.shape, index: t.index, TableReport: TableReport{Holes: []Span{everything}}})
	}
	for _, n := range slices.Sorted(maps.Keys(s.f.log.late)) {
		page := s.buffer(0)
		if n > s.f.info.Pages || s.stopped() || !s.f.page(n, page) {
			continue
		}
		nd, ok := s.f.node(n, page)
		if !ok || nd.kind == tableInterior {
			continue
		}
		if t := s.ownerOf(&nd, wanted); t != nil {
			s.rows(t, &nd, t.Holes, Row{Stray: true})
		}
	}
	for i, t := range wanted {
		trees[i].Found, trees[i].Stray, trees[i].Doubtful = trees[i].Found+t.Found, trees[i].Stray+t.Stray, trees[i].Doubtful+t.Doubtful
	}
}

// ownerOf finds the one tree that most of a stray page's cells fit; nil if none
// or several do.
func (s *scan) ownerOf(nd *node, torn []*tree) *tree {
	var best *tree
	most, tied := len(nd.cells)/2, false
	for _, t := range torn {
		if !t.takes(nd.kind) {
			continue
		}
		n := 0
		for i := range nd.cells {
			c := &nd.cells[i]
			if !t.fits(c, nd.kind, t.Holes) {
				continue
			}
			if t.shape.Fits != nil && len(c.local) == c.size && !t.shape.Fits(values(c.types, c.local[c.body:])) {
				continue
			}
			n++
		}
		switch {
		case n > most:
			best, most, tied = t, n, false
		case n == most && best != nil:
			tied = true
		}
	}
	if tied {
		return nil
	}
	return best
}

// merge sorts spans and joins those that touch.
func merge(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(cmp.Compare(a.Above, b.Above), cmp.Compare(a.UpTo, b.UpTo)) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.Above <= out[n-1].UpTo {
			out[n-1].UpTo = max(out[n-1].UpTo, s.UpTo)
			continue
		}
		out = append(out, s)
	}
	return out
}
