package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"gonum.org/v1/gonum/floats"
)

const (
	maxForecast   = 100 // the latest attempts, each of which is predicted from those before it
	leastForecast = 10  // with fewer attempts nothing is forgotten
	// The least gain in log likelihood at which anything is forgotten: half of the 0.95 quantile of
	// chi-squared with one degree of freedom, for the one number that is fitted (S. S. Wilks, 1938).
	significantGain = 1.92
	failedInARow    = 3 // so many failures in a row at what is suggested are said
)

// halfLives are in attempts, the longest first: with the first of them nothing is forgotten.
var halfLives = []float64{math.Inf(1), 40, 20, 10, 5}

// halfAge is mild: however old an attempt is, its age takes no more than half of its weight.
const halfAge = 90 * 24 * time.Hour

// within is the weight of an attempt one bandwidth away.
var within = math.Exp(-0.5)

// forget takes weight from the earlier attempts where that predicts the later ones better, and
// returns the half-life. A parameter that separates nothing over all attempts may do so lately,
// for instance if 9 N held first and 12 N later, so all parameters are looked at in the end.
func forget(columns []Column, attempts []Attempt, s *scale, separating []robotmem.Difference) float64 {
	life := math.Inf(1)
	if len(columns) == 0 || len(attempts) < leastForecast {
		return life
	}

	j := newJoint(columns, attempts, s, separating)
	ignores := slices.ContainsFunc(j.parameters, func(p parameter) bool { return math.IsInf(p.width, 1) })
	if life = j.halfLife(); math.IsInf(life, 1) && ignores {
		life = newJoint(columns, attempts, s, nil).halfLife()
	}
	if math.IsInf(life, 1) {
		return life
	}

	order := j.order()

	latest := j.attempts[order[len(order)-1]].Observed
	for later, i := range backwards(order) {
		a := &j.attempts[i]
		age := (1 + math.Exp2(-float64(latest-a.Observed)/float64(halfAge))) / 2
		a.forgotten = 1 - age*math.Exp2(-float64(later)/life)
	}

	return life
}

// order returns the attempts as they were made, the first one first.
func (j *joint) order() []int {
	order := make([]int, len(j.attempts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order,
		func(a, b int) int { return cmp.Compare(j.attempts[a].Observed, j.attempts[b].Observed) })

	return order
}

// backwards yields the attempts from the last one, with the number of those after it.
func backwards(order []int) func(yield func(later, i int) bool) {
	return func(yield func(later, i int) bool) {
		for later := range order {
			if !yield(later, order[len(order)-1-later]) {
				return
			}
		}
	}
}

// halfLife chooses the half-life whose one-step-ahead predictions of the latest attempts have the
// least log loss: the prequential principle of A. P. Dawid, "Statistical Theory: The Prequential
// Approach", JRSS A 147 (1984). A prediction is the rate at the parameters of the attempt, by the
// kernel over the attempts before it, with a uniform prior (one success and one failure). A shorter
// half-life must be better by more than a standard error of the difference, and the first one that
// forgets by significantGain too, so that attempts whose rates do not change keep their weight: with
// the standard error alone 11 % of such sets of 30 attempts forgot, with both less than 1 %.
func (j *joint) halfLife() float64 {
	order := j.order()
	n := len(order)

	// By half-life and number of attempts since then.
	keeps := make([][]float64, len(halfLives))
	for c, life := range halfLives {
		for since := range n {
			keeps[c] = append(keeps[c], math.Exp2(-float64(since)/life))
		}
	}

	losses := make([][]float64, len(halfLives))

	var weights []float64

	for t := max(1, n-maxForecast); t < n; t++ {
		now := order[t]
		at, score := j.at(now), j.attempts[now].Score
		good, bad := slices.Repeat([]float64{1}, len(halfLives)), slices.Repeat([]float64{1}, len(halfLives))

		for since := range t {
			before := order[t-1-since]
			near := j.kernel(at, before)
			if near == 0 {
				continue
			}

			for c := range halfLives {
				good[c] += near * keeps[c][since] * j.good[before]
				bad[c] += near * keeps[c][since] * j.bad[before]
			}
		}

		for c := range halfLives {
			rate := good[c] / (good[c] + bad[c])
			losses[c] = append(losses[c], -score*math.Log(rate)-(1-score)*math.Log(1-rate))
		}
		weights = append(weights, j.attempts[now].Weight)
	}

	best := 0
	for c := 1; c < len(halfLives); c++ {
		gains := floats.SubTo(make([]float64, len(weights)), losses[best], losses[c])
		gain, variance := meanVariance(gains, weights)
		least := math.Sqrt(variance * floats.Dot(weights, weights)) // standard error of the sum
		if best == 0 {
			least = max(least, significantGain)
		}
		if gain*floats.Sum(weights) > least {
			best = c
		}
	}

	return halfLives[best]
}

// lastFailed reports whether the last attempts within a bandwidth of an assignment failed.
func (j *joint) lastFailed(at []any) bool {
	failed := 0

	for _, i := range backwards(j.order()) {
		a := &j.attempts[i]
		switch {
		case !j.outcome || failed == failedInARow:
			return j.outcome
		case a.Weight*j.kernel(at, i) < within:
			continue
		case a.Score >= 0.5:
			return false
		}
		failed++
	}

	return failed == failedInARow
}

// record counts the attempts with exactly this assignment, such as "; worked 4 of 8, the last 4 in
// a row, last failure 26 Nov".
func (j *joint) record(at []any) string {
	if !j.outcome {
		return ""
	}

	var same []Attempt

	latest := int64(math.MinInt64)
	for i, a := range j.all {
		latest = max(latest, a.Observed)
		equal := true

		for k := range j.columns {
			c := &j.columns[k]
			equal = equal && c.Values[c.Of[i]] == at[k]
		}
		if equal {
			same = append(same, a)
		}
	}

	slices.SortStableFunc(same, func(a, b Attempt) int { return cmp.Compare(a.Observed, b.Observed) })

	worked, inARow, failed := 0, 0, int64(0)

	for _, a := range same {
		if a.Score >= j.scale.good {
			worked, inARow = worked+1, inARow+1
		} else {
			inARow, failed = 0, a.Observed
		}
	}

	text := fmt.Sprintf("; worked %d of %d", worked, len(same))
	if worked == len(same) {
		return text
	}
	if inARow > 1 {
		text += fmt.Sprintf(", the last %d in a row", inARow)
	}

	day := time.Unix(0, failed).UTC()
	layout := "2 Jan"
	if day.Year() != time.Unix(0, latest).UTC().Year() {
		layout = "2 Jan 2006"
	}

	return text + ", last failure " + day.Format(layout)
}
