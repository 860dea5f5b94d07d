package local

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

const (
	maxPaths  = 10_000
	maxValues = 50
	// maxPathSteps is how many paths are looked up, for all memories that changed,
	// before reading the index anew is as cheap.
	maxPathSteps = 1 << 20
	// maxValueLength is up to how many characters a text is offered to choose.
	maxValueLength = 1024
)

// Paths implements Service.
func (e *Engine) Paths(ctx context.Context, req *robotmem.PathsRequest) (*robotmem.PathsResponse, error) {
	r := *req
	if err := robotmem.Validate("paths", &r); err != nil {
		return nil, err
	}
	res := &robotmem.PathsResponse{Paths: []robotmem.ContextPath{}}
	err := e.store.read(ctx, func(c *conn) error { return e.listPaths(c, &r, res) })
	if err != nil {
		return nil, sqlite.Wrap("paths", err)
	}
	return res, nil
}

func (e *Engine) listPaths(c *conn, r *robotmem.PathsRequest, res *robotmem.PathsResponse) error {
	if err := e.index.roster.sync(c); err != nil {
		return err
	}
	set, _, err := e.index.admit(c, basic{audience: audience{collection: r.Collection}, now: e.now()})
	if err != nil {
		return err
	}
	if err := e.index.paths.sync(c); err != nil {
		return err
	}
	groups := e.index.paths.count(set, func(path string) bool {
		return (r.Path == "" || path == r.Path) && strings.HasPrefix(path, r.Prefix)
	})
	res.Total = len(groups)
	for _, g := range groups[:min(maxPaths, len(groups))] {
		p, err := c.contextPath(g, set)
		if err != nil {
			return err
		}
		if r.Path != "" {
			if p.Values, err = c.pathValues(&g, set); err != nil {
				return err
			}
		}
		res.Paths = append(res.Paths, p)
	}
	return nil
}

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

func kindOfBlob(blob string) valueKind {
	switch {
	case blob == filter.BlobNull:
		return kindNull
	case blob == filter.BlobFalse, blob == filter.BlobTrue:
		return kindBool
	case strings.HasPrefix(blob, filter.BlobObject):
		return kindObject
	}
	return kindList
}

// pathIndex knows which memories have a value at which context path, whatever
// their status. The first question reads it from the attributes; from then on it
// follows the change counter.
type pathIndex struct {
	mu       sync.RWMutex // guards the fields below
	loaded   bool
	revision int64
	paths    map[int64]*pathMembers // by number of the path
}

// pathMembers are the memories with a value at a path, in order, by the kind of
// the value. A quantity's path has a unit.
type pathMembers struct {
	id         int64
	path, unit string
	ids        [valueKinds][]uint32
}

func newPathMembers(id int64, indexed string) *pathMembers {
	path, unit, _ := strings.Cut(indexed, filter.QuantityMark)
	return &pathMembers{id: id, path: path, unit: unit}
}

// pathGroup is a context path with its quantities, as far as a set has them.
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

// sync brings the index to the snapshot that c reads.
func (x *pathIndex) sync(c *conn) error {
	revision, err := c.changes()
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.loaded && x.revision >= revision {
		return nil
	}
	if x.loaded && (revision-x.revision)*int64(len(x.paths)) <= maxPathSteps {
		err = x.follow(c)
	} else {
		err = x.load(c)
	}
	x.loaded, x.revision = err == nil, revision
	return err
}

func (x *pathIndex) reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
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

// count returns the paths that are wanted and have members in a set, in order
// of the path. A path that is named like a memory's own field is none that a
// filter can ask for.
func (x *pathIndex) count(set *bitset.BitSet, wanted func(path string) bool) []pathGroup {
	x.mu.RLock()
	defer x.mu.RUnlock()
	groups := map[string]*pathGroup{}
	union := map[string]*members{}
	for _, id := range slices.Sorted(maps.Keys(x.paths)) { // of units that as many have, the first
		p := x.paths[id]
		if filter.OwnField(p.path) || !wanted(p.path) {
			continue
		}
		g, m := groups[p.path], union[p.path]
		if g == nil {
			g, m = &pathGroup{path: p.path}, &members{}
			groups[p.path], union[p.path] = g, m
		}
		for kind, ids := range p.ids {
			n := m.add(ids, set)
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
	for path, g := range groups {
		if g.memories = union[path].count(); g.memories > 0 {
			out = append(out, *g)
		}
	}
	slices.SortFunc(out, func(a, b pathGroup) int { return strings.Compare(a.path, b.path) })
	return out
}

// members counts the union of lists of memories within a set.
type members struct {
	lists [][]uint32
	n     int64 // of the first list
	set   *bitset.BitSet
}

// add returns how many of a list are in the set.
func (m *members) add(ids []uint32, set *bitset.BitSet) (n int64) {
	for _, id := range ids {
		if set.Test(uint(id)) {
			n++
		}
	}
	if n > 0 {
		m.set, m.lists = set, append(m.lists, ids)
		m.n = n
	}
	return n
}

func (m *members) count() int64 {
	if len(m.lists) < 2 {
		return m.n
	}
	union := bitset.New(m.set.Len())
	for _, ids := range m.lists {
		for _, id := range ids {
			if m.set.Test(uint(id)) {
				union.Set(uint(id))
			}
		}
	}
	return int64(union.Count())
}
