package vector

import (
	"math"
	"math/bits"
)

// A code has two bits for each dimension of the centred and rotated vector: the number 0 to 3 of
// the interval that contains the component. The high bits are the signs, and the scan reads no
// others. The intervals end at -t, 0 and t and stand for -3, -1, 1 and 3 halves of t: the best
// quantizer of four equal steps for a Gaussian (Max, "Quantizing for Minimum Distortion", 1960,
// table II). Unequal steps would lose 1 % less and cost half as many population counts again.
//
// All dimensions have the same step, so a code carries most information when all dimensions have
// about the same variance. In embeddings a few directions carry most of the variance. A random
// rotation spreads it over all dimensions (Gao and Long, "RaBitQ", SIGMOD 2024, section 3.1). A
// full random matrix would cost dims*dims. Rounds of sign flips and fast Hadamard transforms have
// the same effect for dims*log(dims). Only their additions and one multiplication are rounded, so
// codes are equal on every machine.

// rotation is a fixed orthogonal map of dims dimensions. The Hadamard transform needs a power of
// two, so each step transforms a block of at most dims dimensions that starts at another offset
// and wraps around. Every dimension is in at least two of the blocks. Signs are flipped before
// each step, because two transforms of nearly the same block would cancel.
type rotation struct {
	scale float32     // 1/sqrt of the block's length
	flips [][]float32 // for each step, +1 or -1 for each dimension of a block
}

// rotationStarts is the start of each step's block in quarters of dims.
var rotationStarts = [...]int{0, 2, 1, 3}

func newRotation(dims int) rotation {
	block := 1 << (bits.Len(uint(dims)) - 1)
	r := rotation{scale: float32(1 / math.Sqrt(float64(block)))}
	// splitmix64 (Steele, Lea, Flood 2014): saved codes need the same flips in every later build.
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

// apply rotates v in place. buffer must be at least as long as a block.
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

// centre writes the rotated difference of unit and mean to s.centred and returns the
// inner product of unit and mean.
func (x *Index) centre(s *scratch, unit []float32) float64 {
	for i, m := range x.mean {
		s.centred[i] = unit[i] - m
	}
	x.rotation.apply(s.centred, s.block)
	return x.alongMean(unit)
}

// alongMean returns the inner product of a vector and the mean.
func (x *Index) alongMean(unit []float32) (sum float64) {
	for i, m := range x.mean {
		sum += float64(unit[i]) * float64(m)
	}
	return sum
}

// packSigns packs the signs of v, one bit each, 1 for positive. The rest of the last word is zero.
func packSigns(into []uint64, v []float32) {
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
func (x *Index) encode(s *scratch, unit []float32) (scale, shift float32) {
	alongMean := x.centre(s, unit)
	return x.quantize(s), float32(alongMean)
}

// quantize writes the code of s.centred to s.signs and s.lows and returns its scale.
func (x *Index) quantize(s *scratch) (scale float32) {
	packSigns(s.signs, s.centred)
	size := square(s.centred)
	threshold := float32(gaussStep * math.Sqrt(size/float64(x.dims)))
	if along := packLows(s.lows, s.centred, threshold); along > 0 {
		scale = float32(size / along)
	}

	return scale
}

// addTo adds a multiple of the vector that a code stands for, centred and rotated.
func (c *codes) addTo(sum []float32, at int, factor float32) {
	words, step := len(c.signs)/(len(c.terms)/2), factor*c.terms[2*at]
	values := [4]float32{-3 * step, -step, step, 3 * step}

	for j := range sum {
		word := at*words + j/64
		sum[j] += values[c.signs[word]>>(j%64)&1<<1|c.lows[word]>>(j%64)&1]
	}
}

// packLows packs the low bits of the code of v and returns the inner product of v and
// the code. A positive component above the threshold is 3, a negative one below
// −threshold is 0, and between them it is 2 or 1.
func packLows(into []uint64, v []float32, threshold float32) (along float64) {
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

// Both tiers sort the codes by an estimate of their cosine. Let o be a stored vector,
// c its centred and rotated form, k the values that the code of c stands for (-3, -1, 1 or 3 in
// each dimension), m the mean, q a query vector and p its centred and rotated form:
//
//	q.o = p.c + m.o + m.q - m.m        the last two are the same for all o
//	p.c ~ p.k * (c.c / c.k)            the unbiased estimator of RaBitQ
//
// So a code stores two numbers: scale = c.c / c.k and shift = m.o.
//
// The first tier estimates the same from the signs s of c and a value v of -1, 0 or 1 for each
// component of p, 0 for those below 0.612 standard deviations: the best quantizer of three steps (Max
// 1960, table I). p.s is estimated as v.s * (p.p / p.v), and c.c / c.s is 1 + 2*exp(-t*t/2) times the
// scale for a Gaussian with intervals of t, because components above t count threefold in c.k.

// question is a query as the first tier compares it.
type question struct {
	signs, large []uint64 // large has the bits of those components that are not 0 in v
	both         []uint64 // signs and then large
	count        int      // bits in large
	factor       float32  // what v.s is multiplied by, less the scale
}

func newQuestion(words int) question {
	both := make([]uint64, 2*words)
	return question{signs: both[:words], large: both[words:], both: both}
}

const (
	ternaryThreshold = 0.612
	signScale        = 2.2183 // 1 + 2*exp(-gaussStep*gaussStep/2)
)

func (q *question) set(centred []float32) {
	packSigns(q.signs, centred)
	clear(q.large)
	size, along := square(centred), 0.0
	threshold := ternaryThreshold * math.Sqrt(size/float64(len(centred)))
	q.count, q.factor = 0, 0

	for i, f := range centred {
		if size := math.Abs(float64(f)); size > threshold {
			q.large[i/64] |= 1 << (i % 64)
			q.count++
			along += size
		}
	}
	if along > 0 {
		q.factor = float32(signScale * size / along)
	}
}

// glance estimates the cosine with the code that begins with signs, up to the constant of all. The
// conversions are as in product.
func (q *question) glance(signs []uint64, terms []float32) float32 {
	along := float32(q.count - 2*q.differing(signs))
	return float32(float32(along*q.factor)*terms[0]) + terms[1]
}

// differing counts the large components whose sign differs.
func (q *question) differing(code []uint64) (n int) {
	signs, large := q.signs, q.large
	for ; len(signs) >= 6 && len(large) >= 6 && len(code) >= 6; signs, large, code = signs[6:], large[6:], code[6:] {
		a, m, b := (*[6]uint64)(signs), (*[6]uint64)(large), (*[6]uint64)(code)
		n += bits.OnesCount64((a[0]^b[0])&m[0]) + bits.OnesCount64((a[1]^b[1])&m[1]) +
			bits.OnesCount64((a[2]^b[2])&m[2]) +
			bits.OnesCount64((a[3]^b[3])&m[3]) + bits.OnesCount64((a[4]^b[4])&m[4]) + bits.OnesCount64((a[5]^b[5])&m[5])
	}

	for i, w := range signs {
		n += bits.OnesCount64((w ^ code[i]) & large[i])
	}

	return n
}

// The second tier needs p.k for thousands of codes. p is rounded to planeBits bits and stored as
// bit planes, so that p.k takes a few population counts a word and sums integers
// only. The rounding error is far smaller than that of the code.

const planeBits = 6

// planes is a rounded query vector: component j is low + step*u, where bit j of each
// plane is a bit of u.
type planes struct {
	low, step float64
	total     float64  // the sum of all components
	bits      []uint64 // planeBits for each word of a code: word w, plane b at w*planeBits+b
}

func (p *planes) set(question []float32) {
	clear(p.bits)

	var high float32
	for _, f := range question {
		high = max(high, f, -f)
	}

	const top = 1<<planeBits - 1
	p.low, p.step = -float64(high), 2*float64(high)/top
	sum := 0

	for j, f := range question {
		u := 0
		if p.step > 0 {
			u = int(math.Round(float64(float64(f)-p.low) / p.step))
		}

		sum += u
		for b := range planeBits {
			p.bits[j/64*planeBits+b] |= uint64(u>>b&1) << (j % 64)
		}
	}

	p.total = float64(p.low*float64(len(question))) + float64(p.step*float64(sum))
}

// product is the inner product of the query and the values of a code, which are
// 4*high + 2*low - 3 in each dimension. The conversions keep the compiler from fusing
// operations, so that candidates are the same on every machine.
func (p *planes) product(signs, lows []uint64) float64 {
	ones, sum := p.counts(signs, lows[:len(signs)])
	counted := float64(p.low*float64(ones)) + float64(p.step*float64(sum))
	return 2*counted - float64(3*p.total)
}

// counts returns the sum of 2*high + low over the dimensions of a code, and that sum weighted with u. The assembly
// computes both in one loop.
func (p *planes) counts(signs, lows []uint64) (ones, sum int) {
	if hasPOPCNT {
		return counts(&signs[0], &lows[0], &p.bits[0], len(signs))
	}
	return p.countsInGo(signs, lows)
}

func (p *planes) countsInGo(signs, lows []uint64) (ones, sum int) {
	planes := p.bits
	for i, h := range signs {
		l, b := lows[i], (*[planeBits]uint64)(planes)
		ones += 2*bits.OnesCount64(h) + bits.OnesCount64(l)
		sum += 2*weighted(h, b) + weighted(l, b)
		planes = planes[planeBits:]
	}

	return ones, sum
}

// estimate is the cosine of the query and a code, up to the constant of all.
func (p *planes) estimate(c *codes, at int) float32 {
	words := len(p.bits) / planeBits
	product := p.product(c.signs[at*words:(at+1)*words], c.lows[at*words:])
	return float32(product*float64(c.terms[2*at])) + c.terms[2*at+1]
}

// weighted sums u over the dimensions whose bit is set in w.
func weighted(w uint64, b *[planeBits]uint64) int {
	return bits.OnesCount64(w&b[0]) + bits.OnesCount64(w&b[1])<<1 + bits.OnesCount64(w&b[2])<<2 +
		bits.OnesCount64(w&b[3])<<3 + bits.OnesCount64(w&b[4])<<4 + bits.OnesCount64(w&b[5])<<5
}

// estimated is a candidate with its estimated cosine, up to a constant for all.
type estimated struct {
	id, slot int32
	estimate float32
}

func (g estimated) before(h estimated) bool {
	return g.estimate > h.estimate || g.estimate == h.estimate && g.id < h.id
}

// estimateBatch is the number of codes that are fetched before they are estimated. Codes of a large set are
// not in the cache, and a loop that only fetches them overlaps many memory accesses.
const estimateBatch = 256

// estimate replaces the estimates of candidates by those of the second tier. The caller holds the lock.
func (x *Index) estimate(s *scratch, candidates []estimated) []estimated {
	// With fewer than 2,048 candidates another goroutine does not pay off.
	share(len(candidates), len(candidates)/2048, func(w, from, to int) {
		for ; from < to; from += estimateBatch {
			part := candidates[from:min(from+estimateBatch, to)]
			for _, g := range part {
				k, at := x.code(g.slot)
				first, last := at*x.words, (at+1)*x.words-1
				s.collectors[w].fetched += k.signs[first] + k.signs[last] + k.lows[first] + k.lows[last] +
					uint64(k.terms[2*at])
			}

			for i, g := range part {
				part[i].estimate = s.planes.estimate(x.code(g.slot))
			}
		}
	})

	return candidates
}

// selectBest moves the n best estimates to the front, in no order: Hoare's selection.
func selectBest(g []estimated, n int) []estimated {
	if n >= len(g) {
		return g
	}

	low, high := 0, len(g)-1
	for low < high {
		pivot := g[(low+high)/2]

		i, j := low, high
		for i <= j {
			for g[i].before(pivot) {
				i++
			}

			for pivot.before(g[j]) {
				j--
			}
			if i <= j {
				g[i], g[j] = g[j], g[i]
				i++
				j--
			}
		}

		switch {
		case n-1 <= j:
			high = j
		case n-1 >= i:
			low = i
		default:
			return g[:n]
		}
	}

	return g[:n]
}
