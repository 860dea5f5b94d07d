package perception

import (
	"fmt"
	"image"
	"image/color"
	"maps"
	"math"
	"slices"
	"strings"
)

// pixelLayout is how the bytes of a pixel lie, by the names of ROS's
// sensor_msgs/image_encodings.
type pixelLayout struct {
	bytes int // per pixel; two share four in the 4:2:2 encodings
	// One of these two is nil.
	colour func(p *pixels, x, y int) color.RGBA64
	value  func(p *pixels, x, y int) float64
}

// layoutOf finds a layout by any of the names of its encoding.
func layoutOf(encoding string) (pixelLayout, error) {
	layouts := map[string]pixelLayout{
		"mono8":       {1, channelsAt(0, 0, 0, -1), nil},
		"rgb8":        {3, channelsAt(0, 1, 2, -1), nil},
		"bgr8":        {3, channelsAt(2, 1, 0, -1), nil},
		"rgba8":       {4, channelsAt(0, 1, 2, 3), nil},
		"bgra8":       {4, channelsAt(2, 1, 0, 3), nil},
		"mono16":      {2, nil, uint16Value},
		"32FC1":       {4, nil, float32Value},
		"bayer_rggb8": {1, bayer(0, 0), nil},
		"bayer_bggr8": {1, bayer(1, 1), nil},
		"bayer_gbrg8": {1, bayer(0, 1), nil},
		"bayer_grbg8": {1, bayer(1, 0), nil},
		"yuv422":      {2, interleaved(1, 0, 2), nil},
		"yuv422_yuy2": {2, interleaved(0, 1, 3), nil},
	}
	same := map[string]string{"8UC1": "mono8", "8UC3": "bgr8", "8UC4": "bgra8", "16UC1": "mono16", "uyvy": "yuv422", "yuyv": "yuv422_yuy2"}
	name := encoding
	if s, ok := same[encoding]; ok {
		name = s
	}
	layout, ok := layouts[name]
	if !ok {
		known := slices.Sorted(maps.Keys(layouts))
		known = slices.AppendSeq(known, maps.Keys(same))
		slices.Sort(known)
		return layout, fmt.Errorf("pixels of encoding %q are not read; known are %s", clean(encoding, maxNameRunes), strings.Join(known, ", "))
	}
	return layout, nil
}

// picture shows the frame through its layout. It must be of the size that
// readPixels checks.
func (p pixels) picture() picture {
	if p.layout.value != nil {
		return picture{values: &valueMap{p.width, p.height, func(x, y int) float64 { return p.layout.value(&p, x, y) }}}
	}
	return picture{colours: &p}
}

func (p *pixels) ColorModel() color.Model        { return color.RGBA64Model }
func (p *pixels) Bounds() image.Rectangle        { return image.Rect(0, 0, p.width, p.height) }
func (p *pixels) At(x, y int) color.Color        { return p.RGBA64At(x, y) }
func (p *pixels) RGBA64At(x, y int) color.RGBA64 { return p.layout.colour(p, x, y) }

// sample widens the byte at i of a row to 16 bits.
func (p *pixels) sample(i, y int) uint16 { return uint16(p.data[y*p.step+i]) * 0x101 }

// channelsAt reads bytes of one pixel; without alpha the pixel is opaque.
func channelsAt(red, green, blue, alpha int) func(*pixels, int, int) color.RGBA64 {
	return func(p *pixels, x, y int) color.RGBA64 {
		at := x * p.layout.bytes
		c := color.NRGBA64{p.sample(at+red, y), p.sample(at+green, y), p.sample(at+blue, y), math.MaxUint16}
		if alpha < 0 {
			return color.RGBA64(c)
		}
		c.A = p.sample(at+alpha, y)
		r, g, b, a := c.RGBA()
		return color.RGBA64{uint16(r), uint16(g), uint16(b), uint16(a)}
	}
}

// bayer gives the four pixels of a square one colour, which halves the
// resolution and invents nothing. The red one is in column redX and row redY of
// the square, the blue one opposite, the green ones on the other diagonal.
func bayer(redX, redY int) func(*pixels, int, int) color.RGBA64 {
	return func(p *pixels, x, y int) color.RGBA64 {
		// At the rim of a frame of odd sides the square before it counts.
		x, y = max(min(x&^1, p.width-2), 0)&^1, max(min(y&^1, p.height-2), 0)&^1
		at := func(dx, dy int) uint16 { return p.sample(min(x+dx, p.width-1), min(y+dy, p.height-1)) }
		green := (uint32(at(1-redX, redY)) + uint32(at(redX, 1-redY))) / 2
		return color.RGBA64{at(redX, redY), uint16(green), at(1-redX, 1-redY), math.MaxUint16}
	}
}

// interleaved reads 4:2:2: two pixels share four bytes, their luma first and two
// further, one sample of either chroma. Levels are those of video.
func interleaved(luma, blue, red int) func(*pixels, int, int) color.RGBA64 {
	return func(p *pixels, x, y int) color.RGBA64 {
		row := p.data[y*p.step : (y+1)*p.step]
		// The last pixel of an odd width lacks half of its pair.
		b, r, pair := 128.0, 128.0, min(x/2*4, len(row)-4)&^3
		if pair >= 0 {
			b, r = float64(row[pair+blue]), float64(row[pair+red])
		}
		return studioColour(float64(row[2*x+luma]), b, r)
	}
}

// A value of 0 is none, and so is what is not finite: REP 118 has depth cameras
// write them where they see nothing.

func uint16Value(p *pixels, x, y int) float64 {
	if v := p.order.Uint16(p.data[y*p.step+2*x:]); v != 0 {
		return float64(v)
	}
	return math.NaN()
}

func float32Value(p *pixels, x, y int) float64 {
	v := float64(math.Float32frombits(p.order.Uint32(p.data[y*p.step+4*x:])))
	if v == 0 || !finite(v) {
		return math.NaN()
	}
	return v
}
