package draw

import (
	"fmt"
	"math"

	"github.com/robotmem/robotmem-go/perception/media"
)

// Above is a view along one axis, usually from above: both axes of the picture are lengths to one
// scale. It has its own background, so that it can be read on any page.
type Above struct {
	*Canvas
	Frame    Box
	scale    float64 // pixels per metre
	x, y     float64 // metres at the left and the bottom of the frame
	labelled bool    // there is room for labels
}

const (
	// minLabelled is the smallest side of a picture with labels, in pixels.
	minLabelled = 120
	// minExtent is the least length that is drawn, in metres, and pointExtent the
	// length around a single point.
	minExtent, pointExtent = 1e-3, 0.1
	// farFrom is the coordinate from which ticks are counted from a number nearby:
	// map coordinates have seven digits.
	farFrom = 1e4
	// tickPixels is the least distance of two ticks.
	tickPixels = 56
)

const aboveStyle = `<style>` +
	`.back{fill:#fff}.grid{stroke:#e3e6ea}.frame{stroke:#9aa3af;fill:none}text{fill:#3b424c}` +
	`.seen{fill:#2563eb;fill-opacity:.1}.hit{fill:#1d4ed8}.mark{stroke:#3b424c;fill:#fff}.solid{fill:#3b424c}` +
	`@media(prefers-color-scheme:dark){` +
	`.back{fill:#14181d}.grid{stroke:#2a3038}.frame{stroke:#6b7480}text{fill:#cfd6de}` +
	`.seen{fill:#60a5fa;fill-opacity:.14}.hit{fill:#93c5fd}.mark{stroke:#e5e9ee;fill:#14181d}.solid{fill:#e5e9ee}}` +
	`</style>`

// NewAbove fits the area from low to high into the frame, with a small border. The
// axes have these names and one unit. A bar needs room at the right.
func NewAbove(o media.PreviewOptions, low, high [2]float64, names [2]string, unit string, bar bool) *Above {
	v := &Above{Canvas: NewCanvas(o, `font-family="system-ui,sans-serif" font-size="11"`)}
	width, height := float64(o.Width), float64(o.Height)
	v.labelled = min(o.Width, o.Height) >= minLabelled
	f := Box{2, 2, width - 2, height - 2}
	if v.labelled {
		f = Box{50, 22, width - 14, height - 38}
		if bar {
			f.Right -= 58
		}
	}
	f.Right, f.Bottom = max(f.Right, f.Left+1), max(f.Bottom, f.Top+1)
	v.Frame = f
	const border = 1.08
	dx, dy := max(high[0]-low[0], 0), max(high[1]-low[1], 0)
	least := max(minExtent, 1e-6*max(math.Abs(low[0]), math.Abs(high[0]), math.Abs(low[1]), math.Abs(high[1])))
	if dx == 0 && dy == 0 {
		least = max(least, pointExtent)
	}
	v.scale = min(f.Width()/max(dx*border, least), f.Height()/max(dy*border, least))
	v.x = (low[0]+high[0])/2 - f.Width()/v.scale/2
	v.y = (low[1]+high[1])/2 - f.Height()/v.scale/2
	fmt.Fprintf(v, aboveStyle+`<rect class="back" width="%d" height="%d"/>`, o.Width, o.Height)
	v.axes(names, unit)
	return v
}

// Pixel returns the place of a point in the picture.
func (v *Above) Pixel(p [2]float64) (x, y float64) {
	return v.Frame.Left + (p[0]-v.x)*v.scale, v.Frame.Bottom - (p[1]-v.y)*v.scale
}

// Point returns the place of a point as SVG writes it, "12.5,40".
func (v *Above) Point(p [2]float64) string {
	x, y := v.Pixel(p)
	return Coord(x) + "," + Coord(y)
}

func (v *Above) axes(names [2]string, unit string) {
	f := v.Frame
	if v.labelled {
		step := Step(tickPixels / v.scale)
		baseX, nameX := tickBase(v.x, step)
		ticks := NewTicks(v.x-baseX, v.x-baseX+f.Width()/v.scale, step)
		for _, x := range ticks.Values {
			at, _ := v.Pixel([2]float64{x + baseX, 0})
			fmt.Fprintf(v, `<path class="grid" d="M%s,%sV%s"/>`, Coord(at), Coord(f.Top), Coord(f.Bottom))
			v.Text(at, f.Bottom+14, "middle", ticks.Label(x))
		}
		baseY, nameY := tickBase(v.y, step)
		ticks = NewTicks(v.y-baseY, v.y-baseY+f.Height()/v.scale, step)
		for _, y := range ticks.Values {
			_, at := v.Pixel([2]float64{0, y + baseY})
			fmt.Fprintf(v, `<path class="grid" d="M%s,%sH%s"/>`, Coord(f.Left), Coord(at), Coord(f.Right))
			v.Text(f.Left-6, at+4, "end", ticks.Label(y))
		}
		v.Text((f.Left+f.Right)/2, f.Bottom+29, "middle", names[0]+nameX+" ("+unit+")")
		v.Text(max(f.Left-16, 4), f.Top-8, "start", names[1]+nameY+" ("+unit+")")
	}
	fmt.Fprintf(v, `<rect class="frame" x="%s" y="%s" width="%s" height="%s"/>`, Coord(f.Left), Coord(f.Top), Coord(f.Width()), Coord(f.Height()))
}

// tickBase returns the number that ticks are counted from, and how the name of the
// axis says so, " − 1230000". It is 0 and "" unless low is far from 0.
func tickBase(low, step float64) (base float64, name string) {
	if math.Abs(low) < farFrom {
		return 0, ""
	}
	const round = 10
	base = math.Floor(low/(round*step)) * round * step
	sign := " − "
	if base < 0 {
		sign = " + "
	}
	return base, sign + Ticks{step: step, Values: []float64{base}}.Label(math.Abs(base))
}

// Bar draws the colours of the heights at the right of the frame.
func (v *Above) Bar(name, low, high string) {
	x, top, bottom := v.Frame.Right+14, v.Frame.Top+16, v.Frame.Bottom-16
	if !v.labelled || bottom <= top {
		return
	}
	v.WriteString(`<defs><linearGradient id="scale" x1="0" y1="1" x2="0" y2="0">`)
	for i := range 6 {
		level := float64(i) / 5
		fmt.Fprintf(v, `<stop offset="%g" stop-color="%s"/>`, level, Hex(Colour(level)))
	}
	v.WriteString(`</linearGradient></defs>`)
	fmt.Fprintf(v, `<rect fill="url(#scale)" x="%s" y="%s" width="10" height="%s"/>`, Coord(x), Coord(top), Coord(bottom-top))
	v.Text(x+5, v.Frame.Top-8, "start", name)
	v.Text(x-4, top-5, "start", high)
	v.Text(x-4, bottom+13, "start", low)
}
