package embedding

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// A safetensors file holds the length of its header (8 bytes, little-endian), the
// header in JSON, and the numbers. For each tensor the header has the type, the
// shape, and the range of its bytes behind the header.
// https://huggingface.co/docs/safetensors/index#format

// tensor is a matrix, or a vector as a matrix with one column. It refers to the
// bytes of its file and decodes a row when it is needed, so that a model takes no
// more memory than its file.
type tensor struct {
	numberType
	dtype      string
	rows, cols int
	data       []byte
}

type tensorHeader struct {
	DType   string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// numberType is a type of numbers with its size in bytes.
type numberType struct {
	width int
	float func([]byte) float64
}

var le = binary.LittleEndian

var numberTypes = map[string]numberType{
	"F64":  {8, func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }},
	"F32":  {4, func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }},
	"F16":  {2, func(b []byte) float64 { return float16(le.Uint16(b)) }},
	"BF16": {2, func(b []byte) float64 { return float64(math.Float32frombits(uint32(le.Uint16(b)) << 16)) }},
	"I8":   {1, func(b []byte) float64 { return float64(int8(b[0])) }},
	"U8":   {1, func(b []byte) float64 { return float64(b[0]) }},
	"I32":  {4, func(b []byte) float64 { return float64(int32(le.Uint32(b))) }},
	"U32":  {4, func(b []byte) float64 { return float64(le.Uint32(b)) }},
	"I64":  {8, func(b []byte) float64 { return float64(int64(le.Uint64(b))) }},
	"U64":  {8, func(b []byte) float64 { return float64(le.Uint64(b)) }},
}

// readTensors returns the tensors of a safetensors file by name. It allocates
// nothing in the size that the file claims.
func readTensors(file []byte) (map[string]*tensor, error) {
	if len(file) < 8 {
		return nil, errors.New("the file is shorter than a header")
	}
	n := le.Uint64(file)
	if n > uint64(len(file)-8) {
		return nil, fmt.Errorf("the header of %d bytes reaches past the end", n)
	}
	header, body := file[8:8+n], file[8+n:]
	var entries map[string]tensorHeader
	if err := json.Unmarshal(header, &entries); err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	tensors := map[string]*tensor{}
	for name, h := range entries {
		if name == "__metadata__" {
			continue
		}
		t, err := newTensor(h, body)
		if err != nil {
			return nil, fmt.Errorf("the tensor %q %w", name, err)
		}
		tensors[name] = t
	}
	return tensors, nil
}

func newTensor(h tensorHeader, body []byte) (*tensor, error) {
	t := &tensor{dtype: h.DType, rows: 1, cols: 1}
	switch len(h.Shape) {
	case 1:
		t.rows = h.Shape[0]
	case 2:
		t.rows, t.cols = h.Shape[0], h.Shape[1]
	default:
		return nil, fmt.Errorf("has %d dimensions; 1 or 2 are supported", len(h.Shape))
	}
	var known bool
	if t.numberType, known = numberTypes[h.DType]; !known {
		return nil, fmt.Errorf("has numbers of type %q, which is not supported", h.DType)
	}
	if len(h.Offsets) != 2 || h.Offsets[0] < 0 || h.Offsets[0] > h.Offsets[1] || h.Offsets[1] > int64(len(body)) {
		return nil, errors.New("lies outside of the file: the file is incomplete")
	}
	t.data = body[h.Offsets[0]:h.Offsets[1]]
	// Check each side first, because their product could overflow.
	if t.rows < 0 || t.cols < 0 || t.rows > len(body) || t.cols > len(body) || t.rows*t.cols != len(t.data)/t.width || len(t.data)%t.width != 0 {
		return nil, fmt.Errorf("has %d bytes, which do not fit its shape %v", len(t.data), h.Shape)
	}
	return t, nil
}

// addRow adds weight times row i to sum. sum has t.cols numbers.
func (t *tensor) addRow(sum []float32, i int, weight float32) {
	if t.dtype == "F32" { // the type of nearly every model
		row := t.data[4*i*t.cols:][:4*len(sum)]
		for k := range sum {
			sum[k] += weight * math.Float32frombits(le.Uint32(row[4*k:]))
		}
		return
	}
	for k := range sum {
		sum[k] += weight * float32(t.at(i*t.cols+k))
	}
}

// at returns number i of the tensor in row-major order.
func (t *tensor) at(i int) float64 { return t.float(t.data[i*t.width:]) }

// float16 decodes an IEEE 754 binary16 number: a sign, 5 bits of exponent with bias 15,
// 10 bits of fraction. As binary32, whose bias is 127, the number is 2^112 too small.
func float16(bits uint16) float64 {
	magnitude := uint32(bits&0x7fff) << 13
	x := float64(math.Float32frombits(magnitude)) * 0x1p112
	if bits>>10&0x1f == 0x1f { // infinite or not a number
		x = float64(math.Float32frombits(magnitude | 0xff<<23))
	}
	if bits>>15 != 0 {
		return -x
	}
	return x
}
