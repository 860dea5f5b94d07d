package embedding

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// A safetensors file is the length of its header (8 bytes, little-endian), the
// header in JSON, and the numbers: for each tensor its type, its shape and
// where it begins and ends behind the header.
// https://huggingface.co/docs/safetensors/index#format

// tensor is a matrix or a vector (one column) over the bytes of its file; rows
// are read when they are needed, so that a model costs no more memory than its
// file.
type tensor struct {
	dtype      string
	rows, cols int
	data       []byte
}

// widths are the bytes of a number by type, of those that are read.
var widths = map[string]int{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I8": 1, "U8": 1, "I32": 4, "U32": 4, "I64": 8, "U64": 8}

// readTensors returns the tensors of a safetensors file by name.
func readTensors(file []byte) (map[string]*tensor, error) {
	if len(file) < 8 {
		return nil, errors.New("it is shorter than a header")
	}
	n := binary.LittleEndian.Uint64(file)
	if n > uint64(len(file)-8) {
		return nil, fmt.Errorf("its header of %d bytes reaches past the end", n)
	}
	header, body := file[8:8+n], file[8+n:]
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(header, &entries); err != nil {
		return nil, fmt.Errorf("its header: %w", err)
	}
	tensors := map[string]*tensor{}
	for name, raw := range entries {
		if name == "__metadata__" {
			continue
		}
		t, err := readTensor(raw, body)
		if err != nil {
			return nil, fmt.Errorf("its tensor %q: %w", name, err)
		}
		tensors[name] = t
	}
	return tensors, nil
}

func readTensor(raw json.RawMessage, body []byte) (*tensor, error) {
	var entry struct {
		DType   string  `json:"dtype"`
		Shape   []int   `json:"shape"`
		Offsets []int64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(raw, &entry); err != nil {
		return nil, err
	}
	t := &tensor{dtype: entry.DType, rows: 1, cols: 1}
	switch len(entry.Shape) {
	case 1:
		t.rows = entry.Shape[0]
	case 2:
		t.rows, t.cols = entry.Shape[0], entry.Shape[1]
	default:
		return nil, fmt.Errorf("has %d dimensions, 1 or 2 are read", len(entry.Shape))
	}
	width, known := widths[entry.DType]
	if !known {
		return nil, fmt.Errorf("numbers of type %q are not read", entry.DType)
	}
	if len(entry.Offsets) != 2 || entry.Offsets[0] < 0 || entry.Offsets[0] > entry.Offsets[1] || entry.Offsets[1] > int64(len(body)) {
		return nil, errors.New("lies outside of the file: it was not copied whole")
	}
	t.data = body[entry.Offsets[0]:entry.Offsets[1]]
	// Each side is bounded first: their product could overflow.
	if t.rows < 0 || t.cols < 0 || t.rows > len(body) || t.cols > len(body) || t.rows*t.cols != len(t.data)/width || len(t.data)%width != 0 {
		return nil, fmt.Errorf("has %d bytes, which do not fit its shape %v", len(t.data), entry.Shape)
	}
	return t, nil
}

// addRow adds weight times row i to sum, which has t.cols numbers.
func (t *tensor) addRow(sum []float32, i int, weight float32) {
	row := t.data[i*t.cols*widths[t.dtype]:]
	if t.dtype == "F32" { // nearly every model
		row = row[:4*len(sum)]
		for k := range sum {
			sum[k] += weight * math.Float32frombits(binary.LittleEndian.Uint32(row[4*k:]))
		}
		return
	}
	for k := range sum {
		sum[k] += weight * float32(t.float(i*t.cols+k))
	}
}

// float returns number i of the tensor, counted row by row.
func (t *tensor) float(i int) float64 {
	at := t.data[i*widths[t.dtype]:]
	switch t.dtype {
	case "F64":
		return math.Float64frombits(binary.LittleEndian.Uint64(at))
	case "F32":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(at)))
	case "F16":
		return float16(binary.LittleEndian.Uint16(at))
	case "BF16":
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(at)) << 16))
	case "I8":
		return float64(int8(at[0]))
	case "U8":
		return float64(at[0])
	case "I32":
		return float64(int32(binary.LittleEndian.Uint32(at)))
	case "U32":
		return float64(binary.LittleEndian.Uint32(at))
	case "I64":
		return float64(int64(binary.LittleEndian.Uint64(at)))
	}
	return float64(binary.LittleEndian.Uint64(at))
}

// float16 is the number of an IEEE 754 binary16: a sign, 5 bits of exponent
// with bias 15, 10 bits of fraction.
func float16(bits uint16) float64 {
	exponent, fraction := int(bits>>10&0x1f), float64(bits&0x3ff)
	x := math.Ldexp(fraction, -24) // subnormal
	switch exponent {
	case 0:
	case 0x1f:
		x = math.Inf(1)
		if fraction != 0 {
			x = math.NaN()
		}
	default:
		x = math.Ldexp(1024+fraction, exponent-25)
	}
	if bits>>15 != 0 {
		return -x
	}
	return x
}
