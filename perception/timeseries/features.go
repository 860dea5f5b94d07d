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
// and agree in the second, which costs nothing, unlike an alignment in time.
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
		vector = s.appendCourse(vector, readings)
		slices.Sort(readings)
		vector = appendEven(vector, readings)
	}
	for i, v := range vector {
		vector[i] = float32(math.Copysign(math.Sqrt(math.Abs(float64(v))), float64(v)))
	}
	return Kind + strconv.Itoa(s.Width), vector, true
}

// appendCourse appends traceSteps readings at equal distances in time: the means of
// equal parts of a long channel, interpolated readings of a short one.
func (s *Series) appendCourse(vector, readings []float32) []float32 {
	switch {
	case s.Times != nil:
		return appendTimed(vector, readings, s.Times)
	case len(readings) <= traceSteps:
		return appendEven(vector, readings)
	}
	for step := range traceSteps {
		from, to := media.Part(step, traceSteps, len(readings))
		vector = append(vector, mean(readings[from:to]))
	}
	return vector
}

// appendEven interpolates between readings at equal distances. The first and the last
// reading are kept as they are.
func appendEven(vector, readings []float32) []float32 {
	for step := range traceSteps {
		at := float64(step) * float64(len(readings)-1) / (traceSteps - 1)
		i := min(int(at), max(len(readings)-2, 0))
		next := min(i+1, len(readings)-1)
		vector = append(vector, between(readings[i], readings[next], at-float64(i)))
	}
	return vector
}

// appendTimed goes by the time stamps instead of the number of readings. It interpolates in a short
// channel. Of a long one it takes the mean of the readings within each part of the time, or the
// value between two readings if the part has none.
func appendTimed(vector, readings []float32, times []float64) []float32 {
	span, from := times[len(times)-1], 0
	if len(readings) <= traceSteps {
		for step := range traceSteps {
			t := span * float64(step) / (traceSteps - 1)
			for from < len(times)-2 && times[from+1] <= t {
				from++
			}
			vector = append(vector, betweenTimes(readings[from:], times[from:], t))
		}
		return vector
	}
	for step := range traceSteps {
		to := from
		for to < len(times) && (times[to] <= span*float64(step+1)/traceSteps || step == traceSteps-1) {
			to++
		}
		if to > from {
			vector = append(vector, mean(readings[from:to]))
			from = to
			continue
		}
		middle := span * (float64(step) + 0.5) / traceSteps
		vector = append(vector, betweenTimes(readings[from-1:], times[from-1:], middle))
	}
	return vector
}

// betweenTimes interpolates between the first two readings.
func betweenTimes(readings []float32, times []float64, t float64) float32 {
	if gap := times[1] - times[0]; gap > 0 {
		return between(readings[0], readings[1], min((t-times[0])/gap, 1))
	}
	return readings[1]
}

func mean(readings []float32) float32 {
	sum := 0.0
	for _, v := range readings {
		sum += float64(v)
	}
	return float32(sum / float64(len(readings)))
}

func between(a, b float32, share float64) float32 {
	return float32(float64(a)*(1-share) + float64(b)*share)
}

// Distance is 0 for equal traces and at most the square root of 2, for traces of
// which each is the negative of the other.
func Distance(kind string, a, b []float32) float64 {
	const stride = 2 * traceSteps
	if len(a) != len(b) || len(a) == 0 || len(a)%stride != 0 || strings.TrimPrefix(kind, Kind) != strconv.Itoa(len(a)/stride) {
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
