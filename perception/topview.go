package perception

import (
	"encoding/xml"
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"
)

// topview is a picture seen along one axis, as SVG: both axes in metres and to
// one scale. It brings its own background, so that it reads on any page.
type topview struct {
	width, height            float64 // of the picture, pixels
	left, top, right, bottom float64 // of the frame, pixels
	scale                    float64 // pixels per metre
	x, y                     float64 // metres at the left and at the bottom of the frame
	words                    bool    // there is room for labels
	b                        strings.Builder
}

const (
	// minLabelled is the smallest side of a picture with labels, in pixels.
	minLabelled = 120
	// minExtent is drawn at least, in metres; pointExtent around a lone point.
	minExtent, pointExtent = 1e-3, 0.1
	// farFrom is where ticks are counted from a number near by: map coordinates
	// have seven digits.
	farFrom = 1e4
	// tickPixels is how far apart ticks are at least.
	tickPixels = 56
)

// newTopview fits low to high into the frame with a small border, in the middle.
func newTopview(o PreviewOptions, low, high [2]float64, bar bool) *topview {
	v := &topview{width: float64(o.Width), height: float64(o.Height)}
	v.words = min(o.Width, o.Height) >= minLabelled
	v.left, v.top, v.right, v.bottom = 2, 2, v.width-2, v.height-2
	if v.words {
		v.left, v.top, v.right, v.bottom = 50, 22, v.width-14, v.height-38
		if bar {
			v.right -= 58
		}
	}
	v.right, v.bottom = max(v.right, v.left+1), max(v.bottom, v.top+1)
	const border = 1.08
	dx, dy := max(high[0]-low[0], 0), max(high[1]-low[1], 0)
	least := max(minExtent, 1e-6*max(math.Abs(low[0]), math.Abs(high[0]), math.Abs(low[1]), math.Abs(high[1])))
	if dx == 0 && dy == 0 {
		least = max(least, pointExtent)
	}
	v.scale = min((v.right-v.left)/max(dx*border, least), (v.bottom-v.top)/max(dy*border, least))
	v.x = (low[0]+high[0])/2 - (v.right-v.left)/v.scale/2
	v.y = (low[1]+high[1])/2 - (v.bottom-v.top)/v.scale/2
	fmt.Fprintf(&v.b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="system-ui,sans-serif" font-size="11">`, o.Width, o.Height, o.Width, o.Height)
	v.b.WriteString(topviewStyle)
	fmt.Fprintf(&v.b, `<rect class="back" width="%d" height="%d"/>`, o.Width, o.Height)
	return v
}

const topviewStyle = `<style>` +
	`.back{fill:#fff}.grid{stroke:#e3e6ea}.frame{stroke:#9aa3af;fill:none}text{fill:#3b424c}` +
	`.seen{fill:#2563eb;fill-opacity:.1}.hit{fill:#1d4ed8}.mark{stroke:#3b424c;fill:#fff}.solid{fill:#3b424c}` +
	`@media(prefers-color-scheme:dark){` +
	`.back{fill:#14181d}.grid{stroke:#2a3038}.frame{stroke:#6b7480}text{fill:#cfd6de}` +
	`.seen{fill:#60a5fa;fill-opacity:.14}.hit{fill:#93c5fd}.mark{stroke:#e5e9ee;fill:#14181d}.solid{fill:#e5e9ee}}` +
	`</style>`

// at is the place of a point in pixels, as "12.5,40".
func (v *topview) at(p [2]float64) string {
	x, y := v.pixel(p)
	return coord(x) + "," + coord(y)
}

func (v *topview) pixel(p [2]float64) (x, y float64) {
	return v.left + (p[0]-v.x)*v.scale, v.bottom - (p[1]-v.y)*v.scale
}

// coord writes a length with a tenth of a pixel.
func coord(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// axes draws the frame, ticks at 1, 2 or 5 times a power of ten, and the names.
func (v *topview) axes(names [2]string, unit string) {
	if v.words {
		step := niceStep(tickPixels / v.scale)
		names[0] += awayFrom(v.x, step)
		names[1] += awayFrom(v.y, step)
		for _, x := range gridLines(v.x, v.x+(v.right-v.left)/v.scale, step) {
			at, _ := v.pixel([2]float64{x, 0})
			fmt.Fprintf(&v.b, `<path class="grid" d="M%s,%sV%s"/>`, coord(at), coord(v.top), coord(v.bottom))
			v.text(at, v.bottom+14, "middle", tickLabel(x-tickBase(v.x, step), step))
		}
		for _, y := range gridLines(v.y, v.y+(v.bottom-v.top)/v.scale, step) {
			_, at := v.pixel([2]float64{0, y})
			fmt.Fprintf(&v.b, `<path class="grid" d="M%s,%sH%s"/>`, coord(v.left), coord(at), coord(v.right))
			v.text(v.left-6, at+4, "end", tickLabel(y-tickBase(v.y, step), step))
		}
		v.text((v.left+v.right)/2, v.bottom+29, "middle", names[0]+" ("+unit+")")
		v.text(max(v.left-16, 4), v.top-8, "start", names[1]+" ("+unit+")")
	}
	fmt.Fprintf(&v.b, `<rect class="frame" x="%s" y="%s" width="%s" height="%s"/>`, coord(v.left), coord(v.top), coord(v.right-v.left), coord(v.bottom-v.top))
}

func (v *topview) text(x, y float64, anchor, s string) {
	fmt.Fprintf(&v.b, `<text x="%s" y="%s" text-anchor="%s">`, coord(x), coord(y), anchor)
	// A strings.Builder does not err.
	_ = xml.EscapeText(&v.b, []byte(s))
	v.b.WriteString("</text>")
}

// bar explains the colours, at the right of the frame.
func (v *topview) bar(name, low, high string) {
	if !v.words {
		return
	}
	x, top, bottom := v.right+14, v.top+16, v.bottom-16
	if bottom <= top {
		return
	}
	v.b.WriteString(`<defs><linearGradient id="scale" x1="0" y1="1" x2="0" y2="0">`)
	for i := range scaleColors {
		fmt.Fprintf(&v.b, `<stop offset="%s" stop-color="%s"/>`, strconv.FormatFloat(float64(i)/float64(len(scaleColors)-1), 'f', 3, 64), hexColor(scaleColors[i]))
	}
	v.b.WriteString(`</linearGradient></defs>`)
	fmt.Fprintf(&v.b, `<rect fill="url(#scale)" x="%s" y="%s" width="10" height="%s"/>`, coord(x), coord(top), coord(bottom-top))
	v.text(x+5, v.top-8, "start", name)
	v.text(x-4, top-5, "start", high)
	v.text(x-4, bottom+13, "start", low)
}

// done ends the picture.
func (v *topview) done() *Preview {
	v.b.WriteString("</svg>")
	return &Preview{MediaType: "image/svg+xml", Data: []byte(v.b.String()), Width: int(v.width), Height: int(v.height)}
}

// niceStep is the least of 1, 2 and 5 times a power of ten that is no less than
// least.
func niceStep(least float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= least*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// gridLines are the multiples of step from low to high, no more than fit a picture.
func gridLines(low, high, step float64) []float64 {
	var out []float64
	for i := math.Ceil(low / step); i*step <= high && len(out) < maxPreviewSide/tickPixels+1; i++ {
		// Far from the origin the next may be the same number.
		if i+1 == i {
			break
		}
		out = append(out, i*step)
	}
	return out
}

// tickBase is what ticks are counted from: 0 unless they are far from it.
func tickBase(low, step float64) float64 {
	if math.Abs(low) < farFrom {
		return 0
	}
	const round = 10
	return math.Floor(low/(round*step)) * round * step
}

// awayFrom is what an axis says of its base, " − 1230000".
func awayFrom(low, step float64) string {
	switch base := tickBase(low, step); {
	case base > 0:
		return " − " + tickLabel(base, step)
	case base < 0:
		return " + " + tickLabel(-base, step)
	}
	return ""
}

func tickLabel(v, step float64) string {
	if m := math.Abs(v); m >= 1e9 || step < 1e-4 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	if v == 0 {
		v = 0 // no minus
	}
	return strconv.FormatFloat(v, 'f', int(max(0, math.Ceil(-math.Log10(step)-1e-9))), 64)
}

// scaleColors go the way of viridis (Smith and van der Walt, 2015), even to the
// eye, with ends that are lost neither on a dark nor on a light background.
var scaleColors = []color.NRGBA{
	{0x5c, 0x5f, 0xb4, 255}, {0x3f, 0x7a, 0xa6, 255}, {0x21, 0x91, 0x8c, 255},
	{0x28, 0xae, 0x80, 255}, {0x5e, 0xbf, 0x52, 255}, {0x96, 0xc8, 0x1e, 255},
}

// scaleColor is the colour of v, which goes from 0 to 1.
func scaleColor(v float64) color.NRGBA {
	at := min(max(v, 0), 1) * float64(len(scaleColors)-1)
	i := min(int(at), len(scaleColors)-2)
	f := at - float64(i)
	a, b := scaleColors[i], scaleColors[i+1]
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + f*(float64(b)-float64(a)) + 0.5) }
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

func hexColor(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
