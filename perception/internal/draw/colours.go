package draw

import (
	"fmt"
	"image/color"
	"math"
)

// Scale gives red, green and blue, 0 to 1, each as a polynomial of a level from 0
// to 1. The constant comes first.
type Scale [3][]float64

// Turbo is Google's colour scale for depth, in the approximation of its authors.
// Equal steps look equal, and more of them can be told apart than of a grey scale.
var Turbo = Scale{
	{0.13572138, 4.61539260, -42.66032258, 132.13108234, -152.94239396, 59.28637943},
	{0.09140261, 2.19418839, 4.84296658, -14.18503333, 4.27729857, 2.82956604},
	{0.10667330, 12.64194608, -60.58204836, 110.36276771, -89.90310912, 27.34824973},
}

// Inferno is matplotlib's scale from black to pale yellow, fitted by polynomials.
var Inferno = Scale{
	{0.0002189403691192265, 0.1065134194856116, 11.60249308247187, -41.70399613139459, 77.162935699427, -71.31942824499214, 25.13112622477341},
	{0.001651004631001012, 0.5639564367884091, -3.972853965665698, 17.43639888205313, -33.40235894210092, 32.62606426397723, -12.24266895238567},
	{-0.01948089843709184, 3.932712388889277, -15.9423941062914, 44.35414519872813, -81.80730925738993, 73.20951985803202, -23.07032500287172},
}

// At returns the colour of a level.
func (s *Scale) At(level float64) color.NRGBA {
	level = min(max(level, 0), 1)
	var rgb [3]uint8
	for i, p := range s {
		v := 0.0
		for k := len(p) - 1; k >= 0; k-- {
			v = v*level + p[k]
		}
		rgb[i] = uint8(math.Round(255 * min(max(v, 0), 1)))
	}
	return color.NRGBA{rgb[0], rgb[1], rgb[2], 255}
}

// heightColours follow viridis (Smith and van der Walt, 2015), whose steps look
// equal. The ends are visible on a dark and on a light background.
var heightColours = []color.NRGBA{
	{0x5c, 0x5f, 0xb4, 255}, {0x3f, 0x7a, 0xa6, 255}, {0x21, 0x91, 0x8c, 255},
	{0x28, 0xae, 0x80, 255}, {0x5e, 0xbf, 0x52, 255}, {0x96, 0xc8, 0x1e, 255},
}

// HeightColour returns the colour of a level from 0 to 1.
func HeightColour(level float64) color.NRGBA {
	at := min(max(level, 0), 1) * float64(len(heightColours)-1)
	i := min(int(at), len(heightColours)-2)
	f := at - float64(i)
	a, b := heightColours[i], heightColours[i+1]
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + f*(float64(b)-float64(a)) + 0.5) }
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// Hex formats a colour for SVG.
func Hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
