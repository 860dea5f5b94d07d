package segment

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/media"
	"github.com/robotmem/robotmem-go/perception/pointcloud"
	"github.com/robotmem/robotmem-go/perception/timeseries"
	"github.com/robotmem/robotmem-go/perception/trajectory"
)

// Open decodes the payload.
func Open(in media.Payload) (*Segment, error) {
	s, err := Decode(in.Data)
	if err == nil {
		s.about = in.Metadata
	}
	return s, err
}

// Accepts reports whether the payload begins as an MCAP file.
func Accepts(in media.Payload) bool { return bytes.HasPrefix(in.Data, []byte(media.MCAPMagic)) }

// Summary returns "42 messages of geometry_msgs/msg/WrenchStamped on /wrist/wrench over 10.00 s; Fz
// peak -62 N at 0.08 s", or the beginning of the first text in the messages instead of a peak.
func (s *Segment) Summary() string {
	line := media.Plural(int64(len(s.Messages)), "message")
	if s.SchemaName != "" {
		line += " of " + media.Clean(s.SchemaName, 2*media.MaxName)
	}

	line += " on " + media.Clean(s.Topic, 2*media.MaxName)
	if n := len(s.Messages); n > 1 {
		duration := float64(int64(s.Messages[n-1].LogTime-s.Messages[0].LogTime)) * 1e-9
		if c := media.NewClock(duration); c.Unit != "" {
			line += " over " + c.At(duration)
		}
	}

	if trace, err := s.series(measured); err == nil {
		if peak := trace.Peak(); peak != "" {
			line += "; " + peak
		}
	} else if text := s.firstText(); text != "" {
		line += ": " + text
	}

	if s.undecoded > 0 {
		line += "; " + media.Plural(int64(s.undecoded), "message") + " not decoded: " +
			media.Clean(s.reason.Error(), media.MaxName)
	}

	return line
}

// firstText returns the beginning of the text of the first message that has one.
func (s *Segment) firstText() string {
	schema, err := s.Schema()
	if err != nil {
		return ""
	}

	const maxText = 200 // characters

	for _, m := range s.Messages {
		v, err := schema.Decode(m.Data)
		if err != nil {
			continue
		}
		if text := textOf(v); text != "" {
			return media.Clean(text[:min(len(text), 4*media.MaxSummary)], maxText)
		}
	}

	return ""
}

// textOf returns the text of a message. The numbers of a message with text, such as
// the line of a program in a log, are not readings.
func textOf(v *message.Value) string {
	for _, name := range []string{"data", "msg", "message", "text"} {
		if f := v.At(name); f.Kind == message.String && f.Text != "" {
			return f.Text
		}
	}
	return ""
}

// Features returns those of the trace that the messages make.
func (s *Segment) Features() (kind string, vector []float32, ok bool) {
	trace, err := s.series(measured)
	if err != nil {
		return "", nil, false
	}
	return trace.Features()
}

// Samples returns messages with a pose (odometry, a localisation, a transform) as a trajectory, one
// laser scan, the first from From on, and the numbers of all other messages as a trace.
func (s *Segment) Samples(o media.SamplesOptions) (*media.Samples, error) {
	schema, err := s.Schema()
	if err != nil {
		return nil, err
	}
	if len(s.Messages) == 0 {
		return nil, errNoNumbers
	}

	first, err := s.firstDecoded(schema)
	if err != nil {
		return nil, err
	}
	// Scans are shown one at a time: the robot moves between two of them, so their points do not fit together.
	hasAngle := first.At("angle_min").IsNumber() || first.At("start_angle").IsNumber()
	if !o.Trace && first.At("ranges").Kind == message.Numbers && hasAngle {
		return s.scan(schema, o)
	}

	if _, ok := poseOf(first); ok && !o.Trace && len(s.Messages) >= trajectory.MinPoses {
		if t, err := s.trajectory(); err == nil {
			t.Metadata = inFrame(s.about, first)
			return s.withMissing(t.Samples(o))
		}
	}

	trace, err := s.series(shown)
	if err != nil {
		return nil, err
	}

	return s.withMissing(trace.Samples(o))
}

// withMissing adds the messages that could not be decoded to what is missing of the samples.
func (s *Segment) withMissing(out *media.Samples, err error) (*media.Samples, error) {
	if err == nil {
		out.Missing += int64(s.undecoded)
	}
	return out, err
}

// firstDecoded returns the first message that can be decoded, or why the first of all cannot.
func (s *Segment) firstDecoded(schema *message.Schema) (*message.Value, error) {
	var first error

	for i, m := range s.Messages {
		v, err := schema.Decode(m.Data)
		if err == nil {
			return v, nil
		}
		first = cmp.Or(first, fmt.Errorf("message %d: %w", i+1, err))
	}

	return nil, first
}

// inFrame returns the metadata with the frame of a message's header, or that of a message of Foxglove.
func inFrame(m media.Metadata, v *message.Value) media.Metadata {
	if frame := cmp.Or(v.At("header", "frame_id").Text, v.At("frame_id").Text); frame != "" {
		return media.Metadata{"units": m["units"], "frame_id": frame}
	}
	return m
}

// decodeAll calls f with each message that can be decoded, and counts the others. It returns the
// seconds of each decoded message since the first: by the stamps of their headers, or by the log times
// if there are none or if the stamps fall; nil if both fall or no time passes. It fails if no message
// can be decoded.
func (s *Segment) decodeAll(f func(v *message.Value) error) ([]float64, error) {
	schema, err := s.Schema()
	if err != nil {
		return nil, err
	}

	stamps := make([]uint64, 0, len(s.Messages))
	logTimes := make([]uint64, 0, len(s.Messages))

	s.undecoded, s.reason = 0, nil
	for i, m := range s.Messages {
		v, err := schema.Decode(m.Data)
		if err != nil {
			s.undecoded++
			s.reason = cmp.Or(s.reason, fmt.Errorf("message %d: %w", i+1, err))
			continue
		}
		if err := f(v); err != nil {
			return nil, err
		}
		// The header has the time of the measurement. The log time has the delays of the network and the recorder
		// in it.
		stamp, ok := message.Stamp(v)
		if !ok {
			stamp = m.LogTime
		}
		stamps, logTimes = append(stamps, stamp), append(logTimes, m.LogTime)
	}

	if len(stamps) == 0 {
		return nil, cmp.Or(s.reason, errNoNumbers)
	}

	if !slices.IsSorted(stamps) {
		stamps = logTimes
	}
	if !slices.IsSorted(stamps) || len(stamps) < 2 || stamps[0] == stamps[len(stamps)-1] {
		return nil, nil
	}

	times := make([]float64, len(stamps))
	for i, t := range stamps {
		times[i] = float64(t-stamps[0]) * 1e-9
	}

	return times, nil
}

// poseOf returns the whole pose of a message: a position in space and an orientation.
func poseOf(v *message.Value) (p trajectory.Pose, ok bool) {
	p, ok = trajectory.PoseOf(v)
	return p, ok && p.Orientation != nil
}

func (s *Segment) trajectory() (*trajectory.Trajectory, error) {
	poses := make([]trajectory.Pose, 0, len(s.Messages))
	times, err := s.decodeAll(func(v *message.Value) error {
		p, ok := poseOf(v)
		if !ok {
			return errors.New("a message holds no pose")
		}
		poses = append(poses, p)
		return nil
	})
	if err != nil {
		return nil, err
	}

	t := &trajectory.Trajectory{}

	for i, p := range poses {
		if times != nil {
			p.Time = &times[i]
		}
		t.Add(p)
	}

	return t, t.Finish()
}

// foxgloveAngles are the fields of a foxglove.LaserScan by those of ROS.
var foxgloveAngles = map[string]string{"angle_min": "start_angle", "angle_max": "end_angle"}

// move turns the points by the orientation of a pose, and moves them to its position.
func move(points *media.Samples, p trajectory.Pose) {
	q := [4]float64{3: 1}
	if o := p.Orientation; o != nil {
		length := math.Sqrt(o[0]*o[0] + o[1]*o[1] + o[2]*o[2] + o[3]*o[3])
		if length > 0 && media.Finite(length) {
			q = [4]float64{o[0] / length, o[1] / length, o[2] / length, o[3] / length}
		}
	}
	axis := [3]float64(q[:3])

	for i := range points.X {
		at := [3]float64{points.X[i], points.Y[i], points.Z[i]}

		// The rotation of v by a unit quaternion is v + 2w(a x v) + 2 a x (a x v), where a is its vector.
		side := cross(axis, at)

		twice := cross(axis, side)
		for c := range at {
			at[c] += p.Position[c] + 2*(q[3]*side[c]+twice[c])
		}
		points.X[i], points.Y[i], points.Z[i] = at[0], at[1], at[2]
	}
}

func cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// scan returns one scan, by the log times.
func (s *Segment) scan(schema *message.Schema, o media.SamplesOptions) (*media.Samples, error) {
	time := func(i int) float64 { return float64(int64(s.Messages[i].LogTime-s.Messages[0].LogTime)) * 1e-9 }
	last := len(s.Messages) - 1
	at, _ := o.Cut(len(s.Messages), time)
	at = min(at, last)

	v, err := schema.Decode(s.Messages[at].Data)
	// The next one that can be read.
	for err != nil && at < last {
		at++
		v, err = schema.Decode(s.Messages[at].Data)
	}

	if err != nil {
		return nil, fmt.Errorf("message %d: %w", at+1, err)
	}

	scan, err := pointcloud.NewScan(func(key string) (float64, bool) {
		f := v.At(key)
		if name := foxgloveAngles[key]; !f.IsNumber() && name != "" {
			f = v.At(name)
		}
		return f.Float, f.IsNumber()
	}, v.At("ranges").Numbers, v.At("intensities").Numbers)
	if err != nil {
		return nil, fmt.Errorf("message %d: %w", at+1, err)
	}

	scan.Metadata = inFrame(s.about, v)
	out, err := scan.Samples(o)
	if err != nil {
		return nil, err
	}

	// A foxglove.LaserScan says where its sensor is in the frame.
	if p, ok := trajectory.PoseOf(v); ok {
		move(out, p)
	}

	out.Time, out.TimeUnit = media.Numbers{time(at)}, "s"
	if d := time(last); d > 0 {
		out.DurationS, out.RateHz = d, float64(last)/d
	}

	return out, nil
}

var errNoNumbers = fmt.Errorf("%w in the messages", media.ErrNoSamples)

// series makes a trace of the selected numbers of the messages. The first message that can be decoded decides
// its channels; a number that another message lacks is missing.
func (s *Segment) series(of selection) (*timeseries.Series, error) {
	out := &timeseries.Series{}
	times, err := s.decodeAll(func(v *message.Value) error {
		if textOf(v) != "" {
			return errNoNumbers
		}
		row := of(v)
		if out.Channels == nil {
			out.Width = len(row)

			out.Channels, out.Units = make([]string, 0, len(row)), make([]string, 0, len(row))
			for _, r := range row {
				out.Channels, out.Units = append(out.Channels, r.name), append(out.Units, r.unit)
			}
			if err := out.MakeValues(len(s.Messages)); err != nil {
				return err
			}
		}
		out.Values = row.appendTo(out.Values, out.Channels)

		return nil
	})
	if err != nil {
		return nil, err
	}
	if out.Width == 0 {
		return nil, errNoNumbers
	}

	if out.Stamps = times; times != nil {
		last := len(times) - 1
		out.SetRate(float64(last) / times[last])
	}

	return out, nil
}
