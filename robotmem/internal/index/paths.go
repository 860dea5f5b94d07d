package index

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// valueKind says what a value of a context is, in the order of the answers.
type valueKind uint8

const (
	kindNumber valueKind = iota
	kindText
	kindBool
	kindNull
	kindList
	kindObject // an empty one
	valueKinds
	kindQuantity // beside the kind of its text, or of an object of value and unit
	kindNone     // an object with values
)

var kindNames = [valueKinds]string{"number", "text", "bool", "null", "list", "object"}

func kindOfValue(v any) valueKind {
	switch v := v.(type) {
	case nil:
		return kindNull
	case string:
		return kindText
	case bool:
		return kindBool
	case json.Number:
		return kindNumber
	case []any:
		return kindList
	case map[string]any:
		if len(v) > 0 {
			return kindNone
		}
	}
	return kindObject
}

// pathShapes holds, for each memory, which paths its context has with values of which
// kinds: the number of its shape, because many contexts have the same one, and the
// numbers at those paths.
type pathShapes struct {
	shapes  [][]pathValue // the shape of number 0 is empty
	ids     map[string]uint32
	of      []uint32
	numbers [][]float64 // for the numbers and quantities of the shape, in order
	size    int
}

// pathValue is a value of a context.
type pathValue struct {
	path   string
	kind   valueKind
	unit   string // of a quantity, whose number is in this unit
	number float64
}

func (s *pathShapes) read(context string) any {
	var all []pathValue
	filter.Walk(robotmem.ParseObject(context), func(path string, v any, _, _ string) {
		if filter.OwnField(path) {
			return // filters cannot reach it
		}
		if q, ok := filter.QuantityOf(v); ok {
			all = append(all, pathValue{path, kindQuantity, q.Unit, q.Value})
		}
		if kind := kindOfValue(v); kind != kindNone {
			number, _ := v.(json.Number)
			f, _ := number.Float64() // 0 for what is no number
			all = append(all, pathValue{path: path, kind: kind, number: f})
		}
	})
	slices.SortFunc(all, func(a, b pathValue) int { // the order of a map is random
		return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.kind, b.kind), strings.Compare(a.unit, b.unit), cmp.Compare(a.number, b.number))
	})
	return all
}

func (s *pathShapes) put(id int64, kept any) {
	all, _ := kept.([]pathValue)
	var key []byte
	var numbers []float64
	for i := range all {
		v := &all[i]
		key = strconv.AppendQuote(append(key, byte('0'+v.kind)), v.path)
		key = strconv.AppendQuote(key, v.unit)
		if v.kind == kindNumber || v.kind == kindQuantity {
			numbers = append(numbers, v.number)
		}
	}
	shape, known := s.ids[string(key)]
	if !known {
		if s.ids == nil {
			s.ids = map[string]uint32{}
		}
		shape = uint32(len(s.shapes))
		s.ids[string(key)], s.shapes = shape, append(s.shapes, all)
		s.size += 3*len(key) + 56*len(all)
	}
	s.of, s.numbers = grown(s.of, id), grown(s.numbers, id)
	s.size += 8 * (len(numbers) - len(s.numbers[id]))
	s.of[id], s.numbers[id] = shape, numbers
}

func (s *pathShapes) bytes() int { return s.size + 28*cap(s.of) }

// span is a range of numbers, each of a memory.
type span struct {
	memories int64
	min, max float64
}

// pathGroup is a context path, counted within a set.
type pathGroup struct {
	memories int64
	kinds    [valueKinds]int64
	numbers  span
	units    map[string]*span
}

// ContextPaths describes the paths that are wanted and that members of a set have, in
// order.
func (r *Columns) ContextPaths(c *store.Conn, set *bitset.BitSet, wanted func(path string) bool) (out []robotmem.ContextPath, err error) {
	sets, err := r.contexts(c, pathsColumn)
	if err != nil {
		return nil, err
	}
	s, _ := sets[0].contextColumn.(*pathShapes)
	r.Mu.RLock()
	groups := s.count(set, wanted)
	r.Mu.RUnlock()
	for _, path := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, groups[path].describe(path))
	}
	return out, nil
}

// count counts first by shape and then by path.
func (s *pathShapes) count(set *bitset.BitSet, wanted func(path string) bool) map[string]*pathGroup {
	counts, spans := make([]int64, len(s.shapes)), make([][]span, len(s.shapes))
	for id, ok := set.NextSet(0); ok && int(id) < len(s.of); id, ok = set.NextSet(id + 1) {
		shape := s.of[id]
		counts[shape]++
		if spans[shape] == nil {
			spans[shape] = make([]span, len(s.numbers[id]))
		}
		for i, f := range s.numbers[id] {
			spans[shape][i].add(span{1, f, f})
		}
	}
	groups := map[string]*pathGroup{}
	for shape, n := range counts {
		if n == 0 {
			continue
		}
		number, last := 0, pathValue{kind: kindNone}
		for _, v := range s.shapes[shape] {
			var numbers span
			if v.kind == kindNumber || v.kind == kindQuantity {
				numbers = spans[shape][number]
				number++
			}
			if wanted(v.path) {
				g := groups[v.path]
				if g == nil {
					g = &pathGroup{units: map[string]*span{}}
					groups[v.path] = g
				}
				g.add(&v, &last, n, numbers)
			}
			last = v
		}
	}
	return groups
}

// add counts a value that n memories of one shape have. Values of the same path, kind
// and unit follow each other; a memory counts once for them.
func (g *pathGroup) add(v, last *pathValue, n int64, numbers span) {
	again := v.path == last.path
	if !again {
		g.memories += n
	}
	if again = again && v.kind == last.kind && v.unit == last.unit; again {
		numbers.memories = 0
	}
	switch {
	case v.kind == kindQuantity:
		if g.units[v.unit] == nil {
			g.units[v.unit] = &span{}
		}
		g.units[v.unit].add(numbers)
		return
	case v.kind == kindNumber:
		g.numbers.add(numbers)
	}
	if !again {
		g.kinds[v.kind] += n
	}
}

func (s *span) add(o span) {
	if *s == (span{}) {
		*s = o
		return
	}
	s.memories, s.min, s.max = s.memories+o.memories, min(s.min, o.min), max(s.max, o.max)
}

// describe gives the range of the numbers, or of the quantities if more memories have
// one, in the unit that most of them have.
func (g *pathGroup) describe(path string) robotmem.ContextPath {
	p := robotmem.ContextPath{Path: path, Memories: g.memories}
	numbers := g.numbers
	for _, unit := range slices.Sorted(maps.Keys(g.units)) {
		if s := g.units[unit]; s.memories > numbers.memories {
			numbers, p.Unit = *s, unit
		}
	}
	if g.kinds == [valueKinds]int64{} { // objects of value and unit alone
		g.kinds[kindNumber] = numbers.memories
	}
	for kind, n := range g.kinds {
		if n > 0 {
			p.Kinds = append(p.Kinds, kindNames[kind])
		}
	}
	if numbers.memories > 0 {
		p.Min, p.Max = &numbers.min, &numbers.max
	}
	return p
}

// PathValues returns the most frequent values at a path within a set, of equally
// frequent ones the smaller first. Lists and objects are left out. Where all values are
// quantities in objects, they are spelt in one unit, as a filter takes them.
func (r *Columns) PathValues(c *store.Conn, p *robotmem.ContextPath, set *bitset.BitSet) ([]robotmem.PathValue, error) {
	sets, err := r.contexts(c, valuesColumn+p.Path)
	if err != nil {
		return nil, err
	}
	v, _ := sets[0].contextColumn.(*valueColumn)
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	counts := make([]int64, len(v.distinct))
	for id, ok := set.NextSet(0); ok && int(id) < len(v.of); id, ok = set.NextSet(id + 1) {
		counts[v.of[id]]++
	}
	plain, measured := map[any]int64{}, map[any]int64{}
	for number, n := range counts {
		seen := map[any]bool{} // a memory may have a value twice, under keys with dots
		for _, value := range v.distinct[number] {
			counted := plain
			if q, ok := value.(units.Quantity); ok {
				counted, value = measured, q.Value
				if q.Unit != p.Unit {
					continue
				}
			}
			if value, ok := countable(value); ok && n > 0 && !seen[value] {
				seen[value] = true
				counted[value] += n
			}
		}
	}
	if len(plain) > 0 || !slices.Equal(p.Kinds, []string{kindNames[kindNumber]}) {
		return mostFrequent(plain, ""), nil
	}
	return mostFrequent(measured, p.Unit), nil
}

// countable returns the key for counting equal values. ok is false for lists, objects
// and long texts.
func countable(v any) (key any, ok bool) {
	switch v := v.(type) {
	case []byte:
		if string(v) == filter.BlobNull {
			return nil, true
		}
		return string(v) == filter.BlobTrue, len(v) == 1
	case string:
		return v, utf8.RuneCountInString(v) <= maxValueLength
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<63 { // 7.0 is 7
			return int64(v), true
		}
	}
	return v, true
}

// mostFrequent lists values with their counts. unit is that of all of them, or "".
func mostFrequent(counts map[any]int64, unit string) []robotmem.PathValue {
	rank := func(v any) int { // numbers before texts, then null, false, true
		switch v := v.(type) {
		case string:
			return 1
		case nil:
			return 2
		case bool:
			if v {
				return 4
			}
			return 3
		}
		return 0
	}
	values := slices.SortedFunc(maps.Keys(counts), func(a, b any) int {
		order, _ := filter.CompareValues(a, b)
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(rank(a), rank(b)), order)
	})
	var out []robotmem.PathValue
	for _, v := range values[:min(len(values), MaxValues)] {
		shown := v
		switch v := v.(type) {
		case int64:
			shown = json.Number(strconv.FormatInt(v, 10))
		case float64:
			shown = json.Number(strconv.FormatFloat(v, 'g', -1, 64))
		}
		if unit != "" {
			shown = fmt.Sprint(shown, " ", unit)
		}
		out = append(out, robotmem.PathValue{Value: shown, Memories: counts[v]})
	}
	return out
}

const (
	MaxPaths  = 10_000
	MaxValues = 50
	// maxValueLength is the longest text that is offered to choose, in characters.
	maxValueLength = 1024
)
