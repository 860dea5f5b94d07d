package vector

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/robotmem/robotmem-go/robotmem/internal/stream"
)

// A snapshot makes it unnecessary to read every vector at a start. It has the dimensions, the
// mean as float32, the rescore, the number of chunks, and a section for each: the parts of the
// chunk as in memory, all little-endian, or nothing for one that was never used.

// Write writes the codes to a snapshot. They may change meanwhile: each chunk is as it is when
// it is written.
func (x *Index) Write(out *stream.Writer) {
	out.Count(x.dims)
	mean, _ := binary.Append(nil, binary.LittleEndian, x.mean) // fails only for other types
	out.Bytes(mean)
	out.Count(x.Rescore())
	x.mu.RLock()
	n := len(x.chunks)
	x.mu.RUnlock()
	out.Count(n)
	for i := range n {
		out.Section(x.marshalChunk(i))
	}
}

func (x *Index) marshalChunk(i int) (data []byte) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if c := x.chunks[i]; c != nil {
		for _, part := range c.parts() {
			data, _ = binary.Append(data, binary.LittleEndian, part) // fails only for other types
		}
	}
	return data
}

// parts are what a snapshot has of a chunk.
func (c *chunk) parts() []any { return []any{c.present[:], c.signs, c.lows, c.terms} }

var errUnsound = errors.New("vector: codes that no vector has")

// Read returns the index that [Index.Write] wrote. The caller closes the snapshot, which verifies
// its checksum.
func Read(in *stream.Reader) (*Index, error) {
	dims := in.Count()
	if dims < 1 || dims > MaxDims {
		return nil, errors.Join(errUnsound, in.Err)
	}
	mean := make([]float32, dims)
	_, _ = binary.Decode(in.Bytes(4*dims), binary.LittleEndian, mean)
	x := New(dims, mean)
	x.SetRescore(in.Count())
	n := in.Count()
	if n > MaxID>>chunkBits+1 {
		return nil, errUnsound
	}
	for i := 0; i < n && in.Err == nil; i++ {
		if data := in.Section(); len(data) > 0 && !x.readChunk(i, data) {
			return nil, errUnsound
		}
	}
	return x, in.Err
}

// readChunk fills a chunk. It reports false for bytes that marshalChunk does not make.
func (x *Index) readChunk(i int, data []byte) (sound bool) {
	c := x.chunkFor(int64(i) << chunkBits)
	for _, part := range c.parts() {
		n, err := binary.Decode(data, binary.LittleEndian, part)
		if err != nil {
			return false
		}
		data = data[n:]
	}
	sound = len(data) == 0 && (i > 0 || c.present[0]&1 == 0)
	unused := ^uint64(0) << ((x.dims-1)%64 + 1)
	for slot := range chunkSlots {
		if c.present[slot/64]>>(slot%64)&1 == 0 {
			continue
		}
		c.count++
		last := (slot+1)*x.words - 1
		scale, shift := c.terms[2*slot], c.terms[2*slot+1]
		sound = sound && (c.signs[last]|c.lows[last])&unused == 0 && scale >= 0 && scale <= math.MaxFloat32 && math.Abs(float64(shift)) <= math.MaxFloat32
	}
	x.count += c.count
	return sound
}
