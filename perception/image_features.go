package perception

import (
	"image"
	"math"
)

const (
	// greyCells is the side of the grid of a picture.
	greyCells = 8
	// maxCellSide bounds the pixels that are looked at in each cell, to its
	// square: beyond it every second, third, ... pixel of a row is taken.
	maxCellSide = 64
)

var imageFormat = format{
	name:      "image",
	accepts:   func(it Item) bool { _, ok := readImageHeader(it.Data); return ok },
	summarize: func(it Item) string { return summarizeImage(it.Data) },
	kinds:     []string{"image/"},
	features: func(it Item) (string, []float32, bool) {
		img, ok := decodeImage(it.Data)
		if !ok {
			return "", nil, false
		}
		return "image/67", imageFeatures(img), true
	},
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
