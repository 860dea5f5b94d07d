package perception

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"strconv"
)

const (
	pngMagic  = "\x89PNG\r\n\x1a\n"
	jpegMagic = "\xff\xd8\xff"
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

// maxPixelsPerByte is beyond what either format can express: deflate shrinks by
// 1,032 at most, and a PNG has no less than a bit per pixel.
const maxPixelsPerByte = 8 * 1032

// imageHeader is what the first bytes of an image say.
type imageHeader struct {
	format string
	config image.Config
}

func readImageHeader(data []byte) (h imageHeader, ok bool) {
	var err error
	switch {
	case bytes.HasPrefix(data, []byte(pngMagic)):
		h.format = "png"
		h.config, err = png.DecodeConfig(bytes.NewReader(data))
	case bytes.HasPrefix(data, []byte(jpegMagic)):
		h.format = "jpeg"
		h.config, err = jpeg.DecodeConfig(bytes.NewReader(data))
	default:
		h.format = "webp"
		h.config.Width, h.config.Height, ok = webpSize(data)
		return h, ok
	}
	return h, err == nil && h.config.Width > 0 && h.config.Height > 0
}

// summarizeImage writes "image/png image, 640x480".
func summarizeImage(data []byte) string {
	h, ok := readImageHeader(data)
	if !ok {
		return ""
	}
	s := "image/" + h.format + " image, " + strconv.Itoa(h.config.Width) + "x" + strconv.Itoa(h.config.Height)
	// What a depth camera delivers.
	if h.config.ColorModel == color.Gray16Model {
		s += ", 16-bit grey"
	}
	return s
}

// webpSize reads the size from the first chunk of a WebP file: VP8 (lossy), VP8L
// (lossless) or VP8X (extended).
func webpSize(data []byte) (width, height int, ok bool) {
	if len(data) < 30 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return 0, 0, false
	}
	body := data[20:]
	switch string(data[12:16]) {
	case "VP8 ":
		width = int(binary.LittleEndian.Uint16(body[6:]) & 0x3fff)
		height = int(binary.LittleEndian.Uint16(body[8:]) & 0x3fff)
		return width, height, string(body[3:6]) == "\x9d\x01\x2a"
	case "VP8L":
		bits := binary.LittleEndian.Uint32(body[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, body[0] == 0x2f
	case "VP8X":
		width = int(body[4]) | int(body[5])<<8 | int(body[6])<<16
		height = int(body[7]) | int(body[8])<<8 | int(body[9])<<16
		return width + 1, height + 1, true
	}
	return 0, 0, false
}

// decodeImage decodes a PNG or a JPEG that keeps the limits above.
func decodeImage(data []byte) (image.Image, bool) {
	h, ok := readImageHeader(data)
	if !ok || h.format == "webp" {
		return nil, false
	}
	// Neither factor exceeds 2^31.
	pixels := int64(h.config.Width) * int64(h.config.Height)
	if pixels > maxPixels || pixels > maxPixelsPerByte*int64(len(data)) ||
		pixels*bytesPerPixel(data, h) > max(decodeFloor, decodeFactor*int64(len(data))) {
		return nil, false
	}
	var img image.Image
	var err error
	if h.format == "png" {
		img, err = png.Decode(bytes.NewReader(data))
	} else {
		img, err = jpeg.Decode(bytes.NewReader(data))
	}
	return img, err == nil
}

// bytesPerPixel is an upper estimate of what the decoders allocate.
func bytesPerPixel(data []byte, h imageHeader) int64 {
	if h.format == "jpeg" {
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

// progressive looks for the start of a frame among the segments of a JPEG. It
// takes what it cannot follow for progressive, which costs more.
func progressive(data []byte) bool {
	for i := 2; i+4 <= len(data) && data[i] == 0xff; {
		marker := data[i+1]
		switch {
		case marker == 0xff: // padding
			i++
			continue
		case marker == 0xc0 || marker == 0xc1:
			return false
		case marker == 0xc2:
			return true
		}
		i += 2 + int(binary.BigEndian.Uint16(data[i+2:]))
	}
	return true
}
