package perception

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// The features of a cloud, kind cloud/v1, describe its shape: moving it or
// turning it about the vertical changes little, tipping it over does. The parts
// are
//
//	32  the distances of random pairs of points (the D2 shape distribution of
//	    Osada et al., Shape Distributions, 2002), up to three times their mean
//	16  the heights above the centroid, from -2 to 2 times the radius of gyration
//	16  the distances from the vertical through the centroid, up to 2.5 such radii
//	3   linearity, planarity and sphericity of the whole (from the roots of the
//	    eigenvalues of its covariance)
//	1   how level the thinnest direction is: 1 for a floor, 0 for a wall
//	1   the logarithm of the radius of gyration
//
// A histogram is held as the roots of its shares, so that Euclidean distance is
// that of Hellinger. The cloud is thinned to one point per cell of a grid first:
// a lidar sees near surfaces denser than far ones.
const (
	cloudKind       = "cloud/v1"
	cloudPairs      = 1 << 16
	cloudPairBins   = 32
	cloudHeightBins = 16
	cloudRadiusBins = 16
	// cloudGrid is cells along the longest side of the box.
	cloudGrid = 40
	// maxFeaturePoints bounds the time that features take: a second at most.
	maxFeaturePoints = 1 << 20
	// minFeaturePoints is below which there is no shape.
	minFeaturePoints = 16

	shapeWeight = 0.5
	sizeWeight  = 0.15
)

func cloudFeatures(it Item) (kind string, vector []float32, ok bool) {
	c, err := DecodeCloud(it, maxFeaturePoints)
	if err != nil || len(c.Positions) < 3*minFeaturePoints {
		return "", nil, false
	}
	points := thin(c)
	mean, covariance := moments(points)
	radius := math.Sqrt(covariance[0][0] + covariance[1][1] + covariance[2][2])
	if !(radius > 0) || len(points) < minFeaturePoints {
		return "", nil, false
	}
	vector = pairHistogram(points)
	heights, radii := make([]float64, cloudHeightBins), make([]float64, cloudRadiusBins)
	for _, p := range points {
		count(heights, ((p[2]-mean[2])/radius+2)/4)
		count(radii, math.Hypot(p[0]-mean[0], p[1]-mean[1])/(2.5*radius))
	}
	vector = append(append(vector, roots(heights)...), roots(radii)...)
	values, axes := eigen(covariance)
	s1, s2, s3 := math.Sqrt(values[0]), math.Sqrt(values[1]), math.Sqrt(values[2])
	for _, v := range []float64{(s1 - s2) / s1, (s2 - s3) / s1, s3 / s1, math.Abs(axes[2][2])} {
		vector = append(vector, float32(shapeWeight*v))
	}
	return cloudKind, append(vector, float32(sizeWeight*math.Log(radius))), true
}

// thin replaces the points within each cell of a grid by their mean.
func thin(c *Cloud) [][3]float64 {
	side := 0.0
	for i := range c.Min {
		side = max(side, float64(c.Max[i])-float64(c.Min[i]))
	}
	type placed struct {
		cell  int
		point [3]float64
	}
	all := make([]placed, 0, len(c.Positions)/3)
	for i := 0; i < len(c.Positions); i += 3 {
		var p placed
		for axis := range 3 {
			v := float64(c.Positions[i+axis])
			p.point[axis] = v
			at := 0.0
			if side > 0 {
				at = (v - float64(c.Min[axis])) / side * cloudGrid
			}
			p.cell = p.cell*(cloudGrid+1) + int(at)
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.cell, b.cell) })
	var out [][3]float64
	for i := 0; i < len(all); {
		var sum [3]float64
		from := i
		for ; i < len(all) && all[i].cell == all[from].cell; i++ {
			for axis := range sum {
				sum[axis] += all[i].point[axis]
			}
		}
		for axis := range sum {
			sum[axis] /= float64(i - from)
		}
		out = append(out, sum)
	}
	return out
}

// pairHistogram draws the same pairs for equal numbers of points.
func pairHistogram(points [][3]float64) []float32 {
	random := rand.New(rand.NewPCG(1, 2))
	distances, sum := make([]float64, cloudPairs), 0.0
	for i := range distances {
		distances[i] = apart(points[random.IntN(len(points))], points[random.IntN(len(points))])
		sum += distances[i]
	}
	bins := make([]float64, cloudPairBins)
	for _, d := range distances {
		count(bins, d/sum*cloudPairs/3)
	}
	return roots(bins)
}

func apart(a, b [3]float64) float64 {
	x, y, z := a[0]-b[0], a[1]-b[1], a[2]-b[2]
	return math.Sqrt(x*x + y*y + z*z)
}

// count adds one to the bin of v, which goes from 0 to 1 over all of them; what
// lies beyond is of the last bin at that end.
func count(bins []float64, v float64) {
	bins[int(min(max(v, 0)*float64(len(bins)), float64(len(bins)-1)))]++
}

// roots is the square roots of the shares of each bin.
func roots(bins []float64) []float32 {
	sum := 0.0
	for _, n := range bins {
		sum += n
	}
	out := make([]float32, len(bins))
	for i, n := range bins {
		out[i] = float32(math.Sqrt(n / max(sum, 1)))
	}
	return out
}

// moments is the mean of the points and their covariance.
func moments(points [][3]float64) (mean [3]float64, covariance [3][3]float64) {
	n := float64(len(points))
	for _, p := range points {
		for i := range mean {
			mean[i] += p[i] / n
		}
	}
	for _, p := range points {
		for i := range 3 {
			for j := range 3 {
				covariance[i][j] += (p[i] - mean[i]) * (p[j] - mean[j]) / n
			}
		}
	}
	return mean, covariance
}

// eigen is the eigenvalues of a symmetric matrix of no negative ones, largest
// first, with their unit vectors: the cyclic method of Jacobi (Golub and Van
// Loan, Matrix Computations, 8.5).
func eigen(a [3][3]float64) (values [3]float64, vectors [3][3]float64) {
	v := [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	const sweeps = 32 // it takes six or so
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
