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
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// valueKind says what a value of a context is, in the order of the answers.
type valueKind uint8

const (
	kindNumber valueKind = iota // also an object of value and unit
	kindText
	kindBool
	kindNull
	kindList
	kindObject // an empty one
)

var kindNames = [...]string{"number", "text", "bool", "null", "list", "object"}

func kindOfValue(v any) valueKind {
	switch v.(type) {
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
	}
	return kindObject
}

// pathShapes holds which paths the context of each memory has, with values of which kinds. Many
// contexts have the same ones: their shape has a number. The numbers at the paths stand beside it.
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

func (f pathField) compare(g pathField) int {
	return cmp.Or(strings.Compare(f.path, g.path), cmp.Compare(f.kind, g.kind), strings.Compare(f.unit, g.unit))
}

func (s *pathShapes) read(context string) any {
	var all []fieldNumber
	filter.Walk(robotmem.ParseObject(context), func(path string, v any, _, _ string) {
		f := fieldNumber{pathField: pathField{path: path, kind: kindOfValue(v)}}
		number, _ := v.(json.Number)
		f.number, _ = number.Float64()
		object, _ := v.(map[string]any)
		quantity, _, isQuantity := filter.QuantityOf(v)
		if isQuantity {
			f.unit, f.number = quantity.Unit, quantity.Value
		}
		if isQuantity && object != nil {
			f.kind = kindNumber
		}
		if !filter.OwnField(path) && (len(object) == 0 || isQuantity) { // others are reached by the paths below
			all = append(all, f)
		}
	})
	slices.SortFunc(all, func(a, b fieldNumber) int { return a.compare(b.pathField) })
	// A path occurs twice where keys hold dots.
	return slices.CompactFunc(all, func(a, b fieldNumber) bool { return a.path == b.path })
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

// ContextPaths describes the paths that are wanted and that members of a set have, in order: with
// the range of the numbers or, if more memories have one, of the quantities in the unit that most
// of them have. Without ranges, the least and the greatest number are left out, which is faster.
func (r *Columns) ContextPaths(c *store.Conn, set *bitset.BitSet, ranges bool, wanted func(path string) bool) (out []admin.ContextPath, err error) {
	err = withColumn(r, c, pathsColumn, func(s *pathShapes) {
		spans := s.count(set)
		if ranges {
			s.measure(set, spans)
		}
		var numbers []int // of fields, in order
		for number, f := range s.fields.Values {
			if spans[number].memories > 0 && wanted(f.path) {
				numbers = append(numbers, number)
			}
		}
		slices.SortFunc(numbers, func(a, b int) int { return s.fields.Values[a].compare(s.fields.Values[b]) })
		var most int64 // memories with one unit at the path
		var units map[string]*span
		for _, number := range numbers {
			f, n := s.fields.Values[number], &spans[number]
			if len(out) == 0 || out[len(out)-1].Path != f.path {
				out, most, units = append(out, admin.ContextPath{Path: f.path}), 0, map[string]*span{}
			}
			p := &out[len(out)-1]
			p.Memories += n.memories
			if kind := kindNames[f.kind]; !slices.Contains(p.Kinds, kind) {
				p.Kinds = append(p.Kinds, kind)
			}
			if f.kind != kindNumber && f.unit == "" {
				continue
			}
			u := units[f.unit] // of texts and of objects
			if u == nil {
				u = &span{min: n.min, max: n.max}
				units[f.unit] = u
			}
			u.memories, u.min, u.max = u.memories+n.memories, min(u.min, n.min), max(u.max, n.max)
			if u.memories > most {
				most, p.Unit, p.Min, p.Max = u.memories, f.unit, &u.min, &u.max
			}
		}
	})
	return out, err
}

// count returns the members of a set that have each field.
func (s *pathShapes) count(set *bitset.BitSet) []span {
	spans, shapes := make([]span, len(s.fields.Values)), make([]int64, len(s.shapes.Values))
	for id, ok := set.NextSet(0); ok && int(id) < len(s.of); id, ok = set.NextSet(id + 1) {
		shapes[s.of[id]]++
	}
	for shape, n := range shapes {
		for fields := []byte(s.shapes.Values[shape]); n > 0 && len(fields) > 0; fields = fields[4:] {
			spans[uint32At(fields, 0)].memories += n
		}
	}
	return spans
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

// countedValue is a value at a path, as it is shown.
type countedValue struct {
	admin.PathValue
	kind   valueKind
	number float64 // to sort by
	text   string
	last   int // the distinct value that counted last
}

// PathValues returns the most frequent values at a path within a set, of equally
// frequent ones the smaller first. Lists and objects are left out. Where all values are
// quantities in objects, they are spelt in one unit, as a filter takes them.
func (r *Columns) PathValues(c *store.Conn, p *admin.ContextPath, set *bitset.BitSet) (out []admin.PathValue, err error) {
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
