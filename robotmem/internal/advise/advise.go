// Package advise computes what worked in past attempts: success rates with intervals for
// each parameter, one suggestion with its support, and the context paths that separate
// successes from failures. It does no I/O and knows no store.
//
// An [Attempt] has a score and a weight. A [Column] holds the values of all attempts at
// one context path. [Advise] answers.
//
// # Caveats
//
// The numbers describe what was tried, not what causes success: parameters that were
// always changed together cannot be told apart, and paths are tested one by one.
package advise

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
)

// Attempt is one memory with a known result.
type Attempt struct {
	ID       int64
	Observed int64   // nanoseconds since 1970
	Score    float64 // 0 to 1 for success, or the number of the goal
	Weight   float64 // above 0, at most 1

	forgotten float64 // share of the weight that it lost to later attempts
}

const (
	GoalNear    = "near" // GoalNear scores an attempt by how near it ended to the place asked for, 0 to 1.
	maxRows     = 12     // values of a parameter that are listed
	numberBins  = 8      // more numbers are listed in so many bins
	regionSteps = 100    // values or bins among which the best region is found

	goodAttempts = 5   // evidence is good from so many attempts near the suggestion,
	goodInterval = 0.5 // with an interval narrower than this share of the scores
)

// Advise describes the attempts, which are in the order of their ids. The first columns,
// so many as parameters says, are those to suggest; the others may explain the outcome.
// Offsets are the places of the attempts by ID, less the one that is asked for, if one is. States
// are what is given of the other columns.
func Advise(
	attempts []Attempt, columns []Column, parameters int, offsets map[int64][]float64, states []State,
	req *robotmem.AdviseRequest, r *rand.Rand,
) *robotmem.AdviseResponse {
	attempts, columns, notes := inState(slices.Clone(attempts), columns, states)
	s := scaled(attempts, req.Goal)
	res := &robotmem.AdviseResponse{
		Evidence: "none", Attempts: len(attempts), Parameters: []robotmem.ParameterAdvice{},
		Differs: []robotmem.Difference{}, Notes: notes,
	}
	if len(attempts) == 0 {
		return res
	}

	total := 0.0
	for i := range attempts {
		total += attempts[i].Score
	}

	res.Overall = new(s.estimate(total, float64(len(attempts))-total))

	var (
		groups []*grouping
		tried  []Column
	)

	for i := range columns {
		g := newGrouping(&columns[i], attempts, &s)
		if len(g.levels) > 1 && i < parameters {
			tried = append(tried, columns[i])
		}
		groups = append(groups, g)
	}

	res.Differs = differences(groups, attempts, &s, r)
	separating := res.Differs
	// What separates nothing overall may do so at the place.
	if len(offsets) > 0 {
		separating = nil
	}

	if life := forget(tried, attempts, &s, separating); !math.IsInf(life, 1) {
		separating = nil // or lately
		res.Notes = append(res.Notes, fmt.Sprintf("recent attempts weigh more: half-life %g attempts", life))
	}

	for i := range tried {
		res.Parameters = append(res.Parameters, parameterAdvice(&tried[i], attempts, &s))
		if note := tried[i].mixed(); note != "" {
			res.Notes = append(res.Notes, note)
		}
	}

	res.Combination = bestCombination(tried, attempts, &s)
	failing := false

	switch {
	case len(attempts) < req.NMin:
		res.Notes = append(res.Notes,
			fmt.Sprintf("no suggestion: the results of %d attempts are known, n_min is %d", len(attempts), req.NMin))
		return res
	case len(tried) == 0:
		res.Notes = append(res.Notes, "no suggestion: no attempt has a parameter; name context paths in parameters")
	case s.success && total == 0:
		res.Notes = append(res.Notes,
			fmt.Sprintf("no suggestion: all %d attempts %s", len(attempts),
				cmp.Or(map[string]string{GoalNear: "ended beyond max_distance"}[req.Goal], "failed")))
	default:
		j := newJoint(tried, attempts, &s, separating)
		j.offsets = offsets
		if req.Explore {
			res.Suggestion = j.sample(r)
		} else {
			// How near an attempt ended is hardly chance.
			if len(offsets) > 0 && req.Goal != GoalNear {
				j.widen()
			}
			res.Suggestion = j.best()
		}
		failing = j.failing
		if len(attempts) > maxNear {
			res.Notes = append(res.Notes, fmt.Sprintf("best and suggestion consider the %d latest attempts", maxNear))
		}
	}

	res.Evidence = "weak"
	if g := res.Suggestion; g != nil && !failing && g.Attempts >= goodAttempts &&
		g.High-g.Low < goodInterval*max(s.best-s.worst, s.worst-s.best) {
		res.Evidence = "good"
	}

	return res
}

// parameterAdvice lists the values of a parameter and finds the best: the one with the
// highest lower bound and, of numbers, the neighbours whose rate is not below this bound.
func parameterAdvice(c *Column, attempts []Attempt, s *scale) robotmem.ParameterAdvice {
	out := robotmem.ParameterAdvice{Path: c.Path, Unit: c.Unit, Values: []robotmem.ValueRecord{}}

	rows, of := c.levels(attempts, s, maxRows, numberBins)
	rows = c.divided(rows, of, attempts, s)

	for i := range rows[1:] {
		l := &rows[i+1]
		v := l.record()
		v.Estimate, v.LastTried, v.MemoryIDs = s.estimate(l.score, float64(l.n)-l.score), new(time.Unix(0, l.last).UTC()), l.ids
		out.Values = append(out.Values, v)
	}

	j := newJoint([]Column{*c}, attempts, s, nil)
	steps, _ := c.levels(attempts, s, regionSteps, regionSteps)
	steps = steps[1:]

	rates, best, bound := make([]float64, len(steps)), -1, 0.0
	for i := range steps {
		l := &steps[i]
		successes, failures := j.near([]any{l.middle()}, j.good, j.bad)
		rates[i] = successes / (successes + failures)
		if low, _ := consolidate.Wilson(successes, successes+failures); successes > 0 && low > bound {
			best, bound = i, low
		}
	}

	if best < 0 {
		return out
	}

	region, middle := steps[best], steps[best].middle()
	if _, numeric := middle.(float64); numeric {
		out.Kernel, out.Bandwidth = "Gaussian, half of Scott's bandwidth", round(j.parameters[0].width, 4)

		for i := best - 1; i >= 0 && rates[i] >= bound; i-- {
			region.low = steps[i].low
		}

		for i := best + 1; i < len(steps) && rates[i] >= bound; i++ {
			region.high = steps[i].high
		}
	}

	out.Best = new(region.record())
	out.Best.Value = middle
	out.Best.Estimate = s.estimate(j.near([]any{middle}, j.good, j.bad))

	return out
}
