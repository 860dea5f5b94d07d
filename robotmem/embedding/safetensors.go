package embedding

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nlpodyssey/safetensors"
	"github.com/x448/float16"
)

// tensor is a matrix, or a vector as a matrix with one column. It refers to the bytes of its file
// and decodes a row when it is needed, so that a model takes no more memory than its file.
type tensor struct {
	dtype      safetensors.DType
	float      func([]byte) float64 // decodes a number
	rows, cols int
	data       []byte
}

var le = binary.LittleEndian

var numberTypes = map[safetensors.DType]func([]byte) float64{
	safetensors.F64: func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) },
	safetensors.F32: func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) },
	safetensors.F16: func(b []byte) float64 { return float64(float16.Frombits(le.Uint16(b)).Float32()) },
	safetensors.I8:  func(b []byte) float64 { return float64(int8(b[0])) },
}

// newTensor returns the tensor of a file with a name, nil if the file has none.
// safetensors.Deserialize has checked that its bytes fit its shape.
func newTensor(file safetensors.SafeTensors, name string) (*tensor, error) {
	view, ok := file.Tensor(name)
	if !ok {
		return nil, nil
	}
	t := &tensor{dtype: view.DType(), float: numberTypes[view.DType()], cols: 1, data: view.Data()}
	shape := view.Shape()
	if len(shape) == 2 {
		t.cols = int(shape[1])
	}
	if len(shape) < 1 || len(shape) > 2 || t.float == nil {
		return nil, fmt.Errorf("the tensor %q has numbers of type %v in %d dimensions; "+
			"F64, F32, F16 and I8 in 1 or 2 are supported", name, t.dtype, len(shape))
	}

	t.rows = int(shape[0])

	return t, nil
}

// addRow adds weight times row i to sum. sum has t.cols numbers.
func (t *tensor) addRow(sum []float32, i int, weight float32) {
	// Nearly every model has this type, so it has a loop without a call for each number.
	if t.dtype == safetensors.F32 {
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
func (t *tensor) at(i int) float64 { return t.float(t.data[i*int(t.dtype.Size()):]) }
