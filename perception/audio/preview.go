package audio

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"strconv"

	"github.com/robotmem/robotmem-go/perception/internal/draw"
	"github.com/robotmem/robotmem-go/perception/media"
)

const (
	spectrogramRows       = 96 // mel bands
	maxSpectrogramColumns = 1024
	// quietest is drawn black, in decibels below the loudest.
	quietest = 70.0
	// A smaller preview than labelledWidth by labelledHeight has no axes.
	labelledWidth  = 240
	labelledHeight = 140
)

// The colours fit the light card that the plot has as its background on any page.
const (
	cardColour = "#fbfbfa"
	inkColour  = "#3d3d3a"
	lineColour = "#b9b8b3"
	waveColour = "#2a6fb0"
)

// Preview draws the spectrogram over time and pitch, bright where the sound is
// loud, and the waveform below it.
func (f File) Preview(o media.PreviewOptions) (*media.Preview, error) {
	s, err := f.decode()
	if err != nil {
		return nil, err
	}
	c := draw.NewCanvas(o, `font-family="sans-serif" font-size="11" fill="`+inkColour+`"`)
	fmt.Fprintf(c, `<rect width="%d" height="%d" fill="%s"/>`, o.Width, o.Height, cardColour)
	w, h := float64(o.Width), float64(o.Height)
	upper, lower := draw.Box{Right: w, Bottom: 0.75 * h}, draw.Box{Top: 0.75 * h, Right: w, Bottom: h}
	labelled := o.Width >= labelledWidth && o.Height >= labelledHeight
	if labelled {
		const left, right, top, bottom, gap = 48, 16, 14, 36, 10
		split := top + 0.75*(h-top-bottom-gap)
		upper, lower = draw.Box{Left: left, Top: top, Right: w - right, Bottom: split}, draw.Box{Left: left, Top: split + gap, Right: w - right, Bottom: h - bottom}
	}
	if err := c.Image(upper, "", s.spectrogram(min(max(int(upper.Width()), 1), maxSpectrogramColumns))); err != nil {
		return nil, err
	}
	peak := s.wave(c, lower)
	if labelled {
		s.axes(c, upper, lower, peak)
	}
	return c.Done(), nil
}

// spectrogram has a column per step of time and a row per band, the highest on top.
func (s *sound) spectrogram(columns int) image.Image {
	spec := newSpectrum(s.Rate, spectrogramRows, 0, float64(s.Rate)/2)
	power := make([]float64, columns*spectrogramRows)
	loudest := 0.0
	for x := range columns {
		bands := power[x*spectrogramRows : (x+1)*spectrogramRows]
		middle := (2*int64(x) + 1) * s.count / int64(2*columns)
		spec.add(s.at(middle-int64(spec.size()/2), spec.size()), bands)
		for _, p := range bands {
			loudest = max(loudest, p)
		}
	}
	palette := make(color.Palette, 256)
	for i := range palette {
		palette[i] = heat(float64(i) / 255)
	}
	img := image.NewPaletted(image.Rect(0, 0, columns, spectrogramRows), palette)
	if loudest == 0 {
		return img
	}
	for i, p := range power {
		level := 1 + 10*math.Log10(max(p/loudest, 1e-12))/quietest
		img.SetColorIndex(i/spectrogramRows, spectrogramRows-1-i%spectrogramRows, uint8(255*min(max(level, 0), 1)))
	}
	return img
}

// heat goes from black over red and yellow to white.
func heat(level float64) color.NRGBA {
	part := func(v float64) uint8 { return uint8(255 * min(max(v, 0), 1)) }
	return color.NRGBA{part(3 * level), part(3*level - 1), part(3*level - 2), 255}
}

// wave draws the range of the samples in each pixel, scaled to the peak of the mixed
// channel, which it returns.
func (s *sound) wave(c *draw.Canvas, box draw.Box) (peak float64) {
	for _, v := range s.samples {
		peak = max(peak, math.Abs(float64(v)))
	}
	scale := max(peak, 1e-9)
	middle, half := (box.Top+box.Bottom)/2, box.Height()/2
	columns := max(int(box.Width()), 1)
	c.WriteString(`<path fill="none" stroke="` + waveColour + `" d="`)
	for x := range columns {
		from, to := media.Part(x, columns, int(s.count))
		low, high := 0.0, 0.0
		// Begin at the sample before, so that the line has no gap.
		from = max(from-1, 0)
		for i, v := range s.at(int64(from), to-from) {
			if i == 0 {
				low, high = float64(v), float64(v)
			}
			low, high = min(low, float64(v)), max(high, float64(v))
		}
		// A line without height would be invisible.
		top, end := middle-half*high/scale, middle-half*low/scale
		if end-top < 1 {
			top, end = top-0.5, end+0.5
		}
		fmt.Fprintf(c, "M%s %sV%s", draw.Coord(box.Left+float64(x)+0.5), draw.Coord(top), draw.Coord(end))
	}
	c.WriteString(`"/>`)
	return peak
}

func (s *sound) axes(c *draw.Canvas, upper, lower draw.Box, peak float64) {
	line := func(x1, y1, x2, y2 float64) {
		fmt.Fprintf(c, `<path stroke="%s" d="M%s %sL%s %s"/>`, lineColour, draw.Coord(x1), draw.Coord(y1), draw.Coord(x2), draw.Coord(y2))
	}
	const tick, baseline, rowHeight, columnWidth = 4, 4, 15, 60
	last := upper.Top
	top := mel(float64(s.Rate) / 2)
	c.Text(4, upper.Top+baseline+4, "start", "kHz")
	for _, hz := range []float64{1e6, 5e5, 2e5, 1e5, 5e4, 2e4, 1e4, 5000, 2000, 1000, 500, 200, 100} {
		y := upper.Bottom - upper.Height()*mel(hz)/top
		if y < last+rowHeight || y > upper.Bottom-baseline {
			continue
		}
		last = y
		line(upper.Left-tick, y, upper.Left, y)
		c.Text(upper.Left-tick-3, y+baseline, "end", strconv.FormatFloat(hz/1000, 'f', -1, 64))
	}
	line(lower.Left, lower.Bottom, lower.Right, lower.Bottom)
	total := float64(s.count) / float64(s.Rate)
	columns := max(int(lower.Width()/columnWidth), 1)
	for _, t := range draw.NewTicks(0, total*(1+1e-9), draw.Step(total/float64(columns))).Values {
		x := lower.Left + lower.Width()*t/total
		line(x, lower.Bottom, x, lower.Bottom+tick)
		c.Text(x, lower.Bottom+tick+11, "middle", strconv.FormatFloat(t, 'g', 4, 64))
	}
	c.Text((lower.Left+lower.Right)/2, lower.Bottom+30, "middle", "time in s")
	c.Text(lower.Left-tick-3, lower.Top+9, "end", "±"+strconv.FormatFloat(peak, 'g', 2, 64))
}
