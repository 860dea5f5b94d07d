package perception

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// maxDrawnRays keeps a picture of a scan below 100 KiB.
const maxDrawnRays = 2048

// maxGap is the angle over which the space between two returns counts as seen.
const maxGap = 5 * math.Pi / 180

// previewScan draws where the rays end and the space that they passed, with the
// sensor at the origin, looking along x.
func previewScan(it Item, o PreviewOptions) (*Preview, error) {
	s, err := decodeScan(it)
	if err != nil {
		return nil, err
	}
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
		// Where nothing returned, nothing is known.
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
	v := newTopview(o, low, high, false)
	v.axes([2]string{"x", "y"}, lengthUnit(it))
	if s.span() == 2*math.Pi && s.returned(0) && s.returned(len(s.ranges)-1) {
		seen = seen[1:] // it closes without a way through the sensor
	}
	corners := make([]string, len(seen))
	for i, p := range seen {
		corners[i] = v.at(p)
	}
	fmt.Fprintf(&v.b, `<polygon class="seen" points="%s"/>`, strings.Join(corners, " "))
	for _, p := range hits {
		x, y := v.pixel(p)
		fmt.Fprintf(&v.b, `<circle class="hit" cx="%s" cy="%s" r="1.6"/>`, coord(x), coord(y))
	}
	x, y := v.pixel([2]float64{})
	fmt.Fprintf(&v.b, `<path class="solid" d="M%s,%sl-11,-5v10z"/>`, coord(x+7), coord(y))
	return v.done(), nil
}
