package trajectory

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/perception/internal/shape"
	"github.com/robotmem/robotmem-go/perception/media"
	"github.com/robotmem/robotmem-go/perception/timeseries"
)

// TUM is the format of the RGB-D benchmark of the TU München, KITTI that of the
// odometry benchmark of KIT and TTI Chicago.
const (
	typeTUM   = "text/x-tum"
	typeKITTI = "text/x-kitti"

	tumColumns   = 8
	kittiColumns = 12

	// sampledLines, and the last line, are read to tell these formats from a table.
	sampledLines = 50
	// unitTolerance is how far the length of a quaternion or a column may be from 1:
	// files hold four digits or more.
	unitTolerance = 1e-3
)

// readText reads the table of numbers as poses.
func (t *Trajectory) readText(in media.Payload) error {
	header, table, err := timeseries.ReadTable(in.WholeLines())
	if err != nil {
		return err
	}
	pose, err := poseReader(in, header, table)
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
	if len(in.Data) > enough {
		in.Data, in.Size = in.Data[:enough], int64(len(in.Data))
	}
	header, table, err := timeseries.ReadTable(in.WholeLines())
	if err == nil {
		_, err = poseReader(in, header, table)
	}
	return err == nil
}

// poseReader returns the function that reads a row of the table.
func poseReader(in media.Payload, header []string, table *timeseries.Series) (func(v []float64) Pose, error) {
	if header != nil {
		columns, err := namedColumns(header, in.Metadata)
		return columns.pose, err
	}
	width, err := textFormat(in, table)
	switch {
	case err != nil:
	case width != table.Width:
		err = fmt.Errorf("a line has %d numbers where a pose has %d", table.Width, width)
	case width == tumColumns:
		return func(v []float64) Pose { return Pose{&v[0], [3]float64(v[1:4]), (*[4]float64)(v[4:8])} }, nil
	}
	return func(v []float64) Pose {
		q := quaternionOf(v)
		return Pose{nil, [3]float64{v[3], v[7], v[11]}, &q}
	}, err
}

// textFormat returns the columns of the format that the text is in.
func textFormat(in media.Payload, table *timeseries.Series) (int, error) {
	declared, last := in.Metadata.Text("format"), table.Len()-1
	switch {
	case strings.EqualFold(declared, "tum") || in.Type == typeTUM:
		return tumColumns, nil
	case strings.EqualFold(declared, "kitti") || in.Type == typeKITTI:
		return kittiColumns, nil
	// A time may come twice, but not in all lines.
	case table.Width == tumColumns && fits(table, isTUM) && table.Row(last)[0] > table.Row(0)[0]:
		return tumColumns, nil
	case table.Width == kittiColumns && last > 0 && fits(table, isKITTI):
		return kittiColumns, nil
	}
	return 0, errors.New("the text is not a trajectory: it is neither TUM nor KITTI, and no header names x and y")
}

// fits checks the first rows, each with the one before it, and the last.
func fits(table *timeseries.Series, is func(v, before []float64) bool) bool {
	before := table.Row(0)
	for i := range table.Len() {
		if i == sampledLines {
			i = table.Len() - 1
		}
		v := table.Row(i)
		if !is(v, before) {
			return false
		}
		if before = v; i == table.Len()-1 {
			break
		}
	}
	return true
}

// isTUM needs a time that does not fall and a quaternion of length 1.
func isTUM(v, before []float64) bool {
	q := v[4:8]
	return v[0] >= before[0] && near(q[0]*q[0]+q[1]*q[1]+q[2]*q[2]+q[3]*q[3], 1, 2*unitTolerance)
}

func near(v, want, tolerance float64) bool { return math.Abs(v-want) <= tolerance }

// isKITTI needs a rotation in the left 3 by 3 of the matrix: orthonormal columns and
// the determinant 1.
func isKITTI(v, _ []float64) bool {
	column := func(i int) [3]float64 { return [3]float64{v[i], v[4+i], v[8+i]} }
	a, b, c := column(0), column(1), column(2)
	for _, pair := range [][2][3]float64{{a, b}, {a, c}, {b, c}} {
		if !near(shape.Dot(pair[0], pair[1]), 0, unitTolerance) {
			return false
		}
	}
	for _, x := range [][3]float64{a, b, c} {
		if !near(shape.Dot(x, x), 1, 2*unitTolerance) {
			return false
		}
	}
	return shape.Dot(shape.Cross(a, b), c) > 0
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

// columns are the places of the values in a line; -1 is none.
type columns struct {
	time, x, y, z, yaw int
	quaternion         [4]int
	secondsPer         float64 // seconds in the unit of the time
}

var errHeader = errors.New("the header names more than, or less than, a position x, y and perhaps z, t, qx qy qz qw or yaw")

// namedColumns reads the header of a table of poses. Another column, or a unit that is
// no length, shows that x and y are something else, such as a force.
func namedColumns(header []string, metadata media.Metadata) (columns, error) {
	c := columns{-1, -1, -1, -1, -1, [4]int{-1, -1, -1, -1}, 1}
	places := map[string]*int{
		"x": &c.x, "y": &c.y, "z": &c.z, "yaw": &c.yaw, "theta": &c.yaw, "heading": &c.yaw,
		"qx": &c.quaternion[0], "qy": &c.quaternion[1], "qz": &c.quaternion[2], "qw": &c.quaternion[3],
		"t": &c.time, "time": &c.time, "timestamp": &c.time, "stamp": &c.time,
	}
	if _, ok := metadata["kind"].(string); ok && !metadata.IsKind("trajectory") {
		return c, fmt.Errorf("the metadata says that this is of kind %q", media.Clean(metadata.Text("kind"), media.MaxName))
	}
	for i, field := range header {
		name, unit := timeseries.SplitUnit(field)
		name, suffix, _ := strings.Cut(strings.ToLower(name), "_")
		unit = cmp.Or(unit, suffix)
		place, ok := places[name]
		if !ok || *place >= 0 {
			return c, errHeader
		}
		*place = i
		switch place {
		case &c.time:
			if c.secondsPer, ok = timeseries.TimeUnits[cmp.Or(unit, "s")]; !ok {
				return c, fmt.Errorf("the header gives the time in %q; use s, ms, us or ns", media.Clean(unit, media.MaxName))
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
		p.Orientation = &[4]float64{2: math.Sin(v[c.yaw] / 2), 3: math.Cos(v[c.yaw] / 2)}
	}
	return p
}
