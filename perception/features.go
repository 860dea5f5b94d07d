package perception

import "math"

// FeatureRules is the number of the rules that [Features] follows. It grows with
// every change of them; vectors of other rules are not to be compared.
const FeatureRules = 2

// Features returns a fixed-length description of an item and the kind of it;
// vectors of equal kind are of equal length and are compared by [Distance], the
// nearer the more alike. ok is false when the item has none.
//
//	trace/v2/<channels>         a trace of at most 256 channels: of each channel 32
//	                            readings at even distances in time, then its
//	                            readings by size at 32 even ranks, all as square
//	                            roots with the sign of the reading
//	image/v2                    an image in light and colour: the slow waves of its
//	                            luma on a grid of 32x32 cells (60, freed of mean and
//	                            contrast), the mean, and those of its chroma (2x10)
//	depth/v1                    an image of distances: 60 waves of them, and 10 of
//	                            where there is none
//	sound/v1                    a sound: the power in 24 mel bands, 60 Hz to 8 kHz,
//	                            over 8 parts of its time
//	cloud/v1                    a point cloud: 69 numbers of its shape
//	scan/v1                     a laser scan: how near the returns of 72 sectors are
//	path/v1                     a trajectory: 49 numbers of the shape of its path
//
// A trace with a missing or an infinite reading has none: any number put in its
// place would decide the distance. Only the data counts; metadata does not, so
// bytes without any can be compared with what is stored; raw samples alone need
// the metadata that says what they are.
func Features(it Item) (kind string, vector []float32, ok bool) {
	if len(it.Data) == 0 || onlyHead(it) {
		return "", nil, false
	}
	for _, f := range formats {
		if f.features == nil || !f.accepts(it) {
			continue
		}
		if kind, vector, ok = f.features(it); ok && allFinite(vector) {
			return kind, vector, true
		}
	}
	return "", nil, false
}

func allFinite(vector []float32) bool {
	for _, v := range vector {
		if !finite(float64(v)) {
			return false
		}
	}
	return true
}

func euclidean(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	sum := 0.0
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		sum += d * d
	}
	return math.Sqrt(sum)
}

// part is the b-th of n parts of length, at least one long: where there are
// fewer than n, neighbours share.
func part(b, n, length int) (from, to int) {
	from = int(int64(b) * int64(length) / int64(n))
	to = int(int64(b+1) * int64(length) / int64(n))
	return from, max(to, from+1)
}
