package perception

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

var errNoHeader = errors.New("the header names more than, or less than, a position x, y and perhaps z, t, qx qy qz qw or yaw")

// firstLine is the first that is not blank and no comment.
func firstLine(data []byte) []byte {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return line
		}
	}
	return nil
}

const separators = " \t,;\r\n\v\f"

func startsWithNumber(line []byte) bool {
	word, _, _ := bytes.Cut(line, []byte(","))
	word, _ = nextWord(word)
	_, err := strconv.ParseFloat(string(word), 64)
	return err == nil
}

// numbers reads a line of numbers, width of them unless that is 0.
func numbers(line []byte, width int) ([]float64, error) {
	v := make([]float64, 0, max(width, tumColumns))
	for {
		line = bytes.TrimLeft(line, separators)
		if len(line) == 0 {
			break
		}
		end := bytes.IndexAny(line, separators)
		if end < 0 {
			end = len(line)
		}
		word := line[:end]
		line = line[end:]
		x, err := strconv.ParseFloat(string(word), 64)
		if err != nil {
			return nil, fmt.Errorf("has %q, which is no number", clean(string(word[:min(len(word), 4*maxNameRunes)]), maxNameRunes))
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

// namedColumns reads the header of a table of poses. Another column, or a unit
// that is no length, says that x and y are something else, a force for example.
func namedColumns(header []byte, metadata map[string]any) (poseColumns, error) {
	c := noColumns
	places := map[string]*int{
		"x": &c.x, "y": &c.y, "z": &c.z, "yaw": &c.yaw, "theta": &c.yaw, "heading": &c.yaw,
		"qx": &c.quaternion[0], "qy": &c.quaternion[1], "qz": &c.quaternion[2], "qw": &c.quaternion[3],
		"t": &c.time, "time": &c.time, "timestamp": &c.time, "stamp": &c.time,
	}
	if kind, ok := metadata["kind"].(string); ok && !strings.EqualFold(kind, "trajectory") {
		return c, fmt.Errorf("the metadata says that this is of kind %q", clean(kind, maxNameRunes))
	}
	if len(header) > 1024 {
		return c, errNoHeader
	}
	split := func(r rune) bool { return r == ',' || r == ';' || r == '\t' }
	if !bytes.ContainsAny(header, ",;\t") {
		split = func(r rune) bool { return r == ' ' }
	}
	for i, field := range strings.FieldsFunc(string(header), split) {
		name, unit := splitUnit(string(unquote([]byte(field))))
		name, suffix, _ := strings.Cut(strings.ToLower(name), "_")
		if unit == "" {
			unit = suffix
		}
		place, ok := places[name]
		if !ok || *place >= 0 {
			return c, errNoHeader
		}
		*place = i
		switch place {
		case &c.time:
			if c.secondsPer, ok = timeUnits[cmp.Or(unit, "s")]; !ok {
				return c, fmt.Errorf("the header gives the time in %q; there are s, ms, us and ns", clean(unit, maxNameRunes))
			}
		case &c.x, &c.y, &c.z:
			if unit != "" && unit != "m" {
				return c, fmt.Errorf("the header gives a position in %q; write metres", clean(unit, maxNameRunes))
			}
		}
	}
	if c.x < 0 || c.y < 0 {
		return c, errNoHeader
	}
	return c, nil
}

func (t *Trajectory) addColumns(v []float64, c poseColumns) {
	at := func(i int) (float64, bool) {
		if i < 0 || i >= len(v) {
			return 0, false
		}
		return v[i], true
	}
	x, hasX := at(c.x)
	y, hasY := at(c.y)
	z, _ := at(c.z)
	time, hasTime := at(c.time)
	if !hasX || !hasY {
		return
	}
	var q [4]float64
	turned := true
	for i := range q {
		value, ok := at(c.quaternion[i])
		q[i], turned = value, turned && ok
	}
	if yaw, ok := at(c.yaw); ok && !turned && finite(yaw) {
		q, turned = [4]float64{0, 0, math.Sin(yaw / 2), math.Cos(yaw / 2)}, true
	}
	t.add(time*c.secondsPer, hasTime, [3]float64{x, y, z}, q, turned)
}
