package main

import (
	"fmt"
	"math"

	"github.com/robotmem/robotmem-go/examples/robotfailures"
)

const (
	// A trend is a last third that is half again as strong as the first one, or
	// the other way round, and differs by more than the jitter of a motion
	// without failure.
	demoTrendRatio = 1.5
	demoJitter     = 8.0
)

// figures are what a controller would compute from a trace.
type figures struct{ force, torque vectorFigures }

// vectorFigures describe a force or a torque over time.
type vectorFigures struct {
	peak  float64 // largest magnitude
	axis  string  // the axis of the largest single reading
	value float64 // that reading, signed
	trend string  // rising, falling or steady
}

func figuresOf(x *experience) figures {
	return figures{force: vectorOf(x, 0), torque: vectorOf(x, 3)}
}

// vectorOf looks at three channels from first on.
func vectorOf(x *experience, first int) vectorFigures {
	var v vectorFigures
	var magnitudes [robotfailures.SampleCount]float64
	for i, sample := range x.Samples {
		sum := 0.0
		for c := first; c < first+3; c++ {
			sum += sample[c] * sample[c]
			if math.Abs(sample[c]) > math.Abs(v.value) || v.axis == "" {
				v.axis, v.value = robotfailures.Channels[c], sample[c]
			}
		}
		magnitudes[i] = math.Sqrt(sum)
		v.peak = max(v.peak, magnitudes[i])
	}
	const third = robotfailures.SampleCount / 3
	begin, end := demoMean(magnitudes[:third]), demoMean(magnitudes[2*third:])
	v.trend = "steady"
	switch {
	case end > demoTrendRatio*begin && end-begin > demoJitter:
		v.trend = "rising"
	case begin > demoTrendRatio*end && begin-end > demoJitter:
		v.trend = "falling"
	}
	// The readings are whole numbers: more digits would be made up.
	v.peak = math.Round(v.peak)
	return v
}

func demoMean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func (f figures) params() map[string]any {
	return map[string]any{
		"peak_force": f.force.peak, "force_trend": f.force.trend,
		"peak_torque": f.torque.peak, "torque_trend": f.torque.trend,
	}
}

func (f figures) sentence(x *experience) string {
	outcome := "failed with " + x.Label()
	if x.succeeded() {
		outcome = "succeeded (" + x.Label() + ")"
	}
	return fmt.Sprintf("observed that %s %s: torque %s, force %s, peak force %.0f (%s %.0f), peak torque %.0f (%s %.0f)",
		x.Task, outcome, f.torque.trend, f.force.trend,
		f.force.peak, f.force.axis, f.force.value, f.torque.peak, f.torque.axis, f.torque.value)
}
