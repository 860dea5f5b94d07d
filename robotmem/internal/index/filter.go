package index

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// FewMemories is the size of a set below which reading each memory's context is cheaper
// than querying an index.
const FewMemories = 64

// Admit returns the memories that the selection admits and the snapshot contains: the
// column cache may reflect a later commit than the one that c reads.
func (x *Index) Admit(c *store.Conn, b Selection) (*bitset.BitSet, error) {
	return withinSnapshot(c, x.Columns.Admit(b))
}

// withinSnapshot removes the memories from a set that are newer than the snapshot of c.
func withinSnapshot(c *store.Conn, set *bitset.BitSet) (*bitset.BitSet, error) {
	last, err := c.Number("SELECT max(id) FROM memories")
	if err != nil {
		return nil, err
	}
	if _, later := set.NextSet(uint(last) + 1); !later {
		return set, nil
	}
	set = set.Clone()
	for id, ok := set.NextSet(uint(last) + 1); ok; id, ok = set.NextSet(id + 1) {
		set.Clear(id)
	}
	return set, nil
}

// Narrow returns the members of base that satisfy the filter.
func (x *Index) Narrow(c *store.Conn, filter *filter.Condition, base *bitset.BitSet, now time.Time) (*bitset.BitSet, error) {
	if filter == nil || base.None() {
		return base, nil
	}
	if base.Count() <= FewMemories {
		return x.narrowEach(c, filter, base, now)
	}
	return x.answer(c, filter, base, now)
}

func (x *Index) narrowEach(c *store.Conn, filter *filter.Condition, base *bitset.BitSet, now time.Time) (*bitset.BitSet, error) {
	out := bitset.New(base.Len())
	for id, ok := base.NextSet(0); ok; id, ok = base.NextSet(id + 1) {
		row, known := x.Columns.Row(int64(id))
		if !known {
			continue
		}
		_, err := c.One("SELECT context FROM memories WHERE id = ?", []any{int64(id)}, func(s *sqlite.Stmt) {
			v := x.Columns.view(row, s.ColumnText(0), now)
			if filter.Match(&v) {
				out.Set(id)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// view adapts a row of the column cache to the filter.
func (r *Columns) view(row Row, context string, now time.Time) filter.View {
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	return filter.View{
		Context:        robotmem.ParseObject(context),
		Category:       r.Text(row.Category),
		PerceptionType: r.Text(row.Perception),
		Session:        r.Text(row.Session),
		Confidence:     r.believed(&row, now.UnixNano()),
		Observed:       time.Unix(0, row.Observed).UTC(),
	}
}

// answer evaluates one condition of the filter within base.
func (x *Index) answer(c *store.Conn, n *filter.Condition, base *bitset.BitSet, now time.Time) (*bitset.BitSet, error) {
	switch n.Op {
	case "$and":
		set := base
		for i := range n.Kids {
			var err error
			if set, err = x.Narrow(c, &n.Kids[i], set, now); err != nil {
				return nil, err
			}
		}
		return set, nil
	case "$or":
		out := bitset.New(base.Len())
		for i := range n.Kids {
			set, err := x.answer(c, &n.Kids[i], base, now)
			if err != nil {
				return nil, err
			}
			out.InPlaceUnion(set)
		}
		return out, nil
	case "$not":
		set, err := x.answer(c, &n.Kids[0], base, now)
		if err != nil {
			return nil, err
		}
		return base.Difference(set), nil
	}
	if filter.OwnField(n.Path) {
		return x.Columns.own(n, base, now), nil
	}
	if n.NamesObject() {
		// The index holds the values in an object, not the object.
		set, err := x.Attributes(c, &filter.Condition{Op: "$exists", Path: n.Path}, base)
		if err != nil {
			return nil, err
		}
		return x.narrowEach(c, n, set, now)
	}
	return x.Attributes(c, n, base)
}

// Attributes evaluates a condition over a context path, from the filter cache or from
// the table attributes.
func (x *Index) Attributes(c *store.Conn, n *filter.Condition, base *bitset.BitSet) (*bitset.BitSet, error) {
	key := filter.Key(n)
	if set, ok := x.Columns.cachedFilterSet(key, base); ok {
		return set, nil
	}
	set := bitset.New(base.Len())
	if err := attributeSet(c, n, set); err != nil {
		return nil, err
	}
	revision, err := c.Changes()
	if err != nil {
		return nil, err
	}
	answer := base.Intersection(set) // a cached set changes with every change of a memory
	x.Columns.cacheFilter(key, n, set, revision)
	return answer, nil
}

// attributeSet adds to set every memory with a value at the path that satisfies the
// condition.
func attributeSet(c *store.Conn, n *filter.Condition, set *bitset.BitSet) error {
	add := func(s *sqlite.Stmt) error {
		set.Set(uint(s.ColumnInt64(0)))
		return nil
	}
	if n.Op == "$exists" {
		below := n.Path + "."
		return c.Query("SELECT memory_id FROM attributes WHERE path_id IN (SELECT id FROM paths WHERE path = ? OR substr(path, 1, ?) = ?)",
			[]any{n.Path, utf8.RuneCountInString(below), below}, add)
	}
	for _, v := range n.Values {
		if err := eachAttribute(c, n, v, add); err != nil {
			return err
		}
	}
	return nil
}

// eachAttribute visits the memories whose value at the path compares with one operand as
// the condition requires. Numbers sort before texts and texts before blobs, so a range
// is limited to its type.
func eachAttribute(c *store.Conn, n *filter.Condition, operand any, visit func(*sqlite.Stmt) error) error {
	at := n.Path
	if q, ok := operand.(units.Quantity); ok {
		at, operand = filter.QuantityPath(n.Path, q.Unit), q.Value
	}
	path, err := c.KnownPath(at)
	if err != nil || path == 0 {
		return err
	}
	const from = "SELECT memory_id FROM attributes WHERE path_id = ? AND value "
	if n.Op == "$eq" || n.Op == "$in" {
		return c.Query(from+"= ?", []any{path, operand}, visit)
	}
	compare := map[string]string{"$lt": "<", "$lte": "<=", "$gt": ">", "$gte": ">="}[n.Op]
	bound := map[bool]string{false: " AND value < ''", true: " AND value >= '' AND value < x''"}
	_, isText := operand.(string)
	if _, isBlob := operand.([]byte); isBlob {
		return nil // true, null, lists and objects have no order
	}
	return c.Query(from+compare+" ?"+bound[isText], []any{path, operand}, visit)
}

// own evaluates a condition over a memory's own field.
func (r *Columns) own(n *filter.Condition, base *bitset.BitSet, now time.Time) *bitset.BitSet {
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	decided := map[uint32]bool{} // cached result for each text
	holds := func(row *Row) bool {
		id := row.Category
		switch n.Path {
		case "observed_at":
			return n.MatchTime(row.Observed)
		case "confidence":
			return n.Holds(r.believed(row, now.UnixNano()))
		case "perception_type":
			id = row.Perception
		case "session_id":
			id = row.Session
		}
		if id == 0 {
			return false
		}
		yes, known := decided[id]
		if !known {
			yes = n.Holds(r.Text(id))
			decided[id] = yes
		}
		return yes
	}
	out := bitset.New(base.Len())
	for id, ok := base.NextSet(0); ok && int(id) < len(r.Rows); id, ok = base.NextSet(id + 1) {
		if holds(&r.Rows[id]) {
			out.Set(id)
		}
	}
	return out
}

// Tagged returns the members of base that have every tag.
func (r *Columns) Tagged(tags []string, base *bitset.BitSet) *bitset.BitSet {
	if len(tags) == 0 {
		return base
	}
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	decided := map[uint32]bool{} // cached result for each list of tags
	return r.members(base, func(row *Row) bool {
		yes, known := decided[row.Tags]
		if !known {
			have := strings.Split(r.Text(row.Tags), tagSeparator)
			yes = !slices.ContainsFunc(tags, func(tag string) bool { return !slices.Contains(have, tag) })
			decided[row.Tags] = yes
		}
		return yes
	})
}
