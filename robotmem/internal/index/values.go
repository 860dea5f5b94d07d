package index

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// Values are what some memories have at one context path. Quantities are numbers in the
// unit that most of them are written in, and a number without a unit is taken in it.
type Values struct {
	Path   string
	Unit   string // "" if there are no quantities
	Quoted bool   // there are more quantities than plain numbers
	Values []any  // float64, string or bool; entry 0 is nil, no value
	Of     []uint32
}

// ValuesOf returns the values at each path, for memories in the given order. Lists, null,
// objects and long texts are no values.
func (r *Columns) ValuesOf(c *store.Conn, paths []string, ids []int64) ([]Values, error) {
	sets, err := r.contexts(c, valueColumns(paths)...)
	if err != nil {
		return nil, err
	}
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	out := make([]Values, 0, len(sets))
	for _, s := range sets {
		if v, ok := s.contextColumn.(*valueColumn); ok {
			out = append(out, v.values(ids))
		}
	}
	return out, nil
}

func (v *valueColumn) values(ids []int64) Values {
	out := Values{Path: v.path, Values: make([]any, len(v.distinct)), Of: make([]uint32, len(ids))}
	counts, spelt, plain, quantities := make([]int, len(v.distinct)), map[string]int{}, 0, 0
	for i, id := range ids {
		if id < int64(len(v.of)) {
			out.Of[i] = v.of[id]
			counts[v.of[id]]++
		}
	}
	for number, n := range counts {
		d := &v.distinct[number]
		if n == 0 || number == 0 || len(d.All) == 0 {
			continue
		}
		if d.Bare {
			plain += n
		}
		if _, ok := d.All[len(d.All)-1].(units.Quantity); ok {
			quantities += n
			spelt[d.Unit] += n
		}
	}
	for unit, n := range spelt {
		if most := spelt[out.Unit]; n > most || n == most && unit < out.Unit {
			out.Unit = unit
		}
	}
	out.Quoted = quantities > plain
	zero, _ := units.Of(0, out.Unit)
	one, _ := units.Of(1, out.Unit)
	for number, n := range counts {
		all := v.distinct[number].All
		if n == 0 || len(all) == 0 {
			continue
		}
		last := all[len(all)-1]
		if x, ok := last.(units.Quantity); ok {
			if x.Unit == one.Unit {
				out.Values[number] = significant((x.Value - zero.Value) / (one.Value - zero.Value))
				continue
			}
			last = all[0] // of another kind, a text
		}
		switch x := last.(type) {
		case string:
			if utf8.RuneCountInString(x) <= maxValueLength {
				out.Values[number] = x
			}
		case []byte:
			if s := string(x); s == filter.BlobTrue || s == filter.BlobFalse {
				out.Values[number] = s == filter.BlobTrue
			}
		default:
			if f, ok := filter.Number(x); ok {
				out.Values[number] = f
			}
		}
	}
	return out
}

// significant removes the error of a conversion, which is in the last of 15 digits.
func significant(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	if err != nil || math.IsInf(y, 0) {
		return x
	}
	return y
}

// OwnValues sets the texts of a field of the memories themselves.
func (r *Columns) OwnValues(field string, rows []store.TimedID, out []any) {
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	for i := range rows {
		row := &r.Rows[rows[i].ID]
		number := row.Collection
		switch field {
		case "type":
			out[i] = kinds[row.Kind]
			continue
		case "category":
			number = row.Category
		case "perception_type":
			number = row.Perception
		case "session_id":
			number = row.Session
		}
		if number > 0 {
			out[i] = r.Text(number)
		}
	}
}

// Scores returns the outcomes of memories: 1 for success, 0.5 for a partial one, 0 for
// failure, NaN for unknown.
func (r *Columns) Scores(rows []store.TimedID) []float64 {
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	of := [...]float64{Unknown: math.NaN(), Success: 1, Failure: 0, Partial: 0.5}
	out := make([]float64, len(rows))
	for i := range rows {
		out[i] = of[r.Rows[rows[i].ID].Outcome]
	}
	return out
}
