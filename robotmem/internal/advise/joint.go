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
	"gonum.org/v1/gonum/stat/distuv"
)

const (
	maxCells      = 4096
	maxCandidates = 128
	maxValidated  = 200 // assignments that the cross-validation compares
	maxExamples   = 3
)

// joint holds the different assignments of some parameters. The weight of one for another
// is a product of kernels: Gaussian in each number, equality in each text. The rate near
// an assignment is the mean of the scores with these weights (E. A. Nadaraya, G. S.
// Watson, 1964), and their sum counts the attempts, so that an assignment at the edge with
// few attempts nearby has a low bound.
type joint struct {
	*scale
	axes   []*axis
	widths []float64
	cells  []cell // the latest first
}

// cell is an assignment and the attempts that had it.
type cell struct {
	at            []uint32  // level, by axis
	point         []float64 // its number; the level itself for a text
	n             int
	sum           float64 // of the scores
	weight, score float64 // the same, weighted
	last          int64
	ids           []int64 // the latest
	attempt       int     // the latest of those with the best score; -1 if there is none
	id            int64   // of this attempt
	best          float64 // its score
}

func newJoint(axes []*axis, attempts []Attempt, s *scale) *joint {
	j := &joint{scale: s, axes: axes}
	of := make([]uint32, len(attempts)) // number of the assignment, by attempt
	numeric := 0
	for _, a := range axes {
		if a.numeric {
			numeric++
		}
	}
	assignments := 1
	for _, a := range axes {
		numbers, next := make([]uint32, assignments*len(a.levels)), 0 // 0 for one that is new
		for i, at := range a.of {
			number := &numbers[int(of[i])*len(a.levels)+int(at)]
			if *number == 0 {
				next++
				*number = uint32(next)
			}
			of[i] = *number - 1
		}
		assignments = next
		j.widths = append(j.widths, a.bandwidths(numeric)[0])
	}
	cells := make([]*cell, assignments)
	j.cells = make([]cell, 0, min(assignments, maxCells))
	for i := len(attempts) - 1; i >= 0; i-- {
		c := cells[of[i]]
		if c == nil {
			if len(j.cells) == maxCells {
				continue
			}
			j.cells = append(j.cells, j.newCell(i))
			c = &j.cells[len(j.cells)-1]
			cells[of[i]] = c
		}
		c.add(&attempts[i], i)
	}
	j.fit(numeric)
	return j
}

// fit chooses the width of each kernel, in turn, by the squared error with which the
// outcome of an attempt is predicted from the other ones. A parameter without influence
// gets an infinite width, so that it does not divide the attempts: P. Hall, J. Racine, Q.
// Li, "Cross-validation and the estimation of conditional probability densities", JASA 99
// (2004). At least one parameter keeps its influence.
func (j *joint) fit(numbers int) {
	sample := j.cells[:min(len(j.cells), maxValidated)]
	left := len(j.axes)
	for k, a := range j.axes {
		best, least := 0.0, math.Inf(1)
		for _, width := range append([]float64{math.Inf(1)}, a.bandwidths(numbers)...) {
			if j.widths[k] = width; math.IsInf(width, 1) && left == 1 {
				continue
			}
			if loss := j.loss(sample); loss < least {
				best, least = width, loss
			}
		}
		if j.widths[k] = best; math.IsInf(best, 1) {
			left--
		}
	}
}

// loss is the sum of the squared errors.
func (j *joint) loss(sample []cell) (sum float64) {
	for i := range sample {
		c := &sample[i]
		score, n := 0.5, 1.0 // a prior of one attempt, for those without neighbours
		for k := range sample {
			if w := j.kernel(c, &sample[k]); w > 0 {
				score, n = score+w*sample[k].score, n+w*sample[k].weight
			}
		}
		one := c.weight / float64(c.n)
		success, failure := 1-(score-one)/(n-one), score/(n-one)
		sum += c.score*success*success + (c.weight-c.score)*failure*failure
	}
	return sum
}

func (j *joint) newCell(attempt int) (c cell) {
	c.best = math.Inf(-1)
	for _, a := range j.axes {
		at := a.of[attempt]
		x := float64(at)
		if a.numeric && at > 0 {
			x = a.levels[at].middle()
		}
		c.at, c.point = append(c.at, at), append(c.point, x)
	}
	return c
}

func (c *cell) add(a *Attempt, i int) {
	c.n, c.sum, c.last = c.n+1, c.sum+a.Score, max(c.last, a.Observed)
	c.weight, c.score = c.weight+a.Weight, c.score+a.Weight*a.Score
	if len(c.ids) < maxExamples {
		c.ids = append(c.ids, a.ID)
	}
	if a.Score > c.best {
		c.best, c.attempt, c.id = a.Score, i, a.ID
	}
}

func (j *joint) kernel(a, b *cell) float64 {
	w := 1.0
	for k, width := range j.widths {
		if math.IsInf(width, 1) {
			continue
		}
		if (a.at[k] == 0) != (b.at[k] == 0) {
			return 0
		}
		if w *= gauss(a.point[k]-b.point[k], width); w < 1e-6 {
			return 0
		}
	}
	return w
}

// near sums the attempts around an assignment.
func (j *joint) near(c *cell) (score, n float64) {
	for i := range j.cells {
		if w := j.kernel(c, &j.cells[i]); w > 0 {
			score, n = score+w*j.cells[i].score, n+w*j.cells[i].weight
		}
	}
	return score, n
}

// best is the assignment with the highest lower bound of those that had a success; nil if
// there is none.
func (j *joint) best() (best *cell) {
	bound := -1.0
	for _, c := range j.succeeded() {
		if b := lower(j.near(c)); b > bound {
			best, bound = c, b
		}
	}
	return best
}

// succeeded lists the cells that had a success, the most certain first.
func (j *joint) succeeded() (out []*cell) {
	for i := range j.cells {
		if c := &j.cells[i]; c.score > 0 && slices.Max(c.at) > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *cell) int { return cmp.Compare(lower(b.score, b.weight), lower(a.score, a.weight)) })
	return out[:min(len(out), maxCandidates)]
}

// sample is a Thompson sample: W. R. Thompson, "On the likelihood that one unknown
// probability exceeds another in view of the evidence of two samples", Biometrika 25
// (1933). Successes and failures of each assignment become draws from gamma distributions,
// so that its rate has a beta distribution with a uniform prior, and neighbours, which
// share the draws, vary together (D. B. Rubin, "The Bayesian bootstrap", 1981). The
// candidates are the assignments that had a success, and one from the kernel around each.
func (j *joint) sample(r *rand.Rand) *robotmem.Suggestion {
	gamma := func(shape float64) float64 {
		if shape <= 0 {
			return 0
		}
		return distuv.Gamma{Alpha: shape, Beta: 1, Src: r}.Rand()
	}
	drawn := make([][2]float64, len(j.cells)) // successes, failures
	for i := range j.cells {
		drawn[i] = [2]float64{gamma(j.cells[i].score), gamma(j.cells[i].weight - j.cells[i].score)}
	}
	prior := [2]float64{gamma(1), gamma(1)}
	var best *cell
	highest := -1.0
	consider := func(c *cell) {
		good, bad := prior[0], prior[1]
		for i := range j.cells {
			if w := j.kernel(c, &j.cells[i]); w > 0 {
				good, bad = good+w*drawn[i][0], bad+w*drawn[i][1]
			}
		}
		if rate := good / (good + bad); rate > highest {
			best, highest = c, rate
		}
	}
	for _, c := range j.succeeded() {
		consider(c)
		consider(j.jitter(c, r))
	}
	return j.suggest(best)
}

// jitter draws an untried assignment from the kernel around a cell, within the range of
// the numbers that were tried.
func (j *joint) jitter(c *cell, r *rand.Rand) *cell {
	out := &cell{at: c.at, point: slices.Clone(c.point), attempt: -1}
	for k, width := range j.widths {
		levels := j.axes[k].levels
		x := c.point[k] + width*r.NormFloat64()
		if width > 0 && c.at[k] > 0 && x >= levels[1].low && x <= levels[len(levels)-1].high {
			out.point[k] = round(x, 4)
		}
	}
	return out
}

// suggest describes an assignment, with the values of a real attempt if it was tried.
func (j *joint) suggest(c *cell) *robotmem.Suggestion {
	if c == nil {
		return nil
	}
	s := &robotmem.Suggestion{Parameters: robotmem.Object{}, Estimate: j.estimate(j.near(c)), Tried: c.attempt >= 0, MemoryIDs: []int64{}}
	var words []string
	for k, a := range j.axes {
		l := a.levels[c.at[k]]
		if c.at[k] == 0 {
			continue
		}
		if x := c.point[k]; a.numeric && !s.Tried {
			l = level{x, x, x, 0}
		} else if a.numeric {
			x, _ = a.Values[a.Column.Of[c.attempt]].(float64)
			l = level{x, x, x, 0}
		}
		words = append(words, strings.TrimPrefix(a.Path, "params.")+" "+a.shown(l))
		if s.Parameters[a.Path] = l.value; a.Quoted && a.numeric {
			s.Parameters[a.Path] = strconv.FormatFloat(l.low, 'g', -1, 64) + " " + a.Unit
		}
	}
	near := slices.SortedStableFunc(slices.Values(j.succeeded()), func(a, b *cell) int {
		return cmp.Compare(j.kernel(c, b), j.kernel(c, a))
	})
	for _, other := range near[:min(len(near), maxExamples)] {
		if j.kernel(c, other) > 0 {
			s.MemoryIDs = append(s.MemoryIDs, other.id)
		}
	}
	s.Text = fmt.Sprintf("%s: expected %.3g (%.3g to %.3g) from %.3g attempts nearby", strings.Join(words, ", "), s.Rate, s.Low, s.High, s.Attempts)
	if !s.Tried {
		s.Text += "; this combination was not tried"
	}
	return s
}
