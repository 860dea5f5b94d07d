package draw

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/robotmem/robotmem-go/perception/media"
)

// colours is the number of colours of the heights of a cloud.
const colours = 32

// above draws x and y to one scale: a trajectory as a line from a ring to a dot, a scan with a ring
// where the sensor is, and a cloud coloured by its heights.
func (c *canvas) above(s *media.Samples) error {
	if len(s.X) == 0 {
		return errors.New("there is no point with a position to draw")
	}

	plot := chart{canvas: c, box: c.area()}
	sensor := []float64{}
	if s.Kind == "scan" {
		sensor = append(sensor, 0)
	}

	x0, x1 := extent(s.X, sensor)
	y0, y1 := extent(s.Y, sensor)

	const border, least = 1.08, 1e-3
	far := max(math.Abs(x0), math.Abs(x1), math.Abs(y0), math.Abs(y1))
	// half is half of the units per pixel: that of the axis that needs more, and never 0.
	half := max((x1-x0)/plot.box.width(), (y1-y0)/plot.box.height(), max(least, 1e-6*far)/plot.box.width()) * border / 2
	across, up := half*plot.box.width(), half*plot.box.height()
	plot.x = [2]float64{(x0+x1)/2 - across, (x0+x1)/2 + across}
	plot.y = [2]float64{(y0+y1)/2 - up, (y0+y1)/2 + up}
	plot.axes("x ("+s.Unit+")", "y ("+s.Unit+")")
	if s.Kind == "trajectory" {
		plot.path(s)
		return nil
	}

	plot.dots(s)
	if s.Kind == "scan" {
		plot.circle(0, 0, "ring", 6)
	}

	return nil
}

func (c chart) circle(x, y float64, class string, radius float64) {
	px, py := c.at(x, y)
	fmt.Fprintf(c, `<circle class="%s" cx="%s" cy="%s" r="%g"/>`, class, coord(px), coord(py), radius)
}

func (c chart) path(s *media.Samples) {
	fmt.Fprintf(c, `<path class="line" stroke="%s" d="M%s`, lineColours[0], c.point(s.X[0], s.Y[0]))

	for i := range s.X {
		c.WriteString("L" + c.point(s.X[i], s.Y[i]))
	}
	c.WriteString(`"/>`)
	last, note := len(s.X)-1, "from the ring to the dot"
	if clock := media.NewClock(s.DurationS); clock.Unit != "" {
		note += " in " + clock.At(s.DurationS)
	}
	c.circle(s.X[0], s.Y[0], "ring", 6)
	c.circle(s.X[last], s.Y[last], "dot", 3.5)
	c.text(c.right, c.top-6, "end", note)
}

// dots draws the points, the highest last. The lowest and the highest hundredth have the colours of
// their neighbours, so that one outlier does not take all colours.
func (c chart) dots(s *media.Samples) {
	z := slices.Sorted(slices.Values(s.Z))
	low, high := z[len(z)/100], z[len(z)-1-len(z)/100]

	var paths [colours]bytes.Buffer

	for i := range s.X {
		level := 0.0
		if high > low {
			level = min(max((s.Z[i]-low)/(high-low), 0), 1)
		}
		fmt.Fprintf(&paths[int(level*(colours-1))], "M%sh0", c.point(s.X[i], s.Y[i]))
	}

	for i := range paths {
		if paths[i].Len() > 0 {
			colour := Colour(float64(i) / (colours - 1))
			fmt.Fprintf(c, `<path class="dots" stroke="#%02x%02x%02x" d="%s"/>`, colour.R, colour.G, colour.B,
				paths[i].Bytes())
		}
	}

	if high > low {
		c.text(c.right, c.top-6, "end",
			"z from "+media.Figure(low)+" (blue) to "+media.Figure(high)+" "+s.Unit+" (red)")
	}
}
