package advise

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Column holds the values that the attempts have at one context path.
type Column struct {
	Path   string
	Unit   string   // of the numbers, as they are shown; "" for none
	Quoted bool     // the memories hold texts with a unit, such as "12.5 N"
	Values []any    // float64, string or bool; entry 0 is nil, no value
	Of     []uint32 // by attempt, an index into Values
}

const maxLevels = 256 // more numbers are put into bins; rarer texts count as no value

// axis is a column whose values are numbered from 1: numbers ascending, texts by
// frequency. The minority of numbers or texts counts as no value, 0.
type axis struct {
	*Column
	numeric bool
	of      []uint32 // level, by attempt
	levels  []level
}

// level is a value, or a bin of numbers.
type level struct {
	value     any
	low, high float64
	n         int // attempts
}

func (l *level) middle() float64 { return l.low/2 + l.high/2 }

func newAxis(c *Column) *axis {
	counts, distinct, numbers := make([]int, len(c.Values)), map[any]int{}, 0
	for _, code := range c.Of {
		counts[code]++
	}
	for code, v := range c.Values {
		if v == nil || counts[code] == 0 {
			continue
		}
		if _, ok := v.(float64); ok {
			numbers += 2 * counts[code]
		}
		distinct[v] += counts[code]
		numbers -= counts[code]
	}
	a := &axis{Column: c, numeric: numbers > 0, of: make([]uint32, len(c.Of)), levels: make([]level, 1)}
	maps.DeleteFunc(distinct, func(v any, _ int) bool { _, ok := v.(float64); return ok != a.numeric })
	byNumber := func(x, y any) int { return cmp.Compare(x.(float64), y.(float64)) }
	byFrequency := func(x, y any) int {
		return cmp.Or(cmp.Compare(distinct[y], distinct[x]), cmp.Compare(fmt.Sprint(x), fmt.Sprint(y)))
	}
	order := byFrequency
	if a.numeric {
		order = byNumber
	}
	number := map[any]uint32{}
	for _, v := range slices.SortedFunc(maps.Keys(distinct), order) {
		x, _ := v.(float64)
		number[v] = uint32(len(a.levels))
		a.levels = append(a.levels, level{v, x, x, distinct[v]})
	}
	levelOf := make([]uint32, len(c.Values))
	for code, v := range c.Values {
		levelOf[code] = number[v]
	}
	for i, code := range c.Of {
		a.of[i] = levelOf[code]
	}
	return a.coarse(maxLevels, maxLevels)
}

// coarse joins neighbouring numbers to bins of about equally many attempts if there are
// more than most, and drops rarer texts.
func (a *axis) coarse(most, bins int) *axis {
	if len(a.levels)-1 <= most {
		return a
	}
	out := &axis{Column: a.Column, numeric: a.numeric, of: make([]uint32, len(a.of)), levels: make([]level, 1)}
	to, seen, total := make([]uint32, len(a.levels)), 0, a.attempts()
	for i, l := range a.levels[1:] {
		switch {
		case !a.numeric && i >= most:
			continue
		case !a.numeric || seen*bins >= (len(out.levels)-1)*total:
			out.levels = append(out.levels, l)
		default:
			last := &out.levels[len(out.levels)-1]
			last.high, last.n = l.high, last.n+l.n
		}
		seen += l.n
		to[i+1] = uint32(len(out.levels) - 1)
	}
	for i, number := range a.of {
		out.of[i] = to[number]
	}
	return out
}

// attempts counts those with a value.
func (a *axis) attempts() (n int) {
	for _, l := range a.levels {
		n += l.n
	}
	return n
}

// shown writes a value, or the range of a bin, as a person reads it.
func (a *axis) shown(l level) string {
	if !a.numeric {
		return fmt.Sprint(l.value)
	}
	s := strconv.FormatFloat(round(l.low, 4), 'g', -1, 64)
	if l.low != l.high {
		s += " to " + strconv.FormatFloat(round(l.high, 4), 'g', -1, 64)
	}
	if a.Unit != "" {
		s += " " + a.Unit
	}
	return s
}
