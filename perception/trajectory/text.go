package trajectory

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/perception/media"
	"github.com/robotmem/robotmem-go/perception/timeseries"
)

// TUM is the format of the RGB-D benchmark of the TU München: a time, a position and a quaternion.
// KITTI is the format of the odometry benchmark of KIT and TTI Chicago: the upper three rows of a 4x4 matrix.
const (
	typeTUM   = "text/x-tum"
	typeKITTI = "text/x-kitti"

	tumColumns   = 8
	kittiColumns = 12

	// unitTolerance is the largest difference from 1 of the length of a quaternion or of a column of a rotation:
	// files hold four digits or more.
	unitTolerance = 1e-3
)

// readText reads the table of numbers as poses.
func (t *Trajectory) readText(in media.Payload) error {
	table, pose, err := readPoses(in)
	if err != nil {
		return err
	}

	for i := range table.Len() {
		t.Add(pose(table.Row(i)))
	}

	return nil
}

// isPoseText looks at the first lines.
func isPoseText(in media.Payload) bool {
	const enough = 16 << 10 // bytes
	// The line that is cut must not count as a wrong row. WholeLines drops it if the size says that data follows.
	if len(in.Data) > enough {
		in.Size = int64(len(in.Data))
		in.Data = in.Data[:enough]
	}
	_, _, err := readPoses(in)

	return err == nil
}

// readPoses returns the table and the function that makes a pose of a row.
func readPoses(in media.Payload) (table *timeseries.Series, pose func(v []float64) Pose, err error) {
	if table, err = timeseries.ReadTable(in.WholeLines()); err != nil {
		return nil, nil, err
	}

	width := widthOf(in, table)
	hasHeader := table.Channels != nil

	switch {
	case width == 0 && hasHeader:
		columns, err := namedColumns(table.Channels, in.Metadata)
		// The header names no unit of the time. The size of the last time tells seconds since 1970 from
		// milliseconds and so on.
		if err == nil && columns.time >= 0 && columns.secondsPer == 0 && table.Len() > 0 {
			columns.secondsPer = timeseries.SinceEpoch(table.Row(table.Len() - 1)[columns.time])
		}

		return table, columns.pose, err
	case width == 0:
		return nil, nil, errors.New("the text is not a trajectory: it is neither TUM nor KITTI, and no header names x and y")
	case table.Width != width:
		return nil, nil, fmt.Errorf("a line has %d numbers where a pose has %d", table.Width, width)
	case width == kittiColumns:
		return table, kittiPose, nil
	}

	return table, tumPose, nil
}

// widthOf returns how many columns the format of a text has, TUM or KITTI. It returns 0 if the text is in
// neither format, or has a header that is no comment.
func widthOf(in media.Payload, table *timeseries.Series) int {
	declared := in.Metadata.Text("format")
	switch {
	case table.Channels != nil && !table.Commented:
		return 0
	case strings.EqualFold(declared, "tum") || in.Type == typeTUM:
		return tumColumns
	case strings.EqualFold(declared, "kitti") || in.Type == typeKITTI:
		return kittiColumns
	case isTUM(table):
		return tumColumns
	case isKITTI(table):
		return kittiColumns
	}

	return 0
}

// tumPose returns the pose of a line. Its time and orientation share the memory of v.
func tumPose(v []float64) Pose {
	return Pose{&v[0], [3]float64(v[1:4]), (*[4]float64)(v[4:8])}
}

// kittiPose returns the pose of a line: the position is the last column of the matrix.
func kittiPose(v []float64) Pose {
	q := quaternionOf(v)
	return Pose{nil, [3]float64{v[3], v[7], v[11]}, &q}
}

func dot(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

func near(v, want, tolerance float64) bool { return math.Abs(v-want) <= tolerance }

// isKITTI checks that the left 3 by 3 of each matrix is a rotation: orthonormal columns and the
// determinant 1.
func isKITTI(table *timeseries.Series) bool {
	if table.Width != kittiColumns || table.Len() < MinPoses {
		return false
	}

	for i := range table.Len() {
		v := table.Row(i)
		column := func(i int) [3]float64 { return [3]float64{v[i], v[4+i], v[8+i]} }

		a, b, c := column(0), column(1), column(2)
		for _, pair := range [][2][3]float64{{a, b}, {a, c}, {b, c}} {
			if !near(dot(pair[0], pair[1]), 0, unitTolerance) {
				return false
			}
		}

		for _, x := range [][3]float64{a, b, c} {
			if !near(dot(x, x), 1, 2*unitTolerance) {
				return false
			}
		}
		// A reflection has orthonormal columns, too, but is no rotation.
		if dot(cross(a, b), c) <= 0 {
			return false
		}
	}

	return true
}

// quaternionOf converts the rotation of a KITTI line to x, y, z, w by the method of
// Shepperd (1978), which divides by the largest of the four.
func quaternionOf(m []float64) [4]float64 {
	xx, yy, zz := m[0], m[5], m[10]

	trace := xx + yy + zz
	switch max(trace, xx, yy, zz) {
	case trace:
		return [4]float64{m[9] - m[6], m[2] - m[8], m[4] - m[1], 1 + trace}
	case xx:
		return [4]float64{1 + xx - yy - zz, m[1] + m[4], m[2] + m[8], m[9] - m[6]}
	case yy:
		return [4]float64{m[1] + m[4], 1 + yy - xx - zz, m[6] + m[9], m[2] - m[8]}
	}

	return [4]float64{m[2] + m[8], m[6] + m[9], 1 + zz - xx - yy, m[4] - m[1]}
}

// isTUM checks that the time never falls, and that the quaternion has the length 1. A time may come
// twice, but not in all lines.
func isTUM(table *timeseries.Series) bool {
	last := table.Len() - 1
	if table.Width != tumColumns || table.Row(last)[0] <= table.Row(0)[0] {
		return false
	}

	for i := range table.Len() {
		v, before := table.Row(i), table.Row(max(i-1, 0))
		q := v[4:8]
		square := q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3]
		// The square of a length that differs from 1 by the tolerance differs by twice that.
		if v[0] < before[0] || math.Abs(square-1) > 2*unitTolerance {
			return false
		}
	}

	return true
}

// columns are the places of the values in a line. A place is -1 if the line has no such value.
type columns struct {
	time, x, y, z, yaw int
	quaternion         [4]int
	secondsPer         float64 // seconds in one unit of the time; 0 if the header names no unit
}

var errHeader = errors.New("the header names more than, or less than, a position x, y and perhaps z, t, qx qy qz qw or yaw")

// namedColumns reads the header of a table of poses. Another column, or a unit that is
// no length, shows that x and y are something else, such as a force.
func namedColumns(header []string, metadata media.Metadata) (columns, error) {
	c := columns{-1, -1, -1, -1, -1, [4]int{-1, -1, -1, -1}, 0}
	places := map[string]*int{
		"x": &c.x, "y": &c.y, "z": &c.z, "tx": &c.x, "ty": &c.y, "tz": &c.z, "yaw": &c.yaw, "theta": &c.yaw, "heading": &c.yaw,
		"qx": &c.quaternion[0], "qy": &c.quaternion[1], "qz": &c.quaternion[2], "qw": &c.quaternion[3],
		"t": &c.time, "time": &c.time, "timestamp": &c.time, "stamp": &c.time,
	}
	if _, ok := metadata["kind"].(string); ok && !metadata.IsKind("trajectory") {
		return c, fmt.Errorf("the metadata says that this is of kind %q",
			media.Clean(metadata.Text("kind"), media.MaxName))
	}

	for i, field := range header {
		name, unit := timeseries.SplitUnit(field)
		// The unit may be in parentheses, t (ms), or at the end of the name, t_ms.
		name, suffix, _ := strings.Cut(strings.ToLower(name), "_")
		unit = cmp.Or(unit, suffix)
		place, ok := places[name]
		if !ok || *place >= 0 {
			return c, errHeader
		}

		*place = i
		switch place {
		case &c.time:
			if c.secondsPer, ok = timeseries.TimeUnits[unit]; !ok && unit != "" {
				return c, fmt.Errorf("the header gives the time in %q; use s, ms, us or ns",
					media.Clean(unit, media.MaxName))
			}
		case &c.x, &c.y, &c.z:
			if unit != "" && unit != "m" {
				return c, fmt.Errorf("the header gives a position in %q; use metres", media.Clean(unit, media.MaxName))
			}
		}
	}

	if c.x < 0 || c.y < 0 {
		return c, errHeader
	}

	return c, nil
}

// pose returns the pose of a row.
func (c columns) pose(v []float64) Pose {
	p := Pose{Position: [3]float64{v[c.x], v[c.y]}}
	if c.z >= 0 {
		p.Position[2] = v[c.z]
	}
	if c.time >= 0 {
		p.Time = new(v[c.time] * c.secondsPer)
	}

	switch q := c.quaternion; {
	case slices.Min(q[:]) >= 0:
		p.Orientation = &[4]float64{v[q[0]], v[q[1]], v[q[2]], v[q[3]]}
	case c.yaw >= 0 && media.Finite(v[c.yaw]):
		// A quaternion has half the angle of the turn about z.
		p.Orientation = &[4]float64{2: math.Sin(v[c.yaw] / 2), 3: math.Cos(v[c.yaw] / 2)}
	}

	return p
}
