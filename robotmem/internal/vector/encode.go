package vector

import (
	"math"
	"math/bits"
)

// A code is two bits for each dimension of the centred and rotated vector: the
// number 0 to 3 of the interval that the component lies in. The high bits are
// the signs, and the scan reads nothing else. The intervals end at -t, 0 and t,
// and stand for -3, -1, 1 and 3 halves of t: the best quantizer of four equal
// steps for a Gaussian (Max, "Quantizing for Minimum Distortion", 1960, table
// II). Steps that differ would lose 1 % less and cost half as many population
// counts again.
//
// Every dimension has the same step, so a code says most when all dimensions
// have about the same size. Embeddings are not like that: a few
// directions carry most of the variance. A random rotation spreads them over all
// dimensions (Gao and Long, "RaBitQ", SIGMOD 2024, section 3.1). A full random
// matrix would cost dims*dims; here rounds of sign flips and fast Hadamard
// transforms do the same for dims*log(dims), and since only their additions and
// one multiplication are rounded, codes are equal on every machine.

// rotation is a fixed orthogonal map of dims dimensions. The Hadamard transform
// wants a power of two, so each step runs it over a block that is no more than
// dims and starts a part of the way further on, around the end. Every dimension
// is in at least two of the blocks, and signs are flipped before each, or two
// transforms of nearly the same block would undo each other.
type rotation struct {
	scale float32     // 1/sqrt of the block's length
	flips [][]float32 // for each step, +1 or -1 for each of a block
}

// rotationStarts is where the block of each step starts, in quarters of dims.
var rotationStarts = [...]int{0, 2, 1, 3}

func newRotation(dims int) rotation {
	block := 1 << (bits.Len(uint(dims)) - 1)
	r := rotation{scale: float32(1 / math.Sqrt(float64(block)))}
	// splitmix64 (Steele, Lea, Flood 2014), because saved codes have to mean
	// the same in every later build.
	state := uint64(0)
	for range rotationStarts {
		flips := make([]float32, block)
		for i := range flips {
			state += 0x9e3779b97f4a7c15
			z := state
			z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			flips[i] = 1 - 2*float32((z^z>>31)>>63)
		}
		r.flips = append(r.flips, flips)
	}
	return r
}

// apply rotates v in place, with a buffer at least as long.
func (r *rotation) apply(v, buffer []float32) {
	for step, flips := range r.flips {
		start := rotationStarts[step] * len(v) / 4
		block := buffer[:len(flips)]
		n := copy(block, v[start:])
		copy(block[n:], v)
		for i, f := range flips {
			block[i] *= f
		}
		r.hadamard(block)
		copy(v[start:], block[:n])
		copy(v, block[n:])
	}
}

func (r *rotation) hadamard(v []float32) {
	for half := 1; half < len(v); half *= 2 {
		for i := 0; i < len(v); i += 2 * half {
			a, b := v[i:i+half], v[i+half:i+2*half]
			for j, p := range a {
				q := b[j]
				a[j], b[j] = p+q, p-q
			}
		}
	}
	for i := range v {
		v[i] *= r.scale
	}
}

// centre writes the rotated difference of unit and mean to s.centred, and returns
// the inner product of the two.
func (x *Index) centre(s *scratch, unit []float32) (alongMean float64) {
	for i, m := range x.mean {
		s.centred[i] = unit[i] - m
		alongMean += float64(unit[i]) * float64(m)
	}
	x.turn.apply(s.centred, s.block)
	return alongMean
}

// signs packs the signs of v, one bit each, 1 for positive; the rest of the last
// word is zero.
func signs(into []uint64, v []float32) {
	clear(into)
	for i, f := range v {
		if f > 0 {
			into[i/64] |= 1 << (i % 64)
		}
	}
}

// gaussStep is the width of an interval in standard deviations (Max 1960, table II).
const gaussStep = 0.9957

// encode writes the code of a vector to s.signs and s.lows and returns its terms.
func (x *Index) encode(s *scratch, unit []float32) codeTerms {
	alongMean := x.centre(s, unit)
	signs(s.signs, s.centred)
	var square float64
	for _, f := range s.centred {
		square += float64(f) * float64(f)
	}
	threshold := float32(gaussStep * math.Sqrt(square/float64(x.dims)))
	along := lows(s.lows, s.centred, threshold)
	terms := codeTerms{shift: float32(alongMean)}
	if along > 0 {
		terms.scale = float32(square / along)
	}
	return terms
}

// lows packs the low bits of the code of v and returns the inner product of the
// two. A positive component beyond the threshold is 3, a negative one is 0, and
// what lies between them is 2 or 1.
func lows(into []uint64, v []float32, threshold float32) (along float64) {
	clear(into)
	for i, f := range v {
		size := math.Abs(float64(f))
		large := size > float64(threshold)
		if large == (f > 0) {
			into[i/64] |= 1 << (i % 64)
		}
		if large {
			size *= 3
		}
		along += size
	}
	return along
}
