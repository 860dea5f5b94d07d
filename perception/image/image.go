// Package image reads pictures: PNG, JPEG, WebP, TIFF and, as still pictures, GIF files with [Open], and the frames of a camera
// driver with [OpenPixels]. An [Image] makes a summary, features and a preview. A picture has
// colours, or one value per pixel, such as the distances of a depth camera.
//
// Most tests of this package are those of package perception, through its API.
package image

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // the formats that are decoded
	_ "image/jpeg"
	_ "image/png"
	"strconv"
	"sync"

	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"

	"github.com/robotmem/robotmem-go/perception/media"
)

// Image is a picture file or a frame of raw pixels. The pixels are decoded once, when they are needed.
type Image struct {
	header string // the summary of the header, "" if it is damaged
	isHead bool   // only the first bytes are here
	unit   string // of the values
	decode func() (picture, error)
}

const (
	pngMagic  = "\x89PNG\r\n\x1a\n"
	jpegMagic = "\xff\xd8\xff"
	// progressiveFrame is the marker of a progressive JPEG. It cannot occur in compressed pixels.
	progressiveFrame = "\xff\xc2"
)

// Accepts reports whether the payload begins as a file of a format that is decoded.
func Accepts(in media.Payload) bool { return formatOf(in.Data) != "" }

// formatOf returns the format that the first bytes prove, or "".
func formatOf(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte(pngMagic)):
		return "png"
	case bytes.HasPrefix(data, []byte(jpegMagic)):
		return "jpeg"
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return "webp"
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return "gif"
	case bytes.HasPrefix(data, []byte("II*\x00")), bytes.HasPrefix(data, []byte("MM\x00*")):
		return "tiff"
	}

	return ""
}

type header struct {
	format string
	image.Config
}

func readHeader(data []byte) (h header, err error) {
	h.format = formatOf(data)
	h.Config, _, err = image.DecodeConfig(bytes.NewReader(data))
	if err == nil && (h.Width <= 0 || h.Height <= 0) {
		err = errors.New("one of its sides has no pixels")
	}
	if err != nil {
		return h, fmt.Errorf("the header of the %s image is damaged: %w", h.format, err)
	}

	return h, nil
}

// picture is a decoded image. Its grid serves the summary and the features.
type picture struct {
	image.RGBA64Image
	grid   func() *grid
	values *values // the image itself, if it has one value per pixel
}

func newPicture(img image.RGBA64Image) picture {
	p := picture{RGBA64Image: img, grid: sync.OnceValue(func() *grid { return gridOf(img) })}
	p.values, _ = img.(*values)
	return p
}

// Open returns the image of a payload that [Accepts] accepts.
func Open(in media.Payload) *Image {
	h, err := readHeader(in.Data)
	i := &Image{isHead: in.IsHead(), unit: in.Metadata.Unit("")}
	if err == nil {
		i.header = h.summary(isDepth(in))
	}
	// Only the summary of the header is certain to be needed. Decoding waits until pixels are asked for.
	i.decode = sync.OnceValues(func() (picture, error) {
		if err := cmp.Or(err, in.Whole()); err != nil {
			return picture{}, err
		}
		return decode(in.Data, h)
	})

	return i
}

func (h header) summary(depth bool) string {
	size := ", " + strconv.Itoa(h.Width) + "x" + strconv.Itoa(h.Height)
	if h.ColorModel != color.Gray16Model {
		return "image/" + h.format + " image" + size
	}
	// Depth cameras deliver 16-bit grey. Only the caller knows that it is depth.
	kind := map[bool]string{false: " image", true: " depth image"}[depth]

	return "image/" + h.format + kind + size + ", 16-bit grey"
}

func isDepth(in media.Payload) bool { return in.Metadata.Text("kind") == "depth" }

// Summary returns "image/png image, 640x480, colour, brightness 0.42", "raw rgb8 image, 640x480,
// colour, brightness 0.42" or "raw 32FC1 depth image, 640x480, 0.42 to 3.1 m, 12% missing". If the
// pixels cannot be read, it says what the header says, and why.
func (i *Image) Summary() string {
	if i.header == "" || i.isHead {
		return i.header
	}

	p, err := i.decode()
	switch {
	case err != nil:
		return i.header + ", not read: " + err.Error()
	case p.values != nil:
		return i.header + p.values.stats().words(i.unit)
	}

	return i.header + p.grid().words()
}

// Features returns a vector of the kind image/v2 or depth/v2.
func (i *Image) Features() (kind string, vector []float32, ok bool) {
	switch p, err := i.decode(); {
	case err != nil || p.values != nil && p.values.stats().count == 0:
		return "", nil, false
	case p.values != nil:
		return depthKind, p.grid().features(), true
	default:
		return imageKind, p.grid().features(), true
	}
}

// Samples returns an error: a picture has no samples. So an array of pixels is not read as a trace.
func (i *Image) Samples(media.SamplesOptions) (*media.Samples, error) {
	return nil, fmt.Errorf("%w in a picture; preview shows it", media.ErrNoSamples)
}

const (
	// maxPixels is 64 megapixels, 8192 by 8192.
	maxPixels = 64 << 20
	// A picture is decoded if that takes at most decodeFloor bytes, enough for a
	// frame of 4K, or decodeFactor times its own size: a blank picture of 64
	// megapixels comes in a few kilobytes and would take a robot's memory.
	decodeFloor  = 64 << 20
	decodeFactor = 64
	// maxPixelsPerByte is more than PNG and JPEG can express: deflate compresses by
	// 1,032 at most, and a PNG has at least a bit per pixel. WebP can express more,
	// but only of a picture without content.
	maxPixelsPerByte = 8 * 1032
)

func decode(data []byte, h header) (p picture, err error) {
	if _, ok := decodeBytes(data, h); !ok {
		return p, fmt.Errorf("a picture of %dx%d pixels from %d bytes is more than is decoded here (at most %d pixels, and %d MiB or %d times the data to hold them)",
			h.Width, h.Height, len(data), maxPixels, decodeFloor>>20, decodeFactor)
	}

	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return p, fmt.Errorf("the picture is cut, damaged or animated: %w", err)
	}

	// 0 is a missing value, as depth cameras write it.
	if grey, ok := img.(*image.Gray16); ok {
		mono16, _ := layoutOf("mono16")
		return frame{grey.Rect.Dx(), grey.Rect.Dy(), "", mono16, grey.Stride, binary.BigEndian, grey.Pix}.picture(), nil
	}

	colours, ok := img.(image.RGBA64Image)
	if !ok || img.Bounds().Empty() {
		return p, fmt.Errorf("the %s image has pixels of type %T, which are not read", h.format, img)
	}

	return newPicture(colours), nil
}

// decodeBytes returns about what decoding takes at most. It reports false for a picture that is not
// decoded.
func decodeBytes(data []byte, h header) (int64, bool) {
	pixels := int64(h.Width) * int64(h.Height) // neither is above 2^31
	if pixels > maxPixels || pixels > maxPixelsPerByte*int64(len(data)) {
		return 0, false
	}
	memory := pixels * bytesPerPixel(data, h)
	return memory, memory <= max(decodeFloor, decodeFactor*int64(len(data)))
}

// DecodeBytes returns about how much memory decoding a payload that [Accepts] accepts takes, at most.
func DecodeBytes(in media.Payload) int64 {
	h, err := readHeader(in.Data)
	if err != nil {
		return 0
	}
	memory, ok := decodeBytes(in.Data, h)
	if !ok {
		return 0
	}

	return memory
}

// bytesPerPixel is an upper estimate of what the decoders allocate.
func bytesPerPixel(data []byte, h header) int64 {
	switch h.format {
	case "tiff":
		// Pixels of 16 bits, and a strip as it was decompressed.
		return 16
	case "webp":
		// Lossless pixels, those before a transform, and a plane of alpha.
		return 12
	case "jpeg":
		if bytes.Contains(data, []byte(progressiveFrame)) {
			// Four planes of 32-bit coefficients beside the picture.
			return 24
		}
		return 8
	}

	size := int64(4)
	if h.ColorModel == color.RGBA64Model || h.ColorModel == color.NRGBA64Model {
		size = 8
	}

	// An interlaced PNG holds each pass beside the whole.
	const interlace = len(pngMagic) + 20
	if len(data) > interlace && data[interlace] != 0 {
		size *= 2
	}

	return size
}
