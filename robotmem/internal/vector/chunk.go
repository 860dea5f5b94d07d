package vector

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"github.com/robotmem/robotmem-go/robotmem/internal/stream"
)

// A snapshot makes it unnecessary to read every vector at a start. It has the dimensions, the
// mean as float32, the rescore, the number of chunks, and a section for each, empty for one that
// was never used. All numbers of a chunk are little-endian:
//
//	512 bytes, a bit for each of the 4,096 ids
//	by id, for each vector ceil(dims/64) uint64: the signs
//	for each vector ceil(dims/64) uint64: the low bits
//	for each vector float32 scale, float32 shift

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

func (x *Index) marshalChunk(i int) []byte {
	x.mu.RLock()
	defer x.mu.RUnlock()
	c, le := x.chunks[i], binary.LittleEndian
	if c == nil {
		return nil
	}
	b, _ := binary.Append(make([]byte, 0, x.chunkSize(c.count)), le, c.present[:])
	for _, plane := range [][]uint64{c.signs, c.lows} {
		c.each(func(slot int) {
			for _, word := range plane[slot*x.words : (slot+1)*x.words] {
				b = le.AppendUint64(b, word)
			}
		})
	}
	c.each(func(slot int) {
		b = le.AppendUint32(b, math.Float32bits(c.terms[slot].scale))
		b = le.AppendUint32(b, math.Float32bits(c.terms[slot].shift))
	})
	return b
}

// chunkSize is the length of a chunk of n vectors.
func (x *Index) chunkSize(n int) int { return chunkSlots/8 + n*8*(2*x.words+1) }

// each calls f for every slot that holds a vector, ascending.
func (c *chunk) each(f func(slot int)) {
	for w, word := range c.present {
		for ; word != 0; word &= word - 1 {
			f(w*64 + bits.TrailingZeros64(word))
		}
	}
}

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
	if len(data) < chunkSlots/8 {
		return false
	}
	c := x.chunkFor(int64(i) << chunkBits)
	_, _ = binary.Decode(data, binary.LittleEndian, c.present[:])
	for _, word := range c.present {
		c.count += bits.OnesCount64(word)
	}
	x.count += c.count
	if len(data) != x.chunkSize(c.count) || i == 0 && c.present[0]&1 != 0 {
		return false
	}
	data, sound = data[chunkSlots/8:], true
	unused := ^uint64(0) << ((x.dims-1)%64 + 1)
	for _, plane := range [][]uint64{c.signs, c.lows} {
		c.each(func(slot int) {
			code := plane[slot*x.words : (slot+1)*x.words]
			for w := range code {
				code[w], data = binary.LittleEndian.Uint64(data), data[8:]
			}
			sound = sound && code[x.words-1]&unused == 0
		})
	}
	c.each(func(slot int) {
		t := codeTerms{component(data), component(data[4:])}
		c.terms[slot], data = t, data[8:]
		sound = sound && t.scale >= 0 && t.scale <= math.MaxFloat32 && math.Abs(float64(t.shift)) <= math.MaxFloat32
	})
	return sound
}
