package vector

import (
	"math"
	"math/bits"
	"slices"
)

// The second tier orders the candidates by an estimate of their cosine. With a
// stored vector o, its centred and rotated form c, what the code k of c stands
// for (-3, -1, 1 or 3 in each dimension), the mean m and a question q that is
// centred and rotated to p:
//
//	q.o = p.c + m.o + m.q - m.m        the last two are the same for all
//	p.c ~ p.k * (c.c / c.k)            the estimator of RaBitQ, unbiased
//
// (c.c / c.k is |c| over the cosine of c and k, over the length of k.) So a code
// keeps two numbers: scale = c.c / c.k and shift = m.o.
//
// p.k is wanted for some thousand codes. p is rounded to planeBits bits and kept
// as bit planes, so that p.k is a few population counts a word and sums only
// integers; the rounding is far smaller than what the code loses.

const planeBits = 6

// planes is a rounded question: component j is low + step*u, u the number whose
// bits are bit j of each plane.
type planes struct {
	low, step float64
	total     float64  // the sum of all components
	bits      []uint64 // planeBits a word of a code: word w, plane b at w*planeBits+b
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

// product is the inner product of the question with what a code stands for,
// which is 4*high + 2*low - 3 in each dimension. The conversions keep the
// compiler from fusing operations, so that candidates are the same on every
// machine.
func (p *planes) product(signs, lows []uint64) float64 {
	ones, sum := 0, 0
	planes, lows := p.bits, lows[:len(signs)]
	for i, h := range signs {
		l, b := lows[i], (*[planeBits]uint64)(planes)
		ones += 2*bits.OnesCount64(h) + bits.OnesCount64(l)
		sum += 2*weighted(h, b) + weighted(l, b)
		planes = planes[planeBits:]
	}
	counted := float64(p.low*float64(ones)) + float64(p.step*float64(sum))
	return 2*counted - float64(3*p.total)
}

// weighted sums the numbers of the dimensions whose bit is set in w.
func weighted(w uint64, b *[planeBits]uint64) int {
	return bits.OnesCount64(w&b[0]) + bits.OnesCount64(w&b[1])<<1 + bits.OnesCount64(w&b[2])<<2 +
		bits.OnesCount64(w&b[3])<<3 + bits.OnesCount64(w&b[4])<<4 + bits.OnesCount64(w&b[5])<<5
}

// guess is a candidate with its estimated cosine, less what is the same for all.
type guess struct {
	id       int32
	estimate float32
}

func (g guess) before(h guess) bool {
	return g.estimate > h.estimate || g.estimate == h.estimate && g.id < h.id
}

// gathered is how many codes are copied before they are estimated. Codes of a
// large set are not in the cache, and a loop that does nothing but copy them
// waits for many at once.
const gathered = 256

// estimate fills s.guesses with the candidates. The caller holds the lock.
func (x *Index) estimate(s *scratch, candidates []candidate) []guess {
	s.guesses = s.guesses[:0]
	for part := range slices.Chunk(candidates, gathered) {
		signs, lows, terms := s.copied.signs, s.copied.lows, s.copied.terms
		for i, f := range part {
			k, slot := x.chunks[f.id>>chunkBits], int(f.id&chunkMask)
			copy(signs[i*x.words:(i+1)*x.words], k.signs[slot*x.words:])
			copy(lows[i*x.words:(i+1)*x.words], k.lows[slot*x.words:])
			terms[i] = k.terms[slot]
		}
		for i, f := range part {
			from, to := i*x.words, (i+1)*x.words
			product := s.planes.product(signs[from:to], lows[from:to])
			estimate := float32(product*float64(terms[i].scale)) + terms[i].shift
			s.guesses = append(s.guesses, guess{f.id, estimate})
		}
	}
	return s.guesses
}

// best moves the n guesses that come first to the front, in no order: Hoare's
// selection with the middle of three as pivot.
func best(g []guess, n int) []guess {
	if n >= len(g) {
		return g
	}
	low, high := 0, len(g)-1
	for low < high {
		pivot := middle(g[low], g[(low+high)/2], g[high])
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

func middle(a, b, c guess) guess {
	if b.before(a) {
		a, b = b, a
	}
	if c.before(a) {
		return a
	}
	if c.before(b) {
		return c
	}
	return b
}
