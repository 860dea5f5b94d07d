// Package occupancy reads maps of places: a grid whose cells are free, occupied or unknown, as the ROS message
// nav_msgs/OccupancyGrid and the files of map_server have them.
//
// A [Grid] becomes a perception of its own: a PNG picture of the cells, whose palette has a colour for each value, and
// a context with its frame, map, resolution and origin. [Grid.Perception] makes it, and the picture loses nothing.
package occupancy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"time"

	"github.com/robotmem/robotmem-go/perception/importers"
)

const (
	// Unknown is the value of a cell of which nothing is known.
	Unknown = -1
	// Full is the value of a cell that is certainly occupied. 0 is free.
	Full = 100
	// MaxCells bounds a map: 400 m x 400 m at 5 cm.
	MaxCells = 64 << 20
	maxSide  = 1 << 16
)

// Grid is a map. Row 0 is at the origin, and rows go up; the first cell of a row is at the origin.
type Grid struct {
	Frame, MapID  string
	Resolution    float64 // metres of a cell
	X, Y          float64 // the corner of the first cell within the frame, metres
	Yaw           float64 // of the rows, radians
	Width, Height int
	Cells         []int8 // Unknown, or 0 to Full; row by row
	// Repaired counts cells with other values, which became Unknown.
	Repaired int
}

// Check fails if the grid cannot be drawn, and sets cells with values that mean nothing to Unknown.
func (g *Grid) Check() error {
	for _, n := range []struct {
		name  string
		value float64
	}{{"resolution", g.Resolution}, {"x of the origin", g.X}, {"y of the origin", g.Y}, {"yaw of the origin", g.Yaw}} {
		if math.IsNaN(n.value) || math.IsInf(n.value, 0) {
			return fmt.Errorf("the %s of the map is %v; it must be a number", n.name, n.value)
		}
	}
	if g.Resolution <= 0 {
		return fmt.Errorf("the resolution of the map is %v m; it must be above 0", g.Resolution)
	}
	if err := CheckSize(g.Width, g.Height); err != nil {
		return err
	}
	if len(g.Cells) != g.Width*g.Height {
		return fmt.Errorf("the map has %d cells and not %d x %d", len(g.Cells), g.Width, g.Height)
	}

	for i, c := range g.Cells {
		if c < Unknown || c > Full {
			g.Cells[i] = Unknown
			g.Repaired++
		}
	}

	return nil
}

// CheckSize fails if a map has no cells, or too many.
func CheckSize(width, height int) error {
	if width <= 0 || height <= 0 {
		return fmt.Errorf("the map has %d x %d cells: nothing is mapped", width, height)
	}
	if width > maxSide || height > maxSide || width*height > MaxCells {
		return fmt.Errorf("the map has %d x %d cells, over the %d that are kept; crop it, or give it a coarser resolution", width, height, MaxCells)
	}

	return nil
}

// unknownIndex is the colour of unknown cells in the palette, behind those of the values.
const unknownIndex = Full + 1

// palette has a gray for each value, white for free, and a bluish one for unknown, so that a reader who knows the
// colours alone can tell the values.
var palette = func() color.Palette {
	p := make(color.Palette, 0, Full+2)
	for v := range Full + 1 {
		gray := uint8(254 - math.Round(2.54*float64(v)))
		p = append(p, color.RGBA{gray, gray, gray, 255})
	}

	return append(p, color.RGBA{180, 200, 220, 255})
}()

// PNG returns a picture of the map: its top row is the last of the cells, so that it stands as one looks at it.
func (g *Grid) PNG() ([]byte, error) {
	pic := image.NewPaletted(image.Rect(0, 0, g.Width, g.Height), palette)
	for row := range g.Height {
		cells := g.Cells[row*g.Width : (row+1)*g.Width]

		line := pic.Pix[(g.Height-1-row)*pic.Stride:]
		for i, c := range cells {
			line[i] = uint8(c)
			if c == Unknown {
				line[i] = unknownIndex
			}
		}
	}

	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, pic); err != nil {
		return nil, err
	}

	return out.Bytes(), nil
}

// Perception returns the map as a perception. Its origin is its contents with its place, so that an equal map is
// stored once. source is the recording or the file that it is of.
func (g *Grid) Perception(source map[string]any, at time.Time) (importers.Perception, error) {
	data, err := g.PNG()
	if err != nil {
		return importers.Perception{}, err
	}

	// The origin stands in single numbers: as a point it would be a place on the map.
	about := map[string]any{
		"kind": "occupancy", "frame_id": g.Frame, "resolution": g.Resolution, "origin_x": g.X, "origin_y": g.Y, "origin_yaw": g.Yaw,
		"width": float64(g.Width), "height": float64(g.Height),
	}
	name := "the map in the frame " + g.Frame
	if g.MapID != "" {
		about["map_id"] = g.MapID
		name = "the map " + g.MapID + " in the frame " + g.Frame
	}

	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %v %v %v %v\n", g.Frame, g.MapID, g.Resolution, g.X, g.Y, g.Yaw)
	sum.Write(data)
	context := map[string]any{"map": about}
	if source != nil {
		context["source"] = source
	}

	return importers.Perception{
		Origin: "map/" + hex.EncodeToString(sum.Sum(nil)), Type: "spatial", MediaType: "image/png", Data: data,
		Description: importers.Cut(fmt.Sprintf("%s, %d x %d cells of %v m", name, g.Width, g.Height, g.Resolution), importers.MaxDescription),
		Context:     context, ObservedAt: importers.Clock(at), Messages: 1,
	}, nil
}

var errFrame = errors.New("the map names no frame")
