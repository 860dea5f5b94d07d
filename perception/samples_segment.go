package perception

import (
	"fmt"
	"slices"

	"github.com/robotmem/robotmem-go/perception/message"
)

// segmentSamples reads messages that hold a pose (odometry, a localisation, a
// transform) as a trajectory, a laser scan as the first sweep from options' From
// on, and the numbers of others as a trace.
func segmentSamples(it Item, o SamplesOptions) (*Samples, error) {
	seg, err := DecodeSegment(it.Data)
	if err != nil {
		return nil, err
	}
	schema, err := seg.parseSchema()
	if err != nil {
		return nil, err
	}
	if len(seg.Messages) == 0 {
		return nil, errNoNumbers
	}
	first, err := schema.Decode(seg.Messages[0].Data)
	if err != nil {
		return nil, fmt.Errorf("message 1: %w", err)
	}
	if isSweep(first) {
		return seg.sweep(schema, it, o)
	}
	if _, ok := poseOf(first); ok && len(seg.Messages) >= minPoses {
		if t, err := seg.trajectory(schema); err == nil {
			return t.samples(inFrame(it, first), o), nil
		}
	}
	_, s, err := segmentSeries(it.Data)
	if err != nil {
		return nil, err
	}
	return s.samples(o)
}

// inFrame lets the frame of a message's header stand in the item's metadata.
func inFrame(it Item, v *message.Value) Item {
	if frame := v.At("header", "frame_id").Text; frame != "" {
		it.Metadata = map[string]any{"units": it.Metadata["units"], "frame_id": frame}
	}
	return it
}

// times are the seconds of each message since the first: by the headers' stamps
// unless these fall, else by the log, nil where both do.
func (s *Segment) times(stamps []uint64) []float64 {
	if !slices.IsSorted(stamps) {
		stamps = stamps[:0]
		for _, m := range s.Messages {
			stamps = append(stamps, m.LogTime)
		}
	}
	if !slices.IsSorted(stamps) || len(stamps) < 2 || stamps[0] == stamps[len(stamps)-1] {
		return nil
	}
	times := make([]float64, len(stamps))
	for i, t := range stamps {
		times[i] = float64(t-stamps[0]) * 1e-9
	}
	return times
}

// posePaths are where messages have a pose, the deepest first: Odometry and
// PoseWithCovarianceStamped, PoseStamped, TransformStamped, Pose.
var posePaths = [][]string{{"pose", "pose"}, {"pose"}, {"transform"}, nil}

// pose is a position and an orientation x, y, z, w as a message has them.
type pose struct {
	position    [3]float64
	orientation [4]float64
}

func poseOf(v *message.Value) (p pose, ok bool) {
	for _, path := range posePaths {
		at := v.At(path...)
		for _, names := range [][2]string{{"position", "orientation"}, {"translation", "rotation"}} {
			if read(at.At(names[0]), p.position[:]) && read(at.At(names[1]), p.orientation[:]) {
				return p, true
			}
		}
	}
	return p, false
}

// read takes the fields x, y, z and w, as many as there is room for.
func read(v *message.Value, into []float64) bool {
	for i := range into {
		f := v.Field("xyzw"[i : i+1])
		if !f.IsNumber() {
			return false
		}
		into[i] = f.Float
	}
	return true
}

func (s *Segment) trajectory(schema *message.Schema) (*Trajectory, error) {
	poses, stamps := make([]pose, len(s.Messages)), make([]uint64, len(s.Messages))
	for i, m := range s.Messages {
		v, err := schema.Decode(m.Data)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		var ok bool
		if poses[i], ok = poseOf(v); !ok {
			return nil, fmt.Errorf("message %d holds no pose", i+1)
		}
		stamps[i] = stampOf(v, m.LogTime)
	}
	t, times := &Trajectory{}, s.times(stamps)
	for i, p := range poses {
		time := 0.0
		if times != nil {
			time = times[i]
		}
		t.add(time, times != nil, p.position, p.orientation, true)
	}
	return t, t.settle()
}

func isSweep(v *message.Value) bool {
	return v.At("ranges").Kind == message.Numbers && v.At("angle_min").IsNumber()
}

// sweep is one scan of many.
func (s *Segment) sweep(schema *message.Schema, it Item, o SamplesOptions) (*Samples, error) {
	stamps := make([]uint64, len(s.Messages))
	for i, m := range s.Messages {
		v, err := schema.Decode(m.Data)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		stamps[i] = stampOf(v, m.LogTime)
	}
	times := s.times(stamps)
	time := func(i int) float64 { return float64(i) }
	if times != nil {
		time = func(i int) float64 { return times[i] }
	}
	at, _ := o.cut(len(s.Messages), time)
	at = min(at, len(s.Messages)-1)
	v, err := schema.Decode(s.Messages[at].Data)
	if err != nil {
		return nil, fmt.Errorf("message %d: %w", at+1, err)
	}
	found, err := sweepOf(v)
	if err != nil {
		return nil, fmt.Errorf("message %d: %w", at+1, err)
	}
	out := found.samples(inFrame(it, v), o)
	out.Time, out.TimeUnit = Numbers{time(at)}, "sample"
	if times != nil {
		out.TimeUnit, out.DurationS = "s", times[len(times)-1]
		out.RateHz = float64(len(times)-1) / out.DurationS
	}
	return out, nil
}

func sweepOf(v *message.Value) (*scan, error) {
	var o scanObject
	for name, place := range map[string]**float64{
		"angle_min": &o.AngleMin, "angle_max": &o.AngleMax, "angle_increment": &o.AngleIncrement,
		"range_min": &o.RangeMin, "range_max": &o.RangeMax,
	} {
		if f := v.At(name); f.IsNumber() {
			*place = &f.Float
		}
	}
	s, err := o.scan(v.At("ranges").Numbers)
	if err != nil {
		return nil, err
	}
	s.takeIntensities(v.At("intensities").Numbers)
	return s, nil
}
