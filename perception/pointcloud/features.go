package pointcloud

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/robotmem/robotmem-go/perception/internal/shape"
)

// The features of a cloud, kind cloud/v2, describe its shape. Moving the cloud or
// turning it about the vertical changes little; tipping it over does. The parts are
//
//	32  the distances of random pairs of points (the D2 shape distribution of Osada
//	    et al., Shape Distributions, 2002), up to three times their mean
//	16  the heights above the centroid, from -2 to 2 times the radius of gyration
//	16  the distances from the vertical through the centroid, up to 2.5 such radii
//	1   the logarithm of the radius of gyration
//
// A histogram is stored as the roots of its shares, so that the Euclidean distance is
// that of Hellinger. The cloud is reduced to one point per cell of a grid first, since
// a lidar sees near surfaces denser than far ones.
const (
	cloudKind  = "cloud/v2"
	pairs      = 1 << 16
	pairBins   = 32
	heightBins = 16
	radiusBins = 16
	// gridCells is the number of cells along the longest side of the box.
	gridCells = 40
	// minFeaturePoints is the least number of points with a shape.
	minFeaturePoints = 16
)

// Features returns a vector of the kind cloud/v2.
func (f File) Features() (kind string, vector []float32, ok bool) {
	c, err := Decode(f.Payload)
	if err != nil || len(c.Positions) < 3*minFeaturePoints {
		return "", nil, false
	}

	points := thin(c)
	mean, radius := gyration(points)
	// Checked again after thinning: many points may lie in a few cells.
	if !(radius > 0) || len(points) < minFeaturePoints {
		return "", nil, false
	}

	vector = pairHistogram(points)

	heights, radii := make(shape.Histogram, heightBins), make(shape.Histogram, radiusBins)
	for _, p := range points {
		heights.Add(((p[2]-mean[2])/radius + 2) / 4)
		radii.Add(math.Hypot(p[0]-mean[0], p[1]-mean[1]) / (2.5 * radius))
	}

	vector = append(append(vector, heights.Roots()...), radii.Roots()...)

	return cloudKind, append(vector, float32(shape.SizeWeight*math.Log(radius))), true
}

// gyration returns the centroid of at least one point, and the radius of gyration about it.
func gyration(points [][3]float64) (mean [3]float64, radius float64) {
	n := float64(len(points))
	for _, p := range points {
		for i := range mean {
			mean[i] += p[i] / n
		}
	}

	for _, p := range points {
		d := shape.Distance(p, mean)
		radius += d * d / n
	}

	return mean, math.Sqrt(radius)
}

// thin replaces the points in each cell of a grid by their mean.
func thin(c *Cloud) (out [][3]float64) {
	side := math.SmallestNonzeroFloat64
	for i := range c.Min {
		side = max(side, float64(c.Max[i])-float64(c.Min[i]))
	}

	// The last is that of the farthest point.
	const cellsOfAxis = gridCells + 1
	sums := make([][3]float64, cellsOfAxis*cellsOfAxis*cellsOfAxis)
	counts := make([]float64, len(sums))

	for p := range slices.Chunk(c.Positions, 3) {
		cell := 0
		for axis, v := range p {
			cell = cell*cellsOfAxis + int((float64(v)-float64(c.Min[axis]))/side*gridCells)
		}

		for axis, v := range p {
			sums[cell][axis] += float64(v)
		}
		counts[cell]++
	}

	for cell, n := range counts {
		if s := sums[cell]; n > 0 {
			out = append(out, [3]float64{s[0] / n, s[1] / n, s[2] / n})
		}
	}

	return out
}

// pairHistogram chooses the same pairs for equal numbers of points.
func pairHistogram(points [][3]float64) []float32 {
	// A fixed seed: the same cloud must always have the same vector.
	random := rand.New(rand.NewPCG(1, 2))

	distances := make([]float64, pairs)
	for i := range distances {
		distances[i] = shape.Distance(points[random.IntN(len(points))], points[random.IntN(len(points))])
	}

	return shape.DistanceRoots(distances, pairBins)
}
