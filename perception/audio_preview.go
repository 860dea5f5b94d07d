package perception

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strconv"
)

// The preview of a sound is an SVG: its spectrogram over time and pitch, light
// where it is loud, and the waveform beneath. It brings its own background and
// needs no file beside it.

const (
	spectrogramRows    = 96 // mel bands
	maxSpectrogramCols = 1024
	// quietest is what is black, in decibels below the loudest.
	quietest = 70.0
	// labelledWidth and labelledHeight leave room for axes; a smaller preview
	// has none.
	labelledWidth  = 240
	labelledHeight = 140
)

// The colours are for the card that the plot lies on, light on any page.
const (
	cardColour = "#fbfbfa"
	inkColour  = "#3d3d3a"
	lineColour = "#b9b8b3"
	waveColour = "#2a6fb0"
)

// plotBox is where the two parts of the preview lie, in pixels.
type plotBox struct {
	width, height    int // of the whole
	left, right, top float64
	split            float64 // the bottom of the spectrogram
	waveTop, waveEnd float64
	labelled         bool
}

func layOut(o PreviewOptions) plotBox {
	w, h := float64(o.Width), float64(o.Height)
	if o.Width < labelledWidth || o.Height < labelledHeight {
		return plotBox{width: o.Width, height: o.Height, right: w, split: 0.75 * h, waveTop: 0.75 * h, waveEnd: h}
	}
	const left, right, top, bottom, gap = 48, 16, 14, 36, 10
	plot := h - top - bottom - gap
	split := top + 0.75*plot
	return plotBox{o.Width, o.Height, left, w - right, top, split, split + gap, h - bottom, true}
}

func (s *sound) preview(o PreviewOptions) (*Preview, error) {
	box := layOut(o)
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="11">`,
		box.width, box.height, box.width, box.height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="%s"/>`, box.width, box.height, cardColour)
	var picture bytes.Buffer
	if err := png.Encode(&picture, s.spectrogram(min(max(int(box.right-box.left), 1), maxSpectrogramCols))); err != nil {
		return nil, fmt.Errorf("encode the spectrogram: %w", err)
	}
	fmt.Fprintf(&b, `<image x="%g" y="%g" width="%g" height="%.1f" preserveAspectRatio="none" href="data:image/png;base64,%s"/>`,
		box.left, box.top, box.right-box.left, box.split-box.top, base64.StdEncoding.EncodeToString(picture.Bytes()))
	peak := s.wave(&b, box)
	if box.labelled {
		s.axes(&b, box, peak)
	}
	b.WriteString("</svg>\n")
	return &Preview{MediaType: "image/svg+xml", Data: b.Bytes(), Width: box.width, Height: box.height}, nil
}

// end is the last sample that is shown.
func (s *sound) end() int64 { return max(s.length, s.stretches[len(s.stretches)-1].end()) }

// spectrogram has a column per step of time and a row per band, high ones on
// top.
func (s *sound) spectrogram(columns int) image.Image {
	spec := newSpectrum(s.rate, spectrogramRows, 0, float64(s.rate)/2)
	power := make([]float64, columns*spectrogramRows)
	loudest := 0.0
	for x := range columns {
		bands := power[x*spectrogramRows : (x+1)*spectrogramRows]
		middle := (2*int64(x) + 1) * s.end() / int64(2*columns)
		spec.add(s.at(middle-int64(spec.size()/2), spec.size()), bands)
		for _, p := range bands {
			loudest = max(loudest, p)
		}
	}
	palette := make(color.Palette, 256)
	for i := range palette {
		palette[i] = inferno.at(float64(i) / 255)
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

// wave draws the span of the samples in each pixel, scaled to the peak of the
// mixed channel, which it returns.
func (s *sound) wave(b *bytes.Buffer, box plotBox) (peak float64) {
	for _, part := range s.stretches {
		for _, v := range part.samples {
			peak = max(peak, math.Abs(float64(v)))
		}
	}
	scale := max(peak, 1e-9)
	middle, half := (box.waveTop+box.waveEnd)/2, (box.waveEnd-box.waveTop)/2
	columns := max(int(box.right-box.left), 1)
	b.WriteString(`<path fill="none" stroke="` + waveColour + `" d="`)
	for x := range columns {
		from, to := part(x, columns, int(s.end()))
		low, high := 0.0, 0.0
		// From the sample before, so that the line does not break.
		from = max(from-1, 0)
		for i, v := range s.at(int64(from), to-from) {
			if i == 0 {
				low, high = float64(v), float64(v)
			}
			low, high = min(low, float64(v)), max(high, float64(v))
		}
		// A stroke of no height would not be seen.
		top, end := middle-half*high/scale, middle-half*low/scale
		if end-top < 1 {
			top, end = top-0.5, end+0.5
		}
		fmt.Fprintf(b, "M%g %.1fV%.1f", box.left+float64(x)+0.5, top, end)
	}
	b.WriteString(`"/>`)
	return peak
}

func (s *sound) axes(b *bytes.Buffer, box plotBox, peak float64) {
	line := func(x1, y1, x2, y2 float64) {
		fmt.Fprintf(b, `<path stroke="%s" d="M%.1f %.1fL%.1f %.1f"/>`, lineColour, x1, y1, x2, y2)
	}
	label := func(x, y float64, anchor, text string) {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`, x, y, anchor, inkColour, text)
	}
	const tick, baseline, rowHeight, columnWidth = 4, 4, 15, 60
	last := box.top
	top := mel(float64(s.rate) / 2)
	label(4, box.top+baseline+4, "start", "kHz")
	for _, hz := range []float64{1e6, 5e5, 2e5, 1e5, 5e4, 2e4, 1e4, 5000, 2000, 1000, 500, 200, 100} {
		y := box.split - (box.split-box.top)*mel(hz)/top
		if y < last+rowHeight || y > box.split-baseline {
			continue
		}
		last = y
		line(box.left-tick, y, box.left, y)
		label(box.left-tick-3, y+baseline, "end", strconv.FormatFloat(hz/1000, 'f', -1, 64))
	}
	line(box.left, box.waveEnd, box.right, box.waveEnd)
	total := float64(s.end()) / float64(s.rate)
	step := tickStep(total, int((box.right-box.left)/columnWidth))
	for i := 0; float64(i)*step <= total*(1+1e-9); i++ {
		t := float64(i) * step
		x := box.left + (box.right-box.left)*t/total
		line(x, box.waveEnd, x, box.waveEnd+tick)
		label(x, box.waveEnd+tick+11, "middle", strconv.FormatFloat(t, 'g', 4, 64))
	}
	label((box.left+box.right)/2, float64(box.height)-6, "middle", "time in s")
	label(box.left-tick-3, box.waveTop+9, "end", "±"+strconv.FormatFloat(peak, 'g', 2, 64))
}

// tickStep is 1, 2 or 5 times a power of ten, so that at most n steps make up
// the length.
func tickStep(length float64, n int) float64 {
	step := math.Pow(10, math.Floor(math.Log10(length/float64(max(n, 1)))))
	for _, factor := range []float64{1, 2, 5} {
		if length/(step*factor) <= float64(max(n, 1)) {
			return step * factor
		}
	}
	return 10 * step
}
