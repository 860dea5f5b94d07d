package image

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"

	xdraw "golang.org/x/image/draw"

	"github.com/robotmem/robotmem-go/perception/internal/draw"
	"github.com/robotmem/robotmem-go/perception/media"
)

const (
	previewQuality = 85
	// fewPixels is the size up to which a PNG is small enough.
	fewPixels = 128 * 128
)

// Preview returns a smaller copy: a JPEG if the picture is opaque and large, and otherwise a PNG.
func (i *Image) Preview(o media.PreviewOptions) (*media.Preview, error) {
	p, err := i.decode()
	if err != nil {
		return nil, err
	}
	w, h := fit(p.size.X, p.size.Y, o)
	var small *image.NRGBA
	if p.values != nil {
		small = p.values.draw(w, h)
	} else {
		small = shrink(p.colours, w, h)
	}
	out := &media.Preview{MediaType: "image/png", Width: small.Rect.Dx(), Height: small.Rect.Dy()}
	var b bytes.Buffer
	if p.values == nil && small.Opaque() && p.size.X*p.size.Y > fewPixels {
		out.MediaType = "image/jpeg"
		err = jpeg.Encode(&b, small, &jpeg.Options{Quality: previewQuality})
	} else {
		err = png.Encode(&b, small)
	}
	if err != nil {
		return nil, fmt.Errorf("encode the preview: %w", err)
	}
	out.Data = b.Bytes()
	return out, nil
}

// fit returns the largest size of the same shape within the options, not larger than the picture.
func fit(width, height int, o media.PreviewOptions) (w, h int) {
	scale := min(float64(o.Width)/float64(width), float64(o.Height)/float64(height), 1)
	side := func(length int) int { return max(int(math.Round(float64(length)*scale)), 1) }
	return side(width), side(height)
}

// shrink scales a large picture roughly first, since the kernel that follows holds a row of floating
// point for each row of pixels.
func shrink(img image.RGBA64Image, w, h int) *image.NRGBA {
	var from image.Image = img
	r := img.Bounds()
	if k := min(r.Dx()/(2*w), r.Dy()/(2*h)); k >= 2 {
		rough := image.NewRGBA64(image.Rect(0, 0, r.Dx()/k, r.Dy()/k))
		xdraw.ApproxBiLinear.Scale(rough, rough.Rect, img, r, xdraw.Src, nil)
		from = rough
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	xdraw.CatmullRom.Scale(out, out.Rect, from, from.Bounds(), xdraw.Src, nil)
	return out
}

// draw colours the values, near ones blue and far ones red. The range is that of the means of the
// cells, so that one outlier does not take all contrast. Missing values are transparent.
func (m *values) draw(w, h int) *image.NRGBA {
	means, _ := m.cells()
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range means {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		y0, y1 := media.Part(y, h, m.height)
		for x := range w {
			x0, x1 := media.Part(x, w, m.width)
			v, missing := m.cell(x0, y0, x1, y1)
			// A cell is drawn if most of it has values, so that holes keep their size.
			if missing <= 0.5 {
				out.SetNRGBA(x, y, draw.Colour(min(max((v-low)/max(high-low, math.SmallestNonzeroFloat64), 0), 1)))
			}
		}
	}
	return out
}
