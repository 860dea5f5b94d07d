package timeseries

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/media"
)

// # Likeness of traces
//
// A channel is described twice: by its course over time, and by the distribution of
// its readings. Two impacts of equal force a few samples apart differ in the first
// and agree in the second. So no alignment in time is needed, which would cost time.
//
// Every reading enters as its square root with its sign. The squared distance of two channels,
// divided by the sum of the magnitudes of their readings, is a Hellinger distance: 0 for equal
// channels, 1 if one of them is zero throughout, and the same in any unit. So a channel of small
// readings, such as a torque, counts as much as one of large readings, such as a force, and an
// impact of 3,000 N does not hide the rest. The distance of two traces is the mean over their
// channels. No weight is learnt, but the method was chosen among many by its results on the robot
// failures of the examples, so these results are an upper bound of what to expect elsewhere.

const (
	// Kind begins the kind of the vectors. The number of channels follows.
	Kind = "trace/v2/"
	// traceSteps is the length of each of a channel's two descriptions.
	traceSteps = 32
	// maxFeatureChannels keeps a vector at 64 KiB.
	maxFeatureChannels = 256
)

// Features returns for each channel the course and the distribution.
func (s *Series) Features() (kind string, vector []float32, ok bool) {
	if s.Width > maxFeatureChannels {
		return "", nil, false
	}

	vector = make([]float32, 0, s.Width*2*traceSteps)

	readings := make([]float32, s.Len())
	for c := range s.Width {
		for i := range readings {
			readings[i] = float32(s.at(i, c))
			if !media.Finite(float64(readings[i])) {
				return "", nil, false
			}
		}
		// Means of a short trace would be of one reading or none, so it is interpolated.
		if s.Len() <= traceSteps {
			vector = interpolate(vector, readings, s.Stamps)
		} else {
			vector = average(vector, readings, s.Stamps)
		}
		slices.Sort(readings)
		vector = interpolate(vector, readings, nil)
	}

	for i, v := range vector {
		vector[i] = float32(math.Copysign(math.Sqrt(math.Abs(float64(v))), float64(v)))
	}

	return Kind + strconv.Itoa(s.Width), vector, true
}

// when returns the time of reading i. Without stamps the readings are at equal distances.
func when(stamps []float64, i int) float64 {
	if stamps == nil {
		return float64(i)
	}
	return stamps[i]
}

// interpolate appends traceSteps readings at equal distances in time. The first and the last reading
// are kept as they are.
func interpolate(vector, readings []float32, stamps []float64) []float32 {
	last, from := len(readings)-1, 0
	for step := range traceSteps {
		t := when(stamps, last) * float64(step) / (traceSteps - 1)
		for from < last-1 && when(stamps, from+1) <= t {
			from++
		}
		vector = append(vector, between(readings, stamps, from, t))
	}

	return vector
}

// average appends the means of the readings within traceSteps equal parts of the time, or the value
// between two readings if a part has none.
func average(vector, readings []float32, stamps []float64) []float32 {
	last, from := len(readings)-1, 0
	end := when(stamps, last)

	for step := range traceSteps {
		to := from
		// The last part takes whatever rounding has left.
		for to <= last && (when(stamps, to) <= end*float64(step+1)/traceSteps || step == traceSteps-1) {
			to++
		}
		if to > from {
			vector = append(vector, mean(readings[from:to]))
			from = to
		} else {
			middle := end * (float64(step) + 0.5) / traceSteps
			vector = append(vector, between(readings, stamps, from-1, middle))
		}
	}

	return vector
}

// between interpolates between reading i and the next.
func between(readings []float32, stamps []float64, i int, t float64) float32 {
	next := min(i+1, len(readings)-1)
	gap := when(stamps, next) - when(stamps, i)
	if !(gap > 0) {
		return readings[next]
	}
	share := min((t-when(stamps, i))/gap, 1)

	return float32(float64(readings[i])*(1-share) + float64(readings[next])*share)
}

func mean(readings []float32) float32 {
	sum := 0.0
	for _, v := range readings {
		sum += float64(v)
	}
	return float32(sum / float64(len(readings)))
}

// Distance is 0 for equal traces and at most the square root of 2, for traces of
// which each is the negative of the other.
func Distance(kind string, a, b []float32) float64 {
	const stride = 2 * traceSteps
	if len(a) != len(b) || len(a) == 0 || len(a)%stride != 0 ||
		strings.TrimPrefix(kind, Kind) != strconv.Itoa(len(a)/stride) {
		return math.Inf(1)
	}

	total := 0.0

	for at := 0; at < len(a); at += stride {
		x, y := a[at:at+stride:at+stride], b[at:at+stride:at+stride]
		// Two sums of each, since an addition waits for the one before it.
		var apart, apart2, magnitude, magnitude2 float64

		for i := 0; i < stride; i += 2 {
			v, w := float64(x[i]), float64(y[i])
			apart += (v - w) * (v - w)
			magnitude += v*v + w*w
			v, w = float64(x[i+1]), float64(y[i+1])
			apart2 += (v - w) * (v - w)
			magnitude2 += v*v + w*w
		}
		apart, magnitude = apart+apart2, magnitude+magnitude2
		if apart > 0 {
			total += math.Sqrt(apart / magnitude)
		}
	}

	return total / float64(len(a)/stride)
}
