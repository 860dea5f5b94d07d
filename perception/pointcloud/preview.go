package pointcloud

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/perception/internal/draw"
	"github.com/robotmem/robotmem-go/perception/media"
)

const (
	// maxDrawnPoints is more than a picture can show.
	maxDrawnPoints = 1 << 20
	// maxCells keeps the picture below 300 KiB: a cell takes at most a byte, and base64
	// makes 4/3 of it.
	maxCells = 200_000
	// heightColours leaves one of 64 colours for no points.
	heightColours = 63
	// maxDrawnRays keeps the picture of a scan below 100 KiB.
	maxDrawnRays = 2048
	// maxGap is the angle up to which the space between two returns counts as seen.
	maxGap = 5 * math.Pi / 180
)

// Preview draws the highest point of each cell, coloured by its height.
func (f File) Preview(o media.PreviewOptions) (*media.Preview, error) {
	c, err := Decode(f.Payload, maxDrawnPoints)
	if err != nil {
		return nil, err
	}
	low := [2]float64{float64(c.Min[0]), float64(c.Min[1])}
	high := [2]float64{float64(c.Max[0]), float64(c.Max[1])}
	unit := f.Metadata.Unit("m")
	v := draw.NewAbove(o, low, high, [2]string{"x", "y"}, unit, true)
	bottom, top := heightRange(c)
	if err := v.Image(v.Frame, `style="image-rendering:pixelated"`, heights(v, c, bottom, top)); err != nil {
		return nil, err
	}
	if top > bottom {
		v.Bar("z ("+unit+")", media.Figure(bottom), media.Figure(top))
	}
	return v.Done(), nil
}

// heightRange leaves out the lowest and the highest hundredth, so that one outlier
// does not take all colours.
func heightRange(c *Cloud) (low, high float64) {
	z := make([]float32, 0, len(c.Positions)/3)
	for i := 2; i < len(c.Positions); i += 3 {
		z = append(z, c.Positions[i])
	}
	slices.Sort(z)
	return float64(z[len(z)/100]), float64(z[len(z)-1-len(z)/100])
}

// heights draws the points of the frame. The cells are larger if there are few points.
func heights(v *draw.Above, c *Cloud, bottom, top float64) image.Image {
	wide, high := v.Frame.Width(), v.Frame.Height()
	const cellsPerPoint, largest = 12, 4
	cell := math.Sqrt(wide * high / float64(cellsPerPoint*len(c.Positions)/3))
	cell = max(min(max(cell, 1), largest), math.Sqrt(wide*high/maxCells))
	columns, rows := max(int(wide/cell), 1), max(int(high/cell), 1)
	palette := make(color.Palette, 1, heightColours+1)
	palette[0] = color.NRGBA{}
	for i := range heightColours {
		palette = append(palette, draw.Colour(float64(i)/(heightColours-1)))
	}
	img := image.NewPaletted(image.Rect(0, 0, columns, rows), palette)
	for i := 0; i < len(c.Positions); i += 3 {
		x, y := v.Pixel([2]float64{float64(c.Positions[i]), float64(c.Positions[i+1])})
		column := min(max(int((x-v.Frame.Left)/wide*float64(columns)), 0), columns-1)
		row := min(max(int((y-v.Frame.Top)/high*float64(rows)), 0), rows-1)
		level := 0.5 // of a level cloud
		if top > bottom {
			level = min(max((float64(c.Positions[i+2])-bottom)/(top-bottom), 0), 1)
		}
		at := row*columns + column
		img.Pix[at] = max(img.Pix[at], 1+uint8(level*(heightColours-1)))
	}
	return img
}

// Preview draws where the rays end and the space that they passed. The sensor is at
// the origin and looks along x.
func (s *Scan) Preview(o media.PreviewOptions) (*media.Preview, error) {
	var low, high [2]float64 // the sensor is part of the picture
	var hits, seen [][2]float64
	last := math.Inf(-1)
	step := (len(s.ranges) + maxDrawnRays - 1) / maxDrawnRays
	for i := 0; i < len(s.ranges); i += step {
		if !s.returned(i) {
			continue
		}
		sin, cos := math.Sincos(s.angle(i))
		p := [2]float64{s.ranges[i] * cos, s.ranges[i] * sin}
		// Where no ray returned, nothing is known.
		if turn := float64(i) * math.Abs(s.increment); turn-last > max(maxGap, 1.5*float64(step)*math.Abs(s.increment)) {
			seen = append(seen, [2]float64{})
		}
		last = float64(i) * math.Abs(s.increment)
		hits, seen = append(hits, p), append(seen, p)
		for axis := range p {
			low[axis], high[axis] = min(low[axis], p[axis]), max(high[axis], p[axis])
		}
	}
	if len(hits) == 0 {
		return nil, errors.New("no ray of the scan has a return")
	}
	v := draw.NewAbove(o, low, high, [2]string{"x", "y"}, s.Metadata.Unit("m"), false)
	if s.span() == 2*math.Pi && s.returned(0) && s.returned(len(s.ranges)-1) {
		seen = seen[1:] // a whole turn does not pass through the sensor
	}
	corners := make([]string, len(seen))
	for i, p := range seen {
		corners[i] = v.Point(p)
	}
	fmt.Fprintf(v, `<polygon class="seen" points="%s"/>`, strings.Join(corners, " "))
	for _, p := range hits {
		x, y := v.Pixel(p)
		fmt.Fprintf(v, `<circle class="hit" cx="%s" cy="%s" r="1.6"/>`, draw.Coord(x), draw.Coord(y))
	}
	x, y := v.Pixel([2]float64{})
	fmt.Fprintf(v, `<path class="solid" d="M%s,%sl-11,-5v10z"/>`, draw.Coord(x+7), draw.Coord(y))
	return v.Done(), nil
}
