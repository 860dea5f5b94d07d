package trajectory

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
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

func (t *Trajectory) readText(in media.Payload) error {
	data := in.WholeLines()
	if first := firstLine(data); !startsWithNumber(first) {
		columns, err := namedColumns(first, in.Metadata)
		if err != nil {
			return err
		}
		_, rest, _ := bytes.Cut(data[bytes.Index(data, first):], []byte("\n"))
		return eachLine(rest, 0, func(v []float64) { t.Add(columns.pose(v)) })
	}
	switch textFormat(in, data) {
	case tumColumns:
		return eachLine(data, tumColumns, func(v []float64) {
			t.Add(Pose{&v[0], [3]float64(v[1:4]), (*[4]float64)(v[4:8])})
		})
	case kittiColumns:
		return eachLine(data, kittiColumns, func(v []float64) {
			q := quaternionOf(v)
			t.Add(Pose{nil, [3]float64{v[3], v[7], v[11]}, &q})
		})
	}
	return errors.New("the text is not a trajectory: it is neither TUM nor KITTI, and no header names x and y")
}

// isPoseText looks at the first line if it names columns, and otherwise at some lines.
func isPoseText(in media.Payload) bool {
	data := in.WholeLines()
	first := firstLine(data)
	if startsWithNumber(first) {
		return textFormat(in, data) != 0
	}
	_, err := namedColumns(first, in.Metadata)
	return err == nil
}

// firstLine returns the first line that is neither blank nor a comment.
func firstLine(data []byte) []byte {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return line
		}
	}
	return nil
}

func startsWithNumber(line []byte) bool {
	if end := bytes.IndexAny(line, " \t\r\n\v\f,"); end >= 0 {
		line = line[:end]
	}
	_, err := strconv.ParseFloat(string(line), 64)
	return err == nil
}

// textFormat returns the columns of the format that the text is in, 0 for neither.
func textFormat(in media.Payload, data []byte) int {
	declared := in.Metadata.Text("format")
	switch {
	case strings.EqualFold(declared, "tum") || in.Type == typeTUM:
		return tumColumns
	case strings.EqualFold(declared, "kitti") || in.Type == typeKITTI:
		return kittiColumns
	}
	// A time may come twice, but not in all lines.
	if first, last := looksLike(data, tumColumns, isTUM); last != nil && last[0] > first[0] {
		return tumColumns
	}
	if _, last := looksLike(data, kittiColumns, isKITTI); last != nil {
		return kittiColumns
	}
	return 0
}

// looksLike checks the first lines, at least two, and the last one, each with the line
// before it (nil for the first). It returns the numbers of the first and the last line,
// and nil if a line does not fit.
func looksLike(data []byte, width int, fits func(v, before []float64) bool) (first, final []float64) {
	body := bytes.TrimSpace(data)
	last := body[bytes.LastIndexByte(body, '\n')+1:]
	lines := 0
	var before []float64
	for len(body) > 0 {
		line, rest, _ := bytes.Cut(body, []byte("\n"))
		if lines == sampledLines {
			line, rest = last, nil
		}
		body = rest
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		v, err := parseLine(line, width)
		if err != nil || !fits(v, before) {
			return nil, nil
		}
		if first == nil {
			first = v
		}
		before = v
		lines++
	}
	if lines < MinPoses {
		return nil, nil
	}
	return first, before
}

// isTUM needs a time that does not fall and a quaternion of length 1.
func isTUM(v, before []float64) bool {
	q, ok := v[4:8], before == nil || v[0] >= before[0]
	return ok && near(q[0]*q[0]+q[1]*q[1]+q[2]*q[2]+q[3]*q[3], 1, 2*unitTolerance)
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

// eachLine calls f with the numbers of each line, all as long as the first if width is
// 0. Comments and blank lines are skipped.
func eachLine(data []byte, width int, f func(v []float64)) error {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		v, err := parseLine(line, width)
		if err != nil {
			return fmt.Errorf("line %d %w", n, err)
		}
		width = len(v)
		f(v)
	}
	return nil
}

func isSeparator(r rune) bool { return r == ' ' || r == ',' || r == ';' || '\t' <= r && r <= '\r' }

// parseLine reads a line of numbers, which must be width unless that is 0.
func parseLine(line []byte, width int) ([]float64, error) {
	v := make([]float64, 0, max(width, tumColumns))
	for word := range bytes.FieldsFuncSeq(line, isSeparator) {
		x, err := strconv.ParseFloat(string(word), 64)
		if err != nil {
			return nil, fmt.Errorf("has %q, which is not a number", media.CleanWord(word))
		}
		if len(v) == kittiColumns+tumColumns {
			return nil, fmt.Errorf("has more than %d numbers", len(v))
		}
		v = append(v, x)
	}
	if width != 0 && len(v) != width {
		return nil, fmt.Errorf("has %d numbers where a pose has %d", len(v), width)
	}
	return v, nil
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
func namedColumns(header []byte, metadata media.Metadata) (columns, error) {
	c := columns{-1, -1, -1, -1, -1, [4]int{-1, -1, -1, -1}, 1}
	places := map[string]*int{
		"x": &c.x, "y": &c.y, "z": &c.z, "yaw": &c.yaw, "theta": &c.yaw, "heading": &c.yaw,
		"qx": &c.quaternion[0], "qy": &c.quaternion[1], "qz": &c.quaternion[2], "qw": &c.quaternion[3],
		"t": &c.time, "time": &c.time, "timestamp": &c.time, "stamp": &c.time,
	}
	if _, ok := metadata["kind"].(string); ok && !metadata.IsKind("trajectory") {
		return c, fmt.Errorf("the metadata says that this is of kind %q", media.Clean(metadata.Text("kind"), media.MaxName))
	}
	const maxHeader = 1024 // bytes
	if len(header) > maxHeader {
		return c, errHeader
	}
	split := func(r rune) bool { return r == ',' || r == ';' || r == '\t' }
	if !bytes.ContainsAny(header, ",;\t") {
		split = func(r rune) bool { return r == ' ' }
	}
	for i, field := range strings.FieldsFunc(string(header), split) {
		name, unit := timeseries.SplitUnit(string(timeseries.Unquote([]byte(field))))
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

// pose returns the pose of a line. A line that is too short has no position.
func (c columns) pose(v []float64) (p Pose) {
	at := func(i int) *float64 {
		if i < 0 || i >= len(v) {
			return nil
		}
		return &v[i]
	}
	x, y := at(c.x), at(c.y)
	if x == nil || y == nil {
		return Pose{Position: [3]float64{math.NaN()}}
	}
	p.Position[0], p.Position[1] = *x, *y
	if z := at(c.z); z != nil {
		p.Position[2] = *z
	}
	if t := at(c.time); t != nil {
		p.Time = new(*t * c.secondsPer)
	}
	q, whole := [4]float64{}, true
	for i, column := range c.quaternion {
		value := at(column)
		if whole = whole && value != nil; whole {
			q[i] = *value
		}
	}
	if yaw := at(c.yaw); yaw != nil && !whole && media.Finite(*yaw) {
		q, whole = [4]float64{0, 0, math.Sin(*yaw / 2), math.Cos(*yaw / 2)}, true
	}
	if whole {
		p.Orientation = &q
	}
	return p
}
