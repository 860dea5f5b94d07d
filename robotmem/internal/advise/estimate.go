package advise

import (
	"cmp"
	"math"
	"slices"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
)

// scale maps the scores of the caller to 0..1. A number to maximise or minimise becomes
// its share of the way from the worst to the best attempt. Wilson's interval then holds
// too, and is too wide rather than too narrow: no scores between 0 and 1 vary more than
// successes and failures with the same mean.
type scale struct {
	success     bool
	outcome     bool // the scores are outcomes, so that an attempt can fail
	worst, best float64
	good        float64 // the least score of the successes, or of the better half
}

// scaled changes the scores to 0 to 1.
func scaled(attempts []Attempt, goal string) scale {
	if goal == "success" || goal == GoalNear || len(attempts) == 0 {
		return scale{success: true, outcome: goal == "success", best: 1, good: 0.75}
	}
	sorted := slices.SortedFunc(slices.Values(attempts),
		func(a, b Attempt) int { return cmp.Compare(a.Score, b.Score) })
	s := scale{worst: sorted[0].Score, best: sorted[len(sorted)-1].Score}
	if goal[0] == '-' {
		s.worst, s.best = s.best, s.worst
	}

	width := cmp.Or(s.best-s.worst, 1)
	for i := range attempts {
		attempts[i].Score = (attempts[i].Score - s.worst) / width
	}
	s.good = (sorted[len(sorted)/2].Score - s.worst) / width

	return s
}

// estimate describes successes and failures, in the units of the caller.
func (s *scale) estimate(successes, failures float64) robotmem.Estimate {
	n := successes + failures
	low, high := consolidate.Wilson(successes, n)
	e := robotmem.Estimate{Attempts: round(n, 4)}
	if s.success {
		e.Successes = new(round(successes, 4))
	}
	back := func(x float64) float64 { return round(s.worst+x*(s.best-s.worst), 4) }
	if n > 0 {
		e.Rate = back(successes / n)
	}
	e.Low, e.High = min(back(low), back(high)), max(back(low), back(high))

	return e
}

// round keeps so many significant digits.
func round(x float64, digits int) float64 {
	unit := math.Pow(10, float64(digits-1)-math.Floor(math.Log10(math.Abs(x))))
	if y := math.Round(x*unit) / unit; !math.IsNaN(y) && !math.IsInf(y, 0) {
		return y
	}
	return x
}
