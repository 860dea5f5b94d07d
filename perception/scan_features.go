package perception

import "math"

// The features of a scan, kind scan/v1, are 72 sectors of 5° around the sensor,
// from straight behind to the left: how close the mean return is in each, as
// 1/(1+r) with r in metres, so that a step nearby counts for more than one far
// away, and 0 where nothing returned. The distance is the least over all turns
// of one scan against the other, in sectors: a robot that faces another way is
// in the same place.
const (
	scanKind    = "scan/v1"
	scanSectors = 72
	// minReturns is below which there is no scene.
	minReturns = 8
)

func scanFeatures(it Item) (kind string, vector []float32, ok bool) {
	s, err := decodeScan(it)
	if err != nil {
		return "", nil, false
	}
	var sum, n [scanSectors]float64
	returns := 0
	for i, r := range s.ranges {
		if !s.returned(i) {
			continue
		}
		turn := s.angle(i)/(2*math.Pi) + 0.5
		sector := int((turn - math.Floor(turn)) * scanSectors)
		sum[sector%scanSectors] += 1 / (1 + r)
		n[sector%scanSectors]++
		returns++
	}
	if returns < minReturns {
		return "", nil, false
	}
	vector = make([]float32, scanSectors)
	for i := range vector {
		vector[i] = float32(sum[i] / max(n[i], 1))
	}
	return scanKind, vector, true
}

func scanDistance(_ string, a, b []float32) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	best := math.Inf(1)
	for shift := range a {
		sum := 0.0
		for i := range a {
			j := i + shift
			if j >= len(b) {
				j -= len(b)
			}
			d := float64(a[i]) - float64(b[j])
			if sum += d * d; sum >= best {
				break
			}
		}
		best = min(best, sum)
	}
	if math.IsInf(best, 1) {
		return 0 // two empty vectors
	}
	return math.Sqrt(best)
}
