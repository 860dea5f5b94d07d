package image

import (
	"image"
	"image/color"
	"math"
	"slices"
	"strconv"

	"github.com/robotmem/robotmem-go/perception/media"
)

// Two pictures are alike if their layout is: where they are light and dark, and where they have
// which colour. A picture is averaged into a grid of cells, and the low coefficients of the
// discrete cosine transform of the grid are kept: they survive compression, scaling and a small
// shift. The mean and the contrast of the luma are removed first, since light and exposure change.
// The chroma is kept as it is, after the Colour Layout Descriptor of MPEG-7 (ISO 15938-3).
//
// A vector has 60 coefficients of the luma, its mean, and 10 coefficients of each chroma. A picture of
// values, such as distances, is compared as it is drawn in grey: see [values].

const (
	gridCells          = 32 // the side of the grid
	lumaCoefficients   = 60
	chromaCoefficients = 10

	imageKind = "image/v2"
	depthKind = "depth/v2"

	// faintLuma is the length of the luma's coefficients below which a picture has hardly any contrast.
	faintLuma = 0.02

	// With these weights, each part of the vector adds about as much to the distance of two unrelated pictures. The
	// layout of the luma still decides most.
	lumaWeight   = 1.0
	meanWeight   = 0.3
	chromaWeight = 4.0
)

type cells [gridCells * gridCells]float64

// grid is a picture averaged into cells, upright. Luma is 0 to 1, chroma around 0.
type grid struct {
	luma, blue, red cells
}

func (g *grid) features() []float32 {
	_, _, mean := g.lumaRange()
	vector := appendWeighted(nil, normalise(dct(&g.luma, lumaCoefficients+1)[1:]), lumaWeight)
	vector = append(vector, float32(meanWeight*mean))
	vector = appendWeighted(vector, dct(&g.blue, chromaCoefficients), chromaWeight)
	return appendWeighted(vector, dct(&g.red, chromaCoefficients), chromaWeight)
}

// normalise scales coefficients to length 1. If there is hardly any contrast they stay shorter, because
// the noise of a blank picture is not a layout.
func normalise(coefficients []float64) []float64 {
	sum := 0.0
	for _, w := range coefficients {
		sum += w * w
	}

	length := max(math.Sqrt(sum), faintLuma)
	for i := range coefficients {
		coefficients[i] /= length
	}

	return coefficients
}

func appendWeighted(to []float32, coefficients []float64, weight float64) []float32 {
	for _, w := range coefficients {
		to = append(to, float32(weight*w))
	}
	return to
}

func gridOf(img image.RGBA64Image) *grid {
	g := new(grid)
	r := img.Bounds()

	for y := range gridCells {
		for x := range gridCells {
			x0, x1 := media.Part(x, gridCells, r.Dx())
			y0, y1 := media.Part(y, gridCells, r.Dy())
			c := cellMean(img, image.Rect(x0, y0, x1, y1).Add(r.Min))
			// Luma and colour differences of ITU-R BT.601, as in JPEG.
			i := y*gridCells + x
			g.luma[i] = 0.299*c[0] + 0.587*c[1] + 0.114*c[2]
			g.blue[i] = 0.564 * (c[2] - g.luma[i])
			g.red[i] = 0.713 * (c[0] - g.luma[i])
		}
	}

	return g
}

// words returns ", grey, brightness 0.42".
func (g *grid) words() string {
	hue := "colour"
	if g.grey() {
		hue = "grey"
	}
	low, high, mean := g.lumaRange()
	s := ", " + hue + ", brightness " + strconv.FormatFloat(mean, 'f', 2, 64)
	// The camera has a covered lens, or stands in a dark room, or is dead.
	const blankContrast = 0.004
	if high-low < blankContrast {
		s += ", blank"
	}

	return s
}

// grey reports that no cell has a visible colour.
func (g *grid) grey() bool {
	const visible = 0.015
	for i := range g.luma {
		if math.Abs(g.blue[i]) > visible || math.Abs(g.red[i]) > visible {
			return false
		}
	}

	return true
}

func (g *grid) lumaRange() (low, high, mean float64) {
	low = 1
	for _, v := range g.luma {
		low = min(low, v)
		high = max(high, v)
		mean += v / (gridCells * gridCells)
	}

	return low, high, mean
}

// cellMean returns the mean red, green and blue of a cell, 0 to 1. Transparent pixels are black.
func cellMean(img image.RGBA64Image, cell image.Rectangle) (mean [3]float64) {
	// Sampling bounds the work: a picture of 64 megapixels has 65,536 pixels in each cell.
	dx, dy := stride(cell.Dx()), stride(cell.Dy())

	var red, green, blue, n uint64

	for y := cell.Min.Y; y < cell.Max.Y; y += dy {
		for x := cell.Min.X; x < cell.Max.X; x += dx {
			c := img.RGBA64At(x, y)
			red += uint64(c.R)
			green += uint64(c.G)
			blue += uint64(c.B)
			n++
		}
	}

	for i, sum := range []uint64{red, green, blue} {
		mean[i] = float64(sum) / (float64(n) * math.MaxUint16)
	}

	return mean
}

// maxCellSide is the number of pixels that are read of a row or a column of a cell, at most. Of a longer
// one every second, third, ... pixel is read.
const maxCellSide = 16

func stride(side int) int { return max(1, (side+maxCellSide-1)/maxCellSide) }

// dct returns the first n coefficients of the two-dimensional DCT-II in the zigzag
// order of JPEG, scaled so that the first is the mean.
func dct(c *cells, n int) []float64 {
	out := make([]float64, 0, n)

	for sum := 0; ; sum++ {
		for i := range sum + 1 {
			u, v := i, sum-i
			if sum%2 == 0 {
				u, v = v, u
			}
			out = append(out, coefficient(c, u, v))
			if len(out) == n {
				return out
			}
		}
	}
}

func coefficient(c *cells, u, v int) float64 {
	var across [gridCells]float64
	for x := range across {
		across[x] = math.Cos(math.Pi / gridCells * (float64(x) + 0.5) * float64(u))
	}

	sum := 0.0

	for y := range gridCells {
		down := math.Cos(math.Pi / gridCells * (float64(y) + 0.5) * float64(v))
		for x := range gridCells {
			sum += c[y*gridCells+x] * across[x] * down
		}
	}

	// A cosine has half the power of a constant, so each frequency above 0 is scaled up.
	scale := 1.0
	if u > 0 {
		scale *= math.Sqrt2
	}
	if v > 0 {
		scale *= math.Sqrt2
	}

	return scale * sum / (gridCells * gridCells)
}

// values is a picture with one value per pixel: distances, temperatures. As an image it is grey from
// low to high, and transparent where a value is missing.
type values struct {
	width, height int
	at            func(x, y int) float64 // NaN if missing
	low, high     float64
}

// newValues chooses the range of the greys. The range leaves out the lowest and the highest hundredth of the
// values, so that one outlier does not take all contrast. It is not so small that noise looks like contrast.
func newValues(width, height int, at func(x, y int) float64) *values {
	const sampled, leastRange = 128, 1e-2
	m := &values{width: width, height: height, at: at}

	var all []float64

	for y := 0; y < height; y += max(height/sampled, 1) {
		for x := 0; x < width; x += max(width/sampled, 1) {
			if v := at(x, y); !math.IsNaN(v) {
				all = append(all, v)
			}
		}
	}

	if n := len(all); n > 0 {
		slices.Sort(all)
		m.low, m.high = all[n/100], all[n-1-n/100]
	}

	// Equal values would divide by zero. A range below a hundredth of the value is noise.
	m.high = max(m.high, m.low+max(leastRange*math.Abs(m.low), math.SmallestNonzeroFloat64))

	return m
}

func (m *values) ColorModel() color.Model { return color.RGBA64Model }
func (m *values) Bounds() image.Rectangle { return image.Rect(0, 0, m.width, m.height) }
func (m *values) At(x, y int) color.Color { return m.RGBA64At(x, y) }

func (m *values) RGBA64At(x, y int) color.RGBA64 {
	v := m.at(x, y)
	if math.IsNaN(v) {
		return color.RGBA64{}
	}
	share := min(max((v-m.low)/(m.high-m.low), 0), 1)
	level := uint16(math.Round(math.MaxUint16 * share))

	return color.RGBA64{level, level, level, math.MaxUint16}
}

// stats is about the values that are not missing.
type stats struct {
	count, missing int
	low, high      float64
}

func (m *values) stats() stats {
	s := stats{low: math.Inf(1), high: math.Inf(-1)}

	for y := range m.height {
		for x := range m.width {
			v := m.at(x, y)
			if math.IsNaN(v) {
				s.missing++
				continue
			}
			s.low, s.high = min(s.low, v), max(s.high, v)
			s.count++
		}
	}

	return s
}

// words returns ", 0.42 to 3.1 m, 12% missing" or ", values 420 to 3100".
func (s stats) words(unit string) string {
	if s.count == 0 {
		return ", no valid pixel"
	}
	out := media.Figure(s.low) + " to " + media.Figure(s.high)
	if unit == "" {
		out = ", values " + out
	} else {
		out = ", " + out + " " + unit
	}

	switch share := 100 * float64(s.missing) / float64(s.missing+s.count); {
	case share == 0:
		return out
	case share < 1:
		return out + ", under 1% missing"
	default:
		return out + ", " + strconv.FormatFloat(share, 'f', 0, 64) + "% missing"
	}
}
