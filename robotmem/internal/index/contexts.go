package index

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// Contexts are stored only as JSON text. A column of them (the values at a path, the
// coordinates, or the list of all paths) is made at the first question that needs it, by a
// scan of all contexts. From then on it follows every change.

const (
	// maxContextColumns and maxContextBytes limit the columns; the least recently used
	// goes first. A filter has at most 32 paths.
	maxContextColumns = 32
	maxContextBytes   = 64 << 20

	placesColumn = "places"
	jointsColumn = "joints at "       // and a field
	turnsColumn  = "orientations at " // and a field
	pathsColumn  = "paths"
	valuesColumn = "values of " // and a path
)

// contextColumn is made from the contexts of all memories.
type contextColumn interface {
	// read returns the values of one context. It needs no lock.
	read(context string) any
	// put replaces the values of a memory. The caller holds Columns.Mu.
	put(id int64, kept any)
	// bytes estimates the memory in use.
	bytes() int
}

// contextSet is a context column that Columns keeps up to date.
type contextSet struct {
	name string
	contextColumn
	changed map[int64]bool // memories that changed during the scan; nil after it
}

// contextsOf returns one column.
func contextsOf[T contextColumn](r *Columns, c *store.Conn, name string) (column T, err error) {
	sets, err := r.contexts(c, name)
	if err == nil {
		column, _ = sets[0].contextColumn.(T)
	}
	return column, err
}

// withColumn calls f with one column, which does not change meanwhile.
func withColumn[T contextColumn](r *Columns, c *store.Conn, name string, f func(column T)) error {
	column, err := contextsOf[T](r, c, name)
	if err == nil {
		r.Mu.RLock()
		defer r.Mu.RUnlock()
		f(column)
	}

	return err
}

// contexts returns the columns of these names. Those that are missing are made by one
// scan; callers wait for each other's scan.
func (r *Columns) contexts(c *store.Conn, names ...string) ([]*contextSet, error) {
	if sets, missing := r.contextSets(names, -1); len(missing) == 0 {
		return sets, nil
	}

	// Another question may have made the columns while this one waited for the lock.
	r.making.Lock()
	defer r.making.Unlock()

	revision, err := c.Changes()
	if err != nil {
		return nil, err
	}

	sets, missing := r.contextSets(names, revision)
	if len(missing) == 0 {
		return sets, nil
	}

	// As in Sync, a deadline must not end this.
	interrupt := c.SetInterrupt(context.Background())
	defer c.SetInterrupt(interrupt)

	// The scan holds Mu only to put its values, so recalls continue. Changes made meanwhile are noted in changed.
	err = scanContexts(c, missing, &r.Mu)
	r.Mu.Lock()
	defer r.Mu.Unlock()

	// From here on the columns are complete, and further changes need not be remembered.
	for _, m := range missing {
		m.changed = nil
	}

	// An incomplete column must not answer the next question.
	if err != nil {
		r.Contexts = slices.DeleteFunc(r.Contexts, func(s *contextSet) bool { return slices.Contains(missing, s) })
	}

	return sets, err
}

// contextSets returns the columns of these names, and those of them that are to be made.
// They follow changes from now on if the columns are at the revision that the scan will
// see; otherwise they serve one question.
func (r *Columns) contextSets(names []string, revision int64) (sets, missing []*contextSet) {
	r.Mu.Lock()
	defer r.Mu.Unlock()

	for _, name := range names {
		// A column that is still being filled cannot answer.
		at := slices.IndexFunc(r.Contexts, func(s *contextSet) bool { return s.name == name && s.changed == nil })

		var s *contextSet
		if at >= 0 {
			s = r.Contexts[at]
		} else {
			s = newContextSet(name)
			missing = append(missing, s)
		}
		if at >= 0 || r.Revision == revision {
			r.Contexts.use(at, s, max(len(names), int(r.Memory.Part(maxContextColumns))))
		}
		sets = append(sets, s)
	}

	// Keep the most recently used columns, which are at the end, as far as the memory allows. The columns of this
	// question always stay.
	total := 0
	for i := len(r.Contexts) - 1; i >= 0; i-- {
		total += r.Contexts[i].bytes()
		if total > int(r.Memory.Part(maxContextBytes)) && i < len(r.Contexts)-len(names) {
			r.Contexts = slices.Delete(r.Contexts, 0, i+1)
			break
		}
	}

	return sets, missing
}

func newContextSet(name string) *contextSet {
	s := &contextSet{name: name, changed: map[int64]bool{}}

	field, joints := strings.CutPrefix(name, jointsColumn)

	turned, turns := strings.CutPrefix(name, turnsColumn)
	switch {
	case joints:
		s.contextColumn = newPlaceColumns(filter.PlacePaths(field), false)
	case turns:
		s.contextColumn = newPlaceColumns(filter.PlacePaths(turned), true)
	case name == placesColumn:
		s.contextColumn = newPlaceColumns(nil, false)
	case name == pathsColumn:
		s.contextColumn = &pathShapes{}
	default:
		s.contextColumn = &valueColumn{path: name[len(valuesColumn):], distinct: []distinctValue{{}},
			units: map[units.Quantity]*unitCount{}}
	}

	return s
}

// ChangeContexts updates the context columns with a changed memory. The caller holds Mu.
func (r *Columns) ChangeContexts(id int64, context string) {
	for _, s := range r.Contexts {
		s.put(id, s.read(context))
		if s.changed != nil {
			s.changed[id] = true
		}
	}
}

// scanContexts fills columns from all contexts, which it parses on all cores. mu guards
// the columns.
func scanContexts(c *store.Conn, sets []*contextSet, mu sync.Locker) error {
	const most = 4096 // memories at a time

	var (
		ids   []int64
		texts []string
	)
	put := func() {
		kept := make([]any, len(ids)*len(sets))
		workers := runtime.GOMAXPROCS(0)

		var wg sync.WaitGroup
		for first := range workers {
			wg.Go(func() {
				for i := first; i < len(ids); i += workers {
					for j, s := range sets {
						kept[i*len(sets)+j] = s.read(texts[i])
					}
				}
			})
		}

		wg.Wait()
		mu.Lock()
		defer mu.Unlock()

		// A memory that changed during the scan already has its new values in the column.
		for i, id := range ids {
			for j, s := range sets {
				if !s.changed[id] {
					s.put(id, kept[i*len(sets)+j])
				}
			}
		}

		ids, texts = ids[:0], texts[:0]
	}
	_, err := c.EachChanged(store.Changes{All: store.AllContexts, One: store.ContextAtRevision}, 0, 0, func(s store.Row) error {
		ids = append(ids, s.ColumnInt64(0))
		texts = append(texts, s.ColumnText(2))
		if len(ids) == most {
			put()
		}
		return nil
	})
	put()

	return err
}

// valueColumn holds the values at one context path: by memory id the number of a
// distinct value, 0 for none.
type valueColumn struct {
	path     string
	of       []uint32
	numbers  interner[string]              // of results of filter.ValuesIn
	distinct []distinctValue               // by number
	units    map[units.Quantity]*unitCount // by 1 of the unit
	usual    *unitCount                    // the most common one, nil without a quantity
	bare     int                           // memories with a number without a unit
	words    int                           // memories with a text that is neither a number nor a quantity
	texts    int                           // bytes of the names in numbers
	filters  recent[*cachedFilter]
}

// distinctValue is one of the different values that memories have at a path.
type distinctValue struct {
	filter.Values
	unit *unitCount // nil without a quantity
}

// unitCount counts the memories that have quantities in a unit at a path.
type unitCount struct {
	name     string // as written
	one      units.Quantity
	memories int
}

// more orders units: the more common one first.
func (u *unitCount) more(than *unitCount) bool {
	return than == nil || cmp.Or(cmp.Compare(than.memories, u.memories), strings.Compare(u.one.Unit, than.one.Unit),
		cmp.Compare(u.one.Value, than.one.Value)) < 0
}

// count adds n memories with a value. The most common unit decides what numbers without a unit mean,
// so the results of conditions are dropped with it.
func (v *valueColumn) count(d *distinctValue, n int) {
	if d.Bare {
		v.bare += n
	}
	if d.Text {
		v.words += n
	}
	if d.unit == nil {
		return
	}

	before := v.usual
	d.unit.memories += n

	// Only a decrease of the most common unit requires a comparison with all others.
	if n > 0 && d.unit.more(v.usual) {
		v.usual = d.unit
	} else if n < 0 && d.unit == v.usual {
		v.usual = nil
		for _, u := range v.units {
			if u.memories > 0 && u.more(v.usual) {
				v.usual = u
			}
		}
	}

	if v.usual != before {
		v.filters = nil
	}
}

// unit returns the unit of a number without one.
func (v *valueColumn) unit() string {
	if v.usual == nil {
		return ""
	}
	return v.usual.name
}

func (v *valueColumn) read(context string) any {
	if values, ok := filter.ValuesIn(context, v.path); ok {
		// The clone keeps the whole context from staying in memory.
		return strings.Clone(values)
	}
	return nil
}

func (v *valueColumn) put(id int64, kept any) {
	number := uint32(0)
	if values, ok := kept.(string); ok {
		number = v.numbers.id(values) + 1
		if int(number) == len(v.distinct) {
			v.distinct = append(v.distinct, v.decode(values))
			v.texts += len(values)
		}
	}
	v.of = grown(v.of, id)
	if v.of[id] != number {
		// The new value is counted before the old one is removed. Otherwise the most common unit might change for a
		// moment, which drops the cached filters.
		v.count(&v.distinct[number], 1)
		v.count(&v.distinct[v.of[id]], -1)
	}

	v.of[id] = number
	for _, f := range v.filters {
		f.follow(v, id, number)
	}
}

func (v *valueColumn) decode(values string) distinctValue {
	d := distinctValue{Values: filter.DecodeValues(values)}
	if one, ok := units.Of(1, d.Unit); ok {
		if d.unit = v.units[one]; d.unit == nil {
			d.unit = &unitCount{name: d.Unit, one: one}
			v.units[one] = d.unit
		}
	}

	return d
}

func (v *valueColumn) bytes() int {
	const each = 180 // bytes of an entry of numbers and of distinct
	return (4+len(v.filters)/8)*cap(v.of) + v.texts + each*len(v.distinct)
}

// grown returns a column with room for a memory.
func grown[T any](column []T, id int64) []T {
	if n := int(id) + 1 - len(column); n > 0 {
		column = append(column, make([]T, n)...)
	}
	return column
}

// valueColumns returns the names of the columns of paths.
func valueColumns(paths []string) (names []string) {
	for _, path := range paths {
		if name := valuesColumn + path; !filter.OwnField(path) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// cachedFilter holds the memories with a value that satisfies a condition.
type cachedFilter struct {
	condition filter.Condition
	holds     []bool // by number of the value
	set       *bitset.BitSet
}

// follow updates the result with the value of a memory.
func (f *cachedFilter) follow(v *valueColumn, id int64, number uint32) {
	for i := len(f.holds); i <= int(number); i++ {
		f.holds = append(f.holds, i > 0 && f.condition.Holds(v.distinct[i].All, v.unit))
	}
	f.set.SetTo(uint(id), f.holds[number])
}

// UnitsAt returns a function that returns the unit in which a number without one is taken
// at a path: the most common one of the quantities that all memories of the file have
// there, "" if there is none. The function stores its error in failed.
func (r *Columns) UnitsAt(c *store.Conn, failed *error) func(path string) string {
	known := map[string]string{}

	return func(path string) string {
		unit, ok := known[path]
		if !ok {
			err := withColumn(r, c, valuesColumn+path, func(v *valueColumn) { unit = v.unit() })
			if err != nil {
				*failed = err
				return ""
			}
			known[path] = unit
		}

		return unit
	}
}

// UnitsTaken describes the units in which a filter took numbers without one, as far as it
// needed the values of all memories.
func (r *Columns) UnitsTaken(n *filter.Condition) (taken []string) {
	n.Leaves(func(leaf *filter.Condition) {
		bare, quantity := false, false

		for _, v := range leaf.Values {
			_, isBare := filter.Number(v)
			_, isQuantity := v.(units.Quantity)
			bare, quantity = bare || isBare, quantity || isQuantity
		}

		sets, missing := r.contextSets([]string{valuesColumn + leaf.Path}, -1)
		if len(missing) > 0 || filter.OwnField(leaf.Path) {
			return
		}

		r.Mu.RLock()
		defer r.Mu.RUnlock()
		if v, ok := sets[0].contextColumn.(*valueColumn); ok && v.usual != nil && (bare || quantity && v.bare > 0) {
			note := fmt.Sprintf("context_filter: a number without a unit at %s is taken in %s, "+
				"as most quantities there", leaf.Path, v.usual.name)
			if !slices.Contains(taken, note) {
				taken = append(taken, note)
			}
		}
	})

	return taken
}

// TextBounds examines the bounds of a filter that are texts, which have an order among texts only. It refuses one at a
// path where all memories of the file have numbers or quantities, and returns notes about one at a path where some have.
func (r *Columns) TextBounds(c *store.Conn, n *filter.Condition) (notes []string, err error) {
	n.Leaves(func(leaf *filter.Condition) {
		bound, isText := leaf.TextBound()
		if !isText || err != nil || filter.OwnField(leaf.Path) {
			return
		}

		numbers, words, unit := 0, 0, ""
		err = withColumn(r, c, valuesColumn+leaf.Path, func(v *valueColumn) {
			numbers, words, unit = v.bare, v.words, v.unit()
			for _, u := range v.units {
				numbers += u.memories
			}
		})

		switch {
		case err != nil:
		case numbers > 0 && words == 0:
			err = leaf.NotOrdered(bound, unit)
		case numbers > 0:
			notes = append(notes, fmt.Sprintf("context_filter: %q at %s is no number and no quantity%s; "+
				"it is compared with the texts there, and not with the numbers", bound, leaf.Path, filter.MeantBy(bound)))
		case words == 0 && filter.MeantBy(bound) != "":
			notes = append(notes, fmt.Sprintf("context_filter: %q at %s is no number and no quantity%s",
				bound, leaf.Path, filter.MeantBy(bound)))
		}
	})

	return notes, err
}

// Having returns the members of base with a value that satisfies a condition over a context path.
func (r *Columns) Having(c *store.Conn, n *filter.Condition, base *bitset.BitSet) (*bitset.BitSet, error) {
	v, err := contextsOf[*valueColumn](r, c, valuesColumn+n.Path)
	if err != nil {
		return nil, err
	}

	// The list of cached filters changes, so a read lock is not enough.
	r.Mu.Lock()
	defer r.Mu.Unlock()
	at := slices.IndexFunc(v.filters, func(f *cachedFilter) bool { return reflect.DeepEqual(&f.condition, n) })

	var f *cachedFilter
	if at >= 0 {
		f = v.filters[at]
	} else {
		f = &cachedFilter{condition: *n, set: bitset.New(uint(len(v.of)))}
		for id, number := range v.of {
			f.follow(v, int64(id), number)
		}
	}

	v.filters.use(at, f, int(r.Memory.Part(maxCachedFilters)))

	return base.Intersection(f.set), nil
}
