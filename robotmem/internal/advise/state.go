package advise

import (
	"fmt"
	"math"
	"strings"
)

// State is what is given and cannot be chosen: a value of a column.
type State struct {
	Column int // its index
	Value  any // float64, string or bool
}

// nearState is how many bandwidths away a state may be. Attempts beyond that are of other states.
const nearState = 3

// inState weighs the attempts by their states: by a Gaussian kernel in each number, whose width is
// that of the parameters (newJoint), and by equality in each text. It drops attempts of other states.
func inState(attempts []Attempt, columns []Column, states []State) (near []Attempt, of []Column, notes []string) {
	if len(states) == 0 || len(attempts) == 0 {
		return attempts, columns, nil
	}

	dimensions := 0

	for _, s := range states {
		if _, isNumber := s.Value.(float64); isNumber {
			dimensions++
		}
	}

	squares := make([]float64, len(attempts)) // of the distances in bandwidths

	for _, s := range states {
		c := &columns[s.Column]

		distances, least := c.distances(s.Value, scott(len(attempts), dimensions)), math.Inf(1)
		for i, code := range c.Of {
			squares[i] += distances[code] * distances[code]
			least = min(least, distances[code])
		}
		if least > nearState {
			asked, have := c.shownValue(s.Value), c.summary(attempts)
			notes = append(notes, fmt.Sprintf("given: no attempt is near %s %s; they have %s", c.Path, asked, have))
		}
	}

	var kept []int

	for i, square := range squares {
		if square <= nearState*nearState {
			kept = append(kept, i)
			attempts[i].Weight *= math.Exp(-square / 2)
			near = append(near, attempts[i])
		}
	}

	of = make([]Column, len(columns))
	for k, c := range columns {
		codes := make([]uint32, len(kept))
		for i, from := range kept {
			codes[i] = c.Of[from]
		}
		c.Of = codes
		of[k] = c
	}

	switch left := len(attempts) - len(near); {
	case len(near) == 0 && len(notes) == 0:
		notes = append(notes, "given: no attempt is near all of these states together")
	case len(near) > 0 && left > 0:
		notes = append(notes, fmt.Sprintf("given: %d attempts in other states were left out", left))
	}

	return near, of, notes
}

// distances returns how far each value is from another in bandwidths; infinity if they are unequal
// and not both numbers.
func (c *Column) distances(from any, rule float64) []float64 {
	var xs []float64

	for _, code := range c.Of {
		if x, isNumber := c.Values[code].(float64); isNumber {
			xs = append(xs, x)
		}
	}

	width := 0.0
	if len(xs) > 1 {
		width = halfSpread(xs) * rule
	}

	out := make([]float64, len(c.Values))
	for code, v := range c.Values {
		x, isNumber := from.(float64)

		y, both := v.(float64)
		switch {
		case v == from:
		case isNumber && both && width > 0:
			out[code] = math.Abs(x-y) / width
		default:
			out[code] = math.Inf(1)
		}
	}

	return out
}

// summary names the range of the numbers, or the most frequent texts.
func (c *Column) summary(attempts []Attempt) string {
	const most = 4
	levels, _ := c.levels(attempts, &scale{}, most, 1)

	var parts []string
	for i := range levels[1:] {
		parts = append(parts, c.shown(&levels[i+1]))
	}
	if len(parts) == 0 {
		return "no value there"
	}

	return strings.Join(parts, ", ")
}
