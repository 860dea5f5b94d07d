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
	dtype      string
	rows, cols int
	data       []byte
}

// tensorHeader is the entry of a tensor in the header.
type tensorHeader struct {
	DType   string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// widths are the supported types of numbers with their size in bytes.
var widths = map[string]int{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I8": 1, "U8": 1, "I32": 4, "U32": 4, "I64": 8, "U64": 8}

// readTensors returns the tensors of a safetensors file by name. It allocates
// nothing in the size that the file claims.
func readTensors(file []byte) (map[string]*tensor, error) {
	if len(file) < 8 {
		return nil, errors.New("the file is shorter than a header")
	}
	n := binary.LittleEndian.Uint64(file)
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
	width, known := widths[h.DType]
	if !known {
		return nil, fmt.Errorf("has numbers of type %q, which is not supported", h.DType)
	}
	if len(h.Offsets) != 2 || h.Offsets[0] < 0 || h.Offsets[0] > h.Offsets[1] || h.Offsets[1] > int64(len(body)) {
		return nil, errors.New("lies outside of the file: the file is incomplete")
	}
	t.data = body[h.Offsets[0]:h.Offsets[1]]
	// Check each side first, because their product could overflow.
	if t.rows < 0 || t.cols < 0 || t.rows > len(body) || t.cols > len(body) || t.rows*t.cols != len(t.data)/width || len(t.data)%width != 0 {
		return nil, fmt.Errorf("has %d bytes, which do not fit its shape %v", len(t.data), h.Shape)
	}
	return t, nil
}

// addRow adds weight times row i to sum. sum has t.cols numbers.
func (t *tensor) addRow(sum []float32, i int, weight float32) {
	row := t.data[i*t.cols*widths[t.dtype]:]
	if t.dtype == "F32" { // the type of nearly every model
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

// float returns number i of the tensor in row-major order.
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

// float16 decodes an IEEE 754 binary16 number: a sign, 5 bits of exponent with
// bias 15, 10 bits of fraction.
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
