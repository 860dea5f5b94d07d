package payload

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// HintOf guesses which numbers a payload is made of: from its first bytes if
// they are a NumPy .npy or a WAV header, and else from what the metadata say of
// plain bytes. Those are
//
//	dtype         "float32", "<f4", "uint16" and the like, of NumPy
//	shape         rows and columns, [1000, 6]
//	channels      the columns, as names or as their number
//	point_step    bytes of a point, of a ROS PointCloud2
//	encoding      "16UC1", "rgb8" and the like, of a ROS Image
//	is_bigendian  true or 1, of both
//
// Text and formats that are compressed have no hint. A media type need not be
// given.
func HintOf(mediaType string, metadata map[string]any, head []byte) Hint {
	if compressed(head) || strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "json") {
		return Hint{}
	}
	if h, ok := npyHint(head); ok {
		return h
	}
	if h, ok := wavHint(head); ok {
		return h
	}
	h := Hint{Columns: 1, BigEndian: truth(metadata["is_bigendian"])}
	switch {
	case h.dtype(metadata["dtype"]):
		if n, ok := columns(metadata); ok {
			h.Columns *= n
		}
	case h.encoding(metadata["encoding"]):
	case h.point(metadata["point_step"]):
	default:
		return Hint{}
	}
	return h.orNone()
}

// orNone gives up a hint that is out of range.
func (h Hint) orNone() Hint {
	if _, ok := h.array(); !ok {
		return Hint{}
	}
	return h
}

var (
	dtypeCode = regexp.MustCompile(`^([<>=|]?)([fiucbmM])([0-9]{1,2})(?:\[[a-z0-9]+\])?$`)
	dtypeName = regexp.MustCompile(`^(?:float|u?int|(complex))(8|16|32|64|128)$`)
	imageName = regexp.MustCompile(`^(8|16|32|64)[USF]C([1-9][0-9]?)$|^(mono|rgb|bgr|rgba|bgra)(8|16)$`)
)

// dtype takes in an element type, of which a complex number has two.
func (h *Hint) dtype(given any) bool {
	text, _ := given.(string)
	if m := dtypeCode.FindStringSubmatch(text); m != nil {
		h.Element, _ = strconv.Atoi(m[3])
		if m[2] == "c" {
			h.Element, h.Columns = h.Element/2, 2*h.Columns
		}
		h.BigEndian = m[1] == ">" || m[1] != "<" && h.BigEndian
		return true
	}
	m := dtypeName.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	bits, _ := strconv.Atoi(m[2])
	h.Element = bits / 8
	if m[1] != "" {
		h.Element, h.Columns = h.Element/2, 2*h.Columns
	}
	return true
}

// encoding takes in the pixels of sensor_msgs/Image.
func (h *Hint) encoding(given any) bool {
	text, _ := given.(string)
	m := imageName.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	bits, _ := strconv.Atoi(m[1] + m[4])
	h.Element = bits / 8
	switch m[3] {
	case "":
		h.Columns, _ = strconv.Atoi(m[2])
	case "mono":
	default:
		h.Columns = len(m[3])
	}
	return true
}

// point takes in the step of a cloud, whose fields are mostly of four bytes.
func (h *Hint) point(given any) bool {
	step, ok := whole(given)
	if !ok || step < 1 || step > maxColumns {
		return false
	}
	for _, element := range []int{4, 2, 1} {
		if step%element == 0 {
			h.Element, h.Columns = element, step/element
			return true
		}
	}
	return false
}

// columns are those of the shape, or else of the channels.
func columns(metadata map[string]any) (int, bool) {
	if list, ok := metadata["shape"].([]any); ok {
		shape := make([]int, len(list))
		for i, n := range list {
			if shape[i], ok = whole(n); !ok {
				return 0, false
			}
		}
		return rowOf(shape), true
	}
	if list, ok := metadata["channels"].([]any); ok {
		return len(list), len(list) > 0
	}
	return whole(metadata["channels"])
}

// maxRow is the most numbers that are taken for one sample of a robot; of a
// larger array, such as a film, the last axis is the row.
const maxRow = 256

// rowOf is how many numbers a row of an array has: all axes but the first.
func rowOf(shape []int) int {
	if len(shape) < 2 {
		return 1
	}
	row := 1
	for _, n := range shape[1:] {
		if n < 1 || n > maxColumns {
			return 1
		}
		row *= n
		if row > maxRow {
			return shape[len(shape)-1]
		}
	}
	return row
}

func whole(v any) (int, bool) {
	f, ok := v.(float64)
	switch v := v.(type) {
	case int:
		f, ok = float64(v), true
	case int64:
		f, ok = float64(v), true
	case json.Number:
		n, err := v.Float64()
		f, ok = n, err == nil
	}
	return int(min(max(f, 0), math.MaxInt32)), ok && f == math.Trunc(f) && f > 0
}

func truth(v any) bool {
	if b, ok := v.(bool); ok {
		return b
	}
	_, ok := whole(v)
	return ok
}

const npyMagic = "\x93NUMPY"

var (
	npyDescr   = regexp.MustCompile(`'descr'\s*:\s*'([^']{1,16})'`)
	npyFortran = regexp.MustCompile(`'fortran_order'\s*:\s*True`)
	npyShape   = regexp.MustCompile(`'shape'\s*:\s*\(([0-9, ]{0,200})\)`)
)

// npyHint reads the header of NumPy enhancement proposal 1: magic, version (2
// bytes), length of the dict (2 bytes, from version 2 on 4), the dict as text.
func npyHint(head []byte) (Hint, bool) {
	const prefix = len(npyMagic) + 2
	if len(head) < prefix+4 || string(head[:len(npyMagic)]) != npyMagic {
		return Hint{}, false
	}
	start, size := prefix+2, int64(binary.LittleEndian.Uint16(head[prefix:]))
	if head[len(npyMagic)] > 1 {
		start, size = prefix+4, int64(binary.LittleEndian.Uint32(head[prefix:]))
	}
	if size > int64(len(head)-start) {
		return Hint{}, true
	}
	dict := head[start : start+int(size)]
	descr, shape := npyDescr.FindSubmatch(dict), npyShape.FindSubmatch(dict)
	h := Hint{Columns: 1, Offset: start + int(size)}
	if descr == nil || shape == nil || !h.dtype(string(descr[1])) {
		return Hint{}, true // of structures or objects
	}
	var axes []int
	for part := range strings.SplitSeq(string(shape[1]), ",") {
		if n, err := strconv.Atoi(strings.TrimSpace(part)); err == nil {
			axes = append(axes, n)
		}
	}
	if !npyFortran.Match(dict) { // there, the columns follow one another already
		h.Columns *= rowOf(axes)
	}
	return h.orNone(), true
}

// wavHint reads the chunks of a RIFF file as far as its sound. The columns are
// its channels.
func wavHint(head []byte) (Hint, bool) {
	if len(head) < 12 || string(head[:4]) != "RIFF" || string(head[8:12]) != "WAVE" {
		return Hint{}, false
	}
	var h Hint
	for at := 12; at+8 <= len(head); {
		name, size := string(head[at:at+4]), int64(binary.LittleEndian.Uint32(head[at+4:]))
		at += 8
		if name == "data" {
			h.Offset = at
			return h.orNone(), true
		}
		if size > int64(len(head)-at) {
			break
		}
		if name == "fmt " && size >= 16 {
			format := binary.LittleEndian.Uint16(head[at:])
			h.Columns = int(binary.LittleEndian.Uint16(head[at+2:]))
			// The bytes of a frame over the channels: 24 bits may take 3 or 4.
			h.Element = int(binary.LittleEndian.Uint16(head[at+12:])) / max(h.Columns, 1)
			if format != 1 && format != 3 && format != 0xFFFE { // PCM, float, extensible
				return Hint{}, true
			}
		}
		at += int(size + size&1)
	}
	return Hint{}, true
}
