// Package shape computes the numbers by which the shapes of clouds and paths are
// compared: histograms of distances.
package shape

import "math"

// SizeWeight is the weight of the logarithm of a size, so that it does not decide a distance alone.
const SizeWeight = 0.15

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
