package perception

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
)

const (
	// maxDrawnPoints is beyond what a picture can show.
	maxDrawnPoints = 1 << 20
	// maxCells keeps the picture below 300 KiB: a cell is a byte at most before
	// base64 makes it 4/3.
	maxCells = 200_000
	// cloudColors leaves one of 64 for no points.
	cloudColors = 63
)

// previewCloud draws the highest point of each cell, coloured by its height.
func previewCloud(it Item, o PreviewOptions) (*Preview, error) {
	c, err := DecodeCloud(it, maxDrawnPoints)
	if err != nil {
		return nil, err
	}
	low := [2]float64{float64(c.Min[0]), float64(c.Min[1])}
	high := [2]float64{float64(c.Max[0]), float64(c.Max[1])}
	v := newTopview(o, low, high, true)
	unit := lengthUnit(it)
	v.axes([2]string{"x", "y"}, unit)
	bottom, top := heightRange(c)
	raster, err := v.heights(c, bottom, top)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&v.b, `<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,%s"/>`,
		coord(v.left), coord(v.top), coord(v.right-v.left), coord(v.bottom-v.top), base64.StdEncoding.EncodeToString(raster))
	if top > bottom {
		v.bar("z ("+unit+")", figure(bottom), figure(top))
	}
	return v.done(), nil
}

func tooLargeToDraw(it Item) error {
	return fmt.Errorf("the payload of %d bytes is too large to draw; only its first %d are read", it.Size, len(it.Data))
}

// heightRange leaves out the lowest and the highest hundredth, so that one stray
// point does not take all colours.
func heightRange(c *Cloud) (low, high float64) {
	z := make([]float32, 0, len(c.Positions)/3)
	for i := 2; i < len(c.Positions); i += 3 {
		z = append(z, c.Positions[i])
	}
	slices.Sort(z)
	return float64(z[len(z)/100]), float64(z[len(z)-1-len(z)/100])
}

// heights is a PNG of the frame. Of few points the cells are larger.
func (v *topview) heights(c *Cloud, bottom, top float64) ([]byte, error) {
	wide, high := v.right-v.left, v.bottom-v.top
	const cellsPerPoint, largest = 12, 4
	cell := math.Sqrt(wide * high / float64(cellsPerPoint*len(c.Positions)/3))
	cell = max(min(max(cell, 1), largest), math.Sqrt(wide*high/maxCells))
	columns, rows := max(int(wide/cell), 1), max(int(high/cell), 1)
	palette := make(color.Palette, 1, cloudColors+1)
	palette[0] = color.NRGBA{}
	for i := range cloudColors {
		palette = append(palette, scaleColor(float64(i)/(cloudColors-1)))
	}
	img := image.NewPaletted(image.Rect(0, 0, columns, rows), palette)
	for i := 0; i < len(c.Positions); i += 3 {
		x, y := v.pixel([2]float64{float64(c.Positions[i]), float64(c.Positions[i+1])})
		column := min(max(int((x-v.left)/wide*float64(columns)), 0), columns-1)
		row := min(max(int((y-v.top)/high*float64(rows)), 0), rows-1)
		share := 0.5 // of a level cloud
		if top > bottom {
			share = min(max((float64(c.Positions[i+2])-bottom)/(top-bottom), 0), 1)
		}
		at := row*columns + column
		img.Pix[at] = max(img.Pix[at], 1+uint8(share*(cloudColors-1)))
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, img); err != nil {
		return nil, fmt.Errorf("drawing the cloud: %w", err)
	}
	return b.Bytes(), nil
}
