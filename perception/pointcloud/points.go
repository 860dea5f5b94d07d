package pointcloud

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/robotmem/robotmem-go/perception/internal/npy"
	"github.com/robotmem/robotmem-go/perception/media"
)

const (
	// maxFields and maxFieldCount are far beyond any cloud: the largest descriptor in
	// use (VFH) has 308 values.
	maxFields     = 256
	maxFieldCount = 1 << 16
)

var errPointCount = fmt.Errorf("the number of points is not from 0 to %d", math.MaxInt32)

type field struct {
	name   string
	typ    npy.Type
	count  int // values per point
	offset int // bytes, or words, before the field in the first point
	slot   slot
}

func newField(name, code string, order binary.ByteOrder) field {
	f := field{name: name, count: 1, slot: unused}
	f.typ, _ = npy.Lookup(code)
	f.typ.Order = order
	return f
}

func (f field) bytes() int { return f.typ.Size * f.count }

// each calls yield with every point in order. The values are valid until yield returns.
func (s *source) each(yield func(*values)) error {
	used := slices.DeleteFunc(slices.Clone(s.fields), func(f field) bool { return f.slot == unused })
	if s.walk != nil {
		return s.walk(yield)
	}
	if s.isText {
		return s.eachLine(used, yield)
	}

	if s.unpack != nil {
		data, err := s.unpack()
		if err != nil {
			return err
		}
		s.data, s.unpack, s.width, s.height = data, nil, s.points, 1
	}

	// Checked once here, so that the loop below can slice without checks.
	if s.need > int64(len(s.data)) {
		return fmt.Errorf("the %d points need %d bytes; %d are there", s.points, s.need, len(s.data))
	}

	for i, f := range used {
		// A packed colour is the bits of a float, which need not be a number.
		if f.slot == slotColor && f.typ.Size == 4 {
			used[i].typ = newField("", "u4", f.typ.Order).typ
		}
	}

	var v values

	for row := range s.height {
		for column := range s.width {
			for i := range used {
				at := row*s.rowStep + column*s.stride + int64(used[i].offset)
				v[used[i].slot] = used[i].typ.Float(s.data[at:])
			}
			yield(&v)
		}
	}

	return nil
}

// eachLine reads a point of each line. It skips blank lines.
func (s *source) eachLine(used []field, yield func(*values)) error {
	n, v := int64(0), values{}
	for line := range bytes.Lines(s.data) {
		// The header counts the points. What follows them is ignored.
		if n == s.points {
			return nil
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		n++
		if err := readLine(line, used, s.stride, &v); err != nil {
			return fmt.Errorf("point %d: %w", n, err)
		}
		yield(&v)
	}

	if n < s.points {
		return fmt.Errorf("the data ends within point %d of %d", n+1, s.points)
	}

	return nil
}

// readLine reads the fields that are used of a line of so many words.
func readLine(line []byte, used []field, words int64, v *values) error {
	at := int64(0)
	for word := range bytes.FieldsSeq(line) {
		if len(used) > 0 && at == int64(used[0].offset) {
			value, err := strconv.ParseFloat(string(word), 64)
			if err != nil && !errors.Is(err, strconv.ErrRange) {
				return fmt.Errorf("%q is not a number", media.Clean(string(word), media.MaxName))
			}
			v[used[0].slot], used = value, used[1:]
		}
		at++
	}
	if at < words {
		return errors.New("the line has fewer values than fields")
	}

	return nil
}

// openPointCloud2 reads the data of a sensor_msgs/PointCloud2. Metadata holds the rest
// of the message under the message's own names.
func openPointCloud2(in media.Payload) (*source, error) {
	sizes := map[string]int64{"height": 1}

	for _, key := range []string{"point_step", "width", "height", "row_step"} {
		// The default needs the width and point_step, which come before it in this list.
		if key == "row_step" {
			sizes[key] = sizes["width"] * sizes["point_step"]
		}
		given, isGiven := in.Metadata[key]
		if _, optional := sizes[key]; optional && !isGiven {
			continue
		}
		n, ok := media.Integer(given, math.MaxInt32)
		if !ok {
			return nil, fmt.Errorf("the metadata of a PointCloud2 needs %s, a whole number from 0 to %d", key,
				math.MaxInt32)
		}
		sizes[key] = n
	}

	f := &source{
		form: "PointCloud2", data: in.Data,
		width: sizes["width"], height: sizes["height"], rowStep: sizes["row_step"], stride: sizes["point_step"],
	}
	if f.points = f.width * f.height; f.points > math.MaxInt32 {
		return nil, errPointCount
	}
	if f.rowStep < f.width*f.stride {
		return nil, fmt.Errorf("row_step %d is less than %d points of %d bytes", f.rowStep, f.width, f.stride)
	}
	// The last row may end with its last point; both terms are below 2^62.
	if f.points > 0 {
		f.need = (f.height-1)*f.rowStep + f.width*f.stride
	}

	var err error
	f.fields, err = pointFields(in.Metadata["fields"], f.stride, in.Metadata.Order())

	return f, err
}

// datatypes are the types by the codes of sensor_msgs/PointField, from 1.
var datatypes = []string{"i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"}

func pointFields(given any, step int64, order binary.ByteOrder) ([]field, error) {
	list, ok := given.([]any)
	if !ok || len(list) > maxFields {
		return nil, fmt.Errorf("the metadata of a PointCloud2 needs fields, a list of at most %d objects", maxFields)
	}

	fields := make([]field, len(list))
	for i, e := range list {
		o, _ := e.(map[string]any)
		name, _ := o["name"].(string)
		offset, isOffset := media.Integer(o["offset"], step)
		code, isCode := media.Integer(o["datatype"], int64(len(datatypes)))
		count, isCount := media.Integer(o["count"], maxFieldCount)
		if o["count"] == nil {
			count, isCount = 1, true
		}
		if name == "" || !isOffset || !isCode || code == 0 || !isCount {
			return nil, fmt.Errorf("PointCloud2 field %d needs a name, an offset within the point, a datatype from 1 to %d and a count from 0 to %d", i+1, len(datatypes), maxFieldCount)
		}
		fields[i] = newField(name, datatypes[code-1], order)
		fields[i].count, fields[i].offset = int(count), int(offset)
		if int64(fields[i].offset+fields[i].bytes()) > step {
			return nil, fmt.Errorf("PointCloud2 field %q ends beyond the point of %d bytes",
				media.Clean(name, media.MaxName), step)
		}
	}

	return fields, assign(fields)
}

func openArray(in media.Payload) (*source, error) {
	h, err := npy.Parse(in.Data)
	if err != nil {
		return nil, err
	}

	typ, ok := npy.Lookup(h.Descr)
	if !ok || typ.Code == "b1" || typ.Code == "f2" {
		return nil, fmt.Errorf("the .npy element type %s is not read as a coordinate",
			media.Clean(h.Descr, media.MaxName))
	}
	if len(h.Shape) != 2 || h.Shape[1] != 3 && h.Shape[1] != 4 {
		return nil, errors.New("a point cloud as a .npy array is N by 3 (x y z) or N by 4 (x y z intensity)")
	}

	rows, columns := h.Shape[0], h.Shape[1]
	f := &source{
		form: "array of " + media.Clean(h.Descr, media.MaxName), points: int64(rows), data: h.Rest, width: int64(rows),
		height: 1,
	}
	f.stride = int64(columns * typ.Size)

	f.need = f.points * f.stride
	for i, name := range []string{"x", "y", "z", "intensity"}[:columns] {
		f.fields = append(f.fields, field{name: name, typ: typ, count: 1, offset: i * typ.Size})
	}

	return f, assign(f.fields)
}
