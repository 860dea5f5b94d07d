package perception

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// # Likeness of traces
//
// A channel is described twice: as it ran (its course) and as the distribution
// of its readings, the smallest to the largest, whenever they came. Two blows of
// equal force a few samples apart differ in the first and agree in the second,
// which does at no cost what an alignment in time would do at a great one.
//
// Every reading goes in as its square root, with its sign. The squared distance
// of two channels so described, over the sum of their readings' magnitudes, is a
// Hellinger distance: 0 for equals, 1 where one is at rest at zero, the same
// whatever unit both are in. A channel of small readings, such as a torque,
// thus counts as much as one of large readings, such as a force, and a blow of
// 3,000 N does not hide how all else went. The distance of two traces is the
// mean over their channels. No weight in it is learnt, but the recipe was chosen
// among many by how it did on the robot failures of the examples: what it scores
// there is an upper bound of what to expect elsewhere.

const (
	// traceKind is followed by the number of channels.
	traceKind = "trace/v2/"
	// traceSteps is the length of each of a channel's two descriptions.
	traceSteps = 32
	// maxFeatureChannels keeps a vector at 64 KiB.
	maxFeatureChannels = 256
)

var traceFormat = format{
	name:      "trace",
	accepts:   func(it Item) bool { return isSamples(it) || it.encoding() != opaque },
	summarize: summarizeTrace,
	kinds:     []string{traceKind},
	features:  traceFeatures,
	distance:  traceDistance,
	preview:   plotTrace,
	samples:   traceSamples,
}

func summarizeTrace(it Item) string {
	s, err := decodeSeries(it)
	if err != nil {
		return ""
	}
	return summarizeSeries(s)
}

// traceFeatures lays out, channel by channel, the course and the distribution.
func traceFeatures(it Item) (kind string, vector []float32, ok bool) {
	s, err := decodeSeries(it)
	if err != nil || s.width > maxFeatureChannels {
		return "", nil, false
	}
	vector = make([]float32, 0, s.width*2*traceSteps)
	readings := make([]float32, s.len())
	for c := range s.width {
		for i := range readings {
			readings[i] = float32(s.at(i, c))
			if !finite(float64(readings[i])) {
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
	return traceKind + strconv.Itoa(s.width), vector, true
}

// appendCourse brings a channel to traceSteps readings at even distances in
// time: the means of equal parts of a long one, a short one interpolated.
func (s *series) appendCourse(vector, readings []float32) []float32 {
	switch {
	case s.times != nil:
		return appendTimed(vector, readings, s.times)
	case len(readings) <= traceSteps:
		return appendEven(vector, readings)
	}
	for step := range traceSteps {
		from, to := part(step, traceSteps, len(readings))
		vector = append(vector, mean(readings[from:to]))
	}
	return vector
}

// appendEven interpolates between readings, the first and the last as they are.
func appendEven(vector, readings []float32) []float32 {
	for step := range traceSteps {
		at := float64(step) * float64(len(readings)-1) / (traceSteps - 1)
		i := min(int(at), max(len(readings)-2, 0))
		next := min(i+1, len(readings)-1)
		vector = append(vector, between(readings[i], readings[next], at-float64(i)))
	}
	return vector
}

// appendTimed does by the stamps what the others do by the count: a short
// channel is interpolated, of a long one it is the mean of the readings within
// each part of the time, or where there is none the value between neighbours.
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

// traceDistance is 0 for equals and at most the square root of 2, for traces
// that are each other's mirror image.
func traceDistance(kind string, a, b []float32) float64 {
	const stride = 2 * traceSteps
	if len(a) != len(b) || len(a) == 0 || len(a)%stride != 0 || strings.TrimPrefix(kind, traceKind) != strconv.Itoa(len(a)/stride) {
		return math.Inf(1)
	}
	total := 0.0
	for at := 0; at < len(a); at += stride {
		x, y := a[at:at+stride:at+stride], b[at:at+stride:at+stride]
		// Two sums of each, since an addition waits for the one before.
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
