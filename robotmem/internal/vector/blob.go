package vector

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Encode returns a vector as it is stored: little-endian float32, 4 bytes a
// dimension.
func Encode(vector []float32) []byte {
	raw := make([]byte, 0, 4*len(vector))
	for _, f := range vector {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
	}
	return raw
}

// Decode returns the vector that [Encode] made raw of. It fails when the length
// is not a multiple of 4.
func Decode(raw []byte) ([]float32, error) {
	if len(raw)%4 != 0 {
		return nil, fmt.Errorf("vector: %d bytes are no vector of float32", len(raw))
	}
	vector := make([]float32, len(raw)/4)
	for i := range vector {
		vector[i] = component(raw[4*i:])
	}
	return vector, nil
}

func component(raw []byte) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(raw))
}

// dot is the inner product of a question and a stored vector. The product of two
// float32 is exact in float64, so fused instructions change nothing, and the
// fixed order of the four sums makes the result the same on every machine.
func dot(question []float64, raw []byte) float64 {
	var s0, s1, s2, s3 float64
	for len(question) >= 4 && len(raw) >= 16 {
		s0 += question[0] * float64(component(raw))
		s1 += question[1] * float64(component(raw[4:]))
		s2 += question[2] * float64(component(raw[8:]))
		s3 += question[3] * float64(component(raw[12:]))
		question, raw = question[4:], raw[16:]
	}
	for i, f := range question {
		s0 += f * float64(component(raw[4*i:]))
	}
	return (s0 + s1) + (s2 + s3)
}

// widen copies a vector to float64.
func widen(into []float64, vector []float32) {
	for i, f := range vector {
		into[i] = float64(f)
	}
}
