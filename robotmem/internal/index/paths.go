package index

import (
	"cmp"
	"encoding/binary"
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

// pathShapes holds which paths the context of each memory has, with values of which kinds.
// Many contexts have the same ones: their shape has a number. The numbers at the paths
// stand beside it.
type pathShapes struct {
	fields  interner[pathField]
	shapes  interner[string] // the numbers of its fields, four bytes each
	of      []uint32         // numbers of shapes, by memory id
	numbers [][]float64      // for each field of the shape, in order
	size    int
}

// pathField is a path with a kind of value.
type pathField struct {
	path string
	kind valueKind
	unit string // of a quantity
}

// fieldNumber is a field of one context with its value as a number; 0 if it is not a number.
type fieldNumber struct {
	pathField
	number float64
}

func (s *pathShapes) read(context string) any {
	var all []fieldNumber
	filter.Walk(robotmem.ParseObject(context), func(path string, v any, _, _ string) {
		if filter.OwnField(path) {
			return // filters cannot reach it
		}
		if q, ok := filter.QuantityOf(v); ok {
			all = append(all, fieldNumber{pathField{path, kindQuantity, q.Unit}, q.Value})
		}
		if kind := kindOfValue(v); kind != kindNone {
			n, _ := v.(json.Number)
			number, _ := n.Float64()
			all = append(all, fieldNumber{pathField{path, kind, ""}, number})
		}
	})
	slices.SortFunc(all, func(a, b fieldNumber) int { // the order of a map is random
		return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.kind, b.kind), strings.Compare(a.unit, b.unit))
	})
	return all
}

func (s *pathShapes) put(id int64, kept any) {
	all, _ := kept.([]fieldNumber)
	s.shapes.id("") // number 0 is for no memory
	shape, numbers := make([]byte, 0, 4*len(all)), make([]float64, len(all))
	for i, f := range all {
		shape, numbers[i] = binary.LittleEndian.AppendUint32(shape, s.fields.id(f.pathField)), f.number
	}
	s.of, s.numbers = grown(s.of, id), grown(s.numbers, id)
	s.size += 8 * (len(numbers) - len(s.numbers[id]))
	s.of[id], s.numbers[id] = s.shapes.id(string(shape)), numbers
}

func (s *pathShapes) bytes() int {
	const each = 200 // a shape or a field
	return s.size + 28*cap(s.of) + each*(len(s.shapes.Values)+len(s.fields.Values))
}

// span counts memories with their range of numbers.
type span struct {
	memories int64
	min, max float64
}

// ContextPaths describes the paths that are wanted and that members of a set have, in
// order. Without ranges, the least and the greatest number are left out, which is faster.
func (r *Columns) ContextPaths(c *store.Conn, set *bitset.BitSet, ranges bool, wanted func(path string) bool) (out []robotmem.ContextPath, err error) {
	err = withColumn(r, c, pathsColumn, func(s *pathShapes) {
		spans, members := s.count(set)
		if ranges {
			s.measure(set, spans)
		}
		groups := map[string][]uint32{} // numbers of fields, by path
		for number, f := range s.fields.Values {
			if spans[number].memories > 0 && wanted(f.path) {
				groups[f.path] = append(groups[f.path], uint32(number))
			}
		}
		for _, path := range slices.Sorted(maps.Keys(groups)) {
			p := robotmem.ContextPath{Path: path}
			for _, number := range groups[path] {
				p.Memories += members[number]
			}
			s.describe(&p, groups[path], spans)
			out = append(out, p)
		}
	})
	return out, err
}

// count returns, for each field, its members of a set, and how many of them have no
// earlier field of its path.
func (s *pathShapes) count(set *bitset.BitSet) (spans []span, members []int64) {
	spans, members = make([]span, len(s.fields.Values)), make([]int64, len(s.fields.Values))
	shapes := make([]int64, len(s.shapes.Values))
	for id, ok := set.NextSet(0); ok && int(id) < len(s.of); id, ok = set.NextSet(id + 1) {
		shapes[s.of[id]]++
	}
	for shape, n := range shapes {
		last := uint32(math.MaxUint32)
		for fields := []byte(s.shapes.Values[shape]); n > 0 && len(fields) > 0; fields = fields[4:] {
			number := uint32At(fields, 0)
			if number == last { // twice at one path, under keys with dots
				continue
			}
			spans[number].memories += n
			if last == math.MaxUint32 || s.fields.Values[last].path != s.fields.Values[number].path {
				members[number] += n
			}
			last = number
		}
	}
	return spans, members
}

// measure sets the ranges of numbers.
func (s *pathShapes) measure(set *bitset.BitSet, spans []span) {
	for i := range spans {
		spans[i].min, spans[i].max = math.Inf(1), math.Inf(-1)
	}
	var shape []byte
	for id, ok := set.NextSet(0); ok && int(id) < len(s.of); id, ok = set.NextSet(id + 1) {
		shape = append(shape[:0], s.shapes.Values[s.of[id]]...)
		for i, n := range s.numbers[id] {
			field := &spans[uint32At(shape, 4*i)]
			field.min, field.max = min(field.min, n), max(field.max, n)
		}
	}
}

// describe adds the kinds of the values, and the range of the numbers or, if more
// memories have one, of the quantities in the unit that most of them have.
func (s *pathShapes) describe(p *robotmem.ContextPath, fields []uint32, spans []span) {
	var numbers span
	have := [valueKinds]bool{}
	for _, number := range fields {
		f, n := s.fields.Values[number], spans[number]
		if f.kind < valueKinds {
			have[f.kind] = true
		}
		measures := f.kind == kindNumber || f.kind == kindQuantity
		if order := cmp.Or(cmp.Compare(n.memories, numbers.memories), strings.Compare(p.Unit, f.unit)); measures && order > 0 {
			numbers, p.Unit = n, f.unit
		}
	}
	if have == [valueKinds]bool{} { // objects of value and unit alone
		have[kindNumber] = true
	}
	for kind, yes := range have {
		if yes {
			p.Kinds = append(p.Kinds, kindNames[kind])
		}
	}
	if numbers.memories > 0 {
		p.Min, p.Max = &numbers.min, &numbers.max
	}
}

// countedValue is a value at a path, as it is shown.
type countedValue struct {
	robotmem.PathValue
	kind   valueKind
	number float64 // to sort by
	text   string
	last   int // the distinct value that counted last
}

// PathValues returns the most frequent values at a path within a set, of equally
// frequent ones the smaller first. Lists and objects are left out. Where all values are
// quantities in objects, they are spelt in one unit, as a filter takes them.
func (r *Columns) PathValues(c *store.Conn, p *robotmem.ContextPath, set *bitset.BitSet) (out []robotmem.PathValue, err error) {
	err = withColumn(r, c, valuesColumn+p.Path, func(v *valueColumn) {
		members := make([]int64, len(v.distinct))
		for id, ok := set.NextSet(0); ok && int(id) < len(v.of); id, ok = set.NextSet(id + 1) {
			members[v.of[id]]++
		}
		counts := [2]map[any]*countedValue{{}, {}} // plain ones and quantities
		for number, n := range members {
			for _, value := range v.distinct[number].All {
				q, measured := value.(units.Quantity)
				counted, ok := shown(value)
				if !ok || n == 0 || measured && q.Unit != p.Unit {
					continue
				}
				of := counts[0]
				if measured {
					of = counts[1]
				}
				if of[counted.Value] == nil {
					of[counted.Value] = &counted
				}
				if first := of[counted.Value]; first.last != number { // a memory counts once
					first.last, first.Memories = number, first.Memories+n
				}
			}
		}
		of := counts[0]
		if len(of) == 0 && slices.Equal(p.Kinds, []string{kindNames[kindNumber]}) {
			of = counts[1]
		}
		values := slices.SortedFunc(maps.Values(of), func(a, b *countedValue) int {
			return cmp.Or(cmp.Compare(b.Memories, a.Memories), cmp.Compare(a.kind, b.kind), cmp.Compare(a.number, b.number), strings.Compare(a.text, b.text))
		})
		for _, v := range values[:min(len(values), MaxValues)] {
			out = append(out, v.PathValue)
		}
	})
	return out, err
}

// shown returns a value as JSON shows it; ok is false for lists, objects and long texts.
// Equal numbers are shown alike.
func shown(v any) (c countedValue, ok bool) {
	switch v := v.(type) {
	case int64:
		c.number, c.Value = float64(v), json.Number(strconv.FormatInt(v, 10))
	case float64:
		spelt, err := robotmem.CanonicalJSON(json.Number(strconv.FormatFloat(v, 'g', -1, 64)))
		c.number, c.Value = v, json.Number(spelt)
		return c, err == nil
	case units.Quantity:
		c.number, c.Value = v.Value, fmt.Sprint(v.Value, " ", v.Unit)
	case filter.Spelt:
		return c, false // its text is shown
	case string:
		c.kind, c.text, c.Value = kindText, v, v
		return c, utf8.RuneCountInString(v) <= maxValueLength
	case []byte:
		if c.kind, c.text = kindBool, string(v); c.text != filter.BlobNull {
			c.Value = c.text == filter.BlobTrue
		}
		return c, len(v) == 1
	}
	return c, true
}

const (
	MaxPaths  = 10_000
	MaxValues = 50
	// maxValueLength is the longest text that is offered to choose, in characters.
	maxValueLength = 1024
)
