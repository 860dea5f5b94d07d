package occupancy

import (
	"math"
	"path"

	"github.com/robotmem/robotmem-go/perception/importers/message"
)

// IsMap reports whether the messages of a schema on a topic are maps. Costmaps are grids, too, and are none: a map
// is on a topic that is called map.
func IsMap(topic, schema string) bool {
	return message.ShortName(schema) == "nav_msgs/OccupancyGrid" && path.Base(topic) == "map"
}

// OfMessage returns the map of a nav_msgs/OccupancyGrid, which keeps none of the bytes of the message.
func OfMessage(v *message.Value, mapID string) (*Grid, error) {
	info, at, turned := v.At("info"), v.At("info", "origin", "position"), v.At("info", "origin", "orientation")
	g := &Grid{
		Frame: v.At("header", "frame_id").Text, Resolution: info.At("resolution").Float, X: at.At("x").Float, Y: at.At("y").Float,
		Width: int(info.At("width").Float), Height: int(info.At("height").Float),
	}
	if g.Frame == "" {
		return nil, errFrame
	}
	// The name is that of the map whose poses are in the frame map.
	if g.Frame == "map" {
		g.MapID = mapID
	}
	// A resolution is a float32: 0.05 would become 0.05000000074505806.
	g.Resolution = rounded(g.Resolution)

	x, y, z, w := turned.At("x").Float, turned.At("y").Float, turned.At("z").Float, turned.At("w").Float
	g.Yaw = math.Atan2(2*(w*z+x*y), 1-2*(y*y+z*z))
	if x == 0 && y == 0 && z == 0 && w == 0 {
		g.Yaw = 0 // never set
	}
	if err := CheckSize(g.Width, g.Height); err != nil {
		return nil, err
	}

	data := v.At("data")

	g.Cells = make([]int8, 0, min(g.Width*g.Height, max(len(data.Data), len(data.Numbers))))
	for _, b := range data.Data {
		g.Cells = append(g.Cells, int8(b))
	}
	// JSON has numbers.
	for _, n := range data.Numbers {
		if n != math.Trunc(n) || n < Unknown || n > Full {
			n = math.MinInt8 // Check counts it
		}
		g.Cells = append(g.Cells, int8(n))
	}

	return g, g.Check()
}

// rounded is the shortest decimal number with the same float32.
func rounded(n float64) float64 {
	if float64(float32(n)) != n || n == 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return n
	}

	for scale := 1.0; scale <= 1e9; scale *= 10 {
		if short := math.Round(n*scale) / scale; float32(short) == float32(n) {
			return short
		}
	}

	return n
}
