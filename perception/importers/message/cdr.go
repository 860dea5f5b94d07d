package message

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// CDR is the Common Data Representation of the OMG. Four bytes, the encapsulation, name the
// variant and the byte order. Each primitive is at a multiple of its size, counted from
// after the encapsulation.

const encapsulation = 4

// zstdMagic begins a message that a recorder compressed by itself. No encapsulation begins so.
const zstdMagic = "\x28\xb5\x2f\xfd"

// maxValues limits the values of a message. A value takes about a hundred times the memory
// of the byte that it may come from.
const maxValues = 1 << 19

// Decode reads a message in the encoding of the schema: CDR for ros2msg, that of ROS 1 for ros1msg, protobuf, otherwise JSON.
// The Data of values are parts of the given data. The error names the field and the byte.
func (s *Schema) Decode(data []byte) (*Value, error) {
	if s.proto != nil {
		return decodeProtobuf(s.proto, data)
	}
	if s.Root == nil {
		return decodeJSON(data)
	}
	d, err := s.decoder(data)
	if err != nil {
		return nil, err
	}
	v := &Value{}
	if d.structure(v, s.Root, 0); d.err != nil {
		return nil, d.err
	}
	if err := d.end(); err != nil {
		return nil, err
	}

	return v, nil
}

// decoder reads one message. After its first error it reads nothing more.
type decoder struct {
	data   []byte // with the encapsulation, if there is one
	at     int
	order  binary.ByteOrder
	packed bool // nothing is aligned, as in ROS 1
	values int
	err    error
}

func (s *Schema) decoder(data []byte) (*decoder, error) {
	if s.ros1 {
		return newROS1Decoder(data), nil
	}
	return newDecoder(data)
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

// list returns n values, nil if the message holds too many.
func (d *decoder) list(n int) []Value {
	if d.values += n; d.values > maxValues {
		d.fail("the message holds more than %d values", maxValues)
		return nil
	}
	return make([]Value, n)
}

func newDecoder(data []byte) (*decoder, error) {
	if len(data) < encapsulation {
		return nil, fmt.Errorf("a CDR message of %d bytes is too short; the encapsulation takes %d", len(data),
			encapsulation)
	}
	if bytes.HasPrefix(data, []byte(zstdMagic)) {
		return nil, errors.New("the message is compressed with zstd and damaged")
	}
	// DDS-XTypes 1.3, table 60: 0 is plain CDR; the last bit is the byte order.
	if data[0] != 0 || data[1] > 1 {
		return nil, fmt.Errorf("CDR representation %#02x%02x is not read; plain CDR (0 and 1) is", data[0], data[1])
	}
	d := &decoder{data: data, at: encapsulation, order: binary.LittleEndian}
	if data[1] == 0 {
		d.order = binary.BigEndian
	}

	return d, nil
}

var errShort = errors.New("the message ends there")

func (d *decoder) structure(v *Value, t *Type, depth int) {
	v.Kind, v.Names = Struct, t.names
	if depth > maxDepth {
		d.fail("types are nested more than %d deep", maxDepth)
		return
	}
	// IDL has no empty structures: ROS 2 puts one byte into them.
	if len(t.Fields) == 0 {
		if !d.packed {
			d.take(1, 1)
		}
		return
	}

	v.List = d.list(len(t.Fields))
	for i := range v.List {
		if d.field(&v.List[i], &t.Fields[i], depth); d.err != nil {
			d.err = fmt.Errorf("%s at byte %d: %w", t.Fields[i].Name, d.at, d.err)
			return
		}
	}
}

func (d *decoder) field(v *Value, f *Field, depth int) {
	if f.Array == Single {
		d.one(v, f, depth)
		return
	}

	count := f.Len
	if f.Array == Sequence {
		if count = d.count(f.elementSize()); f.Len > 0 && count > f.Len {
			d.fail("%d elements; at most %d are allowed", count, f.Len)
		}
	}

	// A fixed array needs the check, too: its length comes from the definition, not from the message.
	if left := len(d.data) - d.at; count > left/f.elementSize() {
		d.fail("%d elements in %d bytes: %w", count, left, errShort)
	}
	if d.err != nil {
		return
	}

	switch size := f.Kind.size(); {
	// Images and clouds are arrays of bytes. They stay a part of the message, since a Value per byte would take a
	// hundred times the memory.
	case size == 1:
		v.Kind, v.Data = Bytes, d.take(count, 1)
		v.Offset = d.at - len(v.Data)
	case size > 1:
		d.numbers(v, f.Kind, count)
	default:
		v.Kind, v.List = List, d.list(count)
		for i := range v.List {
			if d.one(&v.List[i], f, depth); d.err != nil {
				d.err = fmt.Errorf("[%d]: %w", i, d.err)
				return
			}
		}
	}
}

func (d *decoder) one(v *Value, f *Field, depth int) {
	switch f.Kind {
	case Struct:
		d.structure(v, f.Type, depth+1)
	case String:
		d.text(v)
	default:
		size := f.Kind.size()
		if raw := d.take(size, size); raw != nil {
			v.Kind, v.Float = f.Kind, d.primitive(raw, f.Kind)
		}
	}
}

func (d *decoder) primitive(raw []byte, k Kind) float64 {
	switch k {
	case Bool:
		return float64(min(raw[0], 1))
	case Int8:
		return float64(int8(raw[0]))
	case Uint8:
		return float64(raw[0])
	case Int16:
		return float64(int16(d.order.Uint16(raw)))
	case Uint16:
		return float64(d.order.Uint16(raw))
	case Int32:
		return float64(int32(d.order.Uint32(raw)))
	case Uint32:
		return float64(d.order.Uint32(raw))
	case Int64:
		return float64(int64(d.order.Uint64(raw)))
	case Uint64:
		return float64(d.order.Uint64(raw))
	case Float32:
		return float64(math.Float32frombits(d.order.Uint32(raw)))
	}

	return math.Float64frombits(d.order.Uint64(raw))
}

// numbers reads an array of primitives of two bytes or more.
func (d *decoder) numbers(v *Value, k Kind, count int) {
	v.Kind = Numbers
	size := k.size()
	raw := d.take(count*size, size)
	if raw == nil {
		return
	}

	v.Numbers = make([]float64, count)
	for i := range v.Numbers {
		v.Numbers[i] = d.primitive(raw[i*size:], k)
	}
}

func (d *decoder) text(v *Value) {
	raw := d.take(d.count(1), 1)
	// In CDR the length includes a zero at the end, which some writers omit.
	if !d.packed {
		raw = bytes.TrimSuffix(raw, []byte{0})
	}
	v.Kind, v.Text = String, string(raw)
}

// count reads a length and checks that the message can hold that many elements; 0 after an error.
func (d *decoder) count(elementSize int) int {
	raw := d.take(4, 4)
	if raw == nil {
		return 0
	}
	n, left := d.order.Uint32(raw), len(d.data)-d.at
	if uint64(n)*uint64(elementSize) > uint64(left) {
		d.fail("a length of %d where %d bytes are left: %w", n, left, errShort)
		return 0
	}

	return int(n)
}

// take returns n bytes from the next multiple of align, nil for none and after an error.
func (d *decoder) take(n, align int) []byte {
	if d.packed {
		align = 1
	}
	// An empty array has no padding: alignment belongs to the first element.
	at := d.at + (align-(d.at-encapsulation)%align)%align
	if n == 0 || d.err != nil {
		return nil
	}
	if at > len(d.data) || n > len(d.data)-at {
		d.err = errShort
		return nil
	}
	d.at = at + n

	return d.data[at:d.at:d.at]
}
