package index

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// Values holds the values of some memories at one context path. Quantities are numbers in the most common unit of the
// path, and a number without a unit is taken in it.
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
	out := Values{Path: v.path, Unit: v.unit(), Values: make([]any, len(v.distinct)), Of: make([]uint32, len(ids))}

	quantities := 0
	for _, u := range v.units {
		quantities += u.memories
	}

	out.Quoted = quantities > v.bare
	zero, _ := units.Of(0, out.Unit)
	one, _ := units.Of(1, out.Unit)

	for i, id := range ids {
		if id >= int64(len(v.of)) {
			continue
		}
		number := v.of[id]

		// Each distinct value is converted once.
		if out.Of[i] = number; out.Values[number] == nil {
			out.Values[number] = plain(v.distinct[number].All, zero, one)
		}
	}

	return out
}

// plain returns the value that counts, the last one, as a number in the unit of one, a
// text or a truth value; nil for any other.
func plain(all []any, zero, one units.Quantity) any {
	if len(all) == 0 {
		return nil
	}

	switch x := all[len(all)-1].(type) {
	case units.Quantity:
		if x.Unit == one.Unit {
			converted := strconv.FormatFloat((x.Value-zero.Value)/(one.Value-zero.Value), 'g', 12, 64)
			// Twelve digits remove the error of the conversion, which is in the last of 15 digits.
			number, _ := strconv.ParseFloat(converted, 64)
			return number
		}
		// A quantity of another kind than most is compared by its text.
		if s, ok := all[0].(string); ok {
			return s
		}
	case string:
		if utf8.RuneCountInString(x) <= maxValueLength {
			return x
		}
	case []byte:
		if s := string(x); s == filter.BlobTrue || s == filter.BlobFalse {
			return s == filter.BlobTrue
		}
	default:
		if number, ok := filter.Number(x); ok {
			return number
		}
	}

	return nil
}

// OwnValues sets the texts of a field of the memories themselves.
func (r *Columns) OwnValues(field string, rows []store.TimedID, out []any) {
	r.Mu.RLock()
	defer r.Mu.RUnlock()

	for i := range rows {
		row := r.row(int(rows[i].ID))
		number := row.Collection

		switch field {
		case "type":
			out[i] = kinds[row.Kind]
			continue
		case "outcome":
			out[i] = row.Outcome.String()
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
		out[i] = of[r.row(int(rows[i].ID)).Outcome]
	}

	return out
}
