package perception

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

	"golang.org/x/image/webp"
)

// maxPixels is what is decoded at most: 64 megapixels, 8192 by 8192.
const maxPixels = 64 << 20

// An image is decoded if that takes no more than decodeFloor bytes, enough for
// one frame of 4K, or decodeFactor times its own size. A blank image of 64
// megapixels comes in a few kilobytes and would take a robot's memory.
const (
	decodeFloor  = 64 << 20
	decodeFactor = 64
)

// maxPixelsPerByte is beyond what PNG and JPEG can express: deflate shrinks by
// 1,032 at most, and a PNG has no less than a bit per pixel. WebP can say more
// in less, but only of a picture without content.
const maxPixelsPerByte = 8 * 1032

// errImageLimit marks an image that is well-formed as far as known, but large.
var errImageLimit = errors.New("is more than is decoded here")

// decodeImage reads the pixels, if the limits above allow it.
func decodeImage(data []byte, h imageHeader) (p picture, err error) {
	// Neither factor exceeds 2^31.
	pixels := int64(h.config.Width) * int64(h.config.Height)
	if pixels > maxPixels || pixels > maxPixelsPerByte*int64(len(data)) ||
		pixels*bytesPerPixel(data, h) > max(decodeFloor, decodeFactor*int64(len(data))) {
		return p, fmt.Errorf("a picture of %dx%d pixels from %d bytes %w (at most %d pixels, and %d MiB or %d times the data to hold them)",
			h.config.Width, h.config.Height, len(data), errImageLimit, maxPixels, decodeFloor>>20, decodeFactor)
	}
	var img image.Image
	switch h.format {
	case "png":
		img, err = decodePNG(data)
	case "jpeg":
		img, err = jpeg.Decode(bytes.NewReader(data))
		p.turn = jpegOrientation(data)
	default:
		img, err = decodeWebP(data)
	}
	if err != nil {
		return p, fmt.Errorf("the %s image of %dx%d pixels breaks off or is damaged: %w", h.format, h.config.Width, h.config.Height, err)
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

// decodePNG tells a file that lacks its last chunk from one that is damaged,
// which the library does not.
func decodePNG(data []byte) (image.Image, error) {
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil && !bytes.Contains(data, []byte("IEND")) {
		err = fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
	}
	return img, err
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
	img, err := webp.Decode(bytes.NewReader(data))
	switch img := img.(type) {
	case *image.YCbCr:
		return &studio{img, nil}, err
	case *image.NYCbCrA:
		return &studio{&img.YCbCr, img}, err
	}
	return img, err
}

// studio is a lossy WebP in its true colours: its levels are those of video, 16
// to 235, which the library hands on as if they were JPEG's.
type studio struct {
	*image.YCbCr
	alpha *image.NYCbCrA // nil if opaque
}

func (s *studio) ColorModel() color.Model { return color.NRGBA64Model }
func (s *studio) At(x, y int) color.Color { return s.RGBA64At(x, y) }

func (s *studio) RGBA64At(x, y int) color.RGBA64 {
	c := s.YCbCrAt(x, y)
	out := studioColour(float64(c.Y), float64(c.Cb), float64(c.Cr))
	if s.alpha == nil {
		return out
	}
	a := uint32(s.alpha.A[s.alpha.AOffset(x, y)]) * 0x101
	part := func(v uint16) uint16 { return uint16(uint32(v) * a / math.MaxUint16) }
	return color.RGBA64{part(out.R), part(out.G), part(out.B), uint16(a)}
}

// studioColour is ITU-R BT.601 with luma from 16 to 235 and chroma around 128.
func studioColour(luma, blue, red float64) color.RGBA64 {
	luma, blue, red = 1.164*(luma-16), blue-128, red-128
	level := func(v float64) uint16 { return uint16(min(max(v, 0), 255) * 0x101) }
	return color.RGBA64{level(luma + 1.596*red), level(luma - 0.813*red - 0.392*blue), level(luma + 2.017*blue), math.MaxUint16}
}

// webpSize reads the size from the first chunk of a WebP file: VP8 (lossy), VP8L
// (lossless) or VP8X (extended). The library's own header reader wants more of
// the file than a truncated one has.
func webpSize(data []byte) (width, height int, err error) {
	const header = 30
	if len(data) < header {
		return 0, 0, fmt.Errorf("it has %d bytes of %d", len(data), header)
	}
	body := data[20:]
	switch chunk := string(data[12:16]); chunk {
	case "VP8 ":
		if string(body[3:6]) != "\x9d\x01\x2a" {
			return 0, 0, errors.New("the VP8 start code is missing")
		}
		width = int(binary.LittleEndian.Uint16(body[6:]) & 0x3fff)
		height = int(binary.LittleEndian.Uint16(body[8:]) & 0x3fff)
		return width, height, nil
	case "VP8L":
		if body[0] != 0x2f {
			return 0, 0, errors.New("the VP8L signature is missing")
		}
		bits := binary.LittleEndian.Uint32(body[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, nil
	case "VP8X":
		width = int(body[4]) | int(body[5])<<8 | int(body[6])<<16
		height = int(body[7]) | int(body[8])<<8 | int(body[9])<<16
		return width + 1, height + 1, nil
	default:
		return 0, 0, fmt.Errorf("the first chunk is %q; VP8, VP8L or VP8X is wanted", chunk)
	}
}

// bytesPerPixel is an upper estimate of what the decoders allocate.
func bytesPerPixel(data []byte, h imageHeader) int64 {
	switch h.format {
	case "webp":
		// Lossless pixels, those before a transform, and a plane of alpha.
		return 12
	case "jpeg":
		if progressive(data) {
			// Four planes of 32-bit coefficients beside the picture.
			return 24
		}
		return 8
	}
	// An interlaced PNG holds each pass beside the whole.
	const interlace = len(pngMagic) + 20
	passes := int64(1)
	if len(data) > interlace && data[interlace] != 0 {
		passes = 2
	}
	switch h.config.ColorModel {
	case color.RGBA64Model, color.NRGBA64Model:
		return 8 * passes
	}
	return 4 * passes
}

// jpegSegments calls f with each segment before the pixels until it returns
// false, and says whether it followed them to that end.
func jpegSegments(data []byte, f func(marker byte, body []byte) bool) bool {
	const startOfScan = 0xda
	for i := 2; i+4 <= len(data) && data[i] == 0xff; {
		marker := data[i+1]
		if marker == 0xff { // padding
			i++
			continue
		}
		// The length counts its own two bytes.
		end := i + 2 + int(binary.BigEndian.Uint16(data[i+2:]))
		if marker == startOfScan || end < i+4 || end > len(data) {
			return false
		}
		if !f(marker, data[i+4:end]) {
			return true
		}
		i = end
	}
	return false
}

// progressive looks for the start of a frame among the segments of a JPEG. It
// takes what it cannot follow for progressive, which costs more.
func progressive(data []byte) bool {
	const baseline, extended = 0xc0, 0xc1
	found := false
	jpegSegments(data, func(marker byte, _ []byte) bool {
		found = marker == baseline || marker == extended
		// 0xc2 is the progressive frame.
		return !found && marker != 0xc2
	})
	return !found
}

// orientation is how a picture is to be turned to stand upright, as the tag of
// EXIF 2.3 has it: 1 (or 0) as it is, 2 mirrored, 3 upside down, 4 both, 5 to 8
// the same with rows and columns exchanged.
type orientation int

func (o orientation) sideways() bool { return o >= 5 && o <= 8 }

// source is the pixel of a w by h picture that x, y of the turned one shows.
func (o orientation) source(x, y, w, h int) (int, int) {
	switch o {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return y, h - 1 - x
	case 7:
		return w - 1 - y, h - 1 - x
	case 8:
		return w - 1 - y, x
	}
	return x, y
}

// jpegOrientation finds the tag in the first directory of the EXIF segment: a
// TIFF header, then entries of 12 bytes (tag, type, count, value).
func jpegOrientation(data []byte) (o orientation) {
	const app1, tagOrientation, typeShort, exif = 0xe1, 0x0112, 3, "Exif\x00\x00"
	jpegSegments(data, func(marker byte, body []byte) bool {
		if marker != app1 || !bytes.HasPrefix(body, []byte(exif)) {
			return true
		}
		tiff := body[len(exif):]
		if len(tiff) < 8 {
			return false
		}
		var order binary.ByteOrder = binary.BigEndian
		if bytes.HasPrefix(tiff, []byte("II")) {
			order = binary.LittleEndian
		}
		at := int64(order.Uint32(tiff[4:]))
		if at+2 > int64(len(tiff)) {
			return false
		}
		entries := tiff[at+2:]
		for range order.Uint16(tiff[at:]) {
			if len(entries) < 12 {
				return false
			}
			if order.Uint16(entries) == tagOrientation && order.Uint16(entries[2:]) == typeShort {
				o = orientation(order.Uint16(entries[8:]))
				return false
			}
			entries = entries[12:]
		}
		return false
	})
	return o
}

// greyValues reads 0 as no value: what a depth camera writes where it sees
// nothing.
func greyValues(img *image.Gray16) *valueMap {
	r := img.Bounds()
	return &valueMap{r.Dx(), r.Dy(), func(x, y int) float64 {
		if v := img.Gray16At(r.Min.X+x, r.Min.Y+y).Y; v != 0 {
			return float64(v)
		}
		return math.NaN()
	}}
}
