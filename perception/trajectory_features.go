package perception

import "math"

// The features of a trajectory, kind path/v1, describe the shape of its path:
// moved, turned, drawn at another rate or mirrored it is nearly the same. The
// path is walked in steps of 1/48 of its extent, which leaves out what is smaller
// (the noise of a localisation), and cut into 96 pieces of equal length. The
// parts are
//
//	24  the distances of all pairs of these points, up to 3 times their mean
//	12  the angles between directions an eighth of the path apart, 0 to 180°
//	8   how straight it is over 1/2 to 1/16 of its length: mean chord by length
//	1   the distance of its ends, in radii of gyration
//	2   linearity and planarity of all points
//	1   the logarithm of all turning, in turns
//	1   the logarithm of the radius of gyration
//
// weighted; histograms are roots of shares, as for clouds.
const (
	pathKind     = "path/v1"
	pathPoints   = 96
	pathPairBins = 24
	pathTurnBins = 12
	// pathGrain is the smallest detail, as a part of the extent.
	pathGrain = 1.0 / 48

	straightWeight = 0.7
	turningWeight  = 0.3
)

func trajectoryFeatures(it Item) (kind string, vector []float32, ok bool) {
	t, err := DecodeTrajectory(it)
	if err != nil {
		return "", nil, false
	}
	low, high := t.bounds()
	extent := apart(low, high)
	if !(extent > 0) || math.IsInf(extent, 0) {
		return "", nil, false // it stands still
	}
	points := evenly(coarse(t.Positions, pathGrain*extent), pathPoints)
	_, covariance := moments(points)
	radius := math.Sqrt(covariance[0][0] + covariance[1][1] + covariance[2][2])
	vector = append(allPairs(points), turns(points)...)
	for _, part := range []int{2, 3, 4, 5, 6, 8, 12, 16} {
		vector = append(vector, float32(straightWeight*straightness(points, pathPoints/part)))
	}
	values, _ := eigen(covariance)
	s1, s2, s3 := math.Sqrt(values[0]), math.Sqrt(values[1]), math.Sqrt(values[2])
	closed := apart(points[0], points[pathPoints-1]) / radius
	return pathKind, append(vector,
		float32(shapeWeight*closed/2),
		float32(shapeWeight*(s1-s2)/s1), float32(shapeWeight*(s2-s3)/s1),
		float32(turningWeight*math.Log1p(turning(points)/(2*math.Pi))),
		float32(sizeWeight*math.Log(radius))), true
}

// coarse keeps the points that are at least grain from the last one kept, and
// the last of all.
func coarse(points [][3]float64, grain float64) [][3]float64 {
	out := points[:1:1]
	for _, p := range points {
		if apart(p, out[len(out)-1]) >= grain {
			out = append(out, p)
		}
	}
	if last := points[len(points)-1]; last != out[len(out)-1] {
		out = append(out, last)
	}
	if len(out) == 1 {
		out = append(out, out[0])
	}
	return out
}

// evenly is n points along the path at equal distances.
func evenly(path [][3]float64, n int) [][3]float64 {
	total := 0.0
	for i := 1; i < len(path); i++ {
		total += apart(path[i-1], path[i])
	}
	out := make([][3]float64, n)
	segment, walked := 1, 0.0
	for i := range out {
		want := total * float64(i) / float64(n-1)
		length := apart(path[segment-1], path[segment])
		for segment < len(path)-1 && walked+length < want {
			walked += length
			segment++
			length = apart(path[segment-1], path[segment])
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

func allPairs(points [][3]float64) []float32 {
	distances, sum := make([]float64, 0, len(points)*len(points)/2), 0.0
	for i, p := range points {
		for _, q := range points[:i] {
			d := apart(p, q)
			distances = append(distances, d)
			sum += d
		}
	}
	bins := make([]float64, pathPairBins)
	for _, d := range distances {
		count(bins, d/max(sum, math.SmallestNonzeroFloat64)*float64(len(distances))/3)
	}
	return roots(bins)
}

// direction is from point i to the one lag further, not of unit length.
func direction(points [][3]float64, i, lag int) (d [3]float64) {
	for axis := range d {
		d[axis] = points[i+lag][axis] - points[i][axis]
	}
	return d
}

// bend is the angle between two directions, 0 to pi.
func bend(a, b [3]float64) float64 {
	c := cross(a, b)
	return math.Atan2(math.Sqrt(dot(c, c)), dot(a, b))
}

func turns(points [][3]float64) []float32 {
	const lag, between = 4, pathPoints / 8
	bins := make([]float64, pathTurnBins)
	for i := 0; i+between+lag < len(points); i++ {
		count(bins, bend(direction(points, i, lag), direction(points, i+between, lag))/math.Pi)
	}
	return roots(bins)
}

// turning is the sum of all turns, in radians, over steps that noise is small to.
func turning(points [][3]float64) float64 {
	const lag = 4
	sum := 0.0
	for i := 0; i+2*lag < len(points); i += lag {
		sum += bend(direction(points, i, lag), direction(points, i+lag, lag))
	}
	return sum
}

// straightness is the mean chord over lag points, by the path between: 1 where
// it is straight.
func straightness(points [][3]float64, lag int) float64 {
	step, chords := 0.0, 0.0
	for i := 1; i < len(points); i++ {
		step += apart(points[i-1], points[i]) / float64(len(points)-1)
	}
	for i := 0; i+lag < len(points); i++ {
		chords += apart(points[i], points[i+lag])
	}
	if step == 0 {
		return 1
	}
	return chords / float64(len(points)-lag) / (float64(lag) * step)
}
