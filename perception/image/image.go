// Package image reads pictures: PNG, JPEG and WebP files as a [File], and the frames of a camera
// driver as [Pixels]. Each makes a summary, features and a preview. A picture has colours, or one
// value per pixel, such as the distances of a depth camera.
//
// Most tests of this package are those of package perception, through its API.
package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"strconv"

	"golang.org/x/image/webp"

	"github.com/robotmem/robotmem-go/perception/media"
)

// File is a PNG, JPEG or WebP file.
type File struct{ media.Payload }

const (
	pngMagic  = "\x89PNG\r\n\x1a\n"
	jpegMagic = "\xff\xd8\xff"
	// progressiveFrame is the marker of a progressive JPEG. It cannot occur in compressed pixels.
	progressiveFrame = "\xff\xc2"
)

// Accepts reports whether the payload begins as a PNG, JPEG or WebP file.
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
	}
	return ""
}

type header struct {
	format string
	image.Config
}

func readHeader(data []byte) (h header, err error) {
	h.format = formatOf(data)
	switch h.format {
	case "png":
		h.Config, err = png.DecodeConfig(bytes.NewReader(data))
	case "jpeg":
		h.Config, err = jpeg.DecodeConfig(bytes.NewReader(data))
	default:
		h.Config, err = webp.DecodeConfig(bytes.NewReader(data))
	}
	if err == nil && (h.Width <= 0 || h.Height <= 0) {
		err = errors.New("one of its sides has no pixels")
	}
	if err != nil {
		return h, fmt.Errorf("the header of the %s image is damaged: %w", h.format, err)
	}
	return h, nil
}

// picture is a decoded image: colours, or one value per pixel.
type picture struct {
	colours image.RGBA64Image // nil if there are values
	values  *values
}

// decode returns the picture of a whole file within the limits.
func (f File) decode() (picture, error) {
	if err := f.Whole(); err != nil {
		return picture{}, err
	}
	h, err := readHeader(f.Data)
	if err != nil {
		return picture{}, err
	}
	return decode(f.Data, h)
}

// Summary returns "image/png image, 640x480, colour, brightness 0.42". If the pixels
// cannot be read, it says what the header says.
func (f File) Summary() string {
	s, _, _ := f.Describe()
	return s
}

// Describe returns the summary and the features from one decoding of the pixels.
func (f File) Describe() (summary, kind string, vector []float32) {
	h, err := readHeader(f.Data)
	if err != nil {
		return "", "", nil
	}
	size := ", " + strconv.Itoa(h.Width) + "x" + strconv.Itoa(h.Height)
	depth := ""
	// Depth cameras deliver 16-bit grey. Only the caller knows that it is depth.
	if h.ColorModel == color.Gray16Model {
		if isDepth(f.Payload) {
			depth = "depth "
		}
		size += ", 16-bit grey"
	}
	s := "image/" + h.format + " " + depth + "image" + size
	if f.IsHead() {
		return s, "", nil
	}
	p, err := decode(f.Data, h)
	switch {
	case errors.Is(err, errLimit):
	case errors.Is(err, io.ErrUnexpectedEOF):
		s += ", truncated"
	case errors.Is(err, errAnimated):
		s += ", animated"
	case err != nil:
		s += ", damaged"
	case p.values != nil:
		s += p.values.stats().words(f.Metadata.Unit(""))
		kind, vector, _ = p.values.features()
	default:
		g := p.grid()
		s += g.words()
		kind, vector = g.features()
	}
	return s, kind, vector
}

func isDepth(in media.Payload) bool { return in.Metadata.Text("kind") == "depth" }

// decoder is a File or Pixels.
type decoder interface{ decode() (picture, error) }

func featuresOf(d decoder) (kind string, vector []float32, ok bool) {
	p, err := d.decode()
	if err != nil {
		return "", nil, false
	}
	return p.features()
}

func previewOf(d decoder, o media.PreviewOptions) (*media.Preview, error) {
	p, err := d.decode()
	if err != nil {
		return nil, err
	}
	return p.preview(o)
}

// Features returns a vector of the kind image/v2 or depth/v1.
func (f File) Features() (kind string, vector []float32, ok bool) { return featuresOf(f) }

// Preview returns a smaller copy.
func (f File) Preview(o media.PreviewOptions) (*media.Preview, error) { return previewOf(f, o) }

var errNoSamples = fmt.Errorf("%w in a picture; preview shows it", media.ErrNoSamples)

// Samples returns an error: a picture has no samples.
func (f File) Samples(media.SamplesOptions) (*media.Samples, error) { return nil, errNoSamples }

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

var errLimit = errors.New("is more than is decoded here")

func decode(data []byte, h header) (p picture, err error) {
	pixels := int64(h.Width) * int64(h.Height) // neither is above 2^31
	if pixels > maxPixels || pixels > maxPixelsPerByte*int64(len(data)) ||
		pixels*bytesPerPixel(data, h) > max(decodeFloor, decodeFactor*int64(len(data))) {
		return p, fmt.Errorf("a picture of %dx%d pixels from %d bytes %w (at most %d pixels, and %d MiB or %d times the data to hold them)",
			h.Width, h.Height, len(data), errLimit, maxPixels, decodeFloor>>20, decodeFactor)
	}
	var img image.Image
	switch h.format {
	case "png":
		img, err = png.Decode(bytes.NewReader(data))
		// The library does not tell a file without its last chunk from a damaged one.
		if err != nil && !bytes.Contains(data, []byte("IEND")) {
			err = fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
		}
	case "jpeg":
		img, err = jpeg.Decode(bytes.NewReader(data))
	default:
		img, err = decodeWebP(data)
	}
	if err != nil {
		return p, fmt.Errorf("the %s image of %dx%d pixels is cut or damaged: %w", h.format, h.Width, h.Height, err)
	}
	if grey, ok := img.(*image.Gray16); ok {
		p.values = greyValues(grey)
		return p, nil
	}
	colours, ok := img.(image.RGBA64Image)
	if !ok || img.Bounds().Empty() {
		return p, fmt.Errorf("the %s image has pixels of type %T, which are not read", h.format, img)
	}
	p.colours = colours
	return p, nil
}

// bytesPerPixel is an upper estimate of what the decoders allocate.
func bytesPerPixel(data []byte, h header) int64 {
	switch h.format {
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

// greyValues reads 0 as a missing value, as depth cameras write it.
func greyValues(img *image.Gray16) *values {
	r := img.Bounds()
	return &values{r.Dx(), r.Dy(), func(x, y int) float64 {
		if v := img.Gray16At(r.Min.X+x, r.Min.Y+y).Y; v != 0 {
			return float64(v)
		}
		return math.NaN()
	}}
}

var errAnimated = errors.New("it is animated, and only still pictures are read")

func decodeWebP(data []byte) (image.Image, error) {
	claimed := int64(binary.LittleEndian.Uint32(data[4:])) + 8
	if claimed > int64(len(data)) {
		return nil, fmt.Errorf("its header claims %d bytes of %d: %w", claimed, len(data), io.ErrUnexpectedEOF)
	}
	const animation = 1 << 1
	if string(data[12:16]) == "VP8X" && data[20]&animation != 0 {
		return nil, errAnimated
	}
	return webp.Decode(bytes.NewReader(data))
}
