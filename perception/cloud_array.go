package perception

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// openPointCloud2 reads the data of a sensor_msgs/PointCloud2; metadata holds
// the rest of the message under the message's own names.
func openPointCloud2(it Item) (*cloudFile, error) {
	sizes := map[string]int64{}
	for _, key := range []string{"point_step", "width", "height", "row_step"} {
		v, given := it.Metadata[key]
		n, ok := number(v)
		if !ok && !given && key == "row_step" {
			n, ok = float64(sizes["width"]*sizes["point_step"]), true
		}
		if !ok && !given && key == "height" {
			n, ok = 1, true
		}
		if !ok || n < 0 || n > math.MaxInt32 || n != math.Trunc(n) {
			return nil, fmt.Errorf("the metadata of a PointCloud2 needs %s, a whole number from 0 to %d", key, math.MaxInt32)
		}
		sizes[key] = int64(n)
	}
	r := records{
		data: it.Data, order: binary.LittleEndian, width: sizes["width"], height: sizes["height"], rowStep: sizes["row_step"],
		stride: func(cloudField) int { return int(sizes["point_step"]) },
	}
	if big, _ := it.Metadata["is_bigendian"].(bool); big {
		r.order = binary.BigEndian
	}
	f := &cloudFile{what: "point cloud", form: "PointCloud2", points: r.width * r.height}
	if f.points > math.MaxInt32 {
		return nil, errPointCount
	}
	if r.rowStep < r.width*sizes["point_step"] {
		return nil, fmt.Errorf("row_step %d is less than %d points of %d bytes", r.rowStep, r.width, sizes["point_step"])
	}
	var err error
	if f.fields, err = pointFields(it.Metadata["fields"], sizes["point_step"]); err != nil {
		return nil, err
	}
	f.each = func(yield func(*pointValues)) error {
		if f.points == 0 {
			return nil
		}
		// The last row may end with its last point. Both terms are below 2^62.
		if need := (r.height-1)*r.rowStep + r.width*sizes["point_step"]; need > int64(len(r.data)) {
			return fmt.Errorf("the %d points need %d bytes; %d are there", f.points, need, len(r.data))
		}
		r.each(f.fields, yield)
		return nil
	}
	return f, nil
}

func pointFields(given any, step int64) ([]cloudField, error) {
	list, ok := given.([]any)
	if !ok || len(list) > maxCloudFields {
		return nil, fmt.Errorf("the metadata of a PointCloud2 needs fields, a list of at most %d objects", maxCloudFields)
	}
	fields := make([]cloudField, len(list))
	for i, e := range list {
		o, _ := e.(map[string]any)
		name, _ := o["name"].(string)
		offset, isOffset := number(o["offset"])
		code, isCode := number(o["datatype"])
		count, isCount := number(o["count"])
		if !isCount && o["count"] == nil {
			count, isCount = 1, true
		}
		if name == "" || !isOffset || !isCode || !isCount ||
			!(code >= 1 && code <= float64(kindFloat64)) || !(count >= 0 && count <= maxFieldCount) || !(offset >= 0 && offset <= float64(step)) {
			return nil, fmt.Errorf("PointCloud2 field %d needs a name, an offset within the point, a datatype from 1 to 8 and a count from 0 to %d", i+1, maxFieldCount)
		}
		fields[i] = cloudField{name: name, kind: numberKind(code), count: int(count), offset: int(offset)}
		if int64(fields[i].offset+fields[i].bytes()) > step {
			return nil, fmt.Errorf("PointCloud2 field %q ends beyond the point of %d bytes", clean(name, maxNameRunes), step)
		}
	}
	return fields, assign(fields)
}

// isNPYCloud is true of an array that metadata calls a cloud: three columns of
// numbers may be anything.
func isNPYCloud(it Item) bool {
	kind, _ := it.Metadata["kind"].(string)
	return strings.EqualFold(kind, "cloud") && bytes.HasPrefix(it.Data, []byte(npyMagic))
}

var npyKinds = map[string]numberKind{
	"i1": kindInt8, "u1": kindUint8, "i2": kindInt16, "u2": kindUint16, "i4": kindInt32, "u4": kindUint32,
	"i8": kindInt64, "u8": kindUint64, "f4": kindFloat32, "f8": kindFloat64,
}

func openNPYCloud(it Item) (*cloudFile, error) {
	h, err := parseNPY(it.Data)
	if err != nil {
		return nil, err
	}
	kind, ok := npyKinds[strings.TrimLeft(h.descr, "<>=|")]
	if !ok {
		return nil, fmt.Errorf("the .npy element type %s is no number of 1 to 8 bytes", clean(h.descr, maxNameRunes))
	}
	if len(h.shape) != 2 || h.shape[1] != 3 && h.shape[1] != 4 {
		return nil, errors.New("a point cloud as a .npy array is N by 3 (x y z) or N by 4 (x y z intensity)")
	}
	f := &cloudFile{what: "point cloud", form: "array of " + clean(h.descr, maxNameRunes), points: int64(h.shape[0])}
	r := records{data: h.rest, order: binary.LittleEndian, width: f.points, height: 1}
	if h.descr[0] == '>' {
		r.order = binary.BigEndian
	}
	// In Fortran order a column is one block.
	step, stride := kind.size(), kind.size()*h.shape[1]
	if h.fortran {
		step, stride = kind.size()*h.shape[0], kind.size()
	}
	r.stride = func(cloudField) int { return stride }
	for i, name := range []string{"x", "y", "z", "intensity"}[:h.shape[1]] {
		f.fields = append(f.fields, cloudField{name: name, kind: kind, count: 1, offset: i * step})
	}
	f.each = func(yield func(*pointValues)) error {
		if need := f.points * int64(h.shape[1]*kind.size()); need > int64(len(h.rest)) {
			return fmt.Errorf("the %d points need %d bytes; %d are there", f.points, need, len(h.rest))
		}
		r.each(f.fields, yield)
		return nil
	}
	return f, assign(f.fields)
}
