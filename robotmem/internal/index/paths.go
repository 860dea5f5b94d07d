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
	"sync"
	"unicode/utf8"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// valueKind is the JSON type of a value. The constants are in the order of the answers.
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

	ordering sync.Mutex // guards order
	order    []uint32   // numbers of fields, in the order of the fields; a new list for new fields
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
		// The values of other objects are visited at their own paths.
		if !filter.OwnField(path) && (len(object) == 0 || isQuantity) {
			all = append(all, f)
		}
	})
	slices.SortFunc(all, func(a, b fieldNumber) int { return a.compare(b.pathField) })
	// A path can occur twice if keys hold dots.
	return slices.CompactFunc(all, func(a, b fieldNumber) bool { return a.path == b.path })
}

func (s *pathShapes) put(id int64, kept any) {
	all, _ := kept.([]fieldNumber)
	// Shape 0 is that of ids without a memory.
	s.shapes.id("")

	shape := make([]byte, 0, 4*len(all))
	numbers := make([]float64, len(all))

	for i, f := range all {
		shape = binary.LittleEndian.AppendUint32(shape, s.fields.id(f.pathField))
		numbers[i] = f.number
	}
	s.of, s.numbers = grown(s.of, id), grown(s.numbers, id)
	s.size += 8 * (len(numbers) - len(s.numbers[id]))
	s.of[id], s.numbers[id] = s.shapes.id(string(shape)), numbers
}

func (s *pathShapes) bytes() int {
	const each = 200 // a shape or a field
	return s.size + 28*cap(s.of) + 4*len(s.fields.Values) + each*(len(s.shapes.Values)+len(s.fields.Values))
}

// span counts memories with their range of numbers.
type span struct {
	memories int64
	min, max float64
}

// PathsAsked says which paths are described, and how. The zero value asks for all.
type PathsAsked struct {
	Prefix string            // of the paths
	Wanted func(string) bool // leaves paths out, unless it is nil
	Limit  int               // the number of paths that are described, 0 for all
	Ranges bool              // the least and the greatest number too, which takes longer
}

// ContextPaths describes the paths that are asked for and that members of a set have, in order: with the range
// of the numbers or, if more memories have one, of the quantities in the unit that most of them have. It also
// returns how many paths there are, of which the first are described.
func (r *Columns) ContextPaths(c *store.Conn, set *bitset.BitSet, asked PathsAsked) (out []admin.ContextPath, total int,
	err error) {
	err = withColumn(r, c, pathsColumn, func(s *pathShapes) {
		spans := s.count(set)
		if asked.Ranges {
			s.measure(set, spans)
		}

		last := "" // the path of the field before

		var described pathBuilder

		for _, number := range s.inOrder(asked.Prefix) {
			f, n := &s.fields.Values[number], &spans[number]
			if n.memories == 0 || asked.Wanted != nil && !asked.Wanted(f.path) {
				continue
			}

			// Fields of one path are adjacent. Paths beyond the limit are counted and not described.
			if total == 0 || f.path != last {
				total++
				if asked.Limit == 0 || total <= asked.Limit {
					described.begin(f.path)
				}
				last = f.path
			}
			if asked.Limit == 0 || total <= asked.Limit {
				described.add(f, n)
			}
		}

		out = described.paths
	})

	return out, total, err
}

// pathBuilder describes paths, one after the other.
type pathBuilder struct {
	paths []admin.ContextPath
	most  int64      // memories with one unit at the last path
	units []unitSpan // of the last path
}

type unitSpan struct {
	unit string
	*span
}

func (b *pathBuilder) begin(path string) {
	b.paths = append(b.paths, admin.ContextPath{Path: path})
	b.most, b.units = 0, b.units[:0]
}

// add adds a field of the last path, which n members of the set have.
func (b *pathBuilder) add(f *pathField, n *span) {
	p := &b.paths[len(b.paths)-1]
	p.Memories += n.memories
	if kind := kindNames[f.kind]; !slices.Contains(p.Kinds, kind) {
		p.Kinds = append(p.Kinds, kind)
	}
	if f.kind != kindNumber && f.unit == "" {
		return
	}

	i := slices.IndexFunc(b.units, func(u unitSpan) bool { return u.unit == f.unit }) // of texts and of objects
	if i < 0 {
		i, b.units = len(b.units), append(b.units, unitSpan{f.unit, &span{min: n.min, max: n.max}})
	}
	u := b.units[i]
	u.memories, u.min, u.max = u.memories+n.memories, min(u.min, n.min), max(u.max, n.max)
	if u.memories > b.most {
		b.most, p.Unit, p.Min, p.Max = u.memories, f.unit, &u.min, &u.max
	}
}

// inOrder returns the numbers of the fields whose path has a prefix, in the order of the fields. The order of
// all is kept between calls, and new fields are merged into it: to sort the paths of a robot whose keys hold
// ids takes longer than everything else. The caller holds the lock of the columns for reading.
func (s *pathShapes) inOrder(prefix string) []uint32 {
	s.ordering.Lock()
	defer s.ordering.Unlock()

	compare := func(a, b uint32) int { return s.fields.Values[a].compare(s.fields.Values[b]) }
	if known := len(s.order); known < len(s.fields.Values) {
		fresh := make([]uint32, 0, len(s.fields.Values)-known)
		for number := known; number < len(s.fields.Values); number++ {
			fresh = append(fresh, uint32(number))
		}
		slices.SortFunc(fresh, compare)
		s.order = merged(s.order, fresh, compare)
	}

	from, _ := slices.BinarySearchFunc(s.order, prefix, func(number uint32, prefix string) int {
		return strings.Compare(s.fields.Values[number].path, prefix)
	})
	rest := s.order[from:]
	n, _ := slices.BinarySearchFunc(rest, prefix, func(number uint32, prefix string) int {
		if strings.HasPrefix(s.fields.Values[number].path, prefix) {
			return -1
		}
		return 1
	})

	return rest[:n]
}

// merged returns the numbers of two ordered lists in a new ordered list. It changes neither, because others may be
// reading the first.
func merged(a, b []uint32, compare func(a, b uint32) int) []uint32 {
	out := make([]uint32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compare(a[0], b[0]) <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}

	return append(append(out, a...), b...)
}

// count returns the members of a set that have each field.
func (s *pathShapes) count(set *bitset.BitSet) []span {
	spans, shapes := make([]span, len(s.fields.Values)), make([]int64, len(s.shapes.Values))

	// There are far fewer shapes than memories, so the fields are counted once for each shape.
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
func (r *Columns) PathValues(c *store.Conn, p *admin.ContextPath, set *bitset.BitSet) (out []admin.PathValue,
	err error) {
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
				// A memory with several equal values at the path counts once.
				if first := of[counted.Value]; first.last != number {
					first.last, first.Memories = number, first.Memories+n
				}
			}
		}

		// Quantities are shown only if the path has no other values.
		of := counts[0]
		if len(of) == 0 && slices.Equal(p.Kinds, []string{kindNames[kindNumber]}) {
			of = counts[1]
		}

		values := slices.SortedFunc(maps.Values(of), func(a, b *countedValue) int {
			return cmp.Or(cmp.Compare(b.Memories, a.Memories), cmp.Compare(a.kind, b.kind),
				cmp.Compare(a.number, b.number), strings.Compare(a.text, b.text))
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
		// The same value is there as a text, which is shown.
		return c, false
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
