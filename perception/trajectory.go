package perception

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Trajectory is poses over time.
type Trajectory struct {
	// Times are seconds, never decreasing, one per pose; nil when unknown.
	Times []float64
	// Positions are x, y, z in metres, in the frame of the data.
	Positions [][3]float64
	// Orientations are unit quaternions x, y, z, w, one per pose; nil when there
	// are none.
	Orientations [][4]float64
}

// DecodeTrajectory reads the item's data as a trajectory. It takes
//
//   - TUM text, a line per pose: time tx ty tz qx qy qz qw;
//   - KITTI odometry text, a line per pose: a matrix of 3 rows and 4 columns;
//   - a table whose header names x, y, perhaps z, t, qx qy qz qw or yaw, in
//     lengths if it names units, and nothing else;
//   - JSON: a list of poses, or an object with poses, each with position (a list
//     or x, y, z), and perhaps orientation and stamp; a ROS PoseStamped also.
//
// Text without a header is TUM or KITTI if metadata format says tum or kitti, if
// the media type is text/x-tum or text/x-kitti, or if the numbers cannot well be
// anything else: times that never fall before quaternions of length 1, or matrices
// that are rotations. A pose without a position is left out.
//
// The error says why the data is no trajectory.
func DecodeTrajectory(it Item) (*Trajectory, error) {
	if onlyHead(it) {
		return nil, fmt.Errorf("only the first %d of %d bytes of the trajectory are here", len(it.Data), it.Size)
	}
	return decodeTrajectory(it)
}

func decodeTrajectory(it Item) (*Trajectory, error) {
	t := &Trajectory{}
	var err error
	switch it.encoding() {
	case textTable, freeText:
		err = t.readText(it)
	case jsonText:
		err = t.readJSON(it.Data)
	default:
		err = fmt.Errorf("%s is not read as a trajectory; give TUM or KITTI text, CSV or JSON", clean(it.mediaType(), maxNameRunes))
	}
	if err != nil {
		return nil, err
	}
	if err := t.settle(); err != nil {
		return nil, err
	}
	return t, nil
}

// settle leaves out times and orientations that not every pose has.
func (t *Trajectory) settle() error {
	if len(t.Positions) < minPoses {
		return errors.New("a trajectory has at least two poses with a position")
	}
	if len(t.Times) != len(t.Positions) || !rising(t.Times) {
		t.Times = nil
	}
	if len(t.Orientations) != len(t.Positions) {
		t.Orientations = nil
	}
	return nil
}

const minPoses = 2

// add takes a pose; one without a position is left out.
func (t *Trajectory) add(time float64, hasTime bool, position [3]float64, orientation [4]float64, hasOrientation bool) {
	for _, v := range position {
		// Beyond lies nothing that a robot can reach, and squares that overflow.
		if !(math.Abs(v) < maxReach) {
			return
		}
	}
	t.Positions = append(t.Positions, position)
	if hasTime && finite(time) {
		t.Times = append(t.Times, time)
	}
	if hasOrientation {
		if q, ok := unit(orientation); ok {
			t.Orientations = append(t.Orientations, q)
		}
	}
}

const maxReach = 1e30

// unit makes a quaternion one of length 1.
func unit(q [4]float64) ([4]float64, bool) {
	n := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
	if !(n > 0) || math.IsInf(n, 0) {
		return q, false
	}
	for i := range q {
		q[i] /= n
	}
	return q, true
}

func rising(times []float64) bool {
	for i := 1; i < len(times); i++ {
		if times[i] < times[i-1] {
			return false
		}
	}
	return true
}

// seconds is how long it lasts, 0 when unknown.
func (t *Trajectory) seconds() float64 {
	if len(t.Times) == 0 {
		return 0
	}
	return t.Times[len(t.Times)-1] - t.Times[0]
}

func (t *Trajectory) length() float64 {
	sum := 0.0
	for i := 1; i < len(t.Positions); i++ {
		sum += apart(t.Positions[i-1], t.Positions[i])
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

var trajectoryFormat = format{
	name: "trajectory",
	accepts: func(it Item) bool {
		switch it.encoding() {
		case textTable, freeText:
			return isPoseText(it)
		case jsonText:
			return isPoseJSON(it.Data)
		}
		return false
	},
	summarize: func(it Item) string {
		if s := summarizeTrajectory(it); s != "" {
			return s
		}
		return summarizeSteps(it)
	},
	kinds:    []string{"path/"},
	features: trajectoryFeatures,
	preview:  previewTrajectory,
	samples:  trajectorySamples,
}

// summarizeTrajectory writes "trajectory, 1,204 poses over 60.20 s, 14.3 m path,
// ends 0.8 m from its start, within 5.1 x 3.2 x 0.1 m". Of the head of a payload
// it tells what is there, as "beginning of a trajectory, …".
func summarizeTrajectory(it Item) string {
	what := "trajectory"
	if onlyHead(it) {
		what = "beginning of a trajectory"
	}
	t, err := decodeTrajectory(it)
	if err != nil {
		return ""
	}
	s := what + ", " + plural(uint64(len(t.Positions)), "pose")
	if clock := newClock(t.seconds()); clock.unit != "" {
		s += " over " + clock.at(t.seconds())
	}
	unit := lengthUnit(it)
	s += ", " + figure(t.length()) + " " + unit + " path"
	end := apart(t.Positions[0], t.Positions[len(t.Positions)-1])
	if what == "trajectory" {
		s += ", ends " + figure(end) + " " + unit + " from its start"
	}
	low, high := t.bounds()
	return s + ", within " + sides(low, high) + " " + unit
}

// degrees writes an angle in radians, "-12°".
func degrees(radians float64) string {
	d := math.Round(radians * 180 / math.Pi)
	if d == 0 {
		d = 0 // no minus
	}
	return strconv.FormatFloat(d, 'f', 0, 64) + "°"
}
