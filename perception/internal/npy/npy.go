// Package npy reads the header of NumPy's .npy files and the numbers of arrays in
// NumPy's element types.
//
// A .npy file (NumPy enhancement proposal 1) is a magic string, a version of two bytes, the length
// of the header (two bytes in version 1, four in 2 and 3), the header as the text of a Python dict
//
//	{'descr': '<f8', 'fortran_order': False, 'shape': (15, 6), }
//
// and the elements. The dict is matched and never evaluated. An array of objects is
// a pickle, which could run code, and no element type stands for it here.
package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/media"
)

// Header is what the dict of a .npy file says.
type Header struct {
	Descr string // the element type, "<f8"
	Shape []int
	Rest  []byte // the elements, row after row
}

const (
	maxHeader = 10_000 // bytes: the limit of NumPy itself
	maxDims   = 32     // the limit of NumPy 1
)

var (
	descrKey   = regexp.MustCompile(`'descr'\s*:\s*'([<>=|]?[a-zA-Z][0-9]*(?:\[[a-z0-9]+\])?)'`)
	fortranKey = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	shapeKey   = regexp.MustCompile(`'shape'\s*:\s*\(([0-9, ]*)\)`)
)

// Parse reads the header of a file that begins with [media.NPYMagic].
func Parse(data []byte) (h Header, err error) {
	const prefix = len(media.NPYMagic) + 2
	if len(data) < prefix+4 {
		return h, errors.New("the .npy file ends within its header")
	}

	size, start := int64(binary.LittleEndian.Uint16(data[prefix:])), prefix+2
	if version := data[len(media.NPYMagic)]; version == 2 || version == 3 {
		size, start = int64(binary.LittleEndian.Uint32(data[prefix:])), prefix+4
	} else if version != 1 {
		return h, fmt.Errorf(".npy version %d is not known", version)
	}

	if size > maxHeader || size > int64(len(data)-start) {
		return h, fmt.Errorf("the .npy header of %d bytes is longer than the file or the limit of %d", size, maxHeader)
	}

	dict := data[start:][:size]
	descr, order, shape := descrKey.FindSubmatch(dict), fortranKey.FindSubmatch(dict), shapeKey.FindSubmatch(dict)
	if descr == nil || order == nil || shape == nil {
		return h, errors.New("the .npy header names no plain element type, order and shape")
	}

	h.Descr, h.Rest = string(descr[1]), data[start+int(size):]

	for part := range strings.SplitSeq(string(shape[1]), ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		n, err := strconv.ParseInt(part, 10, 32)
		if err != nil || len(h.Shape) == maxDims {
			return h, errors.New("the .npy shape is larger than any array that is read here")
		}
		h.Shape = append(h.Shape, int(n))
	}

	if string(order[1]) == "True" && len(h.Shape) > 1 {
		return h, h.fromFortran()
	}

	return h, nil
}

// fromFortran puts the elements of an array whose first index varies fastest into the order of C, in
// which the last one does. A transposed array is saved so.
func (h *Header) fromFortran() error {
	typ, ok := Lookup(h.Descr)
	if !ok {
		// Its elements are not read.
		return nil
	}

	count := int64(1)
	for _, n := range h.Shape {
		if count *= int64(n); count > int64(len(h.Rest)/typ.Size) {
			return fmt.Errorf("the .npy array needs more elements of %d bytes than the file has bytes of them (%d)",
				typ.Size, len(h.Rest))
		}
	}

	out := make([]byte, 0, int(count)*typ.Size)

	// In elements, of the order in the file.
	strides := make([]int, len(h.Shape))
	for i, step := 0, 1; i < len(h.Shape); i++ {
		strides[i] = step
		step *= h.Shape[i]
	}

	index, at := make([]int, len(h.Shape)), 0
	for range count {
		out = append(out, h.Rest[at*typ.Size:][:typ.Size]...)

		// To the next element in the order of C.
		for d := len(index) - 1; d >= 0; d-- {
			index[d]++
			at += strides[d]
			if index[d] < h.Shape[d] {
				break
			}
			at -= index[d] * strides[d]
			index[d] = 0
		}
	}

	h.Rest = out

	return nil
}

// Type is how one number is stored.
type Type struct {
	Code  string // NumPy's letter for the kind and the number of bytes: "f4", "u2"
	Size  int    // bytes
	Order binary.ByteOrder
	read  func(b []byte, o binary.ByteOrder) float64
}

// Names lists the types for error texts.
const Names = "bool, int8 to int64, uint8 to uint64, float16, float32 or float64"

var readers = map[string]func(b []byte, o binary.ByteOrder) float64{
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

// aliases are NumPy's long names of the types.
var aliases = map[string]string{
	"bool": "b1", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
	"int64": "i8", "uint64": "u8", "float16": "f2", "float32": "f4", "float64": "f8",
}

// Lookup returns the type that NumPy spells "<f4", ">i2", "|u1", "f4" or "float32".
// It is little-endian unless the name says otherwise.
func Lookup(name string) (t Type, ok bool) {
	t.Code, t.Order = name, binary.LittleEndian
	if alias, ok := aliases[name]; ok {
		t.Code = alias
	} else if name != "" && strings.ContainsRune("<>=|", rune(name[0])) {
		t.Code = name[1:]
		if name[0] == '>' {
			t.Order = binary.BigEndian
		}
	}
	if t.read, ok = readers[t.Code]; ok {
		t.Size = int(t.Code[1] - '0')
	}

	return t, ok
}

// Float returns the number at the beginning of b, which is long enough. Integers
// beyond 2^53 lose their last digits.
func (t *Type) Float(b []byte) float64 { return t.read(b, t.Order) }

// Floats returns the first count numbers of data, which holds that many.
func (t *Type) Floats(data []byte, count int) []float64 {
	values := make([]float64, count)
	for i := range values {
		values[i] = t.read(data[i*t.Size:], t.Order)
	}
	return values
}

// float16 is IEEE 754 binary16: a sign, five bits of exponent, ten of fraction. In the places of a
// float32 its exponent is 112 too small.
func float16(bits uint16) float64 {
	v := float64(math.Float32frombits(uint32(bits&0x7fff)<<13)) * (1 << 112)
	// The largest exponent stands for infinity and NaN.
	switch {
	case v == 1<<16:
		v = math.Inf(1)
	case v > 1<<16:
		return math.NaN()
	}

	return math.Copysign(v, float64(int16(bits)))
}
