package vector

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/bits-and-blooms/bitset"
)

const (
	// MaxDims is the most dimensions that a vector can have.
	MaxDims = 4096
	// MaxID is the largest memory id that an index takes. Chunks are found by
	// id, so the table of chunks grows with the largest one: 4 MB at most.
	MaxID = math.MaxInt32

	chunkBits  = 12
	chunkSlots = 1 << chunkBits
	chunkMask  = chunkSlots - 1

	// unitSlack is how far the length of a unit vector may be from 1: what
	// float32 rounding and a model's own normalisation leave, no more.
	unitSlack = 1e-3
)

// Index holds a code of two bits a dimension for each vector of a set and finds
// the vectors that are nearest to a question. The vectors themselves stay where a
// [Source] reads them. Its methods may be called from several goroutines.
type Index struct {
	dims  int
	words int // 64-bit words in a plane, which is half of a code
	mean  []float32
	turn  rotation
	print uint32 // fingerprint of dims and mean, carried by saved chunks

	rescore atomic.Int64
	scratch sync.Pool // *scratch

	mu     sync.RWMutex // guards what follows
	chunks []*chunk     // chunks[i] holds ids [i*4096, (i+1)*4096), nil when never used
	count  int
}

// chunk holds the codes of 4,096 neighbouring ids, addressed by id.
type chunk struct {
	present [chunkSlots / 64]uint64
	count   int
	signs   []uint64    // words a slot; bit j is the high bit of dimension j
	lows    []uint64    // words a slot; bit j is the low bit of dimension j
	terms   []codeTerms // one a slot
}

// codeTerms turns the inner product of a question with a code into an estimate
// of the cosine; see estimate.go.
type codeTerms struct{ scale, shift float32 }

// New returns an empty index for vectors of dims dimensions, 1 to [MaxDims].
// Codes are taken around mean, which [MeanBuilder] computes; nil stands for the
// origin. The mean may be that of a sample, and it need not follow the set: a
// stale one costs recall and never the correctness of a similarity. Dims out of
// range, or a mean of another length, are programmer errors and panic.
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
	x := &Index{dims: dims, words: (dims + 63) / 64, mean: append([]float32(nil), mean...), turn: newRotation(dims)}
	x.print = fingerprint(dims, x.mean)
	x.rescore.Store(defaultRescore)
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
	if err := x.check(unit); err != nil {
		return fmt.Errorf("vector: memory %d: %w", id, err)
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	terms := x.encode(s, unit)

	x.mu.Lock()
	defer x.mu.Unlock()
	c := x.chunkFor(id)
	slot := int(id & chunkMask)
	copy(c.signs[slot*x.words:], s.signs)
	copy(c.lows[slot*x.words:], s.lows)
	c.terms[slot] = terms
	if word, bit := &c.present[slot/64], uint64(1)<<(slot%64); *word&bit == 0 {
		*word |= bit
		c.count++
		x.count++
	}
	return nil
}

// Remove forgets the vector of memory id; one that is not there is no error.
func (x *Index) Remove(id int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.contains(id) {
		return
	}
	c, slot := x.chunks[id>>chunkBits], int(id&chunkMask)
	c.present[slot/64] &^= uint64(1) << (slot % 64)
	c.count--
	x.count--
}

// Len is the number of vectors in the index.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.count
}

// Contains says whether memory id has a vector here.
func (x *Index) Contains(id int64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.contains(id)
}

func (x *Index) contains(id int64) bool {
	if id < 1 || id > MaxID || int(id>>chunkBits) >= len(x.chunks) {
		return false
	}
	c := x.chunks[id>>chunkBits]
	return c != nil && c.present[id&chunkMask/64]>>(id%64)&1 == 1
}

// IDs is the set of memories that have a vector here, a copy.
func (x *Index) IDs() *bitset.BitSet {
	x.mu.RLock()
	defer x.mu.RUnlock()
	words := make([]uint64, len(x.chunks)*len(chunk{}.present))
	for i, c := range x.chunks {
		if c != nil {
			copy(words[i*len(c.present):], c.present[:])
		}
	}
	return bitset.From(words)
}

// Memory is what the codes occupy in bytes: 8 more than the code for each id of
// a chunk that is in use, whether the id has a vector or not.
func (x *Index) Memory() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	n := len(x.chunks) * bits.UintSize / 8
	for _, c := range x.chunks {
		if c != nil {
			n += 8*len(c.signs) + 8*len(c.lows) + 8*len(c.terms) + 8*len(c.present)
		}
	}
	return n
}

// chunkFor returns the chunk of id, allocated if it is new.
func (x *Index) chunkFor(id int64) *chunk {
	i := int(id >> chunkBits)
	if i >= len(x.chunks) {
		x.chunks = append(x.chunks, make([]*chunk, i+1-len(x.chunks))...)
	}
	if x.chunks[i] == nil {
		x.chunks[i] = newChunk(x.words)
	}
	return x.chunks[i]
}

func newChunk(words int) *chunk {
	return &chunk{
		signs: make([]uint64, chunkSlots*words),
		lows:  make([]uint64, chunkSlots*words),
		terms: make([]codeTerms, chunkSlots),
	}
}

var errNotFinite = errors.New("a component that is not a finite number")

// check says what is wrong with a unit vector.
func (x *Index) check(unit []float32) error {
	if len(unit) != x.dims {
		return fmt.Errorf("a vector of %d dimensions, want %d", len(unit), x.dims)
	}
	var sum float64
	for _, v := range unit {
		sum += float64(v) * float64(v)
	}
	switch length := math.Sqrt(sum); {
	case math.IsNaN(length) || math.IsInf(length, 0):
		return errNotFinite
	case math.Abs(length-1) > unitSlack:
		return fmt.Errorf("a vector of length %.4g, want 1", length)
	}
	return nil
}
