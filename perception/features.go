package perception

import (
	"image"
	"math"
	"strconv"
)

const (
	// maxRawReadings is up to where a trace is compared reading by reading.
	maxRawReadings = 1024
	// binSteps is the length of each channel of a longer one.
	binSteps = 64
	// maxBinnedChannels keeps a vector below 64 KiB.
	maxBinnedChannels = 256
	// greyCells is the side of the grid of a picture.
	greyCells = 8
	// maxCellSide bounds the pixels that are looked at in each cell, to its
	// square: beyond it every second, third, ... pixel of a row is taken.
	maxCellSide = 64
)

// Features returns a fixed-length description of an item and the kind of it;
// vectors of equal kind are of equal length and are compared by Euclidean
// distance, the nearer the more alike. ok is false when the item has none.
//
//	trace/<channels>/<samples>  a trace of at most 1,024 readings: each of them,
//	                            sample by sample, in the unit they came in
//	trace/<channels>/r64        a longer one, of at most 256 channels: each
//	                            channel as the means of 64 equal parts, channel
//	                            by channel
//	image/67                    a PNG or a JPEG: the mean grey (0 to 1) of 8x8
//	                            cells, row by row, then mean red, green and blue
//
// A trace with a missing or an infinite reading has none: any number put in its
// place would decide the distance. Only the data counts; metadata does not, so
// bytes without any can be compared with what is stored.
func Features(it Item) (kind string, vector []float32, ok bool) {
	if len(it.Data) == 0 {
		return "", nil, false
	}
	if img, ok := decodeImage(it.Data); ok {
		return "image/67", imageFeatures(img), true
	}
	s, err := decodeSeries(it)
	if err != nil {
		return "", nil, false
	}
	kind = "trace/" + strconv.Itoa(s.width) + "/"
	switch {
	case len(s.values) <= maxRawReadings:
		kind += strconv.Itoa(s.len())
		vector = make([]float32, len(s.values))
		for i, v := range s.values {
			vector[i] = float32(v)
		}
	case s.width <= maxBinnedChannels:
		kind += "r" + strconv.Itoa(binSteps)
		vector = s.bins()
	default:
		return "", nil, false
	}
	for _, v := range vector {
		if !finite(float64(v)) {
			return "", nil, false
		}
	}
	return kind, vector, true
}

// bins is each channel as binSteps means.
func (s *series) bins() []float32 {
	out := make([]float32, 0, s.width*binSteps)
	for c := range s.width {
		for b := range binSteps {
			from, to := part(b, binSteps, s.len())
			sum := 0.0
			for i := from; i < to; i++ {
				sum += s.at(i, c)
			}
			out = append(out, float32(sum/float64(to-from)))
		}
	}
	return out
}

// part is the b-th of n parts of length, at least one long: where there are
// fewer than n, neighbours share.
func part(b, n, length int) (from, to int) {
	from = int(int64(b) * int64(length) / int64(n))
	to = int(int64(b+1) * int64(length) / int64(n))
	return from, max(to, from+1)
}

func imageFeatures(img image.Image) []float32 {
	r := img.Bounds()
	out := make([]float32, 0, greyCells*greyCells+3)
	var colour [3]float64
	for y := range greyCells {
		for x := range greyCells {
			x0, x1 := part(x, greyCells, r.Dx())
			y0, y1 := part(y, greyCells, r.Dy())
			mean := cellMean(img, image.Rect(x0, y0, x1, y1).Add(r.Min))
			// The luma of ITU-R BT.601, as JPEG has it.
			out = append(out, float32(0.299*mean[0]+0.587*mean[1]+0.114*mean[2]))
			for i := range colour {
				colour[i] += mean[i] / (greyCells * greyCells)
			}
		}
	}
	return append(out, float32(colour[0]), float32(colour[1]), float32(colour[2]))
}

// cellMean is the mean red, green and blue of a cell, 0 to 1, over black where
// the picture is transparent.
func cellMean(img image.Image, cell image.Rectangle) (mean [3]float64) {
	dx := (cell.Dx() + maxCellSide - 1) / maxCellSide
	dy := (cell.Dy() + maxCellSide - 1) / maxCellSide
	n := 0.0
	for y := cell.Min.Y; y < cell.Max.Y; y += dy {
		for x := cell.Min.X; x < cell.Max.X; x += dx {
			red, green, blue, _ := img.At(x, y).RGBA()
			mean[0] += float64(red)
			mean[1] += float64(green)
			mean[2] += float64(blue)
			n++
		}
	}
	for i := range mean {
		mean[i] /= n * math.MaxUint16
	}
	return mean
}
