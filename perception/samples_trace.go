package perception

import (
	"fmt"
	"math"
	"strconv"
)

func traceSamples(it Item, o SamplesOptions) (*Samples, error) {
	s, err := decodeSeries(it)
	if err != nil {
		return nil, err
	}
	return s.samples(o)
}

// samples cuts, then reduces.
func (s *series) samples(o SamplesOptions) (*Samples, error) {
	out := &Samples{Kind: "trace", TimeUnit: "sample", RateHz: s.rate}
	if s.stamps != nil || s.rate > 0 {
		out.TimeUnit, out.DurationS = "s", finiteOrZero(s.duration())
	}
	lo, hi := o.cut(s.len(), s.stamp)
	e, err := newEnvelope(s.width, int64(hi-lo), o.points(tracePoints))
	if err != nil {
		return nil, err
	}
	for i := lo; i < hi; i++ {
		e.add(s.values[i*s.width : (i+1)*s.width])
	}
	e.fill(out, int64(lo), func(i int64) float64 { return s.stamp(int(i)) })
	for c := range out.Channels {
		out.Channels[c].Name, out.Channels[c].Unit = s.sampleName(c), clean(s.unit(c), maxNameRunes)
	}
	return out, nil
}

// stamp is when sample i was taken, in seconds since the first as the data has
// it; the number of the sample where nothing says when.
func (s *series) stamp(i int) float64 {
	switch {
	case s.stamps != nil:
		return s.stamps[i]
	case s.rate > 0:
		return float64(i) / s.rate
	}
	return float64(i)
}

// duration is from the first sample to the last by their stamps, with the
// interval of the last.
func (s *series) duration() float64 {
	if n := float64(s.len()); s.stamps != nil && n > 1 {
		return s.stamps[s.len()-1] * n / (n - 1)
	}
	return s.seconds()
}

func finiteOrZero(v float64) float64 {
	if !finite(v) {
		return 0
	}
	return v
}

// sampleName is never empty.
func (s *series) sampleName(c int) string {
	if c < len(s.channels) {
		if name := clean(s.channels[c], 2*maxNameRunes); name != "" {
			return name
		}
	}
	return "channel " + strconv.Itoa(c+1)
}

// envelope keeps the smallest and the largest reading of every channel in
// buckets of equally many samples, so that no peak is lost. Where there are more
// samples than were foreseen, the buckets are joined two by two.
type envelope struct {
	limit     int   // buckets at most
	width     int64 // samples of a bucket
	count     int64 // samples so far
	low, high []Numbers
}

// newEnvelope foresees so many samples; 0 is unknown.
func newEnvelope(channels int, samples int64, points int) (*envelope, error) {
	if channels > maxSampleChannels {
		return nil, fmt.Errorf("it has %d channels; at most %d are drawn", channels, maxSampleChannels)
	}
	e := &envelope{limit: min(points, maxSampleReadings/channels), low: make([]Numbers, channels), high: make([]Numbers, channels)}
	limit := int64(e.limit)
	e.width = max((samples+limit-1)/limit, 1)
	for c := range channels {
		e.low[c] = make(Numbers, 0, min(samples, limit))
		e.high[c] = make(Numbers, 0, min(samples, limit))
	}
	return e, nil
}

// add takes the readings of one sample, one of each channel.
func (e *envelope) add(readings []float64) {
	bucket := int(e.count / e.width)
	if bucket == e.limit {
		e.join()
		bucket = int(e.count / e.width)
	}
	e.count++
	for c, v := range readings {
		if !finite(v) {
			v = math.NaN()
		}
		if bucket == len(e.low[c]) {
			e.low[c], e.high[c] = append(e.low[c], v), append(e.high[c], v)
			continue
		}
		e.low[c][bucket], e.high[c][bucket] = smaller(e.low[c][bucket], v), larger(e.high[c][bucket], v)
	}
}

// join makes one bucket of every two.
func (e *envelope) join() {
	halve := func(n Numbers, better func(a, b float64) float64) Numbers {
		for i := range n {
			if i%2 == 0 {
				n[i/2] = n[i]
			} else {
				n[i/2] = better(n[i/2], n[i])
			}
		}
		return n[:(len(n)+1)/2]
	}
	for c := range e.low {
		e.low[c], e.high[c] = halve(e.low[c], smaller), halve(e.high[c], larger)
	}
	e.width *= 2
}

// smaller and larger prefer a reading to a missing one.
func smaller(a, b float64) float64 {
	if math.IsNaN(a) || b < a {
		return b
	}
	return a
}

func larger(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// fill writes what was kept of the samples from the start-th on.
func (e *envelope) fill(out *Samples, start int64, time func(i int64) float64) {
	out.Total, out.Reduced = e.count, e.width > 1
	out.Time = make(Numbers, len(e.low[0]))
	for b := range out.Time {
		out.Time[b] = time(start + int64(b)*e.width)
	}
	out.Channels = make([]Channel, len(e.low))
	for c := range out.Channels {
		if out.Reduced {
			out.Channels[c].Min, out.Channels[c].Max = e.low[c], e.high[c]
		} else {
			out.Channels[c].Values = e.low[c]
		}
	}
}
