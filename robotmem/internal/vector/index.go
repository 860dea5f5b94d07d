package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// MaxDims is the most dimensions that a vector can have.
	MaxDims = 4096
	// MaxID is the largest memory id of an index. The table of pages grows with
	// the largest id, to at most 4 MB.
	MaxID = math.MaxInt32

	chunkBits  = 12
	chunkSlots = 1 << chunkBits
	chunkMask  = chunkSlots - 1
	groupSize  = 64 // slots that are scanned together

	// unitSlack is how far the length of a unit vector may be from 1, for float32
	// rounding and the normalisation of a model.
	unitSlack = 1e-3
)

// Index holds a code of two bits a dimension for each vector of a set and finds the
// vectors that are nearest to a query. The vectors themselves stay in a [Source]. Its
// methods may be called from several goroutines.
type Index struct {
	dims     int
	words    int // 64-bit words in a plane, which is half of a code
	mean     []float32
	rotation rotation

	rescore atomic.Int64
	parts   atomic.Int64 // a search scans the nearest groups with 1/parts of the vectors, see arrange.go
	scratch sync.Pool    // *scratch
	large   int          // the least vectors that are worth groups: arrangeLeast, fewer in tests
	unsaved atomic.Bool  // the order is newer than the last Write

	arranging sync.Mutex // held by Arrange and Write. All other methods move a vector to a later slot only

	mu      sync.RWMutex // guards the fields below
	pages   []*page      // pages[i] has the slots of ids [i*4096, (i+1)*4096); nil until used
	count   int
	chunks  []*chunk // chunks[i] has slots [i*4096, (i+1)*4096)
	next    int      // the slots from here on have not been used
	fixed   int      // the slots below it keep their vectors. A new vector of a memory there gets a new slot
	centres codes    // of the groups that are arranged
}

// page has the slots of 4,096 neighbouring ids.
type page struct {
	present [chunkSlots / groupSize]uint64
	count   int
	slots   [chunkSlots]int32
}

// chunk holds the codes in 4,096 slots.
type chunk struct {
	codes
	present [chunkSlots / groupSize]uint64
	ids     [chunkSlots]int32 // 0 in a free slot
}

// codes are some codes one after another.
type codes struct {
	signs []uint64  // words each; bit j is the high bit of dimension j
	lows  []uint64  // words each; bit j is the low bit of dimension j
	terms []float32 // two each: scale and shift, see code.go
}

func makeCodes(n, words int) codes {
	return codes{make([]uint64, n*words), make([]uint64, n*words), make([]float32, 2*n)}
}

// set writes the code at a place.
func (c *codes) set(at int, signs, lows []uint64, scale, shift float32) {
	copy(c.signs[at*len(signs):], signs)
	copy(c.lows[at*len(signs):], lows)
	c.terms[2*at], c.terms[2*at+1] = scale, shift
}

// New returns an empty index for vectors of dims dimensions, 1 to [MaxDims]. Vectors are centred
// on mean, which [MeanBuilder] computes; nil is the origin. The mean may be that of a sample and
// need not follow the set: an old mean costs recall and never changes a similarity. Dims out of
// range and a mean of another length are programmer errors and panic.
func New(dims int, mean []float32) *Index {
	if dims < 1 || dims > MaxDims {
		panic(fmt.Sprintf("vector: %d dimensions, want 1 to %d", dims, MaxDims))
	}
	if mean == nil {
		mean = make([]float32, dims)
	}
	if len(mean) != dims {
		panic(fmt.Sprintf("vector: a mean of %d dimensions for vectors of %d", len(mean), dims))
	}

	x := &Index{
		dims:     dims,
		words:    (dims + 63) / 64,
		mean:     append([]float32(nil), mean...),
		rotation: newRotation(dims),
		large:    arrangeLeast,
	}
	x.rescore.Store(defaultRescore)
	x.parts.Store(1)
	x.scratch.New = func() any { return newScratch(x.dims, x.words) }

	return x
}

// Dims is the number of dimensions of the vectors.
func (x *Index) Dims() int { return x.dims }

// Put adds the vector of memory id, or replaces it. The vector has Dims()
// finite components and length 1 within 0.001; id is 1 to [MaxID].
func (x *Index) Put(id int64, unit []float32) error {
	if id < 1 || id > MaxID {
		return fmt.Errorf("vector: memory id %d, want 1 to %d", id, MaxID)
	}
	if err := x.checkUnit(unit); err != nil {
		return fmt.Errorf("vector: memory %d: %w", id, err)
	}

	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	scale, shift := x.encode(s, unit)

	x.mu.Lock()
	defer x.mu.Unlock()
	// A slot below fixed is part of a group, whose centre would no longer be right with another vector.
	slot, held := x.slot(id)
	if held && slot < x.fixed {
		x.free(slot)
		held = false
	}

	if !held {
		slot = x.next
		x.take(slot, id)
	}

	x.chunks[slot>>chunkBits].set(slot&chunkMask, s.signs, s.lows, scale, shift)

	return nil
}

// Remove removes the vector of memory id. It does nothing if there is none.
func (x *Index) Remove(id int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if slot, held := x.slot(id); held {
		x.free(slot)
	}
}

// Len is the number of vectors in the index.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.count
}

// slot returns the slot of a memory.
func (x *Index) slot(id int64) (slot int, held bool) {
	if id < 1 || id > MaxID || int(id>>chunkBits) >= len(x.pages) {
		return 0, false
	}
	p, at := x.pages[id>>chunkBits], id&chunkMask
	if p == nil || p.present[at/groupSize]>>(at%groupSize)&1 == 0 {
		return 0, false
	}

	return int(p.slots[at]), true
}

// code returns where the code in a slot is.
func (x *Index) code(slot int32) (c *codes, at int) {
	return &x.chunks[slot>>chunkBits].codes, int(slot & chunkMask)
}

// take gives a free slot to a memory that has none.
func (x *Index) take(slot int, id int64) {
	if i := int(id >> chunkBits); i >= len(x.pages) {
		x.pages = append(x.pages, make([]*page, i+1-len(x.pages))...)
	}
	p, at := x.pages[id>>chunkBits], id&chunkMask
	if p == nil {
		p = &page{}
		x.pages[id>>chunkBits] = p
	}
	p.present[at/groupSize] |= 1 << (at % groupSize)
	p.slots[at] = int32(slot)
	p.count++
	x.count++
	if x.next = max(x.next, slot+1); slot>>chunkBits == len(x.chunks) {
		x.chunks = append(x.chunks, &chunk{codes: makeCodes(chunkSlots, x.words)})
	}
	c, place := x.chunks[slot>>chunkBits], slot&chunkMask
	c.present[place/groupSize] |= 1 << (place % groupSize)
	c.ids[place] = int32(id)
}

// free takes the slot from its memory.
func (x *Index) free(slot int) {
	c, at := x.chunks[slot>>chunkBits], slot&chunkMask
	p, of := x.pages[c.ids[at]>>chunkBits], c.ids[at]&chunkMask
	p.present[of/groupSize] &^= 1 << (of % groupSize)
	p.count--
	x.count--
	c.present[at/groupSize] &^= 1 << (at % groupSize)
	c.ids[at] = 0
}

var errNotFinite = errors.New("a component that is not a finite number")

// checkUnit returns an error unless unit is a finite unit vector of x.dims dimensions.
func (x *Index) checkUnit(unit []float32) error {
	if len(unit) != x.dims {
		return fmt.Errorf("a vector of %d dimensions, want %d", len(unit), x.dims)
	}

	switch length := math.Sqrt(square(unit)); {
	case math.IsNaN(length) || math.IsInf(length, 0):
		return errNotFinite
	case math.Abs(length-1) > unitSlack:
		return fmt.Errorf("a vector of length %.4g, want 1", length)
	}

	return nil
}

// square is the inner product of a vector with itself.
func square(v []float32) (sum float64) {
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	return sum
}

// Unit returns a vector of the same direction and length 1, nil for one that has no direction
// or is not finite.
func Unit(v []float32) []float32 {
	length := math.Sqrt(square(v))
	if !(length > 0) || math.IsInf(length, 0) {
		return nil
	}

	out := make([]float32, len(v))
	for i, f := range v {
		out[i] = float32(float64(f) / length)
	}

	return out
}

// MeanBuilder computes the mean for [New]. The zero value is ready. A few thousand
// vectors of a set are enough.
type MeanBuilder struct {
	sum   []float64
	count int
}

// Add adds one vector. All must have the length of the first.
func (b *MeanBuilder) Add(vector []float32) error {
	if b.count == 0 {
		b.sum = make([]float64, len(vector))
	}
	if len(vector) != len(b.sum) {
		return fmt.Errorf("vector: a vector of %d dimensions in a mean of %d", len(vector), len(b.sum))
	}

	for i, f := range vector {
		b.sum[i] += float64(f)
	}
	b.count++

	return nil
}

// Mean returns the mean of the added vectors, or nil if there are none.
func (b *MeanBuilder) Mean() []float32 {
	if b.count == 0 {
		return nil
	}

	mean := make([]float32, len(b.sum))
	for i, f := range b.sum {
		mean[i] = float32(f / float64(b.count))
	}

	return mean
}

// A stored vector is a sequence of blocks of 64 dimensions; the last may be shorter. A
// block is a scale, little-endian float32, and an int8 for each dimension, of which the
// largest is 127 or -127. The scale is such that rounding does not change the length of the
// block. So a stored vector keeps its length, and encoding it again changes nothing. With one scale
// for all dimensions a few large components would make all others coarse.
const (
	blockDims = 64
	scaleSize = 4
	blockSize = scaleSize + blockDims
	maxLevel  = 127
)

// StoredSize is the length of a stored vector in bytes.
func StoredSize(dims int) int { return dims + (dims+blockDims-1)/blockDims*scaleSize }

// Encode returns a vector in the stored form. The components must be finite.
func Encode(vector []float32) []byte {
	raw := make([]byte, StoredSize(len(vector)))
	rest := raw

	for block := range slices.Chunk(vector, blockDims) {
		var largest, square, levels float64
		for _, f := range block {
			largest = max(largest, math.Abs(float64(f)))
			square += float64(f) * float64(f)
		}

		for i, f := range block {
			level := math.Round(float64(f) * maxLevel / max(largest, math.SmallestNonzeroFloat32))
			rest[scaleSize+i] = byte(int8(level))
			levels += level * level
		}
		binary.LittleEndian.PutUint32(rest, math.Float32bits(float32(math.Sqrt(square/max(levels, 1)))))
		rest = rest[scaleSize+len(block):]
	}

	return raw
}

// Decode returns the vector that [Encode] made raw of, up to the rounding.
func Decode(raw []byte) []float32 {
	vector := make([]float32, max(0, len(raw)-(len(raw)+blockSize-1)/blockSize*scaleSize))
	DecodeInto(vector, raw)
	return vector
}

// DecodeInto is [Decode] into a vector of the caller of the right length.
func DecodeInto(vector []float32, raw []byte) {
	for ; len(vector) > 0; raw = raw[min(blockSize, len(raw)):] {
		block, scale := vector[:min(blockDims, len(vector))], component(raw)
		for i := range block {
			block[i] = scale * float32(int8(raw[scaleSize+i]))
		}
		vector = vector[len(block):]
	}
}

func component(raw []byte) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(raw))
}

// dot is the inner product of a query and a stored vector. The product of a float32 and an
// int8 is exact in float64. The conversion to float64 keeps the compiler from fusing the
// multiplication by the scale with the addition. So the fixed order of the sums gives the same
// result on every machine.
func dot(question []float64, raw []byte) (sum float64) {
	for len(question) > 0 {
		var s0, s1, s2, s3 float64
		n := min(blockDims, len(question))
		q, levels, scale := question[:n], raw[scaleSize:scaleSize+n], float64(component(raw))
		question, raw = question[n:], raw[scaleSize+n:]

		for len(q) >= 4 && len(levels) >= 4 {
			s0 += q[0] * float64(int8(levels[0]))
			s1 += q[1] * float64(int8(levels[1]))
			s2 += q[2] * float64(int8(levels[2]))
			s3 += q[3] * float64(int8(levels[3]))
			q, levels = q[4:], levels[4:]
		}

		for i, f := range q {
			s0 += f * float64(int8(levels[i]))
		}
		sum += float64(((s0 + s1) + (s2 + s3)) * scale)
	}

	return sum
}
