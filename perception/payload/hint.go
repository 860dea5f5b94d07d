package payload

import (
	"bytes"
	"encoding/binary"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/internal/npy"
	"github.com/robotmem/robotmem-go/perception/internal/wav"
	"github.com/robotmem/robotmem-go/perception/media"
)

// Hint says which numbers a payload is made of. The zero value is unknown.
type Hint struct {
	Element   int // bytes of a number, 1 to 8
	Columns   int // numbers in a row, 1 to 4096
	Offset    int // bytes before the first row
	BigEndian bool
}

// row returns the bytes of a row.
func (h Hint) row() int { return h.Element * h.Columns }

// normal returns the hint with fewer bytes before the first row than a row has. ok is false if it
// is not within the ranges.
func (h Hint) normal() (_ Hint, ok bool) {
	if h.Element < 1 || h.Element > maxElement || h.Columns < 1 || h.Columns > maxColumns || h.Offset < 0 {
		return Hint{}, false
	}
	h.BigEndian = h.BigEndian && h.Element > 1
	h.Offset %= h.row()
	return h, true
}

// HintOf guesses which numbers a payload is made of: from its first bytes if they are the
// header of a NumPy .npy or a WAV file, and otherwise from the metadata:
//
//	dtype         "float32", "<f4", "uint16" and the like, of NumPy
//	shape         rows and columns, [1000, 6]
//	channels      the names of the columns
//	point_step    bytes of a point, of a ROS PointCloud2
//	encoding      "16UC1", "rgb8" and the like, of a ROS Image
//	is_bigendian  true or 1, of both
//
// Text has no hint. The media type may be "".
func HintOf(mediaType string, metadata map[string]any, head []byte) Hint {
	if strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "json") {
		return Hint{}
	}
	m := media.Metadata(metadata)
	h := Hint{Columns: 1, BigEndian: m.Order() == binary.BigEndian}
	switch {
	case bytes.HasPrefix(head, []byte(media.NPYMagic)):
		h = npyHint(head)
	case wav.Is(head):
		h = wavHint(head)
	case h.dtype(m.Text("dtype")):
		h.Columns = columns(m)
	case h.encoding(m.Text("encoding")):
	default:
		// Most fields of clouds have four bytes.
		if step, ok := media.Integer(m["point_step"], maxColumns); ok && step%4 == 0 {
			h.Element, h.Columns = 4, int(step)/4
		}
	}
	if _, ok := h.normal(); !ok {
		return Hint{}
	}
	return h
}

var imageName = regexp.MustCompile(`^(8|16|32|64)[USF]C([1-9][0-9]?)$|^(mono|rgb|bgr|rgba|bgra)(8|16)$`)

// dtype sets the hint from an element type.
func (h *Hint) dtype(text string) bool {
	t, ok := npy.Lookup(text)
	h.Element = t.Size
	h.BigEndian = t.Order == binary.BigEndian || h.BigEndian && !strings.ContainsAny(text, "<>")
	return ok
}

// encoding sets the hint from the pixel format of a sensor_msgs/Image.
func (h *Hint) encoding(text string) bool {
	m := imageName.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	bits, _ := strconv.Atoi(m[1] + m[4])
	h.Element = bits / 8
	if m[3] == "" {
		h.Columns, _ = strconv.Atoi(m[2])
	} else if m[3] != "mono" {
		h.Columns = len(m[3])
	}
	return true
}

// columns returns the numbers in a row of the shape, or otherwise the number of channels.
func columns(m media.Metadata) int {
	list, ok := m["shape"].([]any)
	if !ok {
		names, _ := m["channels"].([]any)
		return max(len(names), 1)
	}
	shape := make([]int, len(list))
	for i, v := range list {
		n, _ := media.Integer(v, math.MaxInt32)
		shape[i] = int(n)
	}
	return rowOf(shape)
}

// maxRow is the most numbers of one sample of a robot's sensor. In a larger array, such as
// a video, the last axis is the row.
const maxRow = 256

// rowOf returns the numbers in a row of an array: the product of all axes but the first.
func rowOf(shape []int) int {
	row := 1
	for i := 1; i < len(shape); i++ {
		if row *= shape[i]; row > maxRow {
			return shape[len(shape)-1]
		}
	}
	return row
}

func npyHint(head []byte) Hint {
	file, err := npy.Parse(head)
	h := Hint{Columns: 1, Offset: file.Start}
	if err != nil || !h.dtype(file.Descr) {
		return Hint{}
	}
	if !file.Fortran { // in Fortran order the columns already follow one another
		h.Columns = rowOf(file.Shape)
	}
	return h
}

// wavHint takes the channels as columns. A sample of 24 bits may take 3 or 4 bytes, so the
// size of a frame decides.
func wavHint(head []byte) Hint {
	file, err := wav.Parse(head)
	if err != nil || file.Code != wav.PCM && file.Code != wav.Float && file.Code != wav.Extensible {
		return Hint{}
	}
	return Hint{Element: file.Frame / file.Channels, Columns: file.Channels, Offset: file.Start}
}
