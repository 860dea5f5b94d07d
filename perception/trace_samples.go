package perception

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// Raw samples are the elements of an array one after the other, sample by
// sample, with nothing in front: what a recorder at 1 kHz can append to. What
// they are stands in the metadata:
//
//	{"dtype": "<f4", "shape": [1000, 6], "rate_hz": 1000, "channels": ["Fx", ...]}
//
// dtype is spelt as NumPy does, "<f4" (byte order, kind, bytes) or "float32",
// which is little-endian.

// typeSamples is the media type of raw samples; none is registered.
const typeSamples = "application/x-samples"

// isSamples tells that the metadata makes an array of bytes that show nothing.
func isSamples(it Item) bool {
	if t := it.mediaType(); t != typeSamples && t != typeBytes {
		return false
	}
	return it.Metadata["dtype"] != nil || it.Metadata["shape"] != nil
}

func decodeSamples(it Item) (*series, error) {
	descr := "<f4"
	if given := it.Metadata["dtype"]; given != nil {
		descr, _ = given.(string)
	}
	e, ok := elementOf(descr)
	if !ok {
		return nil, fmt.Errorf("metadata dtype %q is not read; use %s", clean(descr, maxNameRunes), elementNames)
	}
	if len(it.Data)%e.size != 0 {
		return nil, fmt.Errorf("%d bytes are no whole number of %s elements, which take %d each", len(it.Data), descr, e.size)
	}
	count, width := len(it.Data)/e.size, 1
	if names, ok := texts(it.Metadata["channels"]); ok && len(names) > 0 {
		width = len(names)
	}
	if count == 0 {
		return nil, errEmptyTrace
	}
	if count > maxReadings {
		return nil, errTooLong
	}
	if given := it.Metadata["shape"]; given != nil {
		rows, columns, err := samplesShape(given)
		if err != nil {
			return nil, err
		}
		// Neither factor is above maxReadings, so the product does not overflow.
		if rows*columns != int64(count) {
			return nil, fmt.Errorf("shape [%d, %d] of %s needs %d bytes; the data has %d", rows, columns, descr, rows*columns*int64(e.size), len(it.Data))
		}
		width = int(columns)
	}
	if count%width != 0 {
		return nil, fmt.Errorf("%d readings are no whole number of samples of %d channels", count, width)
	}
	return &series{width: width, values: e.readings(it.Data, count)}, nil
}

// samplesShape reads [samples, channels], or [samples] of one channel.
func samplesShape(given any) (rows, columns int64, err error) {
	list, _ := given.([]any)
	if whole, ok := given.([]int); ok { // from a caller in Go, not from JSON
		for _, n := range whole {
			list = append(list, n)
		}
	}
	dims := [2]int64{1: 1}
	ok := len(list) == 1 || len(list) == 2
	for i := 0; ok && i < len(list); i++ {
		var f float64
		f, ok = number(list[i])
		ok = ok && f >= 1 && f <= maxReadings && f == math.Trunc(f)
		if ok {
			dims[i] = int64(f)
		}
	}
	if !ok {
		return 0, 0, fmt.Errorf("metadata shape must be [samples, channels], whole numbers of 1 to %d", maxReadings)
	}
	return dims[0], dims[1], nil
}

// element is how one reading is stored.
type element struct {
	size  int
	order binary.ByteOrder
	read  func(b []byte, o binary.ByteOrder) float64
}

const elementNames = "bool, int8 to int64, uint8 to uint64, float16, float32 or float64"

// elementReaders are the types by NumPy's kind and number of bytes.
var elementReaders = map[string]func(b []byte, o binary.ByteOrder) float64{
	"b1": func(b []byte, _ binary.ByteOrder) float64 { return float64(min(b[0], 1)) },
	"u1": func(b []byte, _ binary.ByteOrder) float64 { return float64(b[0]) },
	"i1": func(b []byte, _ binary.ByteOrder) float64 { return float64(int8(b[0])) },
	"u2": func(b []byte, o binary.ByteOrder) float64 { return float64(o.Uint16(b)) },
	"i2": func(b []byte, o binary.ByteOrder) float64 { return float64(int16(o.Uint16(b))) },
	"u4": func(b []byte, o binary.ByteOrder) float64 { return float64(o.Uint32(b)) },
	"i4": func(b []byte, o binary.ByteOrder) float64 { return float64(int32(o.Uint32(b))) },
	"u8": func(b []byte, o binary.ByteOrder) float64 { return float64(o.Uint64(b)) },
	"i8": func(b []byte, o binary.ByteOrder) float64 { return float64(int64(o.Uint64(b))) },
	"f2": func(b []byte, o binary.ByteOrder) float64 { return float16(o.Uint16(b)) },
	"f4": func(b []byte, o binary.ByteOrder) float64 { return float64(math.Float32frombits(o.Uint32(b))) },
	"f8": func(b []byte, o binary.ByteOrder) float64 { return math.Float64frombits(o.Uint64(b)) },
}

// elementAliases are NumPy's names of the types that a recorder writes.
var elementAliases = map[string]string{
	"bool": "|b1", "int8": "|i1", "uint8": "|u1", "int16": "<i2", "uint16": "<u2", "int32": "<i4", "uint32": "<u4",
	"int64": "<i8", "uint64": "<u8", "float16": "<f2", "float32": "<f4", "float64": "<f8",
}

func elementOf(descr string) (e element, ok bool) {
	if alias, ok := elementAliases[descr]; ok {
		descr = alias
	}
	e.order = binary.LittleEndian
	if strings.HasPrefix(descr, ">") {
		e.order = binary.BigEndian
	}
	if descr != "" && strings.ContainsRune("<>=|", rune(descr[0])) {
		descr = descr[1:]
	}
	if e.read, ok = elementReaders[descr]; ok {
		e.size = int(descr[1] - '0')
	}
	return e, ok
}

// readings reads the first count elements, which are there.
func (e element) readings(data []byte, count int) []float64 {
	values := make([]float64, count)
	for i := range values {
		values[i] = e.read(data[i*e.size:], e.order)
	}
	return values
}

// float16 is IEEE 754 binary16: a sign, five bits of exponent, ten of fraction.
func float16(bits uint16) float64 {
	sign := 1.0
	if bits&0x8000 != 0 {
		sign = -1
	}
	exponent, fraction := int(bits>>10&0x1f), float64(bits&0x3ff)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 0x1f:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}
