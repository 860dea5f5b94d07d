// Package pointcloud reads point clouds and laser scans. A [File] of a cloud or a [Scan]
// makes a summary, features and samples; [Decode] returns the points of a cloud.
//
// The tests of this package are those of package perception, through its API.
package pointcloud

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/media"
)

// Cloud is a point cloud, or an even part of a large one, in the units and the frame
// of its file: metres with x forward, y left and z up if it follows ROS REP 103.
type Cloud struct {
	// Positions are x, y, z of each point, one point after another.
	Positions []float32
	// Colors are red, green, blue of each point; nil if there are none.
	Colors []uint8
	// Intensity is one value per point as it was recorded; nil if there is none.
	Intensity []float32
	// Total is the number of points in the payload. Missing is how many of them have
	// no position (NaN or infinite) and are left out of all else.
	Total, Missing int
	// Min and Max are the corners of the box around all points.
	Min, Max [3]float32
}

// maxPoints is the number of points that are kept: 64 MiB with positions, colours and intensities.
const maxPoints = 4 << 20

var errNoPoint = errors.New("the point cloud holds no point with a position")

// Decode reads a payload as a point cloud. It accepts
//
//   - PCD: ascii and binary;
//   - application/x-pointcloud2: the data of a ROS sensor_msgs/PointCloud2, with the
//     rest of the message in metadata: fields (a list of name, offset, datatype and
//     count), point_step, width, height, row_step and is_bigendian;
//   - NumPy .npy of N by 3 (x y z) or N by 4 (and intensity) with metadata kind "cloud".
//
// If there are more points than limit, every second, fourth and so on is kept. A limit of 0, or
// above 4,194,304, is 4,194,304. The error says why the data is no cloud.
func Decode(in media.Payload, limit int) (*Cloud, error) {
	c, err := collect(in, min(cmp.Or(max(limit, 0), maxPoints), maxPoints))
	if err != nil {
		return nil, err
	}
	return &c.cloud, nil
}

// collect keeps an even part of the points of a whole payload.
func collect(in media.Payload, limit int) (*collector, error) {
	f, err := open(in)
	if err != nil {
		return nil, err
	}
	if err := in.Whole(); err != nil {
		return nil, err
	}
	c := newCollector(f, limit)
	if err := f.each(c.add); err != nil {
		return nil, err
	}
	if c.valid == 0 {
		return nil, errNoPoint
	}
	return c, nil
}

// Accepts reports whether the payload is PCD, a PointCloud2, or an array that
// metadata calls a cloud: three columns of numbers may be anything.
func Accepts(in media.Payload) bool {
	return IsPCD(in.Data) || isArray(in) || in.Type == media.TypePointCloud2
}

func isArray(in media.Payload) bool {
	return in.Metadata.IsKind("cloud") && bytes.HasPrefix(in.Data, []byte(media.NPYMagic))
}

// source is what the header of a cloud says, and the data of its points: a line for each, or records
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
}

func open(in media.Payload) (*source, error) {
	switch {
	case IsPCD(in.Data):
		return openPCD(in.Data)
	case isArray(in):
		return openArray(in)
	case in.Type == media.TypePointCloud2:
		return openPointCloud2(in)
	}
	return nil, fmt.Errorf("%s is not read as a point cloud; give PCD, %s or a .npy array of kind cloud", media.Clean(in.Type, media.MaxName), media.TypePointCloud2)
}

// slot is a value of a point that is used.
type slot int

const (
	slotX slot = iota
	slotY
	slotZ
	slotRed
	slotGreen
	slotBlue
	slotPacked // 0xRRGGBB; an alpha above it is ignored
	slotIntensity
	slots
	unused slot = -1
)

// values is one point by slot; 0 if the cloud has no such field.
type values [slots]float64

// slotNames are the names of fields in PCL, ROS, CloudCompare and MeshLab.
var slotNames = map[string]slot{
	"x": slotX, "y": slotY, "z": slotZ,
	"red": slotRed, "green": slotGreen, "blue": slotBlue,
	"r": slotRed, "g": slotGreen, "b": slotBlue,
	"diffuse_red": slotRed, "diffuse_green": slotGreen, "diffuse_blue": slotBlue,
	"rgb": slotPacked, "rgba": slotPacked,
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

// collector keeps an even part of the points: whenever there are more than limit, it
// drops every second of them, and from then on every second of the new ones.
type collector struct {
	cloud                     Cloud
	limit                     int
	stride, valid             int
	last                      values         // of the last point with a position
	packed, rgb, hasIntensity bool           // what the points have
	colorScale                [slots]float64 // from the number in the file to 0..255; 0 without the field
}

func newCollector(f *source, limit int) *collector {
	c := &collector{limit: limit, stride: 1}
	s := &c.colorScale
	for _, field := range f.fields {
		if field.slot != unused {
			s[field.slot] = cmp.Or(map[string]float64{"f4": 255, "f8": 255, "u2": 1.0 / 257}[field.typ.Code], 1)
		}
	}
	c.rgb = s[slotRed] > 0 && s[slotGreen] > 0 && s[slotBlue] > 0
	c.packed, c.hasIntensity = s[slotPacked] > 0 && !c.rgb, s[slotIntensity] > 0
	return c
}

func (c *collector) add(v *values) {
	c.cloud.Total++
	p := [3]float32{float32(v[slotX]), float32(v[slotY]), float32(v[slotZ])}
	for _, v := range p {
		if !media.Finite(float64(v)) {
			c.cloud.Missing++
			return
		}
	}
	if c.valid == 0 {
		c.cloud.Min, c.cloud.Max = p, p
	}
	for i := range p {
		c.cloud.Min[i], c.cloud.Max[i] = min(c.cloud.Min[i], p[i]), max(c.cloud.Max[i], p[i])
	}
	c.last = *v
	c.valid++
	if !c.isKept() {
		return
	}
	if len(c.cloud.Positions) == 3*c.limit {
		c.cloud.Positions = halve(c.cloud.Positions, 3)
		c.cloud.Colors = halve(c.cloud.Colors, 3)
		c.cloud.Intensity = halve(c.cloud.Intensity, 1)
		c.stride *= 2
		if !c.isKept() {
			return
		}
	}
	c.keep(v)
}

// isKept reports whether the latest point belongs to the even part.
func (c *collector) isKept() bool { return (c.valid-1)%c.stride == 0 }

func (c *collector) keep(v *values) {
	c.cloud.Positions = append(c.cloud.Positions, float32(v[slotX]), float32(v[slotY]), float32(v[slotZ]))
	switch {
	case c.rgb:
		for s := slotRed; s <= slotBlue; s++ {
			c.cloud.Colors = append(c.cloud.Colors, level(v[s]*c.colorScale[s]))
		}
	case c.packed:
		bits := uint32(int64(v[slotPacked]))
		c.cloud.Colors = append(c.cloud.Colors, uint8(bits>>16), uint8(bits>>8), uint8(bits))
	}
	if c.hasIntensity {
		c.cloud.Intensity = append(c.cloud.Intensity, float32(v[slotIntensity]))
	}
}

// level rounds v to one of 256 levels; NaN is 0.
func level(v float64) uint8 {
	if !(v > 0) {
		return 0
	}
	return uint8(min(v+0.5, 255))
}

// halve keeps every second group of size values, the first among them.
func halve[T any](values []T, size int) []T {
	out := values[:0]
	for i := 0; i+size <= len(values); i += 2 * size {
		out = append(out, values[i:i+size]...)
	}
	return out
}

// File is a payload that may be a point cloud.
type File struct{ media.Payload }

// Summary returns "point cloud, 1,234 points, fields x y z, binary, within 4.2 x 3.1
// x 1.8 m, 17 missing". Of the first bytes of a payload it says what the header says.
func (f File) Summary() string {
	src, err := open(f.Payload)
	if err != nil {
		return ""
	}
	s := "point cloud, " + media.Plural(src.points, "point")
	var names []string
	for _, field := range src.fields {
		if field.name != padding {
			names = append(names, field.name)
		}
	}
	s += ", fields " + media.Clean(strings.Join(names, " "), media.MaxSummary/2) + ", " + src.form
	if f.IsHead() {
		return s
	}
	c, err := Decode(f.Payload, 1)
	if err != nil {
		return ""
	}
	s += ", within " + media.Sides(c.Min, c.Max) + " " + f.Metadata.Unit("m")
	if c.Missing > 0 {
		s += ", " + media.Thousands(int64(c.Missing)) + " missing"
	}
	return s
}

// Samples returns an even part of the points with the first and the last. It is taken
// from a finer even part, so that there are as many points as were asked for.
func (f File) Samples(o media.SamplesOptions) (*media.Samples, error) {
	const finer = 4
	points := o.SpacePoints()
	c, err := collect(f.Payload, finer*points)
	if err != nil {
		return nil, err
	}
	if !c.isKept() {
		c.keep(&c.last)
	}
	kept := len(c.cloud.Positions) / 3
	shown := min(points, kept)
	out := media.NewSpace("cloud", f.Metadata, c.valid, shown)
	out.Missing = int64(c.cloud.Missing)
	if c.cloud.Intensity != nil {
		out.Intensity = make(media.Numbers, shown)
	}
	if c.cloud.Colors != nil {
		out.RGB = make([]uint32, shown)
	}
	for j := range shown {
		i := media.Spread(j, shown, kept)
		p := c.cloud.Positions[3*i:]
		out.X[j], out.Y[j], out.Z[j] = decimal(p[0]), decimal(p[1]), decimal(p[2])
		if out.Intensity != nil {
			out.Intensity[j] = decimal(c.cloud.Intensity[i])
		}
		if out.RGB != nil {
			rgb := c.cloud.Colors[3*i:]
			out.RGB[j] = uint32(rgb[0])<<16 | uint32(rgb[1])<<8 | uint32(rgb[2])
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
