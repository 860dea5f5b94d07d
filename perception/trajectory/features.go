package trajectory

import (
	"math"

	"github.com/robotmem/robotmem-go/perception/internal/shape"
)

// The features of a trajectory, kind path/v2, describe the shape of its path. Moving,
// turning or mirroring it, or another rate, changes little. The path is followed in
// steps of 1/48 of its extent, which leaves out smaller details (the noise of a
// localisation), and divided into 96 points at equal distances. The parts are
//
//	24  the distances of all pairs of these points, up to 3 times their mean
//	12  the angles between directions an eighth of the path apart, 0 to 180°
//	1   the logarithm of the length, weighted
//
// Histograms are roots of shares, as for clouds.
const (
	pathKind   = "path/v2"
	pathPoints = 96
	pairBins   = 24
	turnBins   = 12
	// grain is the smallest detail, as a part of the extent.
	grain = 1.0 / 48
	// lag is the number of points over which a direction is taken, so that noise counts little.
	lag = 4
)

// Features returns a vector of the kind path/v2. A path that stands still has none.
func (t *Trajectory) Features() (kind string, vector []float32, ok bool) {
	low, high := t.bounds()
	extent := shape.Distance(low, high)
	if !(extent > 0) || math.IsInf(extent, 0) {
		return "", nil, false
	}
	points := evenly(coarse(t.Positions, grain*extent), pathPoints)
	vector = append(pairHistogram(points), turnHistogram(points)...)

	return pathKind, append(vector, float32(shape.SizeWeight*math.Log(length(points)))), true
}

// coarse keeps the points that are at least grain from the last one kept, and the last
// point of all.
func coarse(points [][3]float64, grain float64) [][3]float64 {
	out := points[:1:1]
	for _, p := range points {
		if shape.Distance(p, out[len(out)-1]) >= grain {
			out = append(out, p)
		}
	}
	if last := points[len(points)-1]; last != out[len(out)-1] {
		out = append(out, last)
	}
	// evenly needs a segment to walk along.
	if len(out) == 1 {
		out = append(out, out[0])
	}

	return out
}

// evenly returns n points along the path at equal distances.
func evenly(path [][3]float64, n int) [][3]float64 {
	total := length(path)
	out := make([][3]float64, n)
	segment, walked := 1, 0.0

	for i := range out {
		want := total * float64(i) / float64(n-1)

		length := shape.Distance(path[segment-1], path[segment])
		for segment < len(path)-1 && walked+length < want {
			walked += length
			segment++
			length = shape.Distance(path[segment-1], path[segment])
		}
		f := 0.0
		if length > 0 {
			f = min(max((want-walked)/length, 0), 1)
		}

		for axis := range 3 {
			a, b := path[segment-1][axis], path[segment][axis]
			out[i][axis] = a + f*(b-a)
		}
	}

	return out
}

func pairHistogram(points [][3]float64) []float32 {
	distances := make([]float64, 0, len(points)*len(points)/2)
	for i, p := range points {
		for _, q := range points[:i] {
			distances = append(distances, shape.Distance(p, q))
		}
	}

	return shape.DistanceRoots(distances, pairBins)
}

// direction is from point i to the point lag further; it has any length.
func direction(points [][3]float64, i int) (d [3]float64) {
	for axis := range d {
		d[axis] = points[i+lag][axis] - points[i][axis]
	}
	return d
}

// bend is the angle between two directions, 0 to pi.
func bend(a, b [3]float64) float64 {
	x, y, z := a[1]*b[2]-a[2]*b[1], a[2]*b[0]-a[0]*b[2], a[0]*b[1]-a[1]*b[0]
	return math.Atan2(math.Sqrt(x*x+y*y+z*z), a[0]*b[0]+a[1]*b[1]+a[2]*b[2])
}

func turnHistogram(points [][3]float64) []float32 {
	const between = pathPoints / 8

	h := make(shape.Histogram, turnBins)
	for i := 0; i+between+lag < len(points); i++ {
		h.Add(bend(direction(points, i), direction(points, i+between)) / math.Pi)
	}

	return h.Roots()
}
