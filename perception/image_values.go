package perception

import (
	"math"
	"slices"
	"strconv"
)

// valueMap is a picture of one value per pixel: distances, temperatures.
type valueMap struct {
	width, height int
	at            func(x, y int) float64 // NaN where there is none
}

// valueStats tells the values that are there.
type valueStats struct {
	count, missing int
	low, high      float64
	// dark and bright leave out two in a hundred at either end: one stray pixel
	// would otherwise take all contrast from a preview.
	dark, bright float64
}

// maxValueSample bounds the values that are sorted for a percentile.
const maxValueSample = 1 << 16

func (m *valueMap) stats() valueStats {
	s := valueStats{low: math.Inf(1), high: math.Inf(-1)}
	every := max(1, m.width*m.height/maxValueSample)
	var sample []float64
	for y := range m.height {
		for x := range m.width {
			v := m.at(x, y)
			if math.IsNaN(v) {
				s.missing++
				continue
			}
			if s.count%every == 0 {
				sample = append(sample, v)
			}
			s.low, s.high = min(s.low, v), max(s.high, v)
			s.count++
		}
	}
	if s.count > 0 {
		slices.Sort(sample)
		const tail = 0.02
		last := float64(len(sample) - 1)
		s.dark, s.bright = sample[int(tail*last)], sample[int(math.Ceil((1-tail)*last))]
	}
	return s
}

// words is ", 0.42 to 3.1 m, 12% missing" or ", values 420 to 3100".
func (s valueStats) words(unit string) string {
	if s.count == 0 {
		return ", no valid pixel"
	}
	out := figure(s.low) + " to " + figure(s.high)
	if unit == "" {
		out = ", values " + out
	} else {
		out = ", " + out + " " + unit
	}
	if s.missing == 0 {
		return out
	}
	share := 100 * float64(s.missing) / float64(s.missing+s.count)
	if share < 1 {
		return out + ", under 1% missing"
	}
	return out + ", " + strconv.FormatFloat(share, 'f', 0, 64) + "% missing"
}

// cell is the mean of the values in a cell and the share that is missing.
func (m *valueMap) cell(x0, y0, x1, y1 int) (mean, missing float64) {
	dx, dy := stride(x1-x0), stride(y1-y0)
	n, valid := 0.0, 0.0
	for y := y0; y < y1; y += dy {
		for x := x0; x < x1; x += dx {
			n++
			if v := m.at(x, y); !math.IsNaN(v) {
				mean += v
				valid++
			}
		}
	}
	if valid == 0 {
		return math.NaN(), 1
	}
	return mean / valid, 1 - valid/n
}

// maxCellSide bounds the pixels that are looked at in each cell, to its square:
// beyond it every second, third, ... pixel of a row is taken.
const maxCellSide = 64

func stride(side int) int { return max(1, (side+maxCellSide-1)/maxCellSide) }
