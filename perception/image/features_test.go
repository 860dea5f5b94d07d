package image

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"
)

// A JPEG's cells are read past the interface of images, to the same means.
func TestCellMeanOfYCbCr(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	for _, ratio := range []image.YCbCrSubsampleRatio{
		image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420,
		image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410,
	} {
		t.Run(ratio.String(), func(t *testing.T) {
			whole := image.NewYCbCr(image.Rect(3, 5, 160, 90), ratio)
			for _, plane := range [][]byte{whole.Y, whole.Cb, whole.Cr} {
				for i := range plane {
					plane[i] = byte(rng.Uint32())
				}
			}
			for _, img := range []*image.YCbCr{whole, whole.SubImage(image.Rect(8, 9, 150, 80)).(*image.YCbCr)} {
				for _, cell := range []image.Rectangle{img.Rect, image.Rect(9, 11, 10, 12), image.Rect(21, 30, 44, 43), image.Rect(15, 70, 150, 80)} {
					got := cellMean(img, cell)
					want := cellMean(struct{ image.RGBA64Image }{img}, cell)
					for i := range got {
						if math.Abs(got[i]-want[i]) > 1e-12 {
							t.Errorf("cell %v: got %v, want %v", cell, got, want)
							break
						}
					}
				}
			}
		})
	}
}
