package draw

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"math"

	"github.com/robotmem/robotmem-go/perception/media"
)

// Channels over time. Those of one unit share a panel with up to six lines; the panels are stacked
// and share the time axis. Channels without room are counted: "and 12 more channels".

const (
	maxPanels     = 5
	maxPanelLines = 6
	// minPanelHeight has room for a title and two ticks, in pixels.
	minPanelHeight = 72
	// maxPlotted is the number of entries of all lines together. It keeps a picture below 200 KiB.
	maxPlotted = 8000
	// largest bounds the readings, so that the extent of a panel does not overflow.
	largest = 1e300
)

// lineColours are those of Okabe and Ito that are visible on white and on black and distinct to the
// colour-blind. Yellow and black are left out.
var lineColours = [maxPanelLines]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// panels groups channels by their unit.
func panels(channels []media.Channel) (out [][]media.Channel) {
	// The latest panel of each unit.
	last := map[string]int{}
	for _, c := range channels {
		i, ok := last[c.Unit]
		if !ok || len(out[i]) == maxPanelLines {
			i = len(out)
			last[c.Unit], out = i, append(out, nil)
		}
		out[i] = append(out[i], c)
	}

	return out
}

func (c *canvas) trace(s *media.Samples) {
	all, area := panels(s.Channels), c.area()
	time, unit := clock(s)
	shown := all[:min(len(all), maxPanels, max(c.height/minPanelHeight, 1))]

	lines := 0
	for _, panel := range shown {
		lines += len(panel)
	}

	if left := int64(len(s.Channels) - lines); left > 0 {
		c.text(area.right, area.bottom+28, "end", "and "+media.Plural(left, "more channel"))
	}

	height := (area.height() + topEdge) / float64(len(shown))
	for i, panel := range shown {
		part := area
		part.top += float64(i) * height
		part.bottom = part.top + height - topEdge
		if !c.labelled {
			part.bottom += topEdge
		}
		name := ""
		if i == len(shown)-1 {
			name = unit
		}
		c.panel(part, panel, time, name, maxPlotted/lines)
	}
}

// clock returns the times of the entries and the name of the axis. The entries are counted if no
// time passes.
func clock(s *media.Samples) (times media.Numbers, name string) {
	if span := s.Time[len(s.Time)-1] - s.Time[0]; span > 0 && media.Finite(span) && s.TimeUnit == "s" {
		return s.Time, "time in s"
	}

	times = make(media.Numbers, len(s.Time))
	for i := range times {
		times[i] = float64(i)
	}

	return times, "sample"
}

// panel draws channels with one vertical axis and at most `most` entries of each. The name of the
// time axis is that of [chart.axes].
func (c *canvas) panel(area box, channels []media.Channel, times media.Numbers, name string, most int) {
	low, high := math.Inf(1), math.Inf(-1)

	for _, channel := range channels {
		bottom, top := extent(channel.Values, channel.Min, channel.Max)
		low, high = min(low, bottom), max(high, top)
	}

	plot := chart{canvas: c, box: area, y: withMargin(low, high)}
	plot.x = [2]float64{times[0], max(times[len(times)-1], math.Nextafter(times[0], math.Inf(1)))}
	plot.axes(name, ending(channels[0].Unit, 8))

	const swatch, letter, unitWidth = 16, 6.5, 56

	cell := (area.width() - unitWidth) / float64(len(channels))
	for i, channel := range channels {
		fmt.Fprintf(c, `<path class="line" stroke="%s" d="%s"/>`, lineColours[i], plot.line(times, channel, most))
		if c.labelled {
			x, y := area.left+unitWidth+float64(i)*cell, area.top-6
			fmt.Fprintf(c, `<path class="line" stroke="%s" d="M%s %sh10"/>`, lineColours[i], coord(x), coord(y-4))
			c.text(x+swatch, y, "start", ending(channel.Name, int((cell-swatch)/letter)))
		}
	}
}

// ending shortens a name to so many characters. It keeps the end, where names of channels differ.
func ending(name string, most int) string {
	if runes := []rune(name); len(runes) > most {
		return "…" + string(runes[len(runes)-max(most-1, 0):])
	}
	return name
}

// withMargin returns the limits of an axis that shows the readings from low to high.
func withMargin(low, high float64) [2]float64 {
	if low > high {
		return [2]float64{0, 1}
	}
	low, high = max(low, -largest), min(high, largest)
	// An axis cannot show a difference near the precision of a float64.
	if size := max(math.Abs(low), math.Abs(high)); high-low <= max(size*1e-9, 1/largest) {
		half := cmp.Or(size/10, 1)
		return [2]float64{low - half, high + half}
	}
	margin := (high - low) / 25

	return [2]float64{low - margin, high + margin}
}

// line returns the path of a channel: its readings, or the smallest and the largest of neighbours if
// there are more entries than most, so that no peak is lost. A missing reading breaks the line.
func (c chart) line(times media.Numbers, channel media.Channel, most int) []byte {
	low, high := channel.Min, channel.Max
	if channel.Values != nil {
		low, high = channel.Values, channel.Values
	}

	var path bytes.Buffer

	step, isOpen := (len(times)+most-1)/most, false
	for i := 0; i < len(times); i += step {
		end := min(i+step, len(times))
		bottom, top := extent(low[i:end], high[i:end])
		if bottom > top {
			isOpen = false
			continue
		}
		bottom, top = max(bottom, -largest), min(top, largest)
		if isOpen {
			path.WriteString("L" + c.point(times[i], bottom))
		} else {
			// A single point is a dot.
			path.WriteString("M" + c.point(times[i], bottom) + "h0")
		}
		isOpen = true
		if _, y := c.at(0, top); top > bottom {
			path.WriteString("V" + coord(y))
		}
	}

	return path.Bytes()
}

// Sound draws the spectrogram of a sound, of which picture returns so many columns, and its channels
// below, in a quarter of the height.
func Sound(s *media.Samples, picture func(columns int) image.Image, o media.PreviewOptions) (*media.Preview, error) {
	c := newCanvas(o)
	upper := c.area()
	lower := upper
	upper.bottom = upper.top + 0.75*upper.height()
	lower.top = upper.bottom
	if c.labelled {
		lower.top += topEdge
	}

	var data bytes.Buffer
	if err := png.Encode(&data, picture(max(int(upper.width()), 1))); err != nil {
		return nil, fmt.Errorf("encode the preview: %w", err)
	}

	fmt.Fprintf(c, `<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" href="data:image/png;base64,%s"/>`,
		coord(upper.left), coord(upper.top), coord(upper.width()), coord(upper.height()), base64.StdEncoding.EncodeToString(data.Bytes()))
	c.text(upper.left-6, upper.top+8, "end", label(s.RateHz/2000)+" kHz")
	c.text(upper.left-6, upper.bottom, "end", "0")
	times, name := clock(s)
	channels := s.Channels[:min(len(s.Channels), maxPanelLines)]
	c.panel(lower, channels, times, name, maxPlotted/len(channels))

	return c.done(), nil
}
