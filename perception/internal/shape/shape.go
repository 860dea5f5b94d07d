// Package shape computes the numbers by which the shapes of clouds and paths are
// compared: histograms, moments and principal axes of points.
package shape

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Weights of the parts of a vector that are not histograms, chosen so that no part
// decides a distance alone.
const (
	AxesWeight = 0.5
	SizeWeight = 0.15
)

// Distance is the Euclidean distance of two points.
func Distance(a, b [3]float64) float64 {
	x, y, z := a[0]-b[0], a[1]-b[1], a[2]-b[2]
	return math.Sqrt(x*x + y*y + z*z)
}

// Histogram counts values from 0 to 1 in bins of equal width.
type Histogram []float64

// Add counts a value. A value below 0 or above 1 falls into the first or last bin.
func (h Histogram) Add(v float64) {
	h[int(min(max(v, 0)*float64(len(h)), float64(len(h)-1)))]++
}

// Roots returns the square roots of the shares of the bins, whose Euclidean
// distance is the Hellinger distance of the histograms.
func (h Histogram) Roots() []float32 {
	sum := 0.0
	for _, n := range h {
		sum += n
	}
	out := make([]float32, len(h))
	for i, n := range h {
		out[i] = float32(math.Sqrt(n / max(sum, 1)))
	}
	return out
}

// DistanceRoots returns the roots of a histogram of distances up to three times their mean.
func DistanceRoots(distances []float64, bins int) []float32 {
	h, sum := make(Histogram, bins), 0.0
	for _, d := range distances {
		sum += d
	}
	sum = max(sum, math.SmallestNonzeroFloat64)
	for _, d := range distances {
		h.Add(d / sum * float64(len(distances)) / 3)
	}
	return h.Roots()
}

// Moments are the first two moments of a set of points.
type Moments struct {
	Mean       [3]float64
	Radius     float64       // radius of gyration
	Deviations [3]float64    // standard deviations along the principal axes, largest first
	Axes       [3][3]float64 // unit vectors of the principal axes
}

// NewMoments computes the moments of at least one point.
func NewMoments(points [][3]float64) (m Moments) {
	n := float64(len(points))
	for _, p := range points {
		for i := range m.Mean {
			m.Mean[i] += p[i] / n
		}
	}
	covariance := mat.NewSymDense(3, nil)
	for _, p := range points {
		for i := range 3 {
			for j := i; j < 3; j++ {
				covariance.SetSym(i, j, covariance.At(i, j)+(p[i]-m.Mean[i])*(p[j]-m.Mean[j])/n)
			}
		}
	}
	m.Radius = math.Sqrt(mat.Trace(covariance))
	var axes mat.Dense
	var eigen mat.EigenSym
	eigen.Factorize(covariance, true) // fails for no finite matrix
	eigen.VectorsTo(&axes)
	for i, variance := range eigen.Values(nil) { // in ascending order
		m.Deviations[2-i] = math.Sqrt(max(variance, 0))
		m.Axes[2-i] = [3]float64(mat.Col(nil, i, &axes))
	}
	return m
}
