package vector

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem/internal/stream"
)

// A snapshot makes it unnecessary to read every vector at a start. It has the dimensions, the
// mean as float32, the rescore, the parts, a section of the codes of the centres, and the number of
// chunks and a section for each: the ids of its slots and the codes. All is little-endian.

// Write writes the codes to a snapshot. They may change meanwhile: each chunk is as it is when
// it is written.
func (x *Index) Write(out *stream.Writer) {
	x.arranging.Lock()
	defer x.arranging.Unlock()
	x.unsaved.Store(false)
	out.Count(x.dims)
	mean, _ := binary.Append(nil, binary.LittleEndian, x.mean) // fails only for other types
	out.Bytes(mean)
	out.Count(x.Rescore())
	out.Count(int(x.parts.Load()))
	x.mu.RLock()
	n := len(x.chunks)
	x.mu.RUnlock()
	out.Section(x.centres.append(nil))
	out.Count(n)

	for i := range n {
		out.Section(x.marshalChunk(i))
	}
}

func (x *Index) marshalChunk(i int) []byte {
	x.mu.RLock()
	defer x.mu.RUnlock()
	c := x.chunks[i]
	ids, _ := binary.Append(nil, binary.LittleEndian, c.ids[:])
	return c.append(ids)
}

func (c *codes) append(data []byte) []byte {
	for _, part := range []any{c.signs, c.lows, c.terms} {
		data, _ = binary.Append(data, binary.LittleEndian, part)
	}
	return data
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
	x.parts.Store(int64(max(1, min(in.Count(), mostParts))))
	data := in.Section()
	groups := len(data) / (16*x.words + 8)
	if x.centres = makeCodes(groups, x.words); !x.readCodes(x.centres, data) {
		return nil, errors.Join(errUnsound, in.Err)
	}

	x.fixed = groups * groupSize
	n := in.Count()
	if n > MaxID>>chunkBits+1 || n*chunkSlots < x.fixed {
		return nil, errors.Join(errUnsound, in.Err)
	}

	for i := 0; i < n && in.Err == nil; i++ {
		if data := in.Section(); in.Err == nil && !x.readChunk(data) {
			return nil, errUnsound
		}
	}

	x.next = max(x.next, x.fixed)
	// Chunks at the end are empty if their vectors were removed.
	x.dropUnused()

	return x, in.Err
}

// readChunk adds a chunk. It reports false for bytes that marshalChunk does not make.
func (x *Index) readChunk(data []byte) (sound bool) {
	base := len(x.chunks) * chunkSlots
	ids := make([]int32, chunkSlots)
	n, err := binary.Decode(data, binary.LittleEndian, ids)
	c := &chunk{codes: makeCodes(chunkSlots, x.words)}
	if err != nil || slices.Min(ids) < 0 || !x.readCodes(c.codes, data[n:]) {
		return false
	}

	x.chunks = append(x.chunks, c)

	for i, id := range ids {
		if id == 0 {
			continue
		}
		// A vector that was replaced while the snapshot was written is in two chunks. The later one is newer.
		if slot, held := x.slot(int64(id)); held {
			x.free(slot)
		}
		x.take(base+i, int64(id))
	}

	return true
}

// readCodes fills codes. It reports false for those that no vector has.
func (x *Index) readCodes(c codes, data []byte) (sound bool) {
	for _, part := range []any{c.signs, c.lows, c.terms} {
		n, err := binary.Decode(data, binary.LittleEndian, part)
		if err != nil {
			return false
		}
		data = data[n:]
	}
	sound = len(data) == 0

	unused := ^uint64(0) << ((x.dims-1)%64 + 1)
	for at := range len(c.terms) / 2 {
		last := (at+1)*x.words - 1
		scale, shift := c.terms[2*at], c.terms[2*at+1]
		finite := scale >= 0 && scale <= math.MaxFloat32 && math.Abs(float64(shift)) <= math.MaxFloat32
		sound = sound && finite && (c.signs[last]|c.lows[last])&unused == 0
	}

	return sound
}
