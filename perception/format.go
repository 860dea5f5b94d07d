package perception

import (
	"errors"
	"strings"
)

// format is a family of payloads: how to know one, and what is made of it. A
// function that is nil, or finds that the bytes are not what they seemed, leaves
// the item to the formats below.
type format struct {
	name    string
	accepts func(Item) bool // cheap: looks at the first bytes or the media type
	// summarize returns "" when the bytes are not understood.
	summarize func(Item) string
	features  func(Item) (kind string, vector []float32, ok bool)
	// describe is both at once, of formats whose decoding is most of either; nil
	// is one after the other.
	describe func(Item) (summary, kind string, vector []float32)
	// kinds are the beginnings of the kinds of features, each ending in "/".
	kinds []string
	// distance compares two vectors of one kind; nil is Euclidean.
	distance func(kind string, a, b []float32) float64
	preview  func(Item, PreviewOptions) (*Preview, error)
	samples  func(Item, SamplesOptions) (*Samples, error)
}

// formats are asked in order. What the first bytes prove comes before what only
// the media type says.
var formats = []format{imageFormat, pixelsFormat, audioFormat, cloudFormat, trajectoryFormat, scanFormat, segmentFormat, traceFormat}

// Preview is a picture of a perception.
type Preview struct {
	MediaType     string // image/png, image/jpeg or image/svg+xml
	Data          []byte
	Width, Height int // pixels, for SVG those of its viewBox
}

// PreviewOptions is the picture wanted. The zero value works.
type PreviewOptions struct {
	Width  int // at most so many pixels; 0 is 640
	Height int // likewise; 0 is 360
}

const (
	previewWidth  = 640
	previewHeight = 360
	// maxPreviewSide bounds a picture that a caller asks for.
	maxPreviewSide = 4096
)

func (o PreviewOptions) normal() PreviewOptions {
	if o.Width <= 0 {
		o.Width = previewWidth
	}
	if o.Height <= 0 {
		o.Height = previewHeight
	}
	return PreviewOptions{min(o.Width, maxPreviewSide), min(o.Height, maxPreviewSide)}
}

// ErrNoPreview says that nothing can be drawn of an item.
var ErrNoPreview = errors.New("there is no picture of this")

// MakePreview draws the item: a smaller copy of an image, a plot of a trace, the
// spectrogram of a sound, a cloud or a trajectory from above. The error wraps
// [ErrNoPreview] when the format has none, and else says what is wrong with the
// bytes. The same item and options give the same picture.
func MakePreview(it Item, o PreviewOptions) (*Preview, error) {
	if onlyHead(it) {
		return nil, tooLargeToDraw(it)
	}
	o = o.normal()
	var first error
	for _, f := range formats {
		if f.preview == nil || !f.accepts(it) {
			continue
		}
		p, err := f.preview(it, o)
		if err == nil {
			return p, nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = ErrNoPreview
	}
	return nil, first
}

// Distance compares two vectors that [Features] made, both of this kind: 0 for
// equals, the smaller the more alike, symmetric. Vectors of different lengths
// are infinitely far.
func Distance(kind string, a, b []float32) float64 {
	for _, f := range formats {
		for _, prefix := range f.kinds {
			if f.distance != nil && strings.HasPrefix(kind, prefix) {
				return f.distance(kind, a, b)
			}
		}
	}
	return euclidean(a, b)
}
