package advise

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// kernel is the weight of an attempt for an assignment, at most 1.
func (j *joint) kernel(at []any, i int) float64 {
	squares := 0.0 // of the distances in widths

	for k := range j.parameters {
		p := &j.parameters[k]
		v := p.Values[p.Of[i]]
		if v == at[k] || math.IsInf(p.width, 1) {
			continue
		}
		x, isNumber := at[k].(float64)
		y, both := v.(float64)
		if !isNumber || !both {
			return 0
		}
		squares += (x - y) * (x - y) / (p.width * p.width)
	}

	if squares == 0 {
		return 1
	}

	return math.Exp(-squares / (2 * j.wider * j.wider))
}

// widen makes the kernels 4 times as wide, or 2 times or not at all if that predicts the
// score of each attempt from the others better, by more than a standard error: among few
// attempts at a place the highest rate of a narrow kernel is mostly chance. The squared
// errors have the weights of the attempts, and the mean score counts as one attempt.
func (j *joint) widen() {
	from := max(0, len(j.attempts)-maxPredicted)
	n, good := len(j.attempts)-from, j.good[from:]
	weights := floats.AddTo(make([]float64, n), good, j.bad[from:])

	kernels, mean := zeros(n, n), floats.Sum(good)/floats.Sum(weights)
	for i := range n {
		for k, at := 0, j.at(from+i); k < i; k++ {
			kernels[i][k] = j.kernel(at, from+k)
			kernels[k][i] = kernels[i][k]
		}
	}

	var errors [3][]float64 // by width
	for c := range errors {
		for i, row := range kernels { // symmetric
			e := j.attempts[from+i].Score - (floats.Dot(row, good)+mean)/(floats.Dot(row, weights)+1)
			errors[c] = append(errors[c], e*e)
		}

		for _, row := range kernels {
			for k, x := range row {
				row[k] = math.Sqrt(math.Sqrt(x)) // of twice the width
			}
		}
	}

	best := len(errors) - 1
	for c := best - 1; c >= 0; c-- {
		gain, variance := meanVariance(floats.SubTo(make([]float64, n), errors[best], errors[c]), weights)
		if gain > math.Sqrt(variance*floats.Dot(weights, weights))/floats.Sum(weights) {
			best = c
		}
	}

	j.wider = math.Exp2(float64(best))
}

// halfSpread is half of the standard deviation of a sample of at least two numbers.
func halfSpread(xs []float64) float64 {
	_, variance := meanVariance(xs, slices.Repeat([]float64{1}, len(xs)))
	return math.Sqrt(variance*float64(len(xs))/float64(len(xs)-1)) / 2
}

// scott is the factor of Scott's rule for n attempts in so many dimensions.
func scott(n, dimensions int) float64 { return math.Pow(float64(n), -1/float64(dimensions+4)) }
