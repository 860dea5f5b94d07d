package perception_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"testing"

	"golang.org/x/image/draw"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// scene draws what a camera on a robot might see: a floor and a wall, boxes and
// balls on them, a light from one side, and the grain of the sensor. Every fifth
// scene is the one before it with one object moved.
func scene(seed uint64, width, height int) *image.NRGBA {
	moved := seed%5 == 4
	if moved {
		seed--
	}
	r := rand.New(rand.NewPCG(seed, 7))
	tone := func() [3]float64 {
		return [3]float64{60 + 150*r.Float64(), 60 + 150*r.Float64(), 60 + 150*r.Float64()}
	}
	wall, floor, horizon := tone(), tone(), 0.3+0.4*r.Float64()
	angle, wave := 2*math.Pi*r.Float64(), 5+30*r.Float64()
	type object struct {
		x, y, w, h float64
		round      bool
		tone       [3]float64
	}
	objects := make([]object, 3+r.IntN(5))
	for i := range objects {
		objects[i] = object{r.Float64(), r.Float64(), 0.05 + 0.2*r.Float64(), 0.05 + 0.25*r.Float64(), r.IntN(2) == 0, tone()}
	}
	if moved {
		objects[len(objects)-1].x = math.Mod(objects[len(objects)-1].x+0.4, 1)
	}
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for py := range height {
		for px := range width {
			x, y := float64(px)/float64(width), float64(py)/float64(height)
			c := wall
			if y > horizon {
				c = floor
			}
			for _, o := range objects {
				dx, dy := (x-o.x)/o.w, (y-o.y)/o.h
				if o.round && dx*dx+dy*dy < 1 || !o.round && math.Abs(dx) < 1 && math.Abs(dy) < 1 {
					c = o.tone
				}
			}
			along := x*math.Cos(angle) + y*math.Sin(angle)
			light := 0.85 + 0.25*along + 0.05*math.Sin(wave*along)
			grain := 6 * r.NormFloat64()
			img.SetNRGBA(px, py, color.NRGBA{level(c[0]*light + grain), level(c[1]*light + grain), level(c[2]*light + grain), 255})
		}
	}
	return img
}

func level(v float64) uint8 { return uint8(min(max(v, 0), 255)) }

// distortions are what happens to a picture of one scene between two visits.
var distortions = map[string]func(t *testing.T, img *image.NRGBA) []byte{
	"jpeg of quality 30": func(t *testing.T, img *image.NRGBA) []byte {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 30}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	},
	"half the size": func(t *testing.T, img *image.NRGBA) []byte {
		small := image.NewNRGBA(image.Rect(0, 0, img.Rect.Dx()/2, img.Rect.Dy()/2))
		draw.BiLinear.Scale(small, small.Rect, img, img.Rect, draw.Src, nil)
		return jpegOf(t, small)
	},
	"brighter": func(t *testing.T, img *image.NRGBA) []byte {
		return jpegOf(t, each(img, func(v float64) float64 { return 1.2*v + 12 }))
	},
	"darker, less contrast": func(t *testing.T, img *image.NRGBA) []byte {
		return jpegOf(t, each(img, func(v float64) float64 { return 0.7*v + 10 }))
	},
	"cropped": func(t *testing.T, img *image.NRGBA) []byte {
		return jpegOf(t, img.SubImage(image.Rect(img.Rect.Dx()/20, 0, img.Rect.Dx(), img.Rect.Dy()*19/20)))
	},
}

func each(img *image.NRGBA, f func(float64) float64) *image.NRGBA {
	out := image.NewNRGBA(img.Rect)
	for i, v := range img.Pix {
		out.Pix[i] = level(f(float64(v)))
		if i%4 == 3 {
			out.Pix[i] = v
		}
	}
	return out
}

// plainLayout is what the figures are compared with: the mean grey of 8x8 cells
// and the mean colour.
func plainLayout(t *testing.T, data []byte) []float32 {
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	small := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	draw.BiLinear.Scale(small, small.Rect, img, img.Bounds(), draw.Src, nil)
	var out []float32
	var mean [3]float32
	for i := 0; i < len(small.Pix); i += 4 {
		r, g, b := float32(small.Pix[i])/255, float32(small.Pix[i+1])/255, float32(small.Pix[i+2])/255
		out = append(out, 0.299*r+0.587*g+0.114*b)
		mean[0], mean[1], mean[2] = mean[0]+r/64, mean[1]+g/64, mean[2]+b/64
	}
	return append(out, mean[:]...)
}

func TestADistortedPictureIsNearestToItsScene(t *testing.T) {
	t.Parallel()
	scenes := rounds.Of(20, 40)
	var stored, plain [][]float32
	images := make([]*image.NRGBA, scenes)
	for i := range images {
		images[i] = scene(uint64(i), 200, 150)
		data := pngOf(t, images[i])
		kind, vector, ok := perception.Features(perception.Item{Data: data})
		if kind != "image/v2" || !ok || len(vector) >= 256 {
			t.Fatalf("got %q of %d, %v", kind, len(vector), ok)
		}
		stored, plain = append(stored, vector), append(plain, plainLayout(t, data))
	}
	right, rightPlain, all := 0, 0, 0
	for name, distort := range distortions {
		here := 0
		for i, img := range images {
			data := distort(t, img)
			_, vector, _ := perception.Features(perception.Item{Data: data})
			if nearest("image/v2", vector, stored) == i {
				here++
			}
			if nearest("", plainLayout(t, data), plain) == i {
				rightPlain++
			}
		}
		t.Logf("%-22s %d of %d", name, here, scenes)
		right, all = right+here, all+scenes
	}
	got, before := float64(right)/float64(all), float64(rightPlain)/float64(all)
	t.Logf("found %.3f, by plain layout %.3f", got, before)
	if got < 0.97 || got < before {
		t.Errorf("found %.3f, want at least 0.97 and no less than the %.3f of a plain layout", got, before)
	}
}

func nearest(kind string, vector []float32, among [][]float32) int {
	best, at := math.Inf(1), -1
	for i, other := range among {
		if d := perception.Distance(kind, vector, other); d < best {
			best, at = d, i
		}
	}
	return at
}
