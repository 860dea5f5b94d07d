package perception

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
)

// plotStyle takes the colour of words and rules from the page where the picture
// stands in one, and from the reader's preference where it stands alone.
const plotStyle = `<style>.trace-plot{color:#24292f}` +
	`@media (prefers-color-scheme:dark){.trace-plot{color:#e6edf3}}` +
	`.trace-plot text{font:11px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;fill:currentColor}` +
	`.trace-plot .l{fill:none;stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}` +
	`.trace-plot .g{fill:none;stroke:currentColor;stroke-opacity:.15}` +
	`.trace-plot .z{fill:none;stroke:currentColor;stroke-opacity:.45}</style>`

// ticks are round numbers along an axis: 1, 2 or 5 times a power of ten apart.
type ticks struct {
	values []float64
	step   float64
}

// newTicks finds some want of them, no nearer to each other than least.
func newTicks(low, high float64, want int, least float64) ticks {
	want = max(min(want, 8), 2)
	t := ticks{step: math.Pow(10, math.Floor(math.Log10((high-low)/float64(want))))}
	for _, factor := range []float64{1, 2, 5, 10} {
		if step := t.step * factor; (high-low)/step <= float64(want)+0.5 || factor == 10 {
			t.step = step
			break
		}
	}
	t.step = max(t.step, least)
	first := math.Ceil(low / t.step)
	for i := 0.0; i <= 10 && (first+i)*t.step <= high; i++ {
		t.values = append(t.values, (first+i)*t.step+0) // no -0
	}
	return t
}

// text is a tick as it is written, with as many decimals as tell it from the
// next; far from 1 with an exponent.
func (t ticks) text(v float64) string {
	const plainFrom, plainTo = 1e-4, 1e6
	largest := 0.0
	for _, v := range t.values {
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

// width is that of the widest, in pixels.
func (t ticks) width() float64 {
	widest := 0.0
	for _, v := range t.values {
		widest = max(widest, textWidth(t.text(v)))
	}
	return widest
}

func (p *plot) drawValues(axis valueAxis, frame box) {
	for _, v := range axis.ticks.values {
		y := axis.y(v, frame)
		p.rule(v == 0, frame.left, y, frame.right, y)
		p.text(frame.left-5, y+4, "end", axis.ticks.text(v))
	}
}

// drawTimes draws the ticks, and below the lowest panel writes them, the unit at
// the last: "100", "200", "300 ms". Without a rate samples are counted from 1.
func (p *plot) drawTimes(frame box, lowest bool) {
	if p.s.len() == 1 {
		return
	}
	want := int((frame.right - frame.left) / 64)
	from, span, unit, least := 1.0, float64(p.s.len()-1), "samples", 1.0
	if seconds := p.s.seconds(); seconds > 0 && finite(seconds) {
		from, span, unit, least = 0, p.s.time(p.s.len()-1), "s", 0
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
	t := newTicks(from, from+span, want, least)
	for i, v := range t.values {
		x := frame.left + (v-from)/span*(frame.right-frame.left)
		p.rule(false, x, frame.top, x, frame.bottom)
		if !lowest {
			continue
		}
		label, anchor := t.text(v), "middle"
		if i == len(t.values)-1 {
			label += " " + unit
			if x+textWidth(label)/2 > frame.right+2*plotEdge {
				x, anchor = frame.right+2*plotEdge, "end"
			}
		}
		p.text(x, frame.bottom+lineStep-1, anchor, label)
	}
}

// legend writes the unit and the names above a panel, in one row or two, and
// returns the rows.
func (p *plot) legend(panel panel, area box) int {
	const swatch = 18
	x, room := area.left+plotEdge, area.right-area.left-2*plotEdge
	if panel.unit != "" {
		unit := fitText(panel.unit, room/4)
		p.text(x, area.top+textSize, "start", unit)
		indent := max(textWidth(unit)+12, 36)
		x, room = x+indent, room-indent
	}
	var names []string
	needed := 0.0
	for _, c := range panel.channels {
		name := p.s.channelName(c)
		if name == "" {
			return 1
		}
		names = append(names, name)
		needed += swatch + textWidth(name) + 10
	}
	rows, perRow := 1, len(names)
	if needed > room && len(names) > 1 && area.bottom-area.top > minPanelHeight+lineStep {
		rows, perRow = 2, (len(names)+1)/2
	}
	for i, name := range names {
		at, y := x, area.top+textSize
		if needed > room {
			cell := room / float64(perRow)
			at, y = x+cell*float64(i%perRow), y+lineStep*float64(i/perRow)
			name = fitText(name, cell-swatch-8)
		}
		fmt.Fprintf(&p.svg, `<path class="l" stroke="%s" d="M%.1f %.1fh12"/>`, plotColours[i], at, y-4)
		p.text(at+swatch-2, y, "start", name)
		if needed <= room {
			x += swatch + textWidth(name) + 10
		}
	}
	return rows
}

func (p *plot) rule(strong bool, x1, y1, x2, y2 float64) {
	class := "g"
	if strong {
		class = "z"
	}
	fmt.Fprintf(&p.svg, `<path class="%s" d="M%.1f %.1fL%.1f %.1f"/>`, class, x1, y1, x2, y2)
}

func (p *plot) text(x, y float64, anchor, text string) {
	fmt.Fprintf(&p.svg, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, escapeXML(text))
}

// textWidth estimates: a letter of a sans-serif takes some 0.56 of its size, a
// sign of a script that is written in squares all of it.
func textWidth(s string) float64 {
	const squares = 0x2e80
	width := 0.0
	for _, r := range s {
		if r >= squares {
			width += textSize
		} else {
			width += 0.56 * textSize
		}
	}
	return width
}

// fitText shortens what is wider than room, and keeps the end: that is where the
// names of channels differ.
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

func escapeXML(s string) string {
	var b bytes.Buffer
	// A buffer cannot refuse to be written.
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
