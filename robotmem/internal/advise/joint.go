package advise

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"gonum.org/v1/gonum/floats"
)

const (
	maxNear       = 1000 // the latest attempts, which rates are estimated from
	maxCandidates = 100
	maxExamples   = 3
	maxPredicted  = 150 // the latest attempts, which widen compares; the time grows with their square
)

// joint estimates the success rate of any assignment of some parameters. The weight of an attempt
// is a product of kernels: Gaussian in each number, equality in each text. The rate is the mean of
// the scores with these weights (E. A. Nadaraya, G. S. Watson, 1964), and the sum of the weights
// counts the attempts, so that an assignment at the edge with few attempts nearby has a low bound.
type joint struct {
	*scale
	columns    []Column  // of all attempts
	all        []Attempt // all attempts
	parameters []parameter
	attempts   []Attempt // the latest
	good, bad  []float64 // weight of the success and of the failure, by attempt
	offsets    map[int64][]float64
	wider      float64 // the widths are so many times those of newJoint
	failing    bool    // the last attempts at what was suggested failed
}

// parameter is a column with the width of its kernel and the range of its numbers.
type parameter struct {
	Column
	width, low, high float64
}

// newJoint sets the widths of the kernels to half of the normal reference rule, sd n^(-1/(d+4))
// in d dimensions (D. W. Scott, "Multivariate Density Estimation", 1992, equation 6.42): a region
// of success is narrower than what was tried. Columns that do not separate successes from
// failures, while others do, get an infinite width, so that they do not divide the attempts.
func newJoint(columns []Column, attempts []Attempt, s *scale, separating []robotmem.Difference) *joint {
	from := max(0, len(attempts)-maxNear)
	j := &joint{scale: s, columns: columns, all: attempts, attempts: attempts[from:], wider: 1}
	separates := func(c Column) bool {
		return slices.ContainsFunc(separating, func(d robotmem.Difference) bool { return d.Path == c.Path })
	}
	some := slices.ContainsFunc(columns, separates)
	dimensions := 0

	for _, c := range columns {
		p := parameter{Column: c}
		p.Of = c.Of[from:]

		var xs []float64

		for _, code := range p.Of {
			if x, ok := p.Values[code].(float64); ok {
				xs = append(xs, x)
			}
		}
		if len(xs) > 0 {
			p.low, p.high = slices.Min(xs), slices.Max(xs)
		}
		if some && !separates(c) {
			p.width = math.Inf(1)
		} else if len(xs) > 1 {
			p.width = halfSpread(xs)
			dimensions++
		}
		j.parameters = append(j.parameters, p)
	}

	for k := range j.parameters {
		j.parameters[k].width *= scott(len(j.attempts), dimensions)
	}

	for _, a := range j.attempts {
		weight := a.Weight * (1 - a.forgotten)
		j.good, j.bad = append(j.good, weight*a.Score), append(j.bad, weight*(1-a.Score))
	}

	return j
}

// at returns the assignment of an attempt.
func (j *joint) at(i int) []any {
	out := make([]any, len(j.parameters))
	for k := range j.parameters {
		p := &j.parameters[k]
		out[k] = p.Values[p.Of[i]]
	}
	return out
}

// meanVariance are the mean and the variance of weighted numbers as a whole population.
func meanVariance(xs, weights []float64) (mean, variance float64) {
	total := floats.Sum(weights)

	mean = floats.Dot(xs, weights) / total
	for i, x := range xs {
		variance += weights[i] * (x - mean) * (x - mean) / total
	}

	return mean, variance
}

// near sums successes and failures around an assignment.
func (j *joint) near(at []any, good, bad []float64) (successes, failures float64) {
	for i := range j.attempts {
		w := j.kernel(at, i)
		successes, failures = successes+w*good[i], failures+w*bad[i]
	}
	return successes, failures
}

// candidates are attempts that had a success, the latest first, evenly chosen.
func (j *joint) candidates() (out []int) {
	for i := len(j.attempts) - 1; i >= 0; i-- {
		if j.good[i] > 0 && slices.ContainsFunc(j.at(i), func(v any) bool { return v != nil }) {
			out = append(out, i)
		}
	}

	for step, i := len(out)/maxCandidates+1, 0; step > 1 && i*step < len(out); i++ {
		out[i] = out[i*step]
	}

	return out[:min(len(out), maxCandidates)]
}

// best suggests the assignment of an attempt with the highest lower bound, or what it
// becomes at the place asked for.
func (j *joint) best() *robotmem.Suggestion {
	var best []any
	highest := -1.0

	for _, i := range j.candidates() {
		successes, failures := j.near(j.at(i), j.good, j.bad)
		if bound, _ := consolidate.Wilson(successes, successes+failures); bound > highest {
			best, highest = j.at(i), bound
		}
	}
	if best == nil {
		return nil
	}
	at := j.atPlace(best)

	return j.suggest(at, slices.Equal(at, best))
}

// atPlace moves the numbers of an assignment to their values at the place asked for, by a
// linear regression on the place over the successes with similar parameters: W. S.
// Cleveland and S. J. Devlin, "Locally Weighted Regression", JASA 83 (1988), with the whole
// bandwidth of Scott's rule. The slopes are shrunk as by one attempt without any (ridge
// regression). The values stay within the range of what was tried.
func (j *joint) atPlace(at []any) []any {
	var (
		rows    []int
		weights []float64
	)

	for i := range j.attempts {
		if w := j.good[i] * math.Pow(j.kernel(at, i), j.wider*j.wider/4); w > 0 && j.offsets[j.attempts[i].ID] != nil {
			rows, weights = append(rows, i), append(weights, w)
		}
	}

	if len(rows) == 0 {
		return at
	}

	n, d := len(rows), len(j.offsets[j.attempts[rows[0]].ID])

	places, constant, changes := zeros(d, n+d), make([]float64, n+d), zeros(len(at), n+d)
	for r, i := range rows {
		constant[r] = math.Sqrt(weights[r])
		for c, x := range j.offsets[j.attempts[i].ID] {
			places[c][r] = constant[r] * x
		}

		for k := range at {
			x, ok := at[k].(float64)
			if y, both := j.parameters[k].Values[j.parameters[k].Of[i]].(float64); ok && both {
				changes[k][r] = constant[r] * (y - x)
			}
		}
	}

	for c, place := range places {
		place[n+c] = cmp.Or(floats.Norm(place, 2)/math.Sqrt(floats.Sum(weights)), 1)
	}

	// Gram-Schmidt, modified. What it leaves of the constant gives the coefficient of the constant.
	for c, place := range places {
		for _, later := range append(places[c+1:len(places):len(places)], constant) {
			floats.AddScaled(later, -floats.Dot(place, later)/floats.Dot(place, place), place)
		}
	}

	out := slices.Clone(at)
	for k := range at {
		change := floats.Dot(constant, changes[k]) / floats.Dot(constant, constant)
		// Not NaN, after an overflow.
		if x, ok := at[k].(float64); ok && math.Abs(change) > 0 {
			out[k] = min(max(round(x+change, 4), j.parameters[k].low), j.parameters[k].high)
		}
	}

	return out
}

// zeros returns columns of zeros.
func zeros(columns, rows int) [][]float64 {
	out := make([][]float64, columns)
	for c := range out {
		out[c] = make([]float64, rows)
	}
	return out
}

// sample is a Thompson sample: W. R. Thompson, "On the likelihood that one unknown
// probability exceeds another in view of the evidence of two samples", Biometrika 25
// (1933). Success and failure of each attempt become draws from gamma distributions, so
// that a rate has a beta distribution with a uniform prior, and neighbours, which share
// the draws, vary together (D. B. Rubin, "The Bayesian bootstrap", 1981). The candidates
// are the assignments that had a success, and one from the kernel around each.
func (j *joint) sample(r *rand.Rand) *robotmem.Suggestion {
	good, bad := make([]float64, len(j.good)), make([]float64, len(j.good))
	for i := range good {
		good[i], bad[i] = gamma(r, j.good[i]), gamma(r, j.bad[i])
	}

	priorGood, priorBad := gamma(r, 1), gamma(r, 1)

	var best []any
	highest, tried := -1.0, true

	for _, i := range j.candidates() {
		for _, same := range []bool{true, false} {
			at := j.at(i)
			for k := range j.parameters {
				p := &j.parameters[k]
				x, ok := at[k].(float64)
				if y := round(x+p.width*r.NormFloat64(), 4); ok && !same && y >= p.low && y <= p.high {
					at[k] = y
				}
			}
			successes, failures := j.near(at, good, bad)
			if rate := (successes + priorGood) / (successes + failures + priorGood + priorBad); rate > highest {
				best, highest, tried = at, rate, same
			}
		}
	}

	return j.suggest(best, tried)
}

// gamma draws from a gamma distribution of scale 1: G. Marsaglia and W. W. Tsang, "A simple method
// for generating gamma variables", ACM TOMS 26 (2000).
func gamma(r *rand.Rand, shape float64) float64 {
	switch {
	case shape <= 0:
		return 0
	case shape < 1:
		return gamma(r, shape+1) * math.Pow(r.Float64(), 1/shape)
	}

	for d := shape - 1.0/3; ; {
		x := r.NormFloat64()
		v := math.Pow(1+x/math.Sqrt(9*d), 3)
		if v > 0 && math.Log(1-r.Float64()) < x*x/2+d*(1-v+math.Log(v)) {
			return d * v
		}
	}
}

// suggest describes an assignment; nil for none.
func (j *joint) suggest(at []any, tried bool) *robotmem.Suggestion {
	if at == nil {
		return nil
	}

	s := &robotmem.Suggestion{Parameters: robotmem.Object{}, Tried: tried, MemoryIDs: []int64{}}
	s.Estimate = j.estimate(j.near(at, j.good, j.bad))

	var words []string

	for k, v := range at {
		p := &j.parameters[k]
		if v != nil {
			words = append(words, strings.TrimPrefix(p.Path, "params.")+" "+p.shownValue(v))
			s.Parameters[p.Path] = p.written(v)
		}
	}

	near := j.candidates()
	slices.SortStableFunc(near, func(a, b int) int { return cmp.Compare(j.kernel(at, b), j.kernel(at, a)) })

	for _, i := range near {
		if id := j.attempts[i].ID; len(s.MemoryIDs) < maxExamples && j.kernel(at, i) > 0 &&
			!slices.Contains(s.MemoryIDs, id) {
			s.MemoryIDs = append(s.MemoryIDs, id)
		}
	}

	s.Text = fmt.Sprintf("%s: expected %.3g (%.3g to %.3g) from %.3g attempts nearby", strings.Join(words, ", "),
		s.Rate, s.Low, s.High, s.Attempts)
	if j.failing = j.lastFailed(at); j.failing {
		s.Text += fmt.Sprintf("; the last %d attempts with it failed", failedInARow)
	}

	if !tried {
		s.Text += "; this combination was not tried"
	} else {
		s.Text += j.record(at)
	}

	return s
}
