package perception

import (
	"math"
	"strconv"
)

// path draws a channel: point by point, or, where there are more samples than
// places, as the smallest and the largest reading at each place, so that no
// peak is lost. A missing reading (there: a place of nothing else) or a gap in time
// breaks the line.
func (p *plot) path(c int, frame box, axis valueAxis) string {
	places := min(int(frame.right-frame.left), p.points/2)
	if places < 1 {
		return ""
	}
	pen := pen{}
	if p.s.len() <= min(2*places, p.points) {
		for i := range p.s.len() {
			v := p.s.plotted(i, c)
			if math.IsNaN(v) || p.gapBefore(i) {
				pen.lift()
			}
			if !math.IsNaN(v) {
				pen.to(p.x(i, frame), axis.y(v, frame))
			}
		}
		return pen.path()
	}
	for i := 0; i < p.s.len(); {
		place := p.place(i, places)
		smallest, largest := math.Inf(1), math.Inf(-1)
		for ; i < p.s.len() && p.place(i, places) == place; i++ {
			if p.gapBefore(i) {
				pen.lift()
			}
			if v := p.s.plotted(i, c); !math.IsNaN(v) {
				smallest, largest = min(smallest, v), max(largest, v)
			}
		}
		if smallest <= largest {
			x := frame.left + (float64(place)+0.5)/float64(places)*(frame.right-frame.left)
			pen.span(x, axis.y(smallest, frame), axis.y(largest, frame))
		} else {
			pen.lift()
		}
	}
	return pen.path()
}

// share is where sample i lies on the time axis, 0 to 1.
func (p *plot) share(i int) float64 {
	if p.s.times != nil {
		return p.s.times[i] / p.s.times[p.s.len()-1]
	}
	return float64(i) / float64(max(p.s.len()-1, 1))
}

func (p *plot) x(i int, frame box) float64 {
	if p.s.len() == 1 {
		return (frame.left + frame.right) / 2
	}
	return frame.left + p.share(i)*(frame.right-frame.left)
}

func (p *plot) place(i, places int) int { return min(int(p.share(i)*float64(places)), places-1) }

func (p *plot) gapBefore(i int) bool {
	return i > 0 && p.s.times != nil && p.s.times[i]-p.s.times[i-1] >= p.gap
}

// pen writes the path of a line in tenths of a pixel.
type pen struct {
	buf   []byte
	down  bool
	alone bool // the last point has no other on its line
	y     float64
}

func (p *pen) lift() {
	p.dot()
	p.down = false
}

// dot makes a lone point visible, as a short dash.
func (p *pen) dot() {
	if p.down && p.alone {
		p.buf = append(p.buf, "m-1.5 0h3"...)
	}
	p.alone = false
}

func (p *pen) to(x, y float64) {
	switch {
	case !p.down:
		p.buf = append(p.buf, 'M')
		p.down, p.alone = true, true
	default:
		p.buf = append(p.buf, ' ')
		p.alone = false
	}
	p.buf = append(tenths(p.buf, x), ' ')
	p.buf = tenths(p.buf, y)
	p.y = y
}

// span draws up or down at x, whichever end is nearer first.
func (p *pen) span(x, low, high float64) {
	if p.down && math.Abs(high-p.y) < math.Abs(low-p.y) {
		low, high = high, low
	}
	p.to(x, low)
	if math.Abs(high-low) >= 0.05 {
		p.to(x, high)
	}
}

func (p *pen) path() string {
	p.dot()
	return string(p.buf)
}

func tenths(b []byte, v float64) []byte {
	v = math.Round(v*10) / 10
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}
