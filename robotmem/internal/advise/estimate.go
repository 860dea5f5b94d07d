package advise

import (
	"math"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem"
	"gonum.org/v1/gonum/stat"
)

const z95 = 1.959963984540054 // the 97.5 % point of the normal distribution

// Wilson returns the 95 % score interval of a rate: E. B. Wilson, "Probable inference, the
// law of succession, and statistical inference", JASA 22 (1927). Both numbers may be sums
// of weights. Without attempts it is 0 to 1.
func Wilson(successes, n float64) (low, high float64) {
	if n <= 0 {
		return 0, 1
	}
	p, z2 := successes/n, z95*z95
	centre, half := (p+z2/(2*n))/(1+z2/n), z95/(1+z2/n)*math.Sqrt(max(0, p*(1-p)/n+z2/(4*n*n)))
	return max(0, centre-half), min(1, centre+half)
}

// lower is the low end of the Wilson interval.
func lower(successes, n float64) float64 {
	low, _ := Wilson(successes, n)
	return low
}

// scale maps the scores of the caller to 0..1. A number to maximise or minimise becomes
// its share of the way from the worst to the best attempt. Wilson's interval then holds
// too, and is too wide rather than too narrow: no scores between 0 and 1 vary more than
// successes and failures with the same mean.
type scale struct {
	success     bool
	worst, best float64
	good        float64 // the least score of the successes, or of the better half
}

// scaled returns the attempts with scores from 0 to 1.
func scaled(attempts []Attempt, goal *robotmem.Goal) (scale, []Attempt) {
	if goal.Success() || len(attempts) == 0 {
		return scale{success: true, best: 1, good: 0.75}, attempts
	}
	scores := make([]float64, len(attempts))
	for i := range attempts {
		scores[i] = attempts[i].Score
	}
	s := scale{worst: slices.Min(scores), best: slices.Max(scores)}
	if goal.Direction == "min" {
		s.worst, s.best = s.best, s.worst
	}
	attempts = slices.Clone(attempts)
	for i := range attempts {
		if scores[i] = 1; s.best != s.worst {
			scores[i] = (attempts[i].Score - s.worst) / (s.best - s.worst)
		}
		attempts[i].Score = scores[i]
	}
	slices.Sort(scores)
	s.good = scores[len(scores)/2]
	return s, attempts
}

// estimate describes a sum of scores of n attempts, in the units of the caller.
func (s *scale) estimate(score, n float64) robotmem.Estimate {
	low, high := Wilson(score, n)
	e := robotmem.Estimate{Attempts: round(n, 4)}
	if s.success {
		e.Successes = new(round(score, 4))
	}
	back := func(x float64) float64 { return round(s.worst+x*(s.best-s.worst), 4) }
	if n > 0 {
		e.Rate = back(score / n)
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

// bandwidths are the widths of a Gaussian kernel over the numbers of an axis, one of so
// many dimensions, that are compared: the normal reference rule, sd n^(-1/(d+4)), its half
// and quarter (D. W. Scott, "Multivariate Density Estimation", 1992, equation 6.42), and
// Silverman's with the interquartile range, 0.9 IQR/1.34 n^(-1/(d+4)), which outliers do
// not widen (B. W. Silverman, "Density Estimation", 1986, equation 3.30).
func (a *axis) bandwidths(dimensions int) []float64 {
	var xs, n []float64
	for _, l := range a.levels[1:] {
		xs, n = append(xs, l.middle()), append(n, float64(l.n))
	}
	if len(xs) < 2 || !a.numeric {
		return []float64{0}
	}
	factor := math.Pow(float64(a.attempts()), -1/float64(dimensions+4))
	scott := factor * stat.StdDev(xs, n)
	out := []float64{scott, scott / 2, scott / 4}
	if r := stat.Quantile(0.75, stat.Empirical, xs, n) - stat.Quantile(0.25, stat.Empirical, xs, n); r > 0 {
		out = append(out, 0.9*factor*r/1.34)
	}
	return out
}

// gauss is a Gaussian kernel of height 1, so that a sum of kernels counts attempts. A
// width of 0 compares for equality.
func gauss(distance, width float64) float64 {
	switch {
	case distance == 0:
		return 1
	case width == 0:
		return 0
	}
	u := distance / width
	return math.Exp(-u * u / 2)
}
