package timeseries

import (
	"fmt"
	"math"
	"strings"

	"github.com/robotmem/robotmem-go/perception/internal/draw"
	"github.com/robotmem/robotmem-go/perception/media"
)

// A plot draws the channels of one unit or quantity in one panel with up to six lines. The panels
// are stacked in one or two columns and share the time axis, which is labelled under the lowest
// panel of each column. Channels without room are counted at the bottom: "and 12 more channels". A
// picture that is too small for axes has the lines only.

const (
	maxPanels     = 6
	maxPanelLines = 6
	// minPanelHeight has room for a legend and two ticks.
	minPanelHeight = 64
	// A smaller picture has no axes.
	minPlotWidth, minPlotHeight = 200, 100

	textSize = 11 // pixels
	lineStep = 14 // pixels from one line of text to the next
	plotEdge = 6  // free pixels around the picture and the panels
	// maxPlotPoints keeps the picture below 200 KiB: a point takes about twelve bytes.
	maxPlotPoints = 12_000
	// maxTicks is the number of ticks on an axis that newTicks aims at.
	maxTicks = 8
)

// plotColours are those colours of Okabe and Ito that are visible on white and on
// black and distinct to the colour-blind. Yellow and black are left out.
var plotColours = [maxPanelLines]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// plotStyle takes the colour of text and rules from the page that the picture is
// part of, and from the reader's preference if it stands alone.
const plotStyle = `<style>.trace-plot{color:#24292f}` +
	`@media (prefers-color-scheme:dark){.trace-plot{color:#e6edf3}}` +
	`.trace-plot text{font:11px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;fill:currentColor}` +
	`.trace-plot .l{fill:none;stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}` +
	`.trace-plot .g{fill:none;stroke:currentColor;stroke-opacity:.15}` +
	`.trace-plot .z{fill:none;stroke:currentColor;stroke-opacity:.45}</style>`

type plot struct {
	*draw.Canvas
	s             *Series
	width, height int
	bare          bool    // without axes and text
	margin        float64 // left of every panel, so that their time axes are aligned
	gap           float64 // seconds between two samples from which a line is broken
	columns, rows int
	panels        []panel
	points        int // of each line at most
}

// panel is the channels that share a value axis.
type panel struct {
	unit      string
	channels  []int
	low, high float64 // the readings at the lower and the upper edge
	ticks     draw.Ticks
}

// Preview draws a plot of the channels.
func (s *Series) Preview(o media.PreviewOptions) (*media.Preview, error) {
	label := media.Clean(s.Summary(), media.MaxSummary)
	p := &plot{
		Canvas: draw.NewCanvas(o, `class="trace-plot" role="img" aria-label="`+draw.Escape(label)+`"`),
		s:      s, width: o.Width, height: o.Height, gap: s.gapFrom(),
		bare: o.Width < minPlotWidth || o.Height < minPlotHeight,
	}
	p.WriteString(plotStyle)
	p.draw(p.arrange(s.panels()))
	return p.Done(), nil
}

// panels groups the channels by unit, or by quantity if they have none, in their
// order. A group of more than maxPanelLines takes several panels.
func (s *Series) panels() []panel {
	stems := map[string]int{}
	for c := range s.Width {
		stems[s.quantity(c)]++
	}
	var out []panel
	last := map[string]int{} // the latest panel of each group
	for c := range s.Width {
		unit, group := s.unit(c), ""
		if stem := s.quantity(c); unit != "" {
			group = "unit " + unit
		} else if stems[stem] > 1 {
			group = stem
		}
		i, ok := last[group]
		if !ok || len(out[i].channels) == maxPanelLines {
			i = len(out)
			last[group], out = i, append(out, panel{unit: unit})
		}
		out[i].channels = append(out[i].channels, c)
	}
	return out
}

// quantity is what the name of a channel says is measured: the name without its last
// part, "gyro" for gyro_x, "joint" for joint7.
func (s *Series) quantity(c int) string {
	if axes, ok := s.wrenchOrder(); ok {
		return wrenchQuantity(axes[c])
	}
	name := strings.ToLower(s.name(c, media.MaxName))
	if cut := strings.LastIndexAny(name, "._/ "); cut > 0 {
		return name[:cut]
	}
	if stem := strings.TrimRight(name, "0123456789"); len(stem) < len(name) {
		return stem
	}
	if n := len(name) - 1; n > 0 && name[n] >= 'w' && name[n] <= 'z' {
		return name[:n]
	}
	return name
}

// arrange chooses the panels that are drawn and their places. It returns the number
// of channels without room.
func (p *plot) arrange(panels []panel) (left int) {
	p.columns = 1
	if len(panels) > 3 && p.width >= 2*minPlotWidth {
		p.columns = 2
	}
	fit := max(p.height/minPanelHeight, 1)
	if p.bare {
		fit = 1
	}
	shown := min(len(panels), maxPanels)
	p.rows = min((shown+p.columns-1)/p.columns, fit)
	p.panels = panels[:min(shown, p.rows*p.columns)]
	lines := 0
	for _, panel := range p.panels {
		lines += len(panel.channels)
	}
	p.points = maxPlotPoints / lines
	return p.s.Width - lines
}

func (p *plot) draw(left int) {
	bottom := float64(p.height - plotEdge)
	if left > 0 && !p.bare {
		p.Text(float64(p.width-plotEdge), bottom-2, "end", "and "+media.Plural(int64(left), "more channel"))
		bottom -= lineStep
	}
	if !p.bare {
		bottom -= lineStep // for the time axis
	}
	width, height := float64(p.width)/float64(p.columns), (bottom-plotEdge)/float64(p.rows)
	for i := range p.panels {
		panel := &p.panels[i]
		panel.low, panel.high = p.s.extent(panel.channels)
		panel.ticks = newTicks(panel.low, panel.high, int((height-2*lineStep)/26), 0)
		for _, v := range panel.ticks.Values {
			p.margin = max(p.margin, textWidth(panel.ticks.Label(v))+14)
		}
	}
	for i, panel := range p.panels {
		column, row := i/p.rows, i%p.rows
		area := draw.Box{Left: width * float64(column), Top: plotEdge + height*float64(row)}
		area.Right, area.Bottom = area.Left+width, area.Top+height
		lowest := row == p.rows-1 || i == len(p.panels)-1
		p.drawPanel(panel, area, lowest)
	}
}

func (p *plot) drawPanel(panel panel, area draw.Box, lowest bool) {
	frame := draw.Box{Left: area.Left + plotEdge, Top: area.Top + 2, Right: area.Right - plotEdge, Bottom: area.Bottom - plotEdge}
	if !p.bare {
		p.legend(panel, area)
		frame.Top = area.Top + lineStep + 4
		frame.Left = area.Left + p.margin
		frame.Right = area.Right - 3*plotEdge
		for _, v := range panel.ticks.Values {
			y := panel.y(v, frame)
			p.rule(map[bool]string{false: "g", true: "z"}[v == 0], frame.Left, y, frame.Right, y)
			p.Text(frame.Left-5, y+4, "end", panel.ticks.Label(v))
		}
		p.drawTimes(frame, lowest)
	}
	for i, c := range panel.channels {
		if path := p.path(c, frame, panel); path != "" {
			fmt.Fprintf(p, `<path class="l" stroke="%s" d="%s"/>`, plotColours[i], path)
		}
	}
}

// newTicks returns about want ticks, at least as far apart as least.
func newTicks(low, high float64, want int, least float64) draw.Ticks {
	count := float64(max(min(want, maxTicks), 2)) + 0.5
	return draw.NewTicks(low, high, max(draw.Step((high-low)/count), least))
}

// drawTimes draws the ticks of the time axis, and below the lowest panel their labels, the last
// with the unit: "100", "200", "300 ms". Without a rate samples are counted from 1.
func (p *plot) drawTimes(frame draw.Box, lowest bool) {
	if p.s.Len() == 1 {
		return
	}
	from, span, unit, least := 1.0, float64(p.s.Len()-1), "samples", 1.0
	if seconds := p.s.seconds(); seconds > 0 && media.Finite(seconds) {
		from, span, unit, least = 0, p.s.stamp(p.s.Len()-1), "s", 0
		switch {
		case span < 1e-3:
			span, unit = span*1e6, "µs"
		case span < 1:
			span, unit = span*1e3, "ms"
		}
	}
	if !(span > 0) || math.IsInf(span, 1) {
		return
	}
	const pixelsPerTick = 64
	ticks := newTicks(from, from+span, int(frame.Width()/pixelsPerTick), least)
	for i, v := range ticks.Values {
		x := frame.Left + (v-from)/span*frame.Width()
		p.rule("g", x, frame.Top, x, frame.Bottom)
		if !lowest {
			continue
		}
		label, anchor := ticks.Label(v), "middle"
		if i == len(ticks.Values)-1 {
			label += " " + unit
			if x+textWidth(label)/2 > frame.Right+2*plotEdge {
				x, anchor = frame.Right+2*plotEdge, "end"
			}
		}
		p.Text(x, frame.Bottom+lineStep-1, anchor, label)
	}
}

// legend writes the unit and the names in a row above a panel.
func (p *plot) legend(panel panel, area draw.Box) {
	const swatch, space = 18, 10
	x, y, room := area.Left+plotEdge, area.Top+textSize, area.Width()-2*plotEdge
	if panel.unit != "" {
		unit := fitText(panel.unit, room/4)
		p.Text(x, y, "start", unit)
		indent := max(textWidth(unit)+12, 36)
		x, room = x+indent, room-indent
	}
	cell := room / float64(len(panel.channels))
	for i, c := range panel.channels {
		name := p.s.label(c)
		if name == "" {
			return
		}
		name = fitText(name, cell-swatch-8)
		fmt.Fprintf(p, `<path class="l" stroke="%s" d="M%s %sh12"/>`, plotColours[i], draw.Coord(x), draw.Coord(y-4))
		p.Text(x+swatch-2, y, "start", name)
		x += min(swatch+textWidth(name)+space, cell)
	}
}

func (p *plot) rule(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(p, `<path class="%s" d="M%s %sL%s %s"/>`, class, draw.Coord(x1), draw.Coord(y1), draw.Coord(x2), draw.Coord(y2))
}

// textWidth estimates the width of a text: a letter of a sans-serif font takes about
// 0.56 of its size, a Chinese or Japanese character all of it.
func textWidth(s string) float64 {
	const firstSquare = 0x2e80
	width := 0.0
	for _, r := range s {
		if r >= firstSquare {
			width += textSize
		} else {
			width += 0.56 * textSize
		}
	}
	return width
}

// fitText shortens a text to the room and keeps its end, where the names of channels differ.
func fitText(s string, room float64) string {
	if textWidth(s) <= room {
		return s
	}
	runes := []rune(s)
	for len(runes) > 1 && textWidth(string(runes))+textSize > room {
		runes = runes[1:]
	}
	return "…" + string(runes)
}

// plotted is a reading as it is drawn: NaN if it is missing or infinite, and bounded
// so that the extent of a panel does not overflow.
func (s *Series) plotted(i, c int) float64 {
	const largest = 1e300
	if v := s.at(i, c); media.Finite(v) {
		return max(-largest, min(v, largest))
	}
	return math.NaN()
}

func (p *panel) y(v float64, frame draw.Box) float64 {
	return frame.Bottom - (v-p.low)/(p.high-p.low)*frame.Height()
}

// extent returns the limits of an axis that shows all readings of the channels, with a margin.
func (s *Series) extent(channels []int) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, c := range channels {
		for i := range s.Len() {
			if v := s.plotted(i, c); !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if low > high {
		return 0, 1
	}
	// An axis cannot show a difference near the precision of a float64.
	size := max(math.Abs(low), math.Abs(high))
	if high-low <= size*1e-9 {
		half := size / 10
		if half < 1e-300 {
			half = 1
		}
		return low - half, high + half
	}
	margin := (high - low) / 25
	return low - margin, high + margin
}

// path draws a channel point by point or, if it has more samples than the frame has
// columns, as the smallest and the largest reading in each column, so that no peak is
// lost. A missing reading, a column without readings and a gap in time break the line.
func (p *plot) path(c int, frame draw.Box, panel panel) string {
	columns := min(int(frame.Width()), p.points/2)
	if columns < 1 {
		return ""
	}
	samples := p.s.Len()
	single := samples <= min(2*columns, p.points)
	column := func(i int) int {
		if single {
			return i
		}
		return min(int(p.share(i)*float64(columns)), columns-1)
	}
	pen := pen{}
	for i := 0; i < samples; {
		share, here := p.share(i), column(i)
		smallest, largest := math.Inf(1), math.Inf(-1)
		for ; i < samples && column(i) == here; i++ {
			if i > 0 && p.s.Times != nil && p.s.Times[i]-p.s.Times[i-1] >= p.gap {
				pen.lift()
			}
			if v := p.s.plotted(i, c); !math.IsNaN(v) {
				smallest, largest = min(smallest, v), max(largest, v)
			}
		}
		if smallest > largest {
			pen.lift()
			continue
		}
		if !single {
			share = (float64(here) + 0.5) / float64(columns)
		}
		pen.span(frame.Left+share*frame.Width(), panel.y(smallest, frame), panel.y(largest, frame))
	}
	pen.lift()
	return string(pen.buf)
}

// share is where sample i lies on the time axis, 0 to 1.
func (p *plot) share(i int) float64 {
	if p.s.Times != nil {
		return p.s.Times[i] / p.s.Times[p.s.Len()-1]
	}
	if p.s.Len() == 1 {
		return 0.5
	}
	return float64(i) / float64(p.s.Len()-1)
}

type pen struct {
	buf    []byte
	points int // of the line that is drawn
	y      float64
}

// lift ends the line. A single point is a short dash, so that it is visible.
func (p *pen) lift() {
	if p.points == 1 {
		p.buf = append(p.buf, "m-1.5 0h3"...)
	}
	p.points = 0
}

func (p *pen) to(x, y float64) {
	if p.points > 0 {
		p.buf = append(p.buf, ' ')
	} else {
		p.buf = append(p.buf, 'M')
	}
	p.points++
	p.buf = append(draw.AppendCoord(p.buf, x), ' ')
	p.buf = draw.AppendCoord(p.buf, y)
	p.y = y
}

// span draws a vertical line at x, the nearer end first.
func (p *pen) span(x, low, high float64) {
	if p.points > 0 && math.Abs(high-p.y) < math.Abs(low-p.y) {
		low, high = high, low
	}
	p.to(x, low)
	if math.Abs(high-low) >= 0.05 {
		p.to(x, high)
	}
}
