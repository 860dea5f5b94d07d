package perception

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
)

// TUM is the format of the RGB-D benchmark of the TU München, KITTI that of the
// odometry benchmark of KIT and TTI Chicago.
const (
	typeTUM   = "text/x-tum"
	typeKITTI = "text/x-kitti"

	tumColumns   = 8
	kittiColumns = 12

	// sampledLines are looked at to tell either from another table; with the last.
	sampledLines = 50
	// unitTolerance is how far a quaternion or a column may be from length 1:
	// files hold four digits or more.
	unitTolerance = 1e-3
)

// poseColumns is where a line holds what; -1 nowhere.
type poseColumns struct {
	time, x, y, z, yaw int
	quaternion         [4]int
	secondsPer         float64 // unit of the time
}

var noColumns = poseColumns{-1, -1, -1, -1, -1, [4]int{-1, -1, -1, -1}, 1}

func (t *Trajectory) readText(it Item) error {
	data := wholeLines(it)
	if first := firstLine(data); !startsWithNumber(first) {
		columns, err := namedColumns(first, it.Metadata)
		if err != nil {
			return err
		}
		_, rest, _ := bytes.Cut(data[bytes.Index(data, first):], []byte("\n"))
		return t.readLines(rest, 0, func(v []float64) { t.addColumns(v, columns) })
	}
	switch width := textFormat(it, data); width {
	case tumColumns:
		return t.readLines(data, width, t.addTUM)
	case kittiColumns:
		return t.readLines(data, width, t.addKITTI)
	}
	return errors.New("the text is no trajectory: neither TUM nor KITTI, and no header names x and y")
}

// wholeLines is the text without a byte order mark; of the head of a payload the
// last line is cut anywhere, and left out.
func wholeLines(it Item) []byte {
	data := bytes.TrimPrefix(it.Data, []byte("\ufeff"))
	if onlyHead(it) {
		data = data[:bytes.LastIndexByte(data, '\n')+1]
	}
	return data
}

// isPoseText looks at the first line if it names columns, else at some lines.
func isPoseText(it Item) bool {
	data := wholeLines(it)
	first := firstLine(data)
	if startsWithNumber(first) {
		return textFormat(it, data) != 0
	}
	_, err := namedColumns(first, it.Metadata)
	return err == nil
}

// textFormat is the columns of what the text is, 0 for neither.
func textFormat(it Item, data []byte) int {
	declared, _ := it.Metadata["format"].(string)
	switch media := it.mediaType(); {
	case strings.EqualFold(declared, "tum") || media == typeTUM:
		return tumColumns
	case strings.EqualFold(declared, "kitti") || media == typeKITTI:
		return kittiColumns
	}
	// A stamp may come twice, but not be all there is.
	if first, last := looksLike(data, tumColumns, timesBeforeUnit); last != nil && last[0] > first[0] {
		return tumColumns
	}
	if _, last := looksLike(data, kittiColumns, isRotation); last != nil {
		return kittiColumns
	}
	return 0
}

// looksLike asks fits of the first lines, two at least, and of the last, each
// with the line before it (nil at first). It returns the first and the last
// line's numbers, nil if one does not fit.
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
		v, err := numbers(line, width)
		if err != nil || !fits(v, before) {
			return nil, nil
		}
		if first == nil {
			first = v
		}
		before = v
		lines++
	}
	if lines < minPoses {
		return nil, nil
	}
	return first, before
}

func timesBeforeUnit(v, before []float64) bool {
	q, ok := [4]float64(v[4:8]), before == nil || v[0] >= before[0]
	return ok && near(q[0]*q[0]+q[1]*q[1]+q[2]*q[2]+q[3]*q[3], 1, 2*unitTolerance)
}

func near(v, want, tolerance float64) bool { return math.Abs(v-want) <= tolerance }

// isRotation wants the left 3 by 3 of the matrix to have orthonormal columns and
// the determinant 1.
func isRotation(v, _ []float64) bool {
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
	return dot(cross(a, b), c) > 0
}

func dot(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

func (t *Trajectory) addTUM(v []float64) {
	t.add(v[0], true, [3]float64(v[1:4]), [4]float64(v[4:8]), true)
}

func (t *Trajectory) addKITTI(v []float64) {
	t.add(0, false, [3]float64{v[3], v[7], v[11]}, quaternionOf(v), true)
}

// quaternionOf turns the rotation of a KITTI line into x, y, z, w: the method of
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

// readLines reads a row of numbers per line, all as long as the first where
// width is 0; comments and blank lines are skipped.
func (t *Trajectory) readLines(data []byte, width int, f func(v []float64)) error {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		v, err := numbers(line, width)
		if err != nil {
			return fmt.Errorf("line %d %w", n, err)
		}
		width = len(v)
		f(v)
	}
	return nil
}
