package perception

import "math"

// What makes two sounds alike is how their power is spread over pitch and time:
// the logarithm of it in mel bands, in equal parts of the recording. The mean is
// taken off, so that the distance to the microphone does not count, and what is
// far below the loudest counts as that far below, so that faint noise does not.
const (
	soundKind  = "sound/v1"
	soundTimes = 8
	soundBands = 24
	// soundWindows bounds the windows that are looked at in each part.
	soundWindows = 64
	// The bands are the same for each rate, in Hz, so that recordings of
	// different rates are comparable.
	soundLow  = 60.0
	soundHigh = 8000.0
	// soundFloor is in bels below the loudest cell.
	soundFloor = 2.5
)

// features of silence are none.
func (s *sound) features() (kind string, vector []float32, ok bool) {
	spec := newSpectrum(s.rate, soundBands, soundLow, soundHigh)
	last := s.stretches[len(s.stretches)-1].end()
	var cells [soundTimes * soundBands]float64
	loudest := 0.0
	for t := range soundTimes {
		from, to := int64(t)*last/soundTimes, int64(t+1)*last/soundTimes
		// Windows overlap by half where there are few.
		n := min(max(int(2*(to-from)/int64(spec.size())), 1), soundWindows)
		bands := cells[t*soundBands : (t+1)*soundBands]
		for i := range n {
			spec.add(s.at(from+int64(i)*(to-from)/int64(n), spec.size()), bands)
		}
		for b := range bands {
			bands[b] /= float64(n)
			loudest = max(loudest, bands[b])
		}
	}
	if loudest == 0 {
		return "", nil, false
	}
	mean := 0.0
	for i, power := range cells {
		cells[i] = max(math.Log10(power/loudest), -soundFloor)
		mean += cells[i] / float64(len(cells))
	}
	vector = make([]float32, len(cells))
	for i, v := range cells {
		vector[i] = float32((v - mean) / soundFloor)
	}
	return soundKind, vector, true
}
