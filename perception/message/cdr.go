package message

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf16"
)

// CDR is the Common Data Representation of the OMG. Four bytes, the encapsulation, name the
// variant and the byte order. Each primitive is at a multiple of its size, counted from
// after the encapsulation. XCDR2 aligns eight-byte numbers at four, and puts the length in
// bytes before a collection of anything but primitives.

// Representation identifiers, the second byte of a message: DDS-XTypes 1.3,
// table 60.
const (
	cdrBE   = 0x00
	cdrLE   = 0x01
	plCdrBE = 0x02
	plCdrLE = 0x03
	cdr2BE  = 0x06
	cdr2LE  = 0x07
)

const encapsulation = 4

// maxValues limits the values of a message. A value takes about a hundred times the memory
// of the byte that it may come from.
const maxValues = 1 << 19

// Decode reads a message in the encoding of the schema: CDR for ros2msg, otherwise JSON. The
// Data of values are parts of the given data. The error names the field and the byte.
func (s *Schema) Decode(data []byte) (*Value, error) {
	if s.Root == nil {
		return decodeJSON(data)
	}
	d, err := newDecoder(data)
	if err != nil {
		return nil, err
	}
	v := &Value{}
	if err := d.structure(v, s.Root); err != nil {
		return nil, err
	}
	return v, nil
}

type decoder struct {
	data     []byte // with the encapsulation
	at       int
	order    binary.ByteOrder
	maxAlign int
	xcdr2    bool
	values   int
}

func newDecoder(data []byte) (*decoder, error) {
	if len(data) < encapsulation {
		return nil, fmt.Errorf("a CDR message of %d bytes is too short; the encapsulation takes %d", len(data), encapsulation)
	}
	d := &decoder{data: data, at: encapsulation, order: binary.LittleEndian, maxAlign: 8}
	if data[0] != 0 {
		return nil, fmt.Errorf("CDR representation %#02x%02x is unknown", data[0], data[1])
	}
	switch data[1] {
	case cdrLE:
	case cdrBE:
		d.order = binary.BigEndian
	case cdr2LE:
		d.maxAlign, d.xcdr2 = 4, true
	case cdr2BE:
		d.order, d.maxAlign, d.xcdr2 = binary.BigEndian, 4, true
	case plCdrBE, plCdrLE:
		return nil, errors.New("CDR parameter lists (PL_CDR) are not read")
	default:
		return nil, fmt.Errorf("CDR representation %#02x is not read; plain CDR (0 and 1) and XCDR2 (6 and 7) are", data[1])
	}
	return d, nil
}

var errShort = errors.New("the message ends there")

func (d *decoder) structure(v *Value, t *Type) error {
	v.Kind, v.Names = Struct, t.names
	if len(t.Fields) == 0 {
		_, err := d.take(1, 1)
		return err
	}
	if d.values += len(t.Fields); d.values > maxValues {
		return fmt.Errorf("the message holds more than %d values", maxValues)
	}
	v.List = make([]Value, len(t.Fields))
	for i := range t.Fields {
		f := &t.Fields[i]
		if err := d.field(&v.List[i], f); err != nil {
			return fmt.Errorf("%s at byte %d: %w", f.Name, d.at, err)
		}
	}
	return nil
}

func (d *decoder) field(v *Value, f *Field) error {
	count := f.Len
	switch f.Array {
	case Single:
		return d.one(v, f)
	case Fixed:
		if err := d.delimiter(f); err != nil {
			return err
		}
	case Sequence:
		if err := d.delimiter(f); err != nil {
			return err
		}
		n, err := d.count(f.elementSize())
		if err != nil {
			return err
		}
		if f.Len > 0 && n > f.Len {
			return fmt.Errorf("%d elements; at most %d are allowed", n, f.Len)
		}
		count = n
	}
	if left := len(d.data) - d.at; count > left/max(f.elementSize(), 1) {
		return fmt.Errorf("%d elements in %d bytes: %w", count, left, errShort)
	}
	switch size := f.Kind.size(); {
	case size == 1:
		raw, err := d.take(count, 1)
		v.Kind, v.Data, v.Offset = Bytes, raw, d.at-len(raw)
		return err
	case size > 1:
		return d.numbers(v, f.Kind, count)
	}
	if d.values += count; d.values > maxValues {
		return fmt.Errorf("the message holds more than %d values", maxValues)
	}
	v.Kind, v.List = List, make([]Value, count)
	for i := range v.List {
		if err := d.one(&v.List[i], f); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return nil
}

// delimiter skips the length that XCDR2 puts before collections of anything but primitives.
func (d *decoder) delimiter(f *Field) error {
	if !d.xcdr2 || f.Kind.size() > 0 {
		return nil
	}
	_, err := d.take(4, 4)
	return err
}

func (d *decoder) one(v *Value, f *Field) error {
	switch f.Kind {
	case Struct:
		return d.structure(v, f.Type)
	case String:
		return d.text(v)
	case WString:
		return d.wide(v)
	}
	size := f.Kind.size()
	raw, err := d.take(size, size)
	if err != nil {
		return err
	}
	*v = d.primitive(raw, f.Kind)
	return nil
}

func (d *decoder) primitive(raw []byte, k Kind) Value {
	v := Value{Kind: k}
	switch k {
	case Bool:
		if raw[0] != 0 {
			v.Int = 1
		}
	case Int8:
		v.Int = int64(int8(raw[0]))
	case Uint8:
		v.Int = int64(raw[0])
	case Int16:
		v.Int = int64(int16(d.order.Uint16(raw)))
	case Uint16:
		v.Int = int64(d.order.Uint16(raw))
	case Int32:
		v.Int = int64(int32(d.order.Uint32(raw)))
	case Uint32:
		v.Int = int64(d.order.Uint32(raw))
	case Int64:
		v.Int = int64(d.order.Uint64(raw))
	case Uint64:
		u := d.order.Uint64(raw)
		v.Int, v.Float = int64(u), float64(u)
		return v
	case Float32:
		v.Float = float64(math.Float32frombits(d.order.Uint32(raw)))
		return v
	case Float64:
		v.Float = math.Float64frombits(d.order.Uint64(raw))
		return v
	}
	v.Float = float64(v.Int)
	return v
}

// numbers reads an array of primitives of two bytes or more.
func (d *decoder) numbers(v *Value, k Kind, count int) error {
	v.Kind = Numbers
	if count == 0 {
		return nil
	}
	size := k.size()
	raw, err := d.take(count*size, size)
	if err != nil {
		return err
	}
	v.Offset = d.at - len(raw)
	v.Numbers = make([]float64, count)
	for i := range v.Numbers {
		v.Numbers[i] = d.primitive(raw[i*size:], k).Float
	}
	return nil
}

func (d *decoder) text(v *Value) error {
	n, err := d.count(1)
	if err != nil {
		return err
	}
	raw, err := d.take(n, 1)
	if err != nil {
		return err
	}
	// The length includes a zero at the end, which some writers omit.
	if n > 0 && raw[n-1] == 0 {
		raw = raw[:n-1]
	}
	v.Kind, v.Text, v.Offset = String, string(raw), d.at-n
	return nil
}

func (d *decoder) wide(v *Value) error {
	n, err := d.count(2)
	if err != nil {
		return err
	}
	v.Kind = WString
	left := d.data[d.at:]
	if runes, ok := d.wide4(left, n); ok {
		v.Text, d.at = string(runes), d.at+4*n
		return nil
	}
	units := make([]uint16, n)
	for i := range units {
		units[i] = d.order.Uint16(left[2*i:])
	}
	v.Text, d.at = string(utf16.Decode(units)), d.at+2*n
	return nil
}

// wide4 reads n characters of four bytes. Two characters of two bytes together are more than
// the largest character.
func (d *decoder) wide4(raw []byte, n int) ([]rune, bool) {
	if n > len(raw)/4 {
		return nil, false
	}
	runes := make([]rune, n)
	for i := range runes {
		u := d.order.Uint32(raw[4*i:])
		if u > 0x10FFFF {
			return nil, false
		}
		runes[i] = rune(u)
	}
	return runes, true
}

// count reads a length and checks that the message can hold that many elements.
func (d *decoder) count(elementSize int) (int, error) {
	raw, err := d.take(4, 4)
	if err != nil {
		return 0, err
	}
	n := d.order.Uint32(raw)
	left := len(d.data) - d.at
	if uint64(n)*uint64(max(elementSize, 1)) > uint64(left) {
		return 0, fmt.Errorf("a length of %d where %d bytes are left: %w", n, left, errShort)
	}
	return int(n), nil
}

// take returns n bytes from the next multiple of align.
func (d *decoder) take(n, align int) ([]byte, error) {
	align = min(align, d.maxAlign)
	at := d.at + (align-(d.at-encapsulation)%align)%align
	if n == 0 {
		return nil, nil
	}
	if at > len(d.data) || n > len(d.data)-at {
		return nil, errShort
	}
	d.at = at + n
	return d.data[at:d.at:d.at], nil
}
