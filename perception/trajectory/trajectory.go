// Package trajectory reads poses over time: TUM and KITTI text, tables and JSON. A [Trajectory]
// makes a summary, features and samples; [Decode] reads one.
//
// The tests of this package are those of package perception, through its API.
package trajectory

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/robotmem/robotmem-go/perception/internal/shape"
	"github.com/robotmem/robotmem-go/perception/media"
)

// Trajectory is poses over time.
type Trajectory struct {
	// Times are seconds, never falling, one per pose; nil if unknown.
	Times []float64
	// Positions are x, y, z in metres, in the frame of the data.
	Positions [][3]float64
	// Orientations are unit quaternions x, y, z, w, one per pose; nil if there are none.
	Orientations [][4]float64
	// Metadata names the unit and the frame.
	Metadata media.Metadata
}

// Pose is one pose of a trajectory. A nil Time or Orientation is unknown.
type Pose struct {
	Time        *float64
	Position    [3]float64
	Orientation *[4]float64 // of any length
}

// MinPoses is the least number of poses of a trajectory.
const MinPoses = 2

// Decode reads a payload as a trajectory. It accepts
//
//   - TUM text, a line per pose: time tx ty tz qx qy qz qw;
//   - KITTI odometry text, a line per pose: a matrix of 3 rows and 4 columns;
//   - a table whose header names x, y and perhaps z, t, qx qy qz qw or yaw, and nothing
//     else; if it names a unit of x, y or z, that is m;
//   - JSON: a list of poses, or an object with poses, each with position (a list or x,
//     y, z), and perhaps orientation and stamp; also a ROS PoseStamped.
//
// Text without a header is TUM or KITTI if metadata format says tum or kitti, if the media type is
// text/x-tum or text/x-kitti, or if the numbers can hardly be anything else: times that never
// fall, each followed by a quaternion of length 1, or rotation matrices. A pose without a position is left out.
// The error says why the data is not a trajectory.
func Decode(in media.Payload) (*Trajectory, error) {
	if err := in.Whole(); err != nil {
		return nil, err
	}

	t := &Trajectory{Metadata: in.Metadata}

	var err error

	switch in.Encoding() {
	case media.Table, media.FreeText:
		err = t.readText(in)
	case media.JSON:
		err = t.readJSON(in.Data)
	default:
		err = fmt.Errorf("%s is not read as a trajectory; give TUM or KITTI text, CSV or JSON",
			media.Clean(in.Type, media.MaxName))
	}

	if err == nil {
		err = t.Finish()
	}

	return t, err
}

// Accepts reports whether the payload looks like poses.
func Accepts(in media.Payload) bool {
	switch in.Encoding() {
	case media.Table, media.FreeText:
		return isPoseText(in)
	case media.JSON:
		return bytes.Contains(in.Data, []byte(`"position"`))
	}

	return false
}

// Add appends a pose. One without a position that a robot can reach is left out.
func (t *Trajectory) Add(p Pose) {
	const maxReach = 1e30 // its square does not overflow
	for _, v := range p.Position {
		if !(math.Abs(v) < maxReach) {
			return
		}
	}
	t.Positions = append(t.Positions, p.Position)
	if p.Time != nil && media.Finite(*p.Time) {
		t.Times = append(t.Times, *p.Time)
	}
	if q := p.Orientation; q != nil {
		if n := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3]); n > 0 && !math.IsInf(n, 0) {
			t.Orientations = append(t.Orientations, [4]float64{q[0] / n, q[1] / n, q[2] / n, q[3] / n})
		}
	}
}

// Finish checks the trajectory after the last [Trajectory.Add]. It removes times and
// orientations that not every pose has.
func (t *Trajectory) Finish() error {
	if len(t.Positions) < MinPoses {
		return errors.New("a trajectory has at least two poses with a position")
	}
	// Add leaves out single times and orientations, so shorter lists no longer belong to the positions by their
	// index.
	if len(t.Times) != len(t.Positions) || !slices.IsSorted(t.Times) {
		t.Times = nil
	}
	if len(t.Orientations) != len(t.Positions) {
		t.Orientations = nil
	}

	return nil
}

// seconds is the duration; 0 if unknown.
func (t *Trajectory) seconds() float64 {
	if len(t.Times) == 0 {
		return 0
	}
	return t.Times[len(t.Times)-1] - t.Times[0]
}

func length(points [][3]float64) float64 {
	sum := 0.0
	for i := 1; i < len(points); i++ {
		sum += shape.Distance(points[i-1], points[i])
	}
	return sum
}

func (t *Trajectory) bounds() (low, high [3]float64) {
	low, high = t.Positions[0], t.Positions[0]
	for _, p := range t.Positions {
		for i := range p {
			low[i], high[i] = min(low[i], p[i]), max(high[i], p[i])
		}
	}

	return low, high
}

// Samples returns poses at even steps through the list, so many as the options ask for.
func (t *Trajectory) Samples(o media.SamplesOptions) (*media.Samples, error) {
	time := func(i int) float64 { return float64(i) }
	if t.Times != nil {
		time = func(i int) float64 { return t.Times[i] - t.Times[0] }
	}

	lo, hi := o.Cut(len(t.Positions), time)
	shown := min(o.SpacePoints(), hi-lo)
	out := media.NewSpace("trajectory", t.Metadata, hi-lo, shown)
	out.Time, out.TimeUnit = make(media.Numbers, shown), "sample"
	if t.Times != nil {
		out.TimeUnit = "s"
		if d := t.seconds(); d > 0 && media.Finite(d) {
			out.DurationS, out.RateHz = d, float64(len(t.Times)-1)/d
		}
	}

	if t.Orientations != nil {
		out.QX, out.QY, out.QZ, out.QW = make(media.Numbers, shown), make(media.Numbers, shown), make(media.Numbers,
			shown), make(media.Numbers, shown)
	}

	for j := range shown {
		i := lo + media.Spread(j, shown, hi-lo)
		p := t.Positions[i]
		out.Time[j], out.X[j], out.Y[j], out.Z[j] = time(i), p[0], p[1], p[2]
		if t.Orientations != nil {
			q := t.Orientations[i]
			out.QX[j], out.QY[j], out.QZ[j], out.QW[j] = q[0], q[1], q[2], q[3]
		}
	}

	return out, nil
}

// Summary returns "trajectory, 1,204 poses over 60.20 s, 14.3 m path, ends 0.8 m from its start,
// within 5.1 x 3.2 x 0.1 m".
func (t *Trajectory) Summary() string {
	s := "trajectory, " + media.Plural(int64(len(t.Positions)), "pose")
	if clock := media.NewClock(t.seconds()); clock.Unit != "" {
		s += " over " + clock.At(t.seconds())
	}
	unit := t.Metadata.Unit("m")
	s += ", " + media.Figure(length(t.Positions)) + " " + unit + " path"
	end := shape.Distance(t.Positions[0], t.Positions[len(t.Positions)-1])
	s += ", ends " + media.Figure(end) + " " + unit + " from its start"
	low, high := t.bounds()

	return s + ", within " + media.Sides(low, high) + " " + unit
}
