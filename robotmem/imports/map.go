package imports

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/occupancy"
	"github.com/robotmem/robotmem-go/robotmem"
)

// MapOptions say what a map.yaml is of, and where it is stored.
type MapOptions struct {
	MapID string // "" for the map that has no name
	Robot string
	To    importers.Sink
}

// MapReport says what was read of a map.yaml.
type MapReport struct {
	Frame      string  `json:"frame_id"`
	MapID      string  `json:"map_id,omitempty"`
	Width      int     `json:"width"`
	Height     int     `json:"height"`
	Resolution float64 `json:"resolution"`
	Stored     int     `json:"stored"` // 0 if the same map was stored before
}

// Map stores the map of a map.yaml of map_server, in the frame "map". broken is false. An error of the files is no
// *robotmem.Error.
func Map(ctx context.Context, path string, o MapOptions) (report any, broken bool, err error) {
	g, err := occupancy.ReadFile(path, o.MapID)
	if errors.As(err, new(*fs.PathError)) {
		err = errors.New(robotmem.Reason(err))
	}
	if err != nil {
		return nil, false, err
	}

	p, err := g.Perception(map[string]any{"file": importers.Cut(filepath.Base(path), maxName)}, time.Time{})
	if err != nil {
		return nil, false, err
	}
	if o.Robot != "" {
		p.Context["robot"] = map[string]any{"id": o.Robot}
	}
	stored, err := o.To.Save(ctx, "", []importers.Perception{p})
	if err != nil {
		return nil, false, err
	}

	return MapReport{Frame: g.Frame, MapID: g.MapID, Width: g.Width, Height: g.Height, Resolution: g.Resolution, Stored: stored}, false, nil
}
