package perception

import (
	"fmt"
	"math"
	"strings"
)

const (
	// maxDrawnPoses keeps a picture of a path below 60 KiB.
	maxDrawnPoses = 2048
	// pathColors is how many pieces of one colour the path has.
	pathColors = 48
)

// previewTrajectory draws the path from above, or in the plane that it mostly
// keeps to, coloured from its start (a ring) to its end (a dot).
func previewTrajectory(it Item, o PreviewOptions) (*Preview, error) {
	t, err := DecodeTrajectory(it)
	if err != nil {
		if summarizeSteps(it) != "" {
			return nil, ErrNoPreview
		}
		return nil, err
	}
	low, high := t.bounds()
	across, up := plane(low, high)
	flat := func(p [3]float64) [2]float64 { return [2]float64{p[across], p[up]} }
	v := newTopview(o, flat(low), flat(high), true)
	v.axes([2]string{axisNames[across], axisNames[up]}, lengthUnit(it))
	path := make([][2]float64, 0, maxDrawnPoses)
	step := (len(t.Positions) + maxDrawnPoses - 1) / maxDrawnPoses
	for i := 0; i < len(t.Positions); i += step {
		path = append(path, flat(t.Positions[i]))
	}
	end := flat(t.Positions[len(t.Positions)-1])
	path = append(path, end)
	for c := range min(pathColors, len(path)-1) {
		from, to := part(c, min(pathColors, len(path)-1), len(path)-1)
		points := make([]string, 0, to-from+1)
		for _, p := range path[from : to+1] {
			points = append(points, v.at(p))
		}
		fmt.Fprintf(&v.b, `<polyline fill="none" stroke="%s" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" points="%s"/>`,
			hexColor(scaleColor(float64(from)/float64(len(path)-1))), strings.Join(points, " "))
	}
	x, y := v.pixel(path[0])
	fmt.Fprintf(&v.b, `<circle class="mark" stroke-width="2" cx="%s" cy="%s" r="6"/>`, coord(x), coord(y))
	x, y = v.pixel(end)
	fmt.Fprintf(&v.b, `<circle class="solid" cx="%s" cy="%s" r="3.5"/>`, coord(x), coord(y))
	first, last := "start", "end"
	if clock := newClock(t.seconds()); clock.unit != "" {
		first, last = clock.at(0), clock.at(t.seconds())
	}
	v.bar("time", first, last)
	return v.done(), nil
}

var axisNames = [3]string{"x", "y", "z"}

// plane is the two axes of the picture: x and y, unless the path goes clearly
// further along z than along one of them, as that of a camera does, whose z is
// ahead and whose y is down.
func plane(low, high [3]float64) (across, up int) {
	dx, dy, dz := high[0]-low[0], high[1]-low[1], high[2]-low[2]
	const clearly, some = 2, 0.1
	if !(dz > clearly*min(dx, dy) && dz > some*max(dx, dy)) || math.IsInf(dz, 0) {
		return 0, 1
	}
	if dx < dy {
		return 1, 2
	}
	return 0, 2
}
