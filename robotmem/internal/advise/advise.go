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
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Attempt is one memory with a known result.
type Attempt struct {
	ID       int64
	Observed int64   // nanoseconds since 1970
	Score    float64 // 0 to 1 for success, or the number of the goal
	Weight   float64 // above 0, at most 1
}

// Options says what to answer.
type Options struct {
	Goal        *robotmem.Goal
	MinAttempts int
	Explore     bool
	Rand        *rand.Rand
}

const (
	maxRows    = 12 // values of a parameter that are listed
	numberBins = 8  // more numbers are listed in so many bins

	goodAttempts = 5   // evidence is good from so many attempts near the suggestion,
	goodInterval = 0.5 // with an interval narrower than this share of the scores
)

// Advise describes the attempts, which are in the order of their ids. The parameters are
// those to suggest; others are columns that may explain the outcome.
func Advise(attempts []Attempt, parameters, others []Column, o Options) *robotmem.AdviseResponse {
	s, attempts := scaled(attempts, o.Goal)
	res := &robotmem.AdviseResponse{Evidence: "none", Attempts: len(attempts), Parameters: []robotmem.ParameterAdvice{}, Differs: []robotmem.Difference{}}
	note := func(format string, args ...any) { res.Notes = append(res.Notes, fmt.Sprintf(format, args...)) }
	if len(attempts) == 0 {
		return res
	}
	total := 0.0
	for i := range attempts {
		total += attempts[i].Score
	}
	res.Overall = new(s.estimate(total, float64(len(attempts))))
	var all, tried []*axis
	for i := range parameters {
		if a := newAxis(&parameters[i]); len(a.levels) > 1 {
			tried = append(tried, a)
			res.Parameters = append(res.Parameters, advice(a, attempts, &s))
		}
	}
	all = append(all, tried...)
	for i := range others {
		all = append(all, newAxis(&others[i]))
	}
	res.Differs = differences(all, attempts, &s, o.Rand)
	switch {
	case len(attempts) < o.MinAttempts:
		note("no suggestion: the results of %d attempts are known, n_min is %d", len(attempts), o.MinAttempts)
		return res
	case len(tried) == 0:
		note("no suggestion: no attempt has a parameter; name context paths in parameters")
	case s.success && total == 0:
		note("no suggestion: all %d attempts failed", len(attempts))
	default:
		j := newJoint(tried, attempts, &s)
		if o.Explore {
			res.Suggestion = j.sample(o.Rand)
		} else {
			res.Suggestion = j.suggest(j.best())
		}
		if len(j.cells) == maxCells {
			note("the suggestion considers the %d latest different assignments", maxCells)
		}
	}
	res.Evidence = "weak"
	if g := res.Suggestion; g != nil && g.Attempts >= goodAttempts && g.High-g.Low < goodInterval*max(s.best-s.worst, s.worst-s.best) {
		res.Evidence = "good"
	}
	return res
}

// advice lists the values of a parameter and finds the best.
func advice(a *axis, attempts []Attempt, s *scale) robotmem.ParameterAdvice {
	out := robotmem.ParameterAdvice{Path: a.Path, Unit: a.Unit, Values: []robotmem.ValueRecord{}}
	rows := a.coarse(maxRows, numberBins)
	listed := newJoint([]*axis{rows}, attempts, s)
	slices.SortFunc(listed.cells, func(x, y cell) int { return int(x.at[0]) - int(y.at[0]) })
	for i := range listed.cells {
		c := &listed.cells[i]
		if c.at[0] == 0 {
			continue
		}
		v := rows.describe(rows.levels[c.at[0]])
		v.Estimate, v.LastTried, v.MemoryIDs = s.estimate(c.sum, float64(c.n)), new(time.Unix(0, c.last).UTC()), c.ids
		out.Values = append(out.Values, v)
	}
	j := newJoint([]*axis{a}, attempts, s)
	best := j.best()
	if best == nil {
		return out
	}
	region := a.levels[best.at[0]]
	if a.numeric {
		out.Kernel, out.Bandwidth = "Gaussian, bandwidth by the rules of Scott and Silverman and cross-validation", round(j.widths[0], 4)
		bound := lower(j.near(best))
		inside := func(at uint32) bool {
			score, n := j.near(&cell{at: []uint32{at}, point: []float64{a.levels[at].middle()}})
			return score/n >= bound
		}
		at := best.at[0]
		for ; at > 1 && inside(at-1); at-- {
		}
		region.low = a.levels[at].low
		for at = best.at[0]; int(at) < len(a.levels)-1 && inside(at+1); at++ {
		}
		region.high = a.levels[at].high
	}
	out.Best = new(a.describe(region))
	if a.numeric {
		out.Best.Value = round(best.point[0], 6)
	}
	out.Best.Estimate = s.estimate(j.near(best))
	return out
}

// describe returns the value or the range of a level.
func (a *axis) describe(l level) robotmem.ValueRecord {
	if l.low != l.high {
		return robotmem.ValueRecord{From: new(l.low), To: new(l.high)}
	}
	return robotmem.ValueRecord{Value: l.value}
}
