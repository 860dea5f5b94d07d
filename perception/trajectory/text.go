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
const (
	typeTUM    = "text/x-tum"
	tumColumns = 8

	// unitTolerance is how far the length of a quaternion may be from 1: files hold four digits
	// or more.
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
	if len(in.Data) > enough {
		in.Data, in.Size = in.Data[:enough], int64(len(in.Data))
	}
	_, _, err := readPoses(in)
	return err == nil
}

// readPoses returns the table and the function that makes a pose of a row.
func readPoses(in media.Payload) (table *timeseries.Series, pose func(v []float64) Pose, err error) {
	if table, err = timeseries.ReadTable(in.WholeLines()); err != nil {
		return nil, nil, err
	}
	if table.Channels != nil {
		columns, err := namedColumns(table.Channels, in.Metadata)
		return table, columns.pose, err
	}
	switch {
	case !strings.EqualFold(in.Metadata.Text("format"), "tum") && in.Type != typeTUM && !isTUM(table):
		return nil, nil, errors.New("the text is not a trajectory: it is not TUM, and no header names x and y")
	case table.Width != tumColumns:
		return nil, nil, fmt.Errorf("a line has %d numbers where a pose has %d", table.Width, tumColumns)
	}
	return table, func(v []float64) Pose { return Pose{&v[0], [3]float64(v[1:4]), (*[4]float64)(v[4:8])} }, nil
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
		if v[0] < before[0] || math.Abs(q[0]*q[0]+q[1]*q[1]+q[2]*q[2]+q[3]*q[3]-1) > 2*unitTolerance {
			return false
		}
	}
	return true
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
