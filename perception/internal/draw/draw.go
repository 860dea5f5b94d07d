// Package draw draws the samples of perceptions as SVG: the channels of traces and sounds over
// time, and clouds, trajectories and scans from above. A picture follows the reader's preference
// for dark or light. One that is too small for text has no axes.
package draw

import (
	"fmt"
	"html"
	"image/color"
	"math"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/media"
)

// Points is the number of entries to ask for in samples that are drawn. It keeps the picture of a
// cloud below 200 KiB.
const Points = 10_000

const (
	// A smaller picture has no axes and no text.
	minLabelledWidth, minLabelledHeight = 200, 160
	// The room around a chart for the labels of its axes and its title, in pixels.
	leftEdge, rightEdge, topEdge, bottomEdge = 56, 14, 20, 34
	// tickWidth and tickHeight are the least distances of two labels.
	tickWidth, tickHeight = 60, 28
)

const style = `<style>text{font:11px system-ui,sans-serif;fill:#3b424c}` +
	`.back{fill:#fff}.grid{stroke:#e3e6ea}.frame{stroke:#9aa3af;fill:none}.ring{stroke:#3b424c;fill:none}.dot{fill:#3b424c}` +
	`.line,.dots{fill:none;stroke-linejoin:round;stroke-linecap:round}.line{stroke-width:1.5}.dots{stroke-width:2}` +
	`@media(prefers-color-scheme:dark){text{fill:#cfd6de}.back{fill:#14181d}.grid{stroke:#2a3038}` +
	`.frame{stroke:#6b7480}.ring{stroke:#e5e9ee}.dot{fill:#e5e9ee}}</style>`

// Samples draws the channels of samples over time, or their points from above.
func Samples(s *media.Samples, o media.PreviewOptions) (*media.Preview, error) {
	c := newCanvas(o)
	if s.Channels != nil {
		c.trace(s)
	} else if err := c.above(s); err != nil {
		return nil, err
	}

	return c.done(), nil
}

// canvas is an SVG picture. Its elements are written in the order of the calls.
type canvas struct {
	strings.Builder
	width, height int
	labelled      bool // there is room for text
}

func newCanvas(o media.PreviewOptions) *canvas {
	c := &canvas{
		width: o.Width, height: o.Height, labelled: o.Width >= minLabelledWidth && o.Height >= minLabelledHeight,
	}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">`+style+`<rect class="back" width="%d" height="%d"/>`,
		o.Width, o.Height, o.Width, o.Height, o.Width, o.Height)
	return c
}

func (c *canvas) done() *media.Preview {
	c.WriteString("</svg>\n")
	return &media.Preview{MediaType: "image/svg+xml", Data: []byte(c.String()), Width: c.width, Height: c.height}
}

// text writes a line of text if there is room for any. The anchor is start, middle or end.
func (c *canvas) text(x, y float64, anchor, s string) {
	if c.labelled && s != "" {
		fmt.Fprintf(c, `<text x="%s" y="%s" text-anchor="%s">%s</text>`, coord(x), coord(y), anchor,
			html.EscapeString(s))
	}
}

// area is the part of the picture inside of the labels of the axes.
func (c *canvas) area() box {
	if c.labelled {
		return box{leftEdge, topEdge, float64(c.width - rightEdge), float64(c.height - bottomEdge)}
	}
	return box{0, 0, float64(c.width), float64(c.height)}
}

// box is a rectangle in pixels; y points down.
type box struct{ left, top, right, bottom float64 }

func (b box) width() float64  { return b.right - b.left }
func (b box) height() float64 { return b.bottom - b.top }

// coord formats a length with a tenth of a pixel.
func coord(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// chart is an area of a picture with values along both axes.
type chart struct {
	*canvas
	box
	x, y [2]float64 // the values at the left and the right edge, at the lower and the upper one
}

// at returns the place of a point in the picture.
func (c chart) at(x, y float64) (px, py float64) {
	return c.left + (x-c.x[0])/(c.x[1]-c.x[0])*c.box.width(), c.bottom - (y-c.y[0])/(c.y[1]-c.y[0])*c.box.height()
}

// point returns the place of a point as paths have it, "12.5 40".
func (c chart) point(x, y float64) string {
	px, py := c.at(x, y)
	return coord(px) + " " + coord(py)
}

// axes draws a frame with the round numbers along both axes. A horizontal axis without a name has no numbers.
func (c chart) axes(nameX, nameY string) {
	for _, v := range ticks(c.x, c.box.width()/tickWidth) {
		x, _ := c.at(v, 0)
		fmt.Fprintf(c, `<path class="grid" d="M%s %sV%s"/>`, coord(x), coord(c.top), coord(c.bottom))
		if nameX != "" {
			c.text(x, c.bottom+13, "middle", label(v))
		}
	}

	for _, v := range ticks(c.y, c.box.height()/tickHeight) {
		_, y := c.at(0, v)
		fmt.Fprintf(c, `<path class="grid" d="M%s %sH%s"/>`, coord(c.left), coord(y), coord(c.right))
		c.text(c.left-6, y+4, "end", label(v))
	}
	c.text((c.left+c.right)/2, c.bottom+28, "middle", nameX)
	c.text(c.left, c.top-6, "start", nameY)
	fmt.Fprintf(c, `<rect class="frame" x="%s" y="%s" width="%s" height="%s"/>`, coord(c.left), coord(c.top),
		coord(c.box.width()), coord(c.box.height()))
}

// ticks returns about most numbers along an axis, multiples of 1, 2 or 5 times a power of ten.
func ticks(axis [2]float64, most float64) (out []float64) {
	least := (axis[1] - axis[0]) / max(most, 2)

	step := math.Pow(10, math.Ceil(math.Log10(least)))
	for _, part := range []float64{5, 2} {
		if step/part >= least {
			step /= part
			break
		}
	}

	// Also where the next multiple is the same number.
	const enough = 100
	for i := math.Ceil(axis[0] / step); i*step <= axis[1] && len(out) < enough; i++ {
		out = append(out, i*step+0) // not -0
	}

	return out
}

// label formats a tick without the error of its last digits.
func label(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }

// extent returns the smallest and the largest number; low is above high if there is none.
func extent(lists ...[]float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)

	for _, list := range lists {
		for _, v := range list {
			if media.Finite(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}

	return low, high
}

// Colour returns the colour of a level: from blue for 0 over green to red for 1.
func Colour(level float64) color.NRGBA {
	// The ends of the scale are too dark.
	level = 0.1 + 0.8*level
	part := func(centre float64) uint8 { return uint8(255 * min(max(1.5-math.Abs(4*level-centre), 0), 1)) }
	return color.NRGBA{part(3), part(2), part(1), 255}
}
