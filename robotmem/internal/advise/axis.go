package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Column holds the values that the attempts have at one context path.
type Column struct {
	Path   string
	Unit   string   // of the numbers, as they are shown; "" for none
	Quoted bool     // the memories hold texts with a unit, such as "12.5 N"
	Values []any    // float64, string or bool; entry 0 is nil, no value
	Of     []uint32 // by attempt, an index into Values
}

// level is a value, or a bin of numbers, and the attempts that had it.
type level struct {
	value     any
	low, high float64
	n, good   int
	score     float64
	last      int64
	ids       []int64 // the latest
}

// levels groups the attempts by value, and returns the level of each attempt: numbers ascending,
// in bins of about equally many attempts if there are more than most, else texts, the most
// frequent first. Level 0 has those without a value, of the rarer kind, and rarer texts.
func (c *Column) levels(attempts []Attempt, s *scale, most, bins int) (levels []level, of []uint32) {
	counts, numbers := make([]int, len(c.Values)), 0
	for _, code := range c.Of {
		counts[code]++
	}

	isNumber := func(code int) bool { _, ok := c.Values[code].(float64); return ok }
	for code, n := range counts {
		if isNumber(code) {
			numbers += n
		}
	}

	// At a tie numbers win: texts beside them are mostly numbers that were misspelt.
	numeric := numbers > 0 && 2*numbers >= len(c.Of)-counts[0]

	var codes []int

	for code, n := range counts {
		if code > 0 && n > 0 && c.Values[code] != nil && isNumber(code) == numeric {
			codes = append(codes, code)
		}
	}

	slices.SortFunc(codes, func(a, b int) int {
		if numeric {
			return cmp.Compare(c.Values[a].(float64), c.Values[b].(float64))
		}
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(fmt.Sprint(c.Values[a]), fmt.Sprint(c.Values[b])))
	})

	same := func(a, b int) bool { return c.Values[a] == c.Values[b] }
	switch {
	case !numeric:
		codes = codes[:min(len(codes), most)]
	case len(slices.CompactFunc(slices.Clone(codes), same)) <= most:
		bins = numbers
	}

	levels = []level{{high: math.NaN()}}

	to, seen := make([]uint32, len(c.Values)), 0
	for _, code := range codes {
		last, x := &levels[len(levels)-1], 0.0
		if numeric {
			x = c.Values[code].(float64)
		}
		if !numeric || x != last.high && seen*bins >= (len(levels)-1)*numbers {
			levels = append(levels, level{value: c.Values[code], low: x, high: x})
		} else {
			last.high = x
		}
		seen += counts[code]
		to[code] = uint32(len(levels) - 1)
	}

	of = make([]uint32, len(c.Of))
	for i := len(attempts) - 1; i >= 0; i-- {
		of[i] = to[c.Of[i]]
		levels[of[i]].add(&attempts[i], s)
	}

	return levels, of
}

// leastSide is how many attempts there must be on each side of a threshold that divides a bin. Fewer may be chance.
const leastSide = 3

// divided divides the bins in which a threshold separates the failures from the successes. A bin of equally many
// attempts may hold values that failed and values that worked, and its rate would be true of none of them.
func (c *Column) divided(bins []level, of []uint32, attempts []Attempt, s *scale) []level {
	out := bins[:1:1]

	for k := 1; k < len(bins); k++ {
		cut, separates := c.threshold(uint32(k), of, attempts, s)
		if !separates {
			out = append(out, bins[k])
			continue
		}

		var parts [2]level

		for i := len(attempts) - 1; i >= 0; i-- {
			if of[i] != uint32(k) {
				continue
			}

			x, _ := c.Values[c.Of[i]].(float64)
			part := &parts[0]
			if x >= cut {
				part = &parts[1]
			}
			if part.n == 0 {
				part.value, part.low, part.high = x, x, x
			}
			part.low, part.high = min(part.low, x), max(part.high, x)
			part.add(&attempts[i], s)
		}
		out = append(out, parts[:]...)
	}

	return out
}

// threshold returns the number from which on the attempts of a bin have the other outcome.
func (c *Column) threshold(bin uint32, of []uint32, attempts []Attempt, s *scale) (cut float64, separates bool) {
	type side struct {
		n         int
		low, high float64
	}
	sides := [2]side{{low: math.Inf(1), high: math.Inf(-1)}, {low: math.Inf(1), high: math.Inf(-1)}}

	for i := range attempts {
		x, isNumber := c.Values[c.Of[i]].(float64)
		if of[i] != bin || !isNumber {
			continue
		}

		outcome := &sides[0]
		if attempts[i].Score >= s.good {
			outcome = &sides[1]
		}
		outcome.n, outcome.low, outcome.high = outcome.n+1, min(outcome.low, x), max(outcome.high, x)
	}

	failed, worked := sides[0], sides[1]
	if failed.n < leastSide || worked.n < leastSide {
		return 0, false
	}

	return max(failed.low, worked.low), failed.high < worked.low || worked.high < failed.low
}

// mixed says which values are left out, because most attempts have the other kind; "" for none.
func (c *Column) mixed() string {
	numbers, others, example := 0, 0, map[bool]any{}

	for _, code := range c.Of {
		v := c.Values[code]
		if v == nil {
			continue
		}
		_, isNumber := v.(float64)
		if isNumber {
			numbers++
		} else {
			others++
		}
		if example[isNumber] == nil {
			example[isNumber] = v
		}
	}

	switch {
	case numbers == 0 || others == 0:
		return ""
	case numbers >= others:
		return fmt.Sprintf("%s: %d attempts with a value that is no quantity are left out, such as %q", c.Path, others, fmt.Sprint(example[false]))
	}

	return fmt.Sprintf("%s: %d attempts with a quantity are left out, such as %s; most have a text", c.Path, numbers, c.shownValue(example[true]))
}

func (l *level) add(a *Attempt, s *scale) {
	l.n, l.score, l.last = l.n+1, l.score+a.Score, max(l.last, a.Observed)
	if a.Score >= s.good {
		l.good++
	}
	if len(l.ids) < maxExamples && !slices.Contains(l.ids, a.ID) {
		l.ids = append(l.ids, a.ID)
	}
}

// middle returns the value, or the middle of a bin.
func (l *level) middle() any {
	if l.low != l.high {
		return l.low/2 + l.high/2
	}
	return l.value
}

// record returns the value or the range.
func (l *level) record() robotmem.ValueRecord {
	if l.low != l.high {
		return robotmem.ValueRecord{From: new(l.low), To: new(l.high)}
	}
	return robotmem.ValueRecord{Value: l.value}
}

// written is a value as the context of the next attempt may hold it: with its unit if those of the
// attempts have one.
func (c *Column) written(v any) any {
	if x, isNumber := v.(float64); isNumber && c.Quoted {
		return strconv.FormatFloat(x, 'g', -1, 64) + " " + c.Unit
	}
	return v
}

// shownValue writes one value as a person reads it.
func (c *Column) shownValue(v any) string {
	x, _ := v.(float64)
	return c.shown(&level{value: v, low: x, high: x})
}

// shown writes a value, or the range of a bin, as a person reads it.
func (c *Column) shown(l *level) string {
	if _, ok := l.value.(float64); !ok {
		return fmt.Sprint(l.value)
	}
	s := strconv.FormatFloat(round(l.low, 4), 'g', -1, 64)
	if l.low != l.high {
		s += " to " + strconv.FormatFloat(round(l.high, 4), 'g', -1, 64)
	}
	if c.Unit != "" {
		s += " " + c.Unit
	}

	return s
}
