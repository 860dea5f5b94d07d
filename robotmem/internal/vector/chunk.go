package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
)

// A saved chunk makes it unnecessary to read every vector at a start. All numbers are
// little-endian:
//
//	0    "rmvc"
//	4    uint32 version, which also identifies the rotation
//	8    uint32 CRC-32C of dims and mean: codes around another mean are useless
//	12   uint32 number of the chunk
//	16   uint32 n, the number of vectors
//	20   512 bytes, a bit for each of the 4,096 ids, n of them set
//	532  n times ceil(dims/64) uint64, by id: the signs
//	     n times ceil(dims/64) uint64: the low bits
//	     n times float32 scale, float32 shift
//	end  uint32 CRC-32C of all before

const (
	chunkMagic   = "rmvc"
	chunkVersion = 2
	chunkHeader  = 20 + chunkSlots/8
	chunkTrailer = 4
)

func castagnoli(b []byte) uint32 {
	return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
}

func fingerprint(dims int, mean []float32) uint32 {
	b, _ := binary.Append(binary.LittleEndian.AppendUint32(nil, uint32(dims)), binary.LittleEndian, mean) // fails only for other types
	return castagnoli(b)
}

func (x *Index) chunkSize(n int) int {
	return chunkHeader + n*8*(2*x.words+1) + chunkTrailer
}

// Chunks is one more than the number of the last chunk in use. Chunk i holds the
// ids from i*4096 to i*4096+4095.
func (x *Index) Chunks() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.chunks)
}

// MarshalChunk returns chunk i for storage, or nil if it was never used.
func (x *Index) MarshalChunk(i int) []byte {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if i < 0 || i >= len(x.chunks) || x.chunks[i] == nil {
		return nil
	}
	c, le := x.chunks[i], binary.LittleEndian
	b := append(make([]byte, 0, x.chunkSize(c.count)), chunkMagic...)
	for _, u := range []uint32{chunkVersion, x.fingerprint, uint32(i), uint32(c.count)} {
		b = le.AppendUint32(b, u)
	}
	for _, word := range c.present {
		b = le.AppendUint64(b, word)
	}
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
	return le.AppendUint32(b, castagnoli(b))
}

// each calls f for every slot that holds a vector, ascending.
func (c *chunk) each(f func(slot int)) {
	for w, word := range c.present {
		for ; word != 0; word &= word - 1 {
			f(w*64 + bits.TrailingZeros64(word))
		}
	}
}

// UnmarshalChunk replaces chunk i by the result of [Index.MarshalChunk] of an index of
// the same dims and mean. Data that is damaged, of another version, of another chunk
// or of another mean is an error and changes nothing; the caller then builds the chunk
// from the vectors.
func (x *Index) UnmarshalChunk(i int, data []byte) error {
	if i < 0 || i > MaxID>>chunkBits {
		return fmt.Errorf("vector: chunk %d, want 0 to %d", i, MaxID>>chunkBits)
	}
	c, err := x.parseChunk(i, data)
	if err != nil {
		return fmt.Errorf("vector: chunk %d: %w", i, err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.chunkFor(int64(i) << chunkBits)
	x.count += c.count - x.chunks[i].count
	x.chunks[i] = c
	return nil
}

func (x *Index) parseChunk(i int, data []byte) (*chunk, error) {
	le := binary.LittleEndian
	if len(data) < chunkHeader+chunkTrailer || string(data[:4]) != chunkMagic {
		return nil, errors.New("not a chunk of vector codes")
	}
	end := len(data) - chunkTrailer
	n := int(le.Uint32(data[16:]))
	switch {
	case le.Uint32(data[4:]) != chunkVersion:
		return nil, fmt.Errorf("version %d, want %d", le.Uint32(data[4:]), chunkVersion)
	case castagnoli(data[:end]) != le.Uint32(data[end:]):
		return nil, errors.New("checksum does not match")
	case le.Uint32(data[8:]) != x.fingerprint:
		return nil, errors.New("other dimensions or another mean")
	case le.Uint32(data[12:]) != uint32(i):
		return nil, fmt.Errorf("is chunk %d", le.Uint32(data[12:]))
	case n > chunkSlots || len(data) != x.chunkSize(n):
		return nil, fmt.Errorf("%d bytes for %d vectors", len(data), n)
	}
	c := newChunk(x.words)
	for w := range c.present {
		c.present[w] = le.Uint64(data[20+8*w:])
		c.count += bits.OnesCount64(c.present[w])
	}
	if c.count != n || i == 0 && c.present[0]&1 != 0 {
		return nil, fmt.Errorf("%d ids for %d vectors", c.count, n)
	}
	return c, x.parseCodes(c, data[chunkHeader:end])
}

// parseCodes fills the codes and terms of the slots that are present in c.
func (x *Index) parseCodes(c *chunk, data []byte) error {
	unused := ^uint64(0) << ((x.dims-1)%64 + 1)
	sound := true
	for _, plane := range [][]uint64{c.signs, c.lows} {
		c.each(func(slot int) {
			code := plane[slot*x.words : (slot+1)*x.words]
			for w := range code {
				code[w] = binary.LittleEndian.Uint64(data)
				data = data[8:]
			}
			sound = sound && code[x.words-1]&unused == 0
		})
	}
	c.each(func(slot int) {
		t := codeTerms{component(data), component(data[4:])}
		c.terms[slot], data = t, data[8:]
		sound = sound && finite(t.scale) && t.scale >= 0 && finite(t.shift)
	})
	if !sound {
		return errors.New("codes that no vector has")
	}
	return nil
}

func finite(f float32) bool {
	return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0)
}
