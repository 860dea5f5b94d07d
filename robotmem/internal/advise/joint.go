package advise

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

const (
	maxNear       = 1000 // the latest attempts, which rates are estimated from
	maxCandidates = 100
	maxExamples   = 3
	widthFloor    = 50 // of the range of the numbers
)

// joint estimates the success rate of any assignment of some parameters. The weight of an
// attempt is a product of kernels: Gaussian in each number, equality in each text. The
// rate is the mean of the scores with these weights (E. A. Nadaraya, G. S. Watson, 1964),
// and the sum of the weights counts the attempts, so that an assignment at the edge with
// few attempts nearby has a low bound.
type joint struct {
	*scale
	parameters []parameter
	attempts   []Attempt
	good, bad  []float64 // weight of the success and of the failure, by attempt
}

// parameter is a column with the width of its kernel and the range of its numbers.
type parameter struct {
	Column
	width, low, high float64
	ignored          bool
}

// newJoint ignores, for nearness, the columns that are not in separating, if any is: they
// would divide the attempts without need.
func newJoint(columns []Column, attempts []Attempt, s *scale, separating []robotmem.Difference) *joint {
	from := max(0, len(attempts)-maxNear)
	j := &joint{scale: s, attempts: attempts[from:]}
	separates := func(path string) bool {
		return slices.ContainsFunc(separating, func(d robotmem.Difference) bool { return d.Path == path })
	}
	some := slices.ContainsFunc(columns, func(c Column) bool { return separates(c.Path) })
	dimensions := 0
	for _, c := range columns {
		c.Of = c.Of[from:]
		p := parameter{Column: c, ignored: some && !separates(c.Path)}
		if p.measure(); p.width > 0 && !p.ignored {
			dimensions++
		}
		j.parameters = append(j.parameters, p)
	}
	for k := range j.parameters { // Silverman's rule in so many dimensions
		j.parameters[k].width *= math.Pow(float64(len(j.attempts)), -1/float64(max(dimensions, 1)+4))
	}
	for i := range j.attempts {
		a := &j.attempts[i]
		j.good, j.bad = append(j.good, a.Weight*a.Score), append(j.bad, a.Weight*(1-a.Score))
	}
	return j
}

// measure sets the range, and as width 0.9 times the smaller of the standard deviation and
// the interquartile range / 1.34: B. W. Silverman, "Density Estimation" (1986), equation
// 3.31. The floor keeps attempts that crowd in one place from being apart.
func (p *parameter) measure() {
	var xs []float64
	for _, code := range p.Of {
		if x, ok := p.Values[code].(float64); ok {
			xs = append(xs, x)
		}
	}
	if len(xs) < 2 {
		return
	}
	slices.Sort(xs)
	p.low, p.high = xs[0], xs[len(xs)-1]
	quartiles := stat.Quantile(0.75, stat.Empirical, xs, nil) - stat.Quantile(0.25, stat.Empirical, xs, nil)
	p.width = 0.9 * max(min(stat.StdDev(xs, nil), quartiles/1.34), (p.high-p.low)/widthFloor)
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

// kernel is the weight of an attempt for an assignment, at most 1.
func (j *joint) kernel(at []any, i int) float64 {
	squares := 0.0
	for k := range j.parameters {
		p := &j.parameters[k]
		if p.ignored {
			continue
		}
		v := p.Values[p.Of[i]]
		x, isNumber := at[k].(float64)
		y, both := v.(float64)
		switch {
		case isNumber && both && x == y:
		case isNumber && both:
			u := (x - y) / p.width
			squares += u * u
		case v != at[k]:
			return 0
		}
	}
	return math.Exp(-squares / 2)
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

// best suggests the assignment of an attempt with the highest lower bound.
func (j *joint) best() *robotmem.Suggestion {
	var best []any
	highest := -1.0
	for _, i := range j.candidates() {
		successes, failures := j.near(j.at(i), j.good, j.bad)
		if bound, _ := Wilson(successes, successes+failures); bound > highest {
			best, highest = j.at(i), bound
		}
	}
	return j.suggest(best, true)
}

// sample is a Thompson sample: W. R. Thompson, "On the likelihood that one unknown
// probability exceeds another in view of the evidence of two samples", Biometrika 25
// (1933). Success and failure of each attempt become draws from gamma distributions, so
// that a rate has a beta distribution with a uniform prior, and neighbours, which share
// the draws, vary together (D. B. Rubin, "The Bayesian bootstrap", 1981). The candidates
// are the assignments that had a success, and one from the kernel around each.
func (j *joint) sample(r *rand.Rand) *robotmem.Suggestion {
	gamma := func(shape float64) float64 {
		if shape <= 0 {
			return 0
		}
		return distuv.Gamma{Alpha: shape, Beta: 1, Src: r}.Rand()
	}
	good, bad := make([]float64, len(j.good)), make([]float64, len(j.good))
	for i := range good {
		good[i], bad[i] = gamma(j.good[i]), gamma(j.bad[i])
	}
	priorGood, priorBad := gamma(1), gamma(1)
	var best []any
	highest, tried := -1.0, true
	for _, i := range j.candidates() {
		for _, same := range []bool{true, false} {
			at := j.at(i)
			for k := range j.parameters {
				p := &j.parameters[k]
				x, ok := at[k].(float64)
				if y := round(x+p.width*r.NormFloat64(), 4); ok && !same && !p.ignored && y >= p.low && y <= p.high {
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
		x, isNumber := v.(float64)
		if v != nil {
			words = append(words, strings.TrimPrefix(p.Path, "params.")+" "+p.shown(&level{value: v, low: x, high: x}))
			s.Parameters[p.Path] = v
		}
		if isNumber && p.Quoted {
			s.Parameters[p.Path] = strconv.FormatFloat(x, 'g', -1, 64) + " " + p.Unit
		}
	}
	near := j.candidates()
	slices.SortStableFunc(near, func(a, b int) int { return cmp.Compare(j.kernel(at, b), j.kernel(at, a)) })
	for _, i := range near[:min(len(near), maxExamples)] {
		if j.kernel(at, i) > 0 {
			s.MemoryIDs = append(s.MemoryIDs, j.attempts[i].ID)
		}
	}
	s.Text = fmt.Sprintf("%s: expected %.3g (%.3g to %.3g) from %.3g attempts nearby", strings.Join(words, ", "), s.Rate, s.Low, s.High, s.Attempts)
	if !tried {
		s.Text += "; this combination was not tried"
	}
	return s
}
