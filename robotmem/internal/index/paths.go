package index

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// valueKind says what a value of a context is.
type valueKind uint8

const (
	kindNumber valueKind = iota
	kindText
	kindBool
	kindNull
	kindList
	kindObject // an empty one
	valueKinds
)

var kindNames = [valueKinds]string{"number", "text", "bool", "null", "list", "object"}

// kindOfValue takes a value as filter.Flatten makes it.
func kindOfValue(v any) valueKind {
	switch v := v.(type) {
	case string:
		return kindText
	case []byte:
		switch blob := string(v); {
		case blob == filter.BlobNull:
			return kindNull
		case blob == filter.BlobFalse, blob == filter.BlobTrue:
			return kindBool
		case strings.HasPrefix(blob, filter.BlobObject):
			return kindObject
		}
		return kindList
	}
	return kindNumber
}

// pathIndex holds which memories, of any status, have a value at which context path.
// The first question reads it from the attributes; from then on it follows the
// change counter.
type pathIndex struct {
	Mu       sync.RWMutex // guards the fields below
	loaded   bool
	Revision int64
	paths    map[int64]*pathMembers // by number of the path
}

// pathMembers lists the memories with a value at a path, in order, by the kind of
// the value. The path of a quantity has a unit.
type pathMembers struct {
	id         int64
	Path, unit string
	ids        [valueKinds][]uint32
}

func NewPathMembers(id int64, indexed string) *pathMembers {
	path, unit, _ := strings.Cut(indexed, filter.QuantityMark)
	return &pathMembers{id: id, Path: path, unit: unit}
}

// pathGroup is a context path with its quantities, counted within a set.
type pathGroup struct {
	path     string
	memories int64
	plain    *pathMembers // of the path itself, if the file knows it
	kinds    [valueKinds]int64
	quantity *pathMembers // those of the unit that most memories have; nil for none
	measured int64        // members of quantity
}

// hasPlain reports whether there are members with a value at the path itself,
// rather than an object of value and unit.
func (g *pathGroup) hasPlain() bool { return g.kinds != [valueKinds]int64{} }

// Sync brings the index to the snapshot that c reads.
func (x *pathIndex) Sync(c *store.Conn) error {
	revision, err := c.Changes()
	if err != nil {
		return err
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if x.loaded && x.Revision >= revision {
		return nil
	}
	if x.loaded && (revision-x.Revision)*int64(len(x.paths)) <= MaxPathSteps {
		err = x.follow(c)
	} else {
		err = x.load(c)
	}
	x.loaded, x.Revision = err == nil, revision
	return err
}

func (x *pathIndex) reset() {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	x.loaded, x.paths = false, nil
}

// change replaces what the index holds of one memory.
func (x *pathIndex) change(id uint32, values map[int64][valueKinds]bool) {
	for path, p := range x.paths {
		have := values[path]
		for kind := range p.ids {
			at, found := slices.BinarySearch(p.ids[kind], id)
			switch {
			case found && !have[kind]:
				p.ids[kind] = slices.Delete(p.ids[kind], at, at+1)
			case !found && have[kind]:
				p.ids[kind] = slices.Insert(p.ids[kind], at, id)
			}
		}
	}
}

// Count returns the paths that are wanted and have members in a set, in order. A
// path with the name of a memory's own field is left out: filters cannot reach it.
func (x *pathIndex) Count(set *bitset.BitSet, wanted func(path string) bool) []pathGroup {
	x.Mu.RLock()
	defer x.Mu.RUnlock()
	groups := map[string]*pathGroup{}
	lists := map[string][][]uint32{}                       // those with members in the set
	for _, id := range slices.Sorted(maps.Keys(x.paths)) { // of units that as many have, the first
		p := x.paths[id]
		if filter.OwnField(p.Path) || !wanted(p.Path) {
			continue
		}
		g := groups[p.Path]
		if g == nil {
			g = &pathGroup{path: p.Path}
			groups[p.Path] = g
		}
		for kind, ids := range p.ids {
			n := int64(0)
			for _, id := range ids {
				if set.Test(uint(id)) {
					n++
				}
			}
			if n > 0 {
				lists[p.Path] = append(lists[p.Path], ids)
				g.memories = n
			}
			switch {
			case p.unit == "":
				g.kinds[kind] = n
				g.plain = p
			case n > g.measured:
				g.quantity, g.measured = p, n
			}
		}
	}
	var out []pathGroup
	for _, path := range slices.Sorted(maps.Keys(lists)) {
		g := groups[path]
		if len(lists[path]) > 1 {
			g.memories = countUnion(lists[path], set)
		}
		out = append(out, *g)
	}
	return out
}

// countUnion counts the members of a set in any of the lists.
func countUnion(lists [][]uint32, set *bitset.BitSet) int64 {
	union := bitset.New(set.Len())
	for _, ids := range lists {
		for _, id := range ids {
			if set.Test(uint(id)) {
				union.Set(uint(id))
			}
		}
	}
	return int64(union.Count())
}

// load reads all of the index. The caller holds its lock.
func (x *pathIndex) load(c *store.Conn) error {
	x.paths = map[int64]*pathMembers{}
	err := c.Query("SELECT id, path FROM paths", nil, func(s *sqlite.Stmt) error {
		x.paths[s.ColumnInt64(0)] = NewPathMembers(s.ColumnInt64(0), s.ColumnText(1))
		return nil
	})
	if err != nil {
		return err
	}
	last := uint32(0)
	var p *pathMembers
	err = c.Query("SELECT path_id, value, memory_id FROM attributes", nil, func(s *sqlite.Stmt) error {
		if id := s.ColumnInt64(0); p == nil || p.id != id {
			if p = x.paths[id]; p == nil { // a damaged file; doctor names it
				p = &pathMembers{id: id}
			}
		}
		kind, id := columnKind(s, 1), uint32(s.ColumnInt64(2))
		p.ids[kind] = append(p.ids[kind], id)
		last = max(last, id)
		return nil
	})
	if err != nil {
		return err
	}
	var seen bitset.BitSet
	for _, p := range x.paths {
		for kind, ids := range p.ids {
			p.ids[kind] = slices.Clip(inOrder(ids, last, &seen))
		}
	}
	return nil
}

func columnKind(s *sqlite.Stmt, column int) valueKind {
	switch s.ColumnType(column) {
	case sqlite.Integer, sqlite.Float:
		return kindNumber
	case sqlite.Text:
		return kindText
	}
	return kindOfValue(s.ColumnRawBlob(column))
}

// inOrder sorts ids up to last and removes repeated ones. Many are sorted faster
// through a set of bits, for which seen is reused.
func inOrder(ids []uint32, last uint32, seen *bitset.BitSet) []uint32 {
	if len(ids) < int(last/64) {
		slices.Sort(ids)
		return slices.Compact(ids)
	}
	seen.ClearAll()
	for _, id := range ids {
		seen.Set(uint(id))
	}
	ids = ids[:0]
	for id, ok := seen.NextSet(0); ok; id, ok = seen.NextSet(id + 1) {
		ids = append(ids, uint32(id))
	}
	return ids
}

// follow reads the memories that changed. The caller holds the index's lock.
func (x *pathIndex) follow(c *store.Conn) error {
	interrupt := c.SetInterrupt(context.Background())
	defer c.SetInterrupt(interrupt)
	type changed struct {
		id      int64
		context string
	}
	var all []changed
	err := c.Query("SELECT id, context FROM memories WHERE revision > ?", []any{x.Revision}, func(s *sqlite.Stmt) error {
		all = append(all, changed{s.ColumnInt64(0), s.ColumnText(1)})
		return nil
	})
	if err != nil {
		return err
	}
	// A purge may remove a path, whose number another path then gets.
	if purged, err := c.PurgedSince(x.Revision); err != nil || purged {
		return errors.Join(err, x.load(c))
	}
	for _, m := range all {
		attrs, _ := filter.Flatten(robotmem.ParseObject(m.context))
		values := map[int64][valueKinds]bool{}
		for _, a := range attrs {
			id, err := c.KnownPath(a.Path)
			if err != nil {
				return err
			}
			if id != 0 && x.paths[id] == nil {
				x.paths[id] = NewPathMembers(id, a.Path)
			}
			have := values[id]
			have[kindOfValue(a.Value)] = true
			values[id] = have
		}
		x.change(uint32(m.id), values)
	}
	return nil
}

// ContextPath describes a path by its members within a set.
func ContextPath(c *store.Conn, g pathGroup, set *bitset.BitSet) (robotmem.ContextPath, error) {
	p := robotmem.ContextPath{Path: g.path, Memories: g.memories}
	numbers := g.plain
	if g.measured > g.kinds[kindNumber] {
		numbers, p.Unit = g.quantity, g.quantity.unit
	}
	if !g.hasPlain() { // objects of value and unit alone
		g.kinds[kindNumber] = g.measured
	}
	for kind, n := range g.kinds {
		if n > 0 {
			p.Kinds = append(p.Kinds, kindNames[kind])
		}
	}
	if g.kinds[kindNumber] == 0 && p.Unit == "" {
		return p, nil
	}
	var err error
	if p.Min, err = outermost(c, numbers.id, "ASC", set); err == nil {
		p.Max, err = outermost(c, numbers.id, "DESC", set)
	}
	return p, err
}

// outermost is the first number at a path, in an order, of a member of the set; nil
// without one. Numbers sort before texts.
func outermost(c *store.Conn, path int64, order string, set *bitset.BitSet) (n *float64, err error) {
	c.Admit = set
	defer func() { c.Admit = nil }()
	_, err = c.One("SELECT value FROM attributes WHERE path_id = ? AND value < '' AND admitted(memory_id) ORDER BY value "+order+" LIMIT 1", []any{path},
		func(s *sqlite.Stmt) { n = new(s.ColumnFloat(0)) })
	return n, err
}

// PathValues returns the most frequent values at a path within a set, of equally
// frequent ones the smaller first. Lists are left out: the index holds only their
// checksums. Quantities in objects are spelt as a filter takes them.
func PathValues(c *store.Conn, g *pathGroup, set *bitset.BitSet) (out []robotmem.PathValue, err error) {
	path, unit := g.plain, ""
	if !g.hasPlain() {
		path, unit = g.quantity, " "+g.quantity.unit
	}
	c.Admit = set
	defer func() { c.Admit = nil }()
	err = c.Query(`SELECT value, count(*) FROM attributes
		WHERE path_id = ? AND admitted(memory_id) AND (typeof(value) <> 'blob' OR length(value) = 1) AND length(value) <= ?
		GROUP BY value ORDER BY 2 DESC, 1 LIMIT ?`, []any{path.id, maxValueLength, MaxValues}, func(s *sqlite.Stmt) error {
		v := robotmem.PathValue{Value: store.ColumnValue(s, 0), Memories: s.ColumnInt64(1)}
		if unit != "" {
			v.Value = s.ColumnText(0) + unit
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

const (
	MaxPaths  = 10_000
	MaxValues = 50
	// MaxPathSteps is how many paths are looked up for the memories that changed; for
	// more, reading all of the index is as cheap.
	MaxPathSteps = 1 << 20
	// maxValueLength is the longest text that is offered to choose, in characters.
	maxValueLength = 1024
)
