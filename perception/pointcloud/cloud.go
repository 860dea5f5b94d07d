// Package pointcloud reads point clouds and laser scans. A [File] of a cloud or a [Scan]
// makes a summary, features and samples; [Decode] returns the points of a cloud.
//
// The tests of this package are those of package perception, through its API.
package pointcloud

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/robotmem/robotmem-go/perception/media"
)

// Cloud is a point cloud in the units and the frame
// of its file: metres with x forward, y left and z up if it follows ROS REP 103.
type Cloud struct {
	// Positions are x, y, z of each point, one point after another.
	Positions []float32
	// Colors are 0xRRGGBB of each point; nil if there are none.
	Colors []uint32
	// Intensity is one value per point as it was recorded; nil if there is none.
	Intensity []float32
	// Total is the number of points in the payload. Missing is how many of them have
	// no position (NaN or infinite) and are left out of all else.
	Total, Missing int
	// Min and Max are the corners of the box around all points.
	Min, Max [3]float32
}

// maxPoints bounds a cloud: 80 MiB with positions, colours and intensities.
const maxPoints = 4 << 20

// Decode reads a payload as a point cloud. It accepts
//
//   - PCD: ascii, binary and binary_compressed;
//   - PLY: ascii and binary of either byte order; of a mesh the vertices;
//   - application/x-pointcloud2: the data of a ROS sensor_msgs/PointCloud2, with the
//     rest of the message in metadata: fields (a list of name, offset, datatype and
//     count), point_step, width, height, row_step and is_bigendian;
//   - NumPy .npy of N by 3 (x y z) or N by 4 (and intensity) with metadata kind "cloud".
//
// A cloud has at most 4,194,304 points. The error says why the data is no cloud.
func Decode(in media.Payload) (*Cloud, error) {
	f, err := open(in)
	if err != nil {
		return nil, err
	}
	// The header is read first, so that data that is no cloud gets the error of its format.
	if err := in.Whole(); err != nil {
		return nil, err
	}

	var has [slots]bool

	for _, field := range f.fields {
		if field.slot != unused {
			has[field.slot] = true
		}
	}

	// The header's claim is refused before any point is read.
	if f.points > maxPoints {
		return nil, fmt.Errorf("the point cloud has %d points; at most %d are read; save it in parts", f.points,
			maxPoints)
	}

	c := &Cloud{}
	err = f.each(func(v *values) {
		c.Total++

		p := [3]float32{float32(v[slotX]), float32(v[slotY]), float32(v[slotZ])}
		for _, v := range p {
			if !media.Finite(float64(v)) {
				c.Missing++
				return
			}
		}

		// The first point with a position begins the box. A box from 0 would include an origin that the cloud does
		// not have.
		if c.Total-c.Missing == 1 {
			c.Min, c.Max = p, p
		}

		for i := range p {
			c.Min[i], c.Max[i] = min(c.Min[i], p[i]), max(c.Max[i], p[i])
		}

		c.Positions = append(c.Positions, p[:]...)
		if has[slotColor] {
			c.Colors = append(c.Colors, uint32(int64(v[slotColor]))&0xffffff)
		}
		if has[slotIntensity] {
			c.Intensity = append(c.Intensity, float32(v[slotIntensity]))
		}
	})
	if err == nil && c.Total == c.Missing {
		err = errors.New("the point cloud holds no point with a position")
	}
	if err != nil {
		return nil, err
	}

	return c, nil
}

// Accepts reports whether the payload is PCD, PLY, a PointCloud2, or an array that
// metadata calls a cloud: three columns of numbers may be anything.
func Accepts(in media.Payload) bool {
	return IsPCD(in.Data) || IsPLY(in.Data) || isArray(in) || in.Type == media.TypePointCloud2
}

func isArray(in media.Payload) bool {
	return in.Metadata.IsKind("cloud") && bytes.HasPrefix(in.Data, []byte(media.NPYMagic))
}

// source has the header of a cloud and the data of its points: a line for each, or records
// of equal size in rows.
type source struct {
	form          string // how the points are written
	points        int64
	fields        []field
	data          []byte
	isText        bool
	need          int64 // bytes that the records take
	width, height int64
	rowStep       int64 // bytes
	stride        int64 // bytes from a value of a field to the next point's

	faces  int64                     // of a mesh
	unpack func() ([]byte, error)    // makes the data; nil if it is there
	walk   func(func(*values)) error // reads the points; nil if they are lines or records
}

func open(in media.Payload) (*source, error) {
	switch {
	case IsPCD(in.Data):
		return openPCD(in.Data)
	case IsPLY(in.Data):
		return openPLY(in.Data)
	case isArray(in):
		return openArray(in)
	case in.Type == media.TypePointCloud2:
		return openPointCloud2(in)
	}

	return nil, fmt.Errorf("%s is not read as a point cloud; give PCD, PLY, %s or a .npy array of kind cloud",
		media.Clean(in.Type, media.MaxName), media.TypePointCloud2)
}

// slot is a value of a point that is used.
type slot int

const (
	slotX slot = iota
	slotY
	slotZ
	slotColor // 0xRRGGBB; an alpha above it is ignored
	slotIntensity
	slots
	unused slot = -1
)

// values is one point by slot; 0 if the cloud has no such field.
type values [slots]float64

// slotNames are the names of fields in PCL, ROS, CloudCompare and MeshLab.
var slotNames = map[string]slot{
	"x": slotX, "y": slotY, "z": slotZ,
	"rgb": slotColor, "rgba": slotColor,
	"intensity": slotIntensity, "intensities": slotIntensity, "i": slotIntensity,
	"reflectivity": slotIntensity, "scalar_intensity": slotIntensity,
}

// assign finds the fields that are used, the first of each name. x and y are needed.
func assign(fields []field) error {
	var taken [slots]bool

	for i := range fields {
		f := &fields[i]
		f.slot = unused
		if s, ok := slotNames[strings.ToLower(f.name)]; ok && !taken[s] && f.count > 0 {
			f.slot, taken[s] = s, true
		}
	}
	if !taken[slotX] || !taken[slotY] {
		return fmt.Errorf("the point cloud has no fields x and y among %d", len(fields))
	}

	return nil
}

// File is a payload that may be a point cloud.
type File struct{ media.Payload }

// Summary returns "point cloud, 1,234 points, fields x y z, binary, within 4.2 x 3.1
// x 1.8 m, 17 missing", and of a mesh "mesh, 8 vertices, 12 faces, …". Of the first bytes of a payload it says what the header says.
func (f File) Summary() string {
	src, err := open(f.Payload)
	if err != nil {
		return ""
	}

	s := "point cloud, " + media.Plural(src.points, "point")
	if src.faces > 0 {
		s = "mesh, " + media.Count(src.points, "vertex", "vertices") + ", " + media.Plural(src.faces, "face")
	}

	var names []string
	for _, field := range src.fields {
		names = append(names, field.name)
	}

	s += ", fields " + media.Clean(strings.Join(names, " "), media.MaxSummary/2) + ", " + src.form
	if f.IsHead() {
		return s
	}

	c, err := Decode(f.Payload)
	if err != nil {
		return ""
	}

	s += ", within " + media.Sides(c.Min, c.Max) + " " + f.Metadata.Unit("m")
	if c.Missing > 0 {
		s += ", " + humanize.Comma(int64(c.Missing)) + " missing"
	}

	return s
}

// Samples returns an even part of the points.
func (f File) Samples(o media.SamplesOptions) (*media.Samples, error) {
	c, err := Decode(f.Payload)
	if err != nil {
		return nil, err
	}

	kept := len(c.Positions) / 3
	shown := min(o.SpacePoints(), kept)
	out := media.NewSpace("cloud", f.Metadata, c.Total-c.Missing, shown)
	out.Missing = int64(c.Missing)

	for j := range shown {
		i := media.Spread(j, shown, kept)
		p := c.Positions[3*i:]
		out.X[j], out.Y[j], out.Z[j] = decimal(p[0]), decimal(p[1]), decimal(p[2])
		if c.Intensity != nil {
			out.Intensity = append(out.Intensity, decimal(c.Intensity[i]))
		}
		if c.Colors != nil {
			out.RGB = append(out.RGB, c.Colors[i])
		}
	}

	return out, nil
}

// decimal returns the float64 of the shortest decimal number that stands for v: 0.1
// where the nearest float32 is 0.10000000149011612.
func decimal(v float32) float64 {
	if float32(math.Trunc(float64(v))) == v {
		return float64(v)
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64) // also of NaN
	return short
}
