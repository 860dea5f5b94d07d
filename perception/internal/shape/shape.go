// Package shape computes the numbers by which the shapes of clouds and paths are
// compared: histograms, moments and principal axes of points.
package shape

import (
	"cmp"
	"math"
	"slices"
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

// Dot is the scalar product.
func Dot(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// Cross is the vector product.
func Cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
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
func DistanceRoots(distances []float64, sum float64, bins int) []float32 {
	h := make(Histogram, bins)
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
	var covariance [3][3]float64
	for _, p := range points {
		for i := range 3 {
			for j := range 3 {
				covariance[i][j] += (p[i] - m.Mean[i]) * (p[j] - m.Mean[j]) / n
			}
		}
	}
	m.Radius = math.Sqrt(covariance[0][0] + covariance[1][1] + covariance[2][2])
	values, axes := eigen(covariance)
	m.Axes = axes
	for i, v := range values {
		m.Deviations[i] = math.Sqrt(v)
	}
	return m
}

// Linearity is 1 if all points lie on a line.
func (m Moments) Linearity() float64 { return (m.Deviations[0] - m.Deviations[1]) / m.Deviations[0] }

// Planarity is 1 if the points fill a circle or a square.
func (m Moments) Planarity() float64 { return (m.Deviations[1] - m.Deviations[2]) / m.Deviations[0] }

// Sphericity is 1 if the points fill a sphere or a cube.
func (m Moments) Sphericity() float64 { return m.Deviations[2] / m.Deviations[0] }

// eigen returns the eigenvalues of a symmetric matrix without negative ones, the
// largest first, and their unit vectors, by the cyclic method of Jacobi (Golub and
// Van Loan, Matrix Computations, 8.5).
func eigen(a [3][3]float64) (values [3]float64, vectors [3][3]float64) {
	v := [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	const sweeps = 32 // about six are needed
	for range sweeps {
		for _, pair := range [3][2]int{{0, 1}, {0, 2}, {1, 2}} {
			p, q := pair[0], pair[1]
			if a[p][q] == 0 {
				continue
			}
			theta := (a[q][q] - a[p][p]) / (2 * a[p][q])
			t := math.Copysign(1, theta) / (math.Abs(theta) + math.Hypot(theta, 1))
			c := 1 / math.Hypot(t, 1)
			s := t * c
			for k := range 3 {
				a[k][p], a[k][q] = c*a[k][p]-s*a[k][q], s*a[k][p]+c*a[k][q]
			}
			for k := range 3 {
				a[p][k], a[q][k] = c*a[p][k]-s*a[q][k], s*a[p][k]+c*a[q][k]
				v[k][p], v[k][q] = c*v[k][p]-s*v[k][q], s*v[k][p]+c*v[k][q]
			}
		}
	}
	order := []int{0, 1, 2}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(a[j][j], a[i][i]) })
	for i, k := range order {
		values[i] = max(a[k][k], 0)
		vectors[i] = [3]float64{v[0][k], v[1][k], v[2][k]}
	}
	return values, vectors
}
