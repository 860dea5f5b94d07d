package perception

import (
	"fmt"
	"math"
	"strings"
)

// A plot draws the channels of one unit or quantity in one panel, up to six
// lines each, with the panels stacked in one or two columns. All share the time
// axis, which is written under the lowest panel of each column. What does not
// find room is counted below: "and 12 more channels". A picture too small for
// axes has the lines alone.

const (
	maxPanels     = 6
	maxPanelLines = 6
	// minPanelHeight leaves room for a legend and two ticks.
	minPanelHeight = 64
	// minPlotWidth and minPlotHeight are where axes are no longer drawn.
	minPlotWidth, minPlotHeight = 200, 100

	textSize = 11 // pixels
	lineStep = 14 // from one line of text to the next
	plotEdge = 6  // free space around the picture and the panels
	// maxPlotPoints keeps the picture below 200 KiB: a point takes some twelve
	// bytes.
	maxPlotPoints = 12_000
)

// plotColours are those of Okabe and Ito that can be seen on white and on
// black, told apart without red or green; yellow and black are left out.
var plotColours = [maxPanelLines]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// panel is channels that share an axis.
type panel struct {
	unit     string
	channels []int
}

func plotTrace(it Item, o PreviewOptions) (*Preview, error) {
	s, err := decodeSeries(it)
	if err != nil {
		return nil, err
	}
	panels := s.panels()
	p := plot{s: s, width: o.Width, height: o.Height, gap: s.gapFrom()}
	p.bare = o.Width < minPlotWidth || o.Height < minPlotHeight
	p.arrange(panels)
	return &Preview{MediaType: "image/svg+xml", Data: p.draw(clean(summarizeSeries(s), maxSummary)), Width: o.Width, Height: o.Height}, nil
}

// panels groups the channels by unit, else by quantity, in the order in which
// they come; a group of more than maxPanelLines takes several panels.
func (s *series) panels() []panel {
	stems := map[string]int{}
	for c := range s.width {
		stems[s.quantity(c)]++
	}
	var out []panel
	last := map[string]int{} // of each group, its latest panel
	for c := range s.width {
		unit, group := clean(s.unit(c), maxNameRunes), ""
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

// quantity is what a channel's name says is measured: the name without its last
// part, "gyro" of gyro_x, "joint" of joint7.
func (s *series) quantity(c int) string {
	if axes, ok := s.wrenchOrder(); ok {
		return wrenchQuantity(axes[c])
	}
	if c >= len(s.channels) {
		return ""
	}
	name := strings.ToLower(clean(s.channels[c], maxNameRunes))
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

// plot is a picture in the making.
type plot struct {
	s             *series
	width, height int
	bare          bool    // no axes, no words
	margin        float64 // left of every panel, so that their times are in line
	gap           float64 // seconds between samples from where a line is broken
	columns, rows int
	panels        []panel
	left          int // channels that found no room
	points        int // that each line may take
	svg           strings.Builder
}

// arrange decides which panels are drawn and where.
func (p *plot) arrange(panels []panel) {
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
	shown = min(shown, p.rows*p.columns)
	lines := 0
	for _, panel := range panels[:shown] {
		lines += len(panel.channels)
	}
	p.panels, p.left = panels[:shown], p.s.width-lines
	p.points = maxPlotPoints / lines
}

// box is a rectangle in pixels, y downwards.
type box struct{ left, top, right, bottom float64 }

// draw writes the picture: the frame of each panel, then its lines.
func (p *plot) draw(label string) []byte {
	fmt.Fprintf(&p.svg, `<svg xmlns="http://www.w3.org/2000/svg" class="trace-plot" role="img" aria-label="%s" width="%d" height="%d" viewBox="0 0 %d %d">`,
		escapeXML(label), p.width, p.height, p.width, p.height)
	p.svg.WriteString(plotStyle)
	bottom := float64(p.height - plotEdge)
	if p.left > 0 && !p.bare {
		note := fmt.Sprintf("and %s", plural(uint64(p.left), "more channel"))
		p.text(float64(p.width-plotEdge), bottom-2, "end", note)
		bottom -= lineStep
	}
	if !p.bare {
		bottom -= lineStep // the time axis
	}
	width, height := float64(p.width)/float64(p.columns), (bottom-plotEdge)/float64(p.rows)
	axes := make([]valueAxis, len(p.panels))
	for i, panel := range p.panels {
		axes[i] = p.s.valueAxis(panel.channels, int((height-2*lineStep)/26))
		p.margin = max(p.margin, axes[i].ticks.width()+14)
	}
	for i, panel := range p.panels {
		column, row := i/p.rows, i%p.rows
		area := box{left: width * float64(column), top: plotEdge + height*float64(row)}
		area.right, area.bottom = area.left+width, area.top+height
		lowest := row == p.rows-1 || i == len(p.panels)-1
		p.drawPanel(panel, axes[i], area, lowest)
	}
	p.svg.WriteString("</svg>\n")
	return []byte(p.svg.String())
}

func (p *plot) drawPanel(panel panel, axis valueAxis, area box, lowest bool) {
	frame := box{area.left + plotEdge, area.top + 2, area.right - plotEdge, area.bottom - plotEdge}
	if !p.bare {
		rows := p.legend(panel, area)
		frame.top = area.top + float64(rows)*lineStep + 4
		frame.left = area.left + p.margin
		frame.right = area.right - 3*plotEdge
		p.drawValues(axis, frame)
		p.drawTimes(frame, lowest)
	}
	for i, c := range panel.channels {
		if path := p.path(c, frame, axis); path != "" {
			fmt.Fprintf(&p.svg, `<path class="l" stroke="%s" d="%s"/>`, plotColours[i], path)
		}
	}
}

// largestPlotted keeps the extent of a panel from overflowing.
const largestPlotted = 1e300

// plotted is a reading as it is drawn; a missing or infinite one is NaN.
func (s *series) plotted(i, c int) float64 {
	v := s.at(i, c)
	if !finite(v) {
		return math.NaN()
	}
	return max(-largestPlotted, min(v, largestPlotted))
}

// valueAxis is the readings that a panel shows, from its lower edge to its upper.
type valueAxis struct {
	low, high float64
	ticks     ticks
}

func (s *series) valueAxis(channels []int, want int) valueAxis {
	low, high := s.extent(channels)
	return valueAxis{low, high, newTicks(low, high, want, 0)}
}

// y is where a reading lies.
func (a valueAxis) y(v float64, frame box) float64 {
	return frame.bottom - (v-a.low)/(a.high-a.low)*(frame.bottom-frame.top)
}

// extent is the axis that shows all readings of the channels, with a margin.
func (s *series) extent(channels []int) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, c := range channels {
		for i := range s.len() {
			if v := s.plotted(i, c); !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if low > high {
		return 0, 1
	}
	// Differences that a float64 hardly holds are no axis.
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
