package perception

import (
	"image"
	"image/color"
	"math"
)

// What makes two pictures alike is their layout: where it is light and dark, and
// where it is which colour. A picture is averaged into a grid of cells and the
// grid put through a discrete cosine transform, of which the slow waves are
// kept: they outlast compression, scaling and a small shift. The luma is freed
// of its mean and its contrast first, as lights and exposures change. The chroma
// is kept as it is, after the Colour Layout Descriptor of MPEG-7 (ISO 15938-3).
//
// Image vectors are 60 waves of luma, its mean, and 2 times 10 waves of chroma;
// depth vectors 60 waves of distance and 10 of where there is none.

const (
	// gridCells is the side of the grid.
	gridCells = 32
	lumaWaves = 60
	hueWaves  = 10
)

const (
	imageKind = "image/v2"
	depthKind = "depth/v1"
)

// The parts of a vector, each weighed so that a picture and an unrelated one are
// about equally far in all of them; the layout of luma decides most.
const (
	lumaWeight    = 1.0
	meanWeight    = 0.3
	hueWeight     = 4.0
	missingWeight = 1.0
)

// grid is a picture averaged into cells, upright, each value 0 to 1 and the two
// of chroma around 0.
type grid struct {
	luma, blue, red [gridCells * gridCells]float64
}

func (p picture) features() (kind string, vector []float32, ok bool) {
	if p.values != nil {
		return p.values.features()
	}
	kind, vector = p.grid().features()
	return kind, vector, true
}

func (g *grid) features() (kind string, vector []float32) {
	_, _, mean := g.lumaRange()
	waves := cosines(&g.luma, lumaWaves+1)[1:]
	vector = appendWaves(nil, contrasted(waves), lumaWeight)
	vector = append(vector, float32(meanWeight*mean))
	vector = appendWaves(vector, cosines(&g.blue, hueWaves), hueWeight)
	return imageKind, appendWaves(vector, cosines(&g.red, hueWaves), hueWeight)
}

// contrasted scales waves to the length of one, unless there is hardly any: the
// noise of a blank picture is no layout.
func contrasted(waves []float64) []float64 {
	const faint = 0.02
	sum := 0.0
	for _, w := range waves {
		sum += w * w
	}
	length := max(math.Sqrt(sum), faint)
	for i := range waves {
		waves[i] /= length
	}
	return waves
}

func appendWaves(to []float32, waves []float64, weight float64) []float32 {
	for _, w := range waves {
		to = append(to, float32(weight*w))
	}
	return to
}

func (p picture) grid() *grid {
	g := new(grid)
	r := p.colours.Bounds()
	for y := range gridCells {
		for x := range gridCells {
			sx, sy := p.turn.source(x, y, gridCells, gridCells)
			x0, x1 := part(sx, gridCells, r.Dx())
			y0, y1 := part(sy, gridCells, r.Dy())
			c := cellMean(p.colours, image.Rect(x0, y0, x1, y1).Add(r.Min))
			// The luma and the differences of ITU-R BT.601, as JPEG has them.
			i := y*gridCells + x
			g.luma[i] = 0.299*c[0] + 0.587*c[1] + 0.114*c[2]
			g.blue[i] = 0.564 * (c[2] - g.luma[i])
			g.red[i] = 0.713 * (c[0] - g.luma[i])
		}
	}
	return g
}

// grey says that no cell has a colour that an eye would see.
func (g *grid) grey() bool {
	const hue = 0.015
	for i := range g.luma {
		if math.Abs(g.blue[i]) > hue || math.Abs(g.red[i]) > hue {
			return false
		}
	}
	return true
}

func (g *grid) lumaRange() (low, high, mean float64) {
	low = 1
	for _, v := range g.luma {
		low, high, mean = min(low, v), max(high, v), mean+v/(gridCells*gridCells)
	}
	return low, high, mean
}

// cellMean is the mean red, green and blue of a cell, 0 to 1, over black where
// the picture is transparent.
func cellMean(img image.RGBA64Image, cell image.Rectangle) (mean [3]float64) {
	if jpeg, ok := img.(*image.YCbCr); ok {
		return cellMeanYCbCr(jpeg, cell)
	}
	dx, dy := stride(cell.Dx()), stride(cell.Dy())
	n := 0.0
	for y := cell.Min.Y; y < cell.Max.Y; y += dy {
		for x := cell.Min.X; x < cell.Max.X; x += dx {
			c := img.RGBA64At(x, y)
			mean[0] += float64(c.R)
			mean[1] += float64(c.G)
			mean[2] += float64(c.B)
			n++
		}
	}
	for i := range mean {
		mean[i] /= n * math.MaxUint16
	}
	return mean
}

// cellMeanYCbCr is cellMean of what a JPEG decodes to, in a fraction of the time:
// frames of a camera are most of what is looked at.
func cellMeanYCbCr(img *image.YCbCr, cell image.Rectangle) (mean [3]float64) {
	dx, dy := stride(cell.Dx()), stride(cell.Dy())
	// Neighbours share their chroma: 2 of them, 4 or none.
	shift := 0
	switch img.SubsampleRatio {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		shift = 1
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		shift = 2
	}
	var sum [3]uint64
	n := 0.0
	for y := cell.Min.Y; y < cell.Max.Y; y += dy {
		luma := img.Y[img.YOffset(cell.Min.X, y):]
		row := img.COffset(cell.Min.X, y) - cell.Min.X>>shift
		for x := cell.Min.X; x < cell.Max.X; x += dx {
			at := row + x>>shift
			r, g, b, _ := color.YCbCr{Y: luma[x-cell.Min.X], Cb: img.Cb[at], Cr: img.Cr[at]}.RGBA()
			sum[0] += uint64(r)
			sum[1] += uint64(g)
			sum[2] += uint64(b)
			n++
		}
	}
	for i := range mean {
		mean[i] = float64(sum[i]) / (n * math.MaxUint16)
	}
	return mean
}

// cosines are the first n coefficients of the two-dimensional DCT-II, scaled so
// that the first is the mean, in the zigzag order of JPEG: slow waves first.
func cosines(cells *[gridCells * gridCells]float64, n int) []float64 {
	out := make([]float64, 0, n)
	for sum := 0; ; sum++ {
		for i := range sum + 1 {
			u, v := i, sum-i
			if sum%2 == 0 {
				u, v = v, u
			}
			out = append(out, cosine(cells, u, v))
			if len(out) == n {
				return out
			}
		}
	}
}

func cosine(cells *[gridCells * gridCells]float64, u, v int) float64 {
	var across [gridCells]float64
	for x := range across {
		across[x] = math.Cos(math.Pi / gridCells * (float64(x) + 0.5) * float64(u))
	}
	sum := 0.0
	for y := range gridCells {
		down := math.Cos(math.Pi / gridCells * (float64(y) + 0.5) * float64(v))
		for x := range gridCells {
			sum += cells[y*gridCells+x] * across[x] * down
		}
	}
	scale := 1.0
	if u > 0 {
		scale *= math.Sqrt2
	}
	if v > 0 {
		scale *= math.Sqrt2
	}
	return scale * sum / (gridCells * gridCells)
}

// features of values do not depend on their unit: the distances are freed of
// their mean and spread. A cell without any takes the mean of all.
func (m *valueMap) features() (kind string, vector []float32, ok bool) {
	var values, missing [gridCells * gridCells]float64
	sum, n := 0.0, 0.0
	for i := range values {
		x0, x1 := part(i%gridCells, gridCells, m.width)
		y0, y1 := part(i/gridCells, gridCells, m.height)
		values[i], missing[i] = m.cell(x0, y0, x1, y1)
		if !math.IsNaN(values[i]) {
			sum += values[i]
			n++
		}
	}
	if n == 0 {
		return "", nil, false
	}
	mean, spread := sum/n, 0.0
	for i, v := range values {
		if math.IsNaN(v) {
			values[i] = mean
		}
		spread += (values[i] - mean) * (values[i] - mean)
	}
	spread = math.Sqrt(spread / n)
	for i := range values {
		values[i] -= mean
		if spread > 0 {
			values[i] /= spread
		}
	}
	vector = appendWaves(nil, contrasted(cosines(&values, lumaWaves+1)[1:]), lumaWeight)
	return depthKind, appendWaves(vector, cosines(&missing, hueWaves), missingWeight), true
}
