package perception

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"strconv"
)

const (
	pngMagic  = "\x89PNG\r\n\x1a\n"
	jpegMagic = "\xff\xd8\xff"
)

var imageFormat = format{
	name:      "image",
	accepts:   func(it Item) bool { return imageName(it.Data) != "" },
	summarize: summarizeImage,
	describe:  describeImage,
	kinds:     []string{"image/", "depth/"},
	features: func(it Item) (string, []float32, bool) {
		p, err := readImage(it)
		if err != nil {
			return "", nil, false
		}
		return p.features()
	},
	preview: func(it Item, o PreviewOptions) (*Preview, error) {
		p, err := readImage(it)
		if err != nil {
			return nil, err
		}
		return p.preview(o)
	},
	samples: pictureSamples,
}

// picture is an image that can be looked at: colours, or one value per pixel,
// such as the distances of a depth camera.
type picture struct {
	colours image.RGBA64Image // nil if values are given
	values  *valueMap
	turn    orientation
}

// imageHeader is what the first bytes of an image say.
type imageHeader struct {
	format string
	config image.Config
}

// imageName is the format that the first bytes prove, or "".
func imageName(data []byte) string {
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

func readImageHeader(data []byte) (h imageHeader, err error) {
	h.format = imageName(data)
	switch h.format {
	case "png":
		h.config, err = png.DecodeConfig(bytes.NewReader(data))
	case "jpeg":
		h.config, err = jpeg.DecodeConfig(bytes.NewReader(data))
	default:
		h.config.Width, h.config.Height, err = webpSize(data)
	}
	if err == nil && (h.config.Width <= 0 || h.config.Height <= 0) {
		err = errors.New("a side of it has no pixels")
	}
	if err != nil {
		return h, fmt.Errorf("the header of the %s image is damaged: %w", h.format, err)
	}
	return h, nil
}

// readImage decodes the item within the limits.
func readImage(it Item) (picture, error) {
	if err := wholeItem(it); err != nil {
		return picture{}, err
	}
	h, err := readImageHeader(it.Data)
	if err != nil {
		return picture{}, err
	}
	return decodeImage(it.Data, h)
}

// wholeItem says whether the data is all of the payload.
func wholeItem(it Item) error {
	if it.Size > int64(len(it.Data)) {
		return fmt.Errorf("the payload of %d bytes is too large to draw: only its first %d are at hand", it.Size, len(it.Data))
	}
	return nil
}

// summarizeImage writes "image/png image, 640x480, colour, brightness 0.42".
// Where the pixels cannot be read, the header is all that is told.
func summarizeImage(it Item) string {
	s, _, _ := describeImage(it)
	return s
}

// describeImage decodes the pixels once for the summary and the features.
func describeImage(it Item) (s, kind string, vector []float32) {
	h, err := readImageHeader(it.Data)
	if err != nil {
		return "", "", nil
	}
	size := ", " + strconv.Itoa(h.config.Width) + "x" + strconv.Itoa(h.config.Height)
	depth := ""
	// What a depth camera delivers; that it is one, only the caller knows.
	if h.config.ColorModel == color.Gray16Model {
		if isDepth(it) {
			depth = "depth "
		}
		size += ", 16-bit grey"
	}
	s = "image/" + h.format + " " + depth + "image" + size
	if wholeItem(it) != nil {
		return s, "", nil
	}
	p, err := decodeImage(it.Data, h)
	switch {
	case errors.Is(err, errImageLimit):
	case errors.Is(err, io.ErrUnexpectedEOF):
		s += ", truncated"
	case errors.Is(err, errAnimated):
		s += ", animated"
	case err != nil:
		s += ", damaged"
	case p.values != nil:
		s += p.words(unitOf(it))
		kind, vector, _ = p.values.features()
	default:
		g := p.grid()
		s += g.words()
		kind, vector = g.features()
	}
	return s, kind, vector
}

// words is what can be said of the pixels: ", grey, brightness 0.42".
func (p picture) words(unit string) string {
	if p.values != nil {
		return p.values.stats().words(unit)
	}
	return p.grid().words()
}

func (g *grid) words() string {
	hue := "colour"
	if g.grey() {
		hue = "grey"
	}
	low, high, mean := g.lumaRange()
	s := ", " + hue + ", brightness " + strconv.FormatFloat(mean, 'f', 2, 64)
	// A covered lens, a dark room, a dead camera.
	const level = 0.004
	if high-low < level {
		s += ", blank"
	}
	return s
}

func isDepth(it Item) bool {
	kind, _ := it.Metadata["kind"].(string)
	return kind == "depth"
}

func unitOf(it Item) string {
	unit, _ := it.Metadata["units"].(string)
	return clean(unit, maxNameRunes)
}
