// Package draw writes previews as SVG: text, ticks, colour scales and views from above.
package draw

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/media"
)

// Canvas is an SVG picture. Its elements are written in the order of the calls.
type Canvas struct {
	strings.Builder
	width, height int
}

// NewCanvas begins a picture. The attributes are those of its root element.
func NewCanvas(o media.PreviewOptions, attributes string) *Canvas {
	c := &Canvas{width: o.Width, height: o.Height}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" %s width="%d" height="%d" viewBox="0 0 %d %d">`, attributes, o.Width, o.Height, o.Width, o.Height)
	return c
}

// Done ends the picture.
func (c *Canvas) Done() *media.Preview {
	c.WriteString("</svg>\n")
	return &media.Preview{MediaType: "image/svg+xml", Data: []byte(c.String()), Width: c.width, Height: c.height}
}

// Text writes a line of text. The anchor is start, middle or end.
func (c *Canvas) Text(x, y float64, anchor, s string) {
	fmt.Fprintf(c, `<text x="%s" y="%s" text-anchor="%s">%s</text>`, Coord(x), Coord(y), anchor, Escape(s))
}

// Image writes a raster picture that fills the box.
func (c *Canvas) Image(b Box, attributes string, img image.Image) error {
	var data bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&data, img); err != nil {
		return fmt.Errorf("encode the preview: %w", err)
	}
	fmt.Fprintf(c, `<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" %s href="data:image/png;base64,%s"/>`,
		Coord(b.Left), Coord(b.Top), Coord(b.Width()), Coord(b.Height()), attributes, base64.StdEncoding.EncodeToString(data.Bytes()))
	return nil
}

// Box is a rectangle in pixels; y points down.
type Box struct{ Left, Top, Right, Bottom float64 }

// Width is the horizontal side.
func (b Box) Width() float64 { return b.Right - b.Left }

// Height is the vertical side.
func (b Box) Height() float64 { return b.Bottom - b.Top }

// Coord formats a length with a tenth of a pixel.
func Coord(v float64) string { return string(AppendCoord(nil, v)) }

// AppendCoord appends what [Coord] returns.
func AppendCoord(b []byte, v float64) []byte {
	return strconv.AppendFloat(b, math.Round(v*10)/10, 'f', -1, 64)
}

// Escape returns s as XML text. Characters that XML cannot hold are replaced.
func Escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer does not fail
	return b.String()
}

// Step returns the smallest of 1, 2 and 5 times a power of ten that is at least least.
func Step(least float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= least*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// Ticks are round numbers along an axis at equal steps.
type Ticks struct {
	Values []float64
	step   float64
}

// NewTicks returns the multiples of step from low to high.
func NewTicks(low, high, step float64) Ticks {
	const most = 100 // more than fit a picture
	t := Ticks{step: step}
	for i := math.Ceil(low / step); i*step <= high && len(t.Values) < most; i++ {
		// Far from zero the next multiple may be the same number.
		if i+1 == i {
			break
		}
		t.Values = append(t.Values, i*step+0) // no -0
	}
	return t
}

// Label formats a tick with as many decimals as tell it from the next. If the
// numbers are very large or close, it has an exponent.
func (t Ticks) Label(v float64) string {
	const plainFrom, plainTo = 1e-4, 1e6
	largest := 0.0
	for _, v := range t.Values {
		largest = max(largest, math.Abs(v))
	}
	if largest < plainTo && t.step >= plainFrom {
		return strconv.FormatFloat(v, 'f', int(max(0, math.Ceil(-math.Log10(t.step)-1e-9))), 64)
	}
	if math.Abs(v) < t.step/2 {
		return "0"
	}
	digits := int(math.Log10(largest/t.step)+1e-9) + 1
	return strconv.FormatFloat(v, 'g', max(1, min(digits, 9)), 64)
}

// turbo gives red, green and blue, 0 to 1, each as a polynomial of a level from 0 to 1, the constant
// first. It is Google's colour scale for depth, in the approximation of its authors. Equal steps look
// equal, and more of them can be told apart than of a grey scale.
var turbo = [3][]float64{
	{0.13572138, 4.61539260, -42.66032258, 132.13108234, -152.94239396, 59.28637943},
	{0.09140261, 2.19418839, 4.84296658, -14.18503333, 4.27729857, 2.82956604},
	{0.10667330, 12.64194608, -60.58204836, 110.36276771, -89.90310912, 27.34824973},
}

// Colour returns the colour of a level from 0 to 1. The ends of the scale, which are too dark, are
// left out.
func Colour(level float64) color.NRGBA {
	level = 0.08 + 0.87*min(max(level, 0), 1)
	var rgb [3]uint8
	for i, p := range turbo {
		v := 0.0
		for _, factor := range slices.Backward(p) {
			v = v*level + factor
		}
		rgb[i] = uint8(math.Round(255 * min(max(v, 0), 1)))
	}
	return color.NRGBA{rgb[0], rgb[1], rgb[2], 255}
}

// Hex formats a colour for SVG.
func Hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
