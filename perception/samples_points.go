package perception

import (
	"errors"
	"math"
	"strconv"
)

// spread is the j-th of k places, evenly spread over n >= k, the first and the
// last among them.
func spread(j, k, n int) int {
	if k < 2 {
		return 0
	}
	return int(int64(j) * int64(n-1) / int64(k-1))
}

// space begins the samples of what lies in a frame.
func space(kind string, it Item, total, shown int) *Samples {
	s := &Samples{Kind: kind, Total: int64(total), Reduced: shown < total, Unit: lengthUnit(it), X: make(Numbers, shown), Y: make(Numbers, shown), Z: make(Numbers, shown)}
	if frame, ok := it.Metadata["frame_id"].(string); ok {
		s.FrameID = clean(frame, maxFrameRunes)
	}
	return s
}

// maxFrameRunes bounds the name of a frame.
const maxFrameRunes = 256

// cloudSamples takes from a finer even part, so that what is shown is as many as
// were asked for, nearly evenly.
func cloudSamples(it Item, o SamplesOptions) (*Samples, error) {
	f, err := openCloud(it)
	if err != nil {
		return nil, err
	}
	const finer = 4
	points := o.points(spacePoints)
	c := newCollector(f, finer*points)
	var last pointValues
	err = f.each(func(v *pointValues) {
		before := c.valid
		if c.add(v); c.valid > before {
			last = *v
		}
	})
	if err != nil {
		return nil, err
	}
	if c.valid == 0 {
		return nil, errNoPoint
	}
	if (c.valid-1)%c.stride != 0 {
		c.keep([3]float32{float32(last[slotX]), float32(last[slotY]), float32(last[slotZ])}, &last)
	}
	kept := len(c.cloud.Positions) / 3
	shown := min(points, kept)
	out := space("cloud", it, c.valid, shown)
	out.Missing = int64(c.cloud.Missing)
	if c.cloud.Intensity != nil {
		out.Intensity = make(Numbers, shown)
	}
	if c.cloud.Colors != nil {
		out.RGB = make([]uint32, shown)
	}
	for j := range shown {
		i := spread(j, shown, kept)
		p := c.cloud.Positions[3*i:]
		out.X[j], out.Y[j], out.Z[j] = decimal(p[0]), decimal(p[1]), decimal(p[2])
		if out.Intensity != nil {
			out.Intensity[j] = decimal(c.cloud.Intensity[i])
		}
		if out.RGB != nil {
			rgb := c.cloud.Colors[3*i:]
			out.RGB[j] = uint32(rgb[0])<<16 | uint32(rgb[1])<<8 | uint32(rgb[2])
		}
	}
	return out, nil
}

var errNoPoint = errors.New("the point cloud holds no point with a position")

// decimal is the shortest decimal number that stands for v alone: 0.1, where the
// nearest float32 is 0.10000000149011612.
func decimal(v float32) float64 {
	if float32(math.Trunc(float64(v))) == v || !finite(float64(v)) {
		return float64(v)
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
	if err != nil {
		return float64(v)
	}
	return short
}

func trajectorySamples(it Item, o SamplesOptions) (*Samples, error) {
	t, err := DecodeTrajectory(it)
	if err != nil {
		return nil, err
	}
	return t.samples(it, o), nil
}

func (t *Trajectory) samples(it Item, o SamplesOptions) *Samples {
	time := func(i int) float64 { return float64(i) }
	if t.Times != nil {
		time = func(i int) float64 { return t.Times[i] - t.Times[0] }
	}
	lo, hi := o.cut(len(t.Positions), time)
	shown := min(o.points(spacePoints), hi-lo)
	out := space("trajectory", it, hi-lo, shown)
	out.Time, out.TimeUnit = make(Numbers, shown), "sample"
	if t.Times != nil {
		out.TimeUnit, out.DurationS = "s", finiteOrZero(t.seconds())
	}
	if out.DurationS > 0 {
		out.RateHz = float64(len(t.Times)-1) / out.DurationS
	}
	if t.Orientations != nil {
		out.QX, out.QY, out.QZ, out.QW = make(Numbers, shown), make(Numbers, shown), make(Numbers, shown), make(Numbers, shown)
	}
	for j := range shown {
		i := lo + spread(j, shown, hi-lo)
		p := t.Positions[i]
		out.Time[j], out.X[j], out.Y[j], out.Z[j] = time(i), p[0], p[1], p[2]
		if t.Orientations != nil {
			q := t.Orientations[i]
			out.QX[j], out.QY[j], out.QZ[j], out.QW[j] = q[0], q[1], q[2], q[3]
		}
	}
	return out
}

func scanSamples(it Item, o SamplesOptions) (*Samples, error) {
	s, err := decodeScan(it)
	if err != nil {
		return nil, err
	}
	return s.samples(it, o), nil
}

// samples are where the rays end that have a return, in the order of their
// angles.
func (s *scan) samples(it Item, o SamplesOptions) *Samples {
	var hits []int
	for i := range s.ranges {
		if s.returned(i) {
			hits = append(hits, i)
		}
	}
	shown := min(o.points(spacePoints), len(hits))
	out := space("scan", it, len(hits), shown)
	out.Missing = int64(len(s.ranges) - len(hits))
	if s.intensities != nil {
		out.Intensity = make(Numbers, shown)
	}
	for j := range shown {
		i := hits[spread(j, shown, len(hits))]
		sin, cos := math.Sincos(s.angle(i))
		out.X[j], out.Y[j] = s.ranges[i]*cos, s.ranges[i]*sin
		if s.intensities != nil {
			out.Intensity[j] = s.intensities[i]
		}
	}
	return out
}
