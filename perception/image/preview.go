package image

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
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

	size := p.Bounds().Size()
	w, h := fit(size.X, size.Y, o)
	small := shrink(p.RGBA64Image, w, h)
	if p.values != nil {
		colour(small)
	}

	out := &media.Preview{MediaType: "image/png", Width: small.Rect.Dx(), Height: small.Rect.Dy()}

	var b bytes.Buffer
	// JPEG has no transparency and blurs the edges of depth values. For a small picture it saves nothing.
	if p.values == nil && small.Opaque() && size.X*size.Y > fewPixels {
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

// colour draws levels of grey from blue for near values to red for far ones. A pixel is drawn if most
// of it has values, so that holes keep their size.
func colour(img *image.NRGBA) {
	for i := 0; i < len(img.Pix); i += 4 {
		c := color.NRGBA{}
		if img.Pix[i+3] > math.MaxUint8/2 {
			c = draw.Colour(float64(img.Pix[i]) / math.MaxUint8)
		}
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = c.R, c.G, c.B, c.A
	}
}
