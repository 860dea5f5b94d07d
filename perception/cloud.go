package perception

import (
	"fmt"
	"strings"
)

// Cloud is a point cloud, or an even part of a large one, in the units and the
// frame of its file: metres, x forward, y left and z up where it follows ROS
// REP 103.
type Cloud struct {
	// Positions are x, y, z of each point, one point after another.
	Positions []float32
	// Colors are red, green, blue of each point, nil when there are none.
	Colors []uint8
	// Intensity is one value per point as it was recorded, nil when there is none.
	Intensity []float32
	// Total is how many points the payload holds, Missing how many of them have
	// no position (NaN, or infinite) and are left out of all else.
	Total, Missing int
	// Min and Max are the corners of the box around all points.
	Min, Max [3]float32
}

// maxCloudPoints is what is kept of a cloud at most: 64 MiB with positions,
// colours and intensities.
const maxCloudPoints = 4 << 20

// typePointCloud2 is the data of a ROS message sensor_msgs/PointCloud2.
const typePointCloud2 = "application/x-pointcloud2"

// DecodeCloud reads the item's data as a point cloud. It takes
//
//   - PCD: ascii, binary and binary_compressed;
//   - PLY: ascii and binary of either byte order; of a mesh the vertices;
//   - application/x-pointcloud2: the data of a sensor_msgs/PointCloud2, with the
//     rest of the message in metadata: fields (a list of name, offset, datatype
//     and count), point_step, width, height, row_step and is_bigendian;
//   - NumPy .npy of N by 3 (x y z) or N by 4 (and intensity) with metadata kind
//     "cloud".
//
// Of more than limit points every second, fourth and so on is kept; limit 0, or
// one beyond it, is 4,194,304. The error says why the data is no cloud.
func DecodeCloud(it Item, limit int) (*Cloud, error) {
	f, err := openCloud(it)
	if err != nil {
		return nil, err
	}
	if onlyHead(it) {
		return nil, fmt.Errorf("only the first %d of %d bytes of the point cloud are here", len(it.Data), it.Size)
	}
	if limit <= 0 || limit > maxCloudPoints {
		limit = maxCloudPoints
	}
	c := newCollector(f, limit)
	if err := f.each(c.add); err != nil {
		return nil, err
	}
	if c.cloud.Total == c.cloud.Missing {
		return nil, errNoPoint
	}
	return &c.cloud, nil
}

func onlyHead(it Item) bool { return it.Size > int64(len(it.Data)) }

// cloudFile is what the header of a cloud says, and how to walk its points.
type cloudFile struct {
	what   string // point cloud or mesh
	form   string // how the points are written
	points int64
	faces  int64
	fields []cloudField
	// each calls f with every point in order; the values stay the walker's.
	each func(f func(*pointValues)) error
}

func openCloud(it Item) (*cloudFile, error) {
	switch {
	case isPCD(it.Data):
		return openPCD(it.Data)
	case isPLY(it.Data):
		return openPLY(it.Data)
	case isNPYCloud(it):
		return openNPYCloud(it)
	case it.mediaType() == typePointCloud2:
		return openPointCloud2(it)
	}
	return nil, fmt.Errorf("%s is not read as a point cloud; give PCD, PLY, %s or a .npy array of kind cloud", clean(it.mediaType(), maxNameRunes), typePointCloud2)
}

var cloudFormat = format{
	name: "cloud",
	accepts: func(it Item) bool {
		return isPCD(it.Data) || isPLY(it.Data) || isNPYCloud(it) || it.mediaType() == typePointCloud2
	},
	summarize: summarizeCloud,
	kinds:     []string{"cloud/"},
	features:  cloudFeatures,
	preview:   previewCloud,
	samples:   cloudSamples,
}

// summarizeCloud writes "point cloud, 1,234 points, fields x y z, binary, within
// 4.2 x 3.1 x 1.8 m, 17 missing"; of a mesh "mesh, 8 vertices, 12 faces, …".
// Without the whole payload it ends where the header does.
func summarizeCloud(it Item) string {
	f, err := openCloud(it)
	if err != nil {
		return ""
	}
	s := f.what + ", "
	if f.faces > 0 {
		s += plural(uint64(f.points), "vertex") + ", " + plural(uint64(f.faces), "face")
	} else {
		s += plural(uint64(f.points), "point")
	}
	s += ", fields " + clean(f.fieldNames(), maxSummary/2) + ", " + f.form
	if onlyHead(it) {
		return s
	}
	c, err := DecodeCloud(it, 1)
	if err != nil {
		return ""
	}
	s += ", within " + sides(c.Min, c.Max) + " " + lengthUnit(it)
	if c.Missing > 0 {
		s += ", " + thousands(uint64(c.Missing)) + " missing"
	}
	return s
}

func (f *cloudFile) fieldNames() string {
	var names []string
	for _, field := range f.fields {
		if field.name != padding {
			names = append(names, field.name)
		}
	}
	return strings.Join(names, " ")
}

// lengthUnit is metres, as ROS REP 103 has it, unless metadata names another.
func lengthUnit(it Item) string {
	if unit, ok := it.Metadata["units"].(string); ok && unit != "" {
		return clean(unit, maxNameRunes)
	}
	return "m"
}

// sides writes the sides of a box, "4.2 x 3.1 x 1.8".
func sides[F float32 | float64](low, high [3]F) string {
	sides := make([]string, len(low))
	for i := range low {
		sides[i] = figure(float64(high[i]) - float64(low[i]))
	}
	return strings.Join(sides, " x ")
}
