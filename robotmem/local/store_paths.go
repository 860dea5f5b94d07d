package local

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/bits-and-blooms/bitset"
	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
)

// load reads the index anew. The caller holds its lock.
func (x *pathIndex) load(c *conn) error {
	x.paths = map[int64]*pathMembers{}
	err := c.Query("SELECT id, path FROM paths", nil, func(s *sqlite3.Stmt) error {
		x.paths[s.ColumnInt64(0)] = newPathMembers(s.ColumnInt64(0), s.ColumnText(1))
		return nil
	})
	if err != nil {
		return err
	}
	last := uint32(0)
	var p *pathMembers
	err = c.Query("SELECT path_id, value, memory_id FROM attributes", nil, func(s *sqlite3.Stmt) error {
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

func columnKind(s *sqlite3.Stmt, column int) valueKind {
	switch s.ColumnType(column) {
	case sqlite3.INTEGER, sqlite3.FLOAT:
		return kindNumber
	case sqlite3.TEXT:
		return kindText
	}
	return kindOfBlob(string(s.ColumnRawBlob(column)))
}

// inOrder sorts ids up to last and leaves each in once. They come in the order of
// their values, so that many are sorted faster through a set of bits, which seen
// lends.
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
func (x *pathIndex) follow(c *conn) error {
	hurry := c.SetInterrupt(context.Background())
	defer c.SetInterrupt(hurry)
	type changed struct {
		id      int64
		context string
	}
	var all []changed
	err := c.Query("SELECT id, context FROM memories WHERE revision > ?", []any{x.revision}, func(s *sqlite3.Stmt) error {
		all = append(all, changed{s.ColumnInt64(0), s.ColumnText(1)})
		return nil
	})
	if err != nil {
		return err
	}
	// With a purge a path may go, and its number be another's.
	if purged, err := c.purgedSince(x.revision); err != nil || purged {
		return errors.Join(err, x.load(c))
	}
	for _, m := range all {
		attrs, _ := filter.Flatten(robotmem.ParseObject(m.context))
		values := map[int64][valueKinds]bool{}
		for _, a := range attrs {
			id, err := c.knownPath(a.Path)
			if err != nil {
				return err
			}
			if id != 0 && x.paths[id] == nil {
				x.paths[id] = newPathMembers(id, a.Path)
			}
			have := values[id]
			have[kindOfValue(a.Value)] = true
			values[id] = have
		}
		x.change(uint32(m.id), values)
	}
	return nil
}

func kindOfValue(v any) valueKind {
	switch v := v.(type) {
	case string:
		return kindText
	case []byte:
		return kindOfBlob(string(v))
	}
	return kindNumber
}

// contextPath describes a path by its members within a set.
func (c *conn) contextPath(g pathGroup, set *bitset.BitSet) (robotmem.ContextPath, error) {
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
	if p.Min, err = c.outermost(numbers.id, "ASC", set); err == nil {
		p.Max, err = c.outermost(numbers.id, "DESC", set)
	}
	return p, err
}

// outermost is the first number at a path, in an order, that a member of the set
// has there; nil without one. Numbers sort before texts.
func (c *conn) outermost(path int64, order string, set *bitset.BitSet) (n *float64, err error) {
	c.Admit = set
	defer func() { c.Admit = nil }()
	_, err = c.One("SELECT value FROM attributes WHERE path_id = ? AND value < '' AND admitted(memory_id) ORDER BY value "+order+" LIMIT 1", []any{path},
		func(s *sqlite3.Stmt) { n = new(s.ColumnFloat(0)) })
	return n, err
}

// pathValues are the most frequent values at a path within a set, of equally
// frequent ones the smaller first. Of lists the index has only checksums.
// Quantities in objects are spelt as a filter may have them.
func (c *conn) pathValues(g *pathGroup, set *bitset.BitSet) (out []robotmem.PathValue, err error) {
	path, unit := g.plain, ""
	if !g.hasPlain() {
		path, unit = g.quantity, " "+g.quantity.unit
	}
	c.Admit = set
	defer func() { c.Admit = nil }()
	err = c.Query(`SELECT value, count(*) FROM attributes
		WHERE path_id = ? AND admitted(memory_id) AND (typeof(value) <> 'blob' OR length(value) = 1) AND length(value) <= ?
		GROUP BY value ORDER BY 2 DESC, 1 LIMIT ?`, []any{path.id, maxValueLength, maxValues}, func(s *sqlite3.Stmt) error {
		v := robotmem.PathValue{Value: columnValue(s, 0), Memories: s.ColumnInt64(1)}
		if unit != "" {
			v.Value = s.ColumnText(0) + unit
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

// columnValue is an attribute as JSON has it.
func columnValue(s *sqlite3.Stmt, column int) any {
	switch s.ColumnType(column) {
	case sqlite3.INTEGER:
		return json.Number(strconv.FormatInt(s.ColumnInt64(column), 10))
	case sqlite3.FLOAT:
		return json.Number(strconv.FormatFloat(s.ColumnFloat(column), 'g', -1, 64))
	case sqlite3.TEXT:
		return s.ColumnText(column)
	}
	if string(s.ColumnRawBlob(column)) == filter.BlobNull {
		return nil
	}
	return string(s.ColumnRawBlob(column)) == filter.BlobTrue
}

// pathNames spells the numbers of context paths.
func (c *conn) pathNames(ids []int64) (map[int64]string, error) {
	names := make(map[int64]string, len(ids))
	for _, id := range ids {
		_, err := c.One("SELECT path FROM paths WHERE id = ?", []any{id}, func(s *sqlite3.Stmt) { names[id] = s.ColumnText(0) })
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// describe adds what the row of its memory says of a point; found is false
// without a row.
func (c *conn) describe(p *robotmem.PlacePoint) (found bool, err error) {
	return c.One("SELECT type, category, human_summary FROM memories WHERE id = ?", []any{p.MemoryID}, func(s *sqlite3.Stmt) {
		p.Type, p.Category, p.Summary = s.ColumnText(0), s.ColumnText(1), s.ColumnText(2)
	})
}
