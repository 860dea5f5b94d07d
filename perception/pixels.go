package perception

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// typeRaw is the media type of uncompressed pixels, which nothing registered
// names. Their metadata says how to read them, in the terms of ROS's
// sensor_msgs/Image: width, height, encoding (rgb8, 32FC1, ...), step (bytes per
// row, none between rows by default) and is_bigendian. A .npy array whose kind
// is "image" or "depth" is read likewise, its header standing for metadata.
const typeRaw = "image/x-raw"

var pixelsFormat = format{
	name: "pixels",
	accepts: func(it Item) bool {
		return it.mediaType() == typeRaw || isPixelArray(it)
	},
	summarize: summarizePixels,
	features: func(it Item) (string, []float32, bool) {
		p, err := readPixels(it)
		if err != nil {
			return "", nil, false
		}
		return p.picture().features()
	},
	preview: func(it Item, o PreviewOptions) (*Preview, error) {
		p, err := readPixels(it)
		if err != nil {
			return nil, err
		}
		return p.picture().preview(o)
	},
	samples: pictureSamples,
}

// pixels is a frame as a camera driver hands it over. Nothing is copied: each
// pixel is read where it lies.
type pixels struct {
	width, height int
	encoding      string
	layout        pixelLayout
	step          int // bytes per row
	order         binary.ByteOrder
	data          []byte
}

// readPixels checks that the data is exactly what the metadata promises.
func readPixels(it Item) (pixels, error) {
	p, err := pixelsHeader(it)
	if err != nil {
		return p, err
	}
	if err := wholeItem(it); err != nil {
		return p, err
	}
	want := int64(p.step) * int64(p.height)
	if int64(len(p.data)) != want {
		return p, fmt.Errorf("%dx%d pixels of %s in rows of %d bytes are %d bytes; the data has %d",
			p.width, p.height, p.encoding, p.step, want, len(p.data))
	}
	return p, nil
}

func pixelsHeader(it Item) (p pixels, err error) {
	if isPixelArray(it) {
		return arrayPixels(it.Data)
	}
	p.data, p.order = it.Data, binary.LittleEndian
	if p.encoding, _ = it.Metadata["encoding"].(string); p.encoding == "" {
		return p, errors.New("metadata names no encoding of the pixels, such as rgb8 or 32FC1")
	}
	if p.layout, err = layoutOf(p.encoding); err != nil {
		return p, err
	}
	if p.width, err = metadataSide(it.Metadata, "width"); err != nil {
		return p, err
	}
	if p.height, err = metadataSide(it.Metadata, "height"); err != nil {
		return p, err
	}
	row := p.width * p.layout.bytes
	p.step = row
	if given, ok := it.Metadata["step"]; ok {
		step, ok := number(given)
		if !ok || step != math.Trunc(step) || step < float64(row) || step > maxStep {
			return p, fmt.Errorf("step is %v; a row of %d pixels of %s takes %d bytes at least, and %d are the limit", given, p.width, p.encoding, row, maxStep)
		}
		p.step = int(step)
	}
	if big, _ := number(it.Metadata["is_bigendian"]); big != 0 || it.Metadata["is_bigendian"] == true {
		p.order = binary.BigEndian
	}
	return p, nil
}

const (
	// maxSide is that of JPEG, and of any sensor in use.
	maxSide = 1<<16 - 1
	// maxStep is a row of the widest pixels, with room for padding.
	maxStep = 8 * maxSide
)

func metadataSide(metadata map[string]any, name string) (int, error) {
	v, ok := number(metadata[name])
	if !ok || v != math.Trunc(v) || v < 1 || v > maxSide {
		return 0, fmt.Errorf("metadata %s is %v; a whole number of pixels from 1 to %d is wanted", name, metadata[name], maxSide)
	}
	return int(v), nil
}

// isPixelArray says whether the caller takes the array for an image: from the
// bytes alone it might as well be a trace.
func isPixelArray(it Item) bool {
	kind, _ := it.Metadata["kind"].(string)
	return (kind == "image" || kind == "depth") && bytes.HasPrefix(it.Data, []byte(npyMagic))
}

// arrayPixels reads the header of an array of rows and columns, or of rows,
// columns and the three or four channels of a colour.
func arrayPixels(data []byte) (p pixels, err error) {
	h, err := parseNPY(data)
	if err != nil {
		return p, err
	}
	channels := 1
	if len(h.shape) == 3 {
		channels = h.shape[2]
	}
	element := strings.TrimLeft(h.descr, "<>=|")
	encodings := map[int]map[string]string{
		1: {"f4": "32FC1", "u2": "16UC1", "u1": "mono8"},
		3: {"u1": "rgb8"},
		4: {"u1": "rgba8"},
	}
	encoding, ok := encodings[channels][element]
	if !ok || h.fortran || len(h.shape) < 2 || len(h.shape) > 3 {
		return p, fmt.Errorf("the .npy array of shape %v and elements %s is not read as an image; "+
			"give float32, uint16 or uint8 by rows and columns, or uint8 with 3 or 4 channels, in C order", h.shape, h.descr)
	}
	p = pixels{width: h.shape[1], height: h.shape[0], encoding: encoding, order: binary.LittleEndian, data: h.rest}
	if slices.Min(h.shape) < 1 || max(p.width, p.height) > maxSide {
		return p, fmt.Errorf("the .npy image has %dx%d pixels; a side has 1 to %d", p.width, p.height, maxSide)
	}
	if h.descr[0] == '>' {
		p.order = binary.BigEndian
	}
	p.layout, err = layoutOf(encoding)
	p.step = p.width * p.layout.bytes
	return p, err
}

// summarizePixels writes "raw rgb8 image, 640x480, colour, brightness 0.42" or
// "raw 32FC1 depth image, 640x480, 0.42 to 3.1 m, 12% missing".
func summarizePixels(it Item) string {
	p, err := pixelsHeader(it)
	if err != nil {
		// Of an array another format may know more.
		if isPixelArray(it) {
			return ""
		}
		return "raw image, " + err.Error()
	}
	kind := "image"
	if isDepth(it) && p.layout.colour == nil {
		kind = "depth image"
	}
	s := "raw " + p.encoding + " " + kind + ", " + strconv.Itoa(p.width) + "x" + strconv.Itoa(p.height)
	if wholeItem(it) != nil {
		return s
	}
	if _, err := readPixels(it); err != nil {
		return s + ", of the wrong size: " + plural(uint64(len(p.data)), "byte") + " for " + thousands(uint64(p.step)*uint64(p.height))
	}
	return s + p.picture().words(p.unit(it))
}

// unit is what metadata says, else for a depth image of ROS what REP 118 does:
// floating point in metres, whole numbers in millimetres.
func (p pixels) unit(it Item) string {
	unit := unitOf(it)
	if unit != "" || !isDepth(it) || isPixelArray(it) {
		return unit
	}
	switch p.encoding {
	case "32FC1":
		return "m"
	case "16UC1":
		return "mm"
	}
	return ""
}
