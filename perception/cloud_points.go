package perception

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// numberKind is how a number is written. The first eight are the codes of
// sensor_msgs/PointField.
type numberKind uint8

const (
	kindInt8 numberKind = iota + 1
	kindUint8
	kindInt16
	kindUint16
	kindInt32
	kindUint32
	kindFloat32
	kindFloat64
	kindInt64
	kindUint64
)

// size is the bytes of a number, 0 for a kind that is unknown.
func (k numberKind) size() int {
	switch k {
	case kindInt8, kindUint8:
		return 1
	case kindInt16, kindUint16:
		return 2
	case kindInt32, kindUint32, kindFloat32:
		return 4
	case kindFloat64, kindInt64, kindUint64:
		return 8
	}
	return 0
}

// read takes a number from the first bytes of b, of which there are enough.
func (k numberKind) read(b []byte, order binary.ByteOrder) float64 {
	switch k {
	case kindInt8:
		return float64(int8(b[0]))
	case kindUint8:
		return float64(b[0])
	case kindInt16:
		return float64(int16(order.Uint16(b)))
	case kindUint16:
		return float64(order.Uint16(b))
	case kindInt32:
		return float64(int32(order.Uint32(b)))
	case kindUint32:
		return float64(order.Uint32(b))
	case kindFloat32:
		return float64(math.Float32frombits(order.Uint32(b)))
	case kindFloat64:
		return math.Float64frombits(order.Uint64(b))
	case kindInt64:
		return float64(int64(order.Uint64(b)))
	}
	return float64(order.Uint64(b))
}

// slot is a value of a point that is used here.
type slot int

const (
	slotX slot = iota
	slotY
	slotZ
	slotRed
	slotGreen
	slotBlue
	slotPacked // 0xRRGGBB, below an alpha that is ignored
	slotIntensity
	slots
	unused slot = -1
)

// pointValues is one point, by slot; 0 where the cloud has no such field.
type pointValues [slots]float64

// slotNames are the names that PCL, ROS, CloudCompare and MeshLab use.
var slotNames = map[string]slot{
	"x": slotX, "y": slotY, "z": slotZ,
	"red": slotRed, "green": slotGreen, "blue": slotBlue,
	"r": slotRed, "g": slotGreen, "b": slotBlue,
	"diffuse_red": slotRed, "diffuse_green": slotGreen, "diffuse_blue": slotBlue,
	"rgb": slotPacked, "rgba": slotPacked,
	"intensity": slotIntensity, "intensities": slotIntensity, "i": slotIntensity,
	"reflectivity": slotIntensity, "scalar_intensity": slotIntensity,
}

// padding is how PCL names bytes between fields.
const padding = "_"

// maxCloudFields and maxFieldCount are far beyond any cloud: the largest
// descriptor in use (VFH) has 308 values.
const (
	maxCloudFields = 256
	maxFieldCount  = 1 << 16
)

// cloudField is one field of every point.
type cloudField struct {
	name   string
	kind   numberKind
	count  int // values per point
	offset int // bytes before that of the first point
	slot   slot
}

func (f cloudField) bytes() int { return f.kind.size() * f.count }

// assign finds the fields that are used, the first of each, and wants x and y.
func assign(fields []cloudField) error {
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

// records are points of equal length: one whole after another, or field by
// field, when stride differs from field to field.
type records struct {
	data          []byte
	order         binary.ByteOrder
	width, height int64
	rowStep       int64
	stride        func(cloudField) int
}

// each reads every field that is used. The caller has checked that all of the
// data is there.
func (r *records) each(fields []cloudField, f func(*pointValues)) {
	used := slices.DeleteFunc(slices.Clone(fields), func(f cloudField) bool { return f.slot == unused })
	strides := make([]int64, len(used))
	for i := range used {
		strides[i] = int64(r.stride(used[i]))
		// The colour is the bits of a float, which need not be a number.
		if used[i].slot == slotPacked && used[i].kind.size() == 4 {
			used[i].kind = kindUint32
		}
	}
	for row := range r.height {
		for column := range r.width {
			var v pointValues
			for i := range used {
				at := row*r.rowStep + column*strides[i] + int64(used[i].offset)
				v[used[i].slot] = used[i].kind.read(r.data[at:], r.order)
			}
			f(&v)
		}
	}
}

// collector keeps an even part of the points that it is given: whenever there
// are more than limit, every second of them goes, and from then on of the new.
type collector struct {
	cloud               Cloud
	limit               int
	stride, valid       int
	packed, rgb, graded bool           // what the points have: a packed colour, one in parts, an intensity
	colorScale          [slots]float64 // to 0..255
}

func newCollector(f *cloudFile, limit int) *collector {
	c := &collector{limit: limit, stride: 1}
	var has [slots]bool
	for _, field := range f.fields {
		if field.slot == unused {
			continue
		}
		has[field.slot] = true
		c.colorScale[field.slot] = 1
		switch field.kind {
		case kindFloat32, kindFloat64:
			c.colorScale[field.slot] = 255
		case kindUint16:
			c.colorScale[field.slot] = 1.0 / 257
		}
	}
	c.rgb = has[slotRed] && has[slotGreen] && has[slotBlue]
	c.packed, c.graded = has[slotPacked] && !c.rgb, has[slotIntensity]
	return c
}

func (c *collector) add(v *pointValues) {
	c.cloud.Total++
	var p [3]float32
	for i := range p {
		p[i] = float32(v[i])
		if !finite(float64(p[i])) {
			c.cloud.Missing++
			return
		}
	}
	for i := range p {
		if c.valid == 0 || p[i] < c.cloud.Min[i] {
			c.cloud.Min[i] = p[i]
		}
		if c.valid == 0 || p[i] > c.cloud.Max[i] {
			c.cloud.Max[i] = p[i]
		}
	}
	c.valid++
	if (c.valid-1)%c.stride != 0 {
		return
	}
	if len(c.cloud.Positions) == 3*c.limit {
		c.cloud.Positions = halve(c.cloud.Positions, 3)
		c.cloud.Colors = halve(c.cloud.Colors, 3)
		c.cloud.Intensity = halve(c.cloud.Intensity, 1)
		c.stride *= 2
		if (c.valid-1)%c.stride != 0 {
			return
		}
	}
	c.keep(p, v)
}

func (c *collector) keep(p [3]float32, v *pointValues) {
	c.cloud.Positions = append(c.cloud.Positions, p[:]...)
	switch {
	case c.rgb:
		for s := slotRed; s <= slotBlue; s++ {
			c.cloud.Colors = append(c.cloud.Colors, level(v[s]*c.colorScale[s]))
		}
	case c.packed:
		bits := uint32(int64(v[slotPacked]))
		c.cloud.Colors = append(c.cloud.Colors, uint8(bits>>16), uint8(bits>>8), uint8(bits))
	}
	if c.graded {
		c.cloud.Intensity = append(c.cloud.Intensity, float32(v[slotIntensity]))
	}
}

// level makes one of 256 of v; what is no number is 0.
func level(v float64) uint8 {
	if !(v > 0) {
		return 0
	}
	return uint8(min(v+0.5, 255))
}

// halve keeps every second of groups of size values, the first among them.
func halve[T any](values []T, size int) []T {
	out := values[:0]
	for i := 0; i+size <= len(values); i += 2 * size {
		out = append(out, values[i:i+size]...)
	}
	return out
}
