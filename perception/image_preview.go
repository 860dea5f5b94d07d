package perception

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"

	"golang.org/x/image/draw"
)

const (
	previewQuality = 85
	// smallSide is the side up to which a picture is enlarged, pixel by pixel,
	// so that something is seen of it.
	smallSide = 64
	// fewPixels is below what JPEG is worth its blur for.
	fewPixels = 128 * 128
)

// preview is a smaller copy. It is a JPEG if the picture is opaque and large,
// else a PNG.
func (p picture) preview(o PreviewOptions) (*Preview, error) {
	width, height := p.size()
	if p.turn.sideways() {
		o.Width, o.Height = o.Height, o.Width
	}
	w, h := fit(width, height, o)
	var small *image.NRGBA
	if p.values != nil {
		small = p.values.draw(w, h)
	} else {
		small = shrink(p.colours, w, h)
	}
	small = p.turn.apply(small)
	opaque := p.values == nil && small.Opaque()
	return encodePicture(small, opaque && width*height > fewPixels)
}

func (p picture) size() (width, height int) {
	if p.values != nil {
		return p.values.width, p.values.height
	}
	return p.colours.Bounds().Dx(), p.colours.Bounds().Dy()
}

func encodePicture(img image.Image, photograph bool) (*Preview, error) {
	var b bytes.Buffer
	p := &Preview{MediaType: "image/png", Width: img.Bounds().Dx(), Height: img.Bounds().Dy()}
	var err error
	if photograph {
		p.MediaType = "image/jpeg"
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: previewQuality})
	} else {
		err = png.Encode(&b, img)
	}
	if err != nil {
		return nil, fmt.Errorf("encode the preview: %w", err)
	}
	p.Data = b.Bytes()
	return p, nil
}

// fit is the largest size of the same shape within the options: no larger than
// the picture itself, save that small ones grow by a whole factor.
func fit(width, height int, o PreviewOptions) (w, h int) {
	if width <= o.Width && height <= o.Height {
		factor := 1
		if max(width, height) <= smallSide {
			factor = min(o.Width/width, o.Height/height)
		}
		return width * factor, height * factor
	}
	scale := min(float64(o.Width)/float64(width), float64(o.Height)/float64(height))
	side := func(length, limit int) int {
		return min(max(int(math.Round(float64(length)*scale)), 1), limit)
	}
	return side(width, o.Width), side(height, o.Height)
}

// shrink averages whole pixels first where there are many, as the kernel that
// follows would hold a row of floating point for each of them.
func shrink(img image.RGBA64Image, w, h int) *image.NRGBA {
	var from image.Image = img
	r := img.Bounds()
	if k := min(r.Dx()/(2*w), r.Dy()/(2*h)); k >= 2 {
		from = boxes(img, r.Dx()/k, r.Dy()/k)
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	if w >= r.Dx() {
		draw.NearestNeighbor.Scale(out, out.Rect, from, from.Bounds(), draw.Src, nil)
	} else {
		draw.CatmullRom.Scale(out, out.Rect, from, from.Bounds(), draw.Src, nil)
	}
	return out
}

// boxes is img in w by h means, none of them of more than maxCellSide squared
// pixels.
func boxes(img image.RGBA64Image, w, h int) image.Image {
	r := img.Bounds()
	out := image.NewRGBA64(image.Rect(0, 0, w, h))
	for y := range h {
		y0, y1 := part(y, h, r.Dy())
		for x := range w {
			x0, x1 := part(x, w, r.Dx())
			out.SetRGBA64(x, y, boxMean(img, image.Rect(x0, y0, x1, y1).Add(r.Min)))
		}
	}
	return out
}

func boxMean(img image.RGBA64Image, box image.Rectangle) color.RGBA64 {
	dx, dy := stride(box.Dx()), stride(box.Dy())
	var red, green, blue, alpha, n uint64
	for y := box.Min.Y; y < box.Max.Y; y += dy {
		for x := box.Min.X; x < box.Max.X; x += dx {
			c := img.RGBA64At(x, y)
			red, green, blue, alpha = red+uint64(c.R), green+uint64(c.G), blue+uint64(c.B), alpha+uint64(c.A)
			n++
		}
	}
	return color.RGBA64{uint16(red / n), uint16(green / n), uint16(blue / n), uint16(alpha / n)}
}

// The ends of turbo are too dark to tell from black.
const turboLow, turboHigh = 0.08, 0.95

// draw colours the values, near ones blue and far ones red. What is missing is
// transparent.
func (m *valueMap) draw(w, h int) *image.NRGBA {
	s := m.stats()
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		y0, y1 := part(y, h, m.height)
		for x := range w {
			x0, x1 := part(x, w, m.width)
			v, missing := m.cell(x0, y0, x1, y1)
			// Most of a cell decides, lest a hole fray at its rim.
			if missing > 0.5 {
				continue
			}
			level := 0.5
			if s.bright > s.dark {
				level = min(max((v-s.dark)/(s.bright-s.dark), 0), 1)
			}
			out.SetNRGBA(x, y, turbo.at(turboLow+level*(turboHigh-turboLow)))
		}
	}
	return out
}

func (o orientation) apply(img *image.NRGBA) *image.NRGBA {
	if o < 2 || o > 8 {
		return img
	}
	w, h := img.Rect.Dx(), img.Rect.Dy()
	r := image.Rect(0, 0, w, h)
	if o.sideways() {
		r = image.Rect(0, 0, h, w)
	}
	out := image.NewNRGBA(r)
	for y := range r.Max.Y {
		for x := range r.Max.X {
			out.SetNRGBA(x, y, img.NRGBAAt(o.source(x, y, w, h)))
		}
	}
	return out
}

// colourMap gives red, green and blue, 0 to 1, each as a polynomial of a level
// from 0 to 1, the constant first.
type colourMap [3][]float64

// turbo is Google's map for depth, in the approximation its authors give; equal
// steps of it look equal, and it tells more of them apart than a grey scale.
var turbo = colourMap{
	{0.13572138, 4.61539260, -42.66032258, 132.13108234, -152.94239396, 59.28637943},
	{0.09140261, 2.19418839, 4.84296658, -14.18503333, 4.27729857, 2.82956604},
	{0.10667330, 12.64194608, -60.58204836, 110.36276771, -89.90310912, 27.34824973},
}

// inferno is matplotlib's map from black to a pale yellow, fitted by a
// polynomial: light means loud.
var inferno = colourMap{
	{0.0002189403691192265, 0.1065134194856116, 11.60249308247187, -41.70399613139459, 77.162935699427, -71.31942824499214, 25.13112622477341},
	{0.001651004631001012, 0.5639564367884091, -3.972853965665698, 17.43639888205313, -33.40235894210092, 32.62606426397723, -12.24266895238567},
	{-0.01948089843709184, 3.932712388889277, -15.9423941062914, 44.35414519872813, -81.80730925738993, 73.20951985803202, -23.07032500287172},
}

func (m *colourMap) at(level float64) color.NRGBA {
	level = min(max(level, 0), 1)
	var rgb [3]uint8
	for i, p := range m {
		v := 0.0
		for k := len(p) - 1; k >= 0; k-- {
			v = v*level + p[k]
		}
		rgb[i] = uint8(math.Round(255 * min(max(v, 0), 1)))
	}
	return color.NRGBA{rgb[0], rgb[1], rgb[2], 255}
}
