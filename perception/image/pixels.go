package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/robotmem/robotmem-go/perception/internal/npy"
	"github.com/robotmem/robotmem-go/perception/media"
)

// AcceptsPixels reports whether the payload is raw pixels, or an array that the
// caller calls an image. The bytes of such an array could also be a trace.
func AcceptsPixels(in media.Payload) bool { return in.Type == media.TypePixels || isArray(in) }

func isArray(in media.Payload) bool {
	kind := in.Metadata.Text("kind")
	return (kind == "image" || kind == "depth") && bytes.HasPrefix(in.Data, []byte(media.NPYMagic))
}

// frame is the pixels of a frame, which are read where they are.
type frame struct {
	width, height int
	encoding      string
	layout        layout
	step          int // bytes per row
	order         binary.ByteOrder
	data          []byte
}

// OpenPixels returns the image of a payload that [AcceptsPixels] accepts: a frame as a camera driver
// delivers it, of the media type image/x-raw. The metadata says how to read it, in the terms of ROS's
// sensor_msgs/Image: width, height, encoding (rgb8, 32FC1, ...), step (bytes per row; the default has
// no gap between rows) and is_bigendian. A .npy array whose kind is "image" or "depth" is read
// likewise; its header replaces the metadata. The data has exactly the size that they claim.
func OpenPixels(in media.Payload) *Image {
	f, err := frameOf(in)

	i := &Image{isHead: in.IsHead()}
	switch want := int64(f.step) * int64(f.height); {
	case err != nil && isArray(in): // another format may be able to read it
	case err != nil:
		i.header = "raw image"
	default:
		kind, usual := " image, ", ""
		if isDepth(in) && f.layout.colour == nil {
			kind = " depth image, "
		}
		i.header = "raw " + f.encoding + kind + strconv.Itoa(f.width) + "x" + strconv.Itoa(f.height)
		// A depth image of ROS is what REP 118 says: metres in floating point, millimetres in whole numbers.
		if isDepth(in) && !isArray(in) {
			usual = map[string]string{"32FC1": "m", "16UC1": "mm"}[f.encoding]
		}
		i.unit = in.Metadata.Unit(usual)
		if err = in.Whole(); err == nil && int64(len(f.data)) != want {
			err = fmt.Errorf("%dx%d pixels of %s in rows of %d bytes are %d bytes; the data has %d",
				f.width, f.height, f.encoding, f.step, want, len(f.data))
		}
	}

	i.decode = sync.OnceValues(func() (picture, error) {
		if err != nil {
			return picture{}, err
		}
		return f.picture(), nil
	})

	return i
}

const (
	// maxSide is the limit of JPEG, and more than any sensor in use has.
	maxSide = 1<<16 - 1
	// maxStep is a row of the widest pixels, with room for padding.
	maxStep = 8 * maxSide
)

func frameOf(in media.Payload) (f frame, err error) {
	if isArray(in) {
		return arrayFrame(in.Data)
	}

	f.data, f.order = in.Data, in.Metadata.Order()
	if f.encoding = in.Metadata.Text("encoding"); f.encoding == "" {
		return f, errors.New("metadata names no encoding of the pixels, such as rgb8 or 32FC1")
	}
	if f.layout, err = layoutOf(f.encoding); err == nil {
		f.width, err = side(in, "width")
	}
	if err == nil {
		f.height, err = side(in, "height")
	}
	if err != nil {
		return f, err
	}

	// Camera drivers may pad rows, so step may be larger than the pixels of a row.
	row := f.width * f.layout.bytes
	f.step = row
	if given, ok := in.Metadata["step"]; ok {
		step, ok := media.Integer(given, maxStep)
		if !ok || step < int64(row) {
			return f, fmt.Errorf("step is %v; a row of %d pixels of %s takes at least %d bytes, and the limit is %d",
				given, f.width, f.encoding, row, maxStep)
		}
		f.step = int(step)
	}

	return f, nil
}

func side(in media.Payload, name string) (int, error) {
	n, ok := media.Integer(in.Metadata[name], maxSide)
	if !ok || n == 0 {
		return 0, fmt.Errorf("metadata %s is %v; give a whole number of pixels from 1 to %d", name, in.Metadata[name],
			maxSide)
	}
	return int(n), nil
}

// arrayFrame reads the header of an array of rows and columns, or of rows, columns
// and the three or four channels of a colour.
func arrayFrame(data []byte) (f frame, err error) {
	h, err := npy.Parse(data)
	if err != nil {
		return f, err
	}

	channels := 1
	if len(h.Shape) == 3 {
		channels = h.Shape[2]
	}

	encodings := map[int]map[string]string{
		1: {"f4": "32FC1", "u2": "16UC1", "u1": "mono8"},
		3: {"u1": "rgb8"},
		4: {"u1": "rgba8"},
	}
	typ, _ := npy.Lookup(h.Descr)
	encoding, ok := encodings[channels][typ.Code]
	if !ok || len(h.Shape) < 2 || len(h.Shape) > 3 {
		return f, fmt.Errorf("the .npy array of shape %v and elements %s is not read as an image; "+
			"give float32, uint16 or uint8 by rows and columns, or uint8 with 3 or 4 channels", h.Shape, h.Descr)
	}

	f = frame{width: h.Shape[1], height: h.Shape[0], encoding: encoding, order: typ.Order, data: h.Rest}
	if slices.Min(h.Shape) < 1 || max(f.width, f.height) > maxSide {
		return f, fmt.Errorf("the .npy image has %dx%d pixels; a side has 1 to %d", f.width, f.height, maxSide)
	}

	f.layout, err = layoutOf(encoding)
	f.step = f.width * f.layout.bytes

	return f, err
}

// layout is the arrangement of the bytes of a pixel: of a colour, or of one number.
type layout struct {
	bytes  int // per pixel
	colour func(f *frame, x, y int) color.RGBA64
	value  string // the type of the number
}

// layoutOf finds a layout by any name of its encoding in ROS's sensor_msgs/image_encodings. Bayer and
// 4:2:2 pictures are grey: of 4:2:2 the luma is read.
func layoutOf(encoding string) (layout, error) {
	layouts := map[string]layout{
		"mono8":       {1, channelsAt(0, 0, 0), ""},
		"rgb8":        {3, channelsAt(0, 1, 2), ""},
		"bgr8":        {3, channelsAt(2, 1, 0), ""},
		"rgba8":       {4, channelsAt(0, 1, 2), ""},
		"bgra8":       {4, channelsAt(2, 1, 0), ""},
		"mono16":      {2, nil, "u2"},
		"32FC1":       {4, nil, "f4"},
		"yuv422":      {2, channelsAt(1, 1, 1), ""},
		"yuv422_yuy2": {2, channelsAt(0, 0, 0), ""},
	}
	// The channels of OpenCV's types are blue, green and red.
	for alias, name := range map[string]string{"8UC1": "mono8", "8UC3": "bgr8", "8UC4": "bgra8", "16UC1": "mono16", "uyvy": "yuv422", "yuyv": "yuv422_yuy2",
		"bayer_rggb8": "mono8", "bayer_bggr8": "mono8", "bayer_gbrg8": "mono8", "bayer_grbg8": "mono8"} {
		layouts[alias] = layouts[name]
	}

	l, ok := layouts[encoding]
	if !ok {
		known := slices.Sorted(maps.Keys(layouts))
		return l, fmt.Errorf("pixels of encoding %q are not read; known are %s", media.Clean(encoding, media.MaxName),
			strings.Join(known, ", "))
	}

	return l, nil
}

// picture shows the frame through its layout. The data must have the size of the frame.
func (f frame) picture() picture {
	if f.layout.value == "" {
		return newPicture(&f)
	}
	typ, _ := npy.Lookup(f.layout.value)
	typ.Order = f.order
	// A value that is 0 or not finite is missing: REP 118 lets depth cameras write these where they see
	// nothing.
	at := func(x, y int) float64 {
		if v := typ.Float(f.data[y*f.step+typ.Size*x:]); v != 0 && media.Finite(v) {
			return v
		}
		return math.NaN()
	}

	return newPicture(newValues(f.width, f.height, at))
}

func (f *frame) ColorModel() color.Model        { return color.RGBA64Model }
func (f *frame) Bounds() image.Rectangle        { return image.Rect(0, 0, f.width, f.height) }
func (f *frame) At(x, y int) color.Color        { return f.RGBA64At(x, y) }
func (f *frame) RGBA64At(x, y int) color.RGBA64 { return f.layout.colour(f, x, y) }

// sample widens byte i of a row to 16 bits.
func (f *frame) sample(i, y int) uint16 { return uint16(f.data[y*f.step+i]) * 0x101 }

// channelsAt reads the bytes of one pixel. All pixels are opaque.
func channelsAt(red, green, blue int) func(*frame, int, int) color.RGBA64 {
	return func(f *frame, x, y int) color.RGBA64 {
		at := x * f.layout.bytes
		return color.RGBA64{f.sample(at+red, y), f.sample(at+green, y), f.sample(at+blue, y), math.MaxUint16}
	}
}
