package vector

import (
	"math/rand/v2"
	"testing"
)

func TestAbove6(t *testing.T) {
	if !hasAVX2 {
		t.Skip("this processor has no AVX2")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		q := newQuestion(6)
		q.set(noise(r, 321+r.IntN(64)))
		codes, terms := make([]uint64, 64*6), make([]float32, 64*2)
		for i := range codes {
			codes[i] = q.signs[i%6] ^ r.Uint64()&r.Uint64()
		}
		for i := range terms {
			terms[i] = float32(r.NormFloat64())
		}
		at := r.IntN(64)
		bound := q.glance(codes[6*at:], terms[2*at:]) // equal to one
		mask := above6(&codes[0], &terms[0], (*[12]uint64)(q.both), &codes[0], &terms[0], int64(q.count), q.factor, bound)
		for slot := range 64 {
			if want := q.glance(codes[slot*6:], terms[2*slot:]) > bound; want != (mask>>slot&1 == 1) {
				t.Fatalf("code %d, bound %v: above is %v", slot, bound, !want)
			}
		}
	}
}

func TestCounts(t *testing.T) {
	if !hasPOPCNT {
		t.Skip("this processor has no POPCNT")
	}
	r := rand.New(rand.NewPCG(3, 4))
	for words := 1; words < 20; words++ {
		p := planes{bits: make([]uint64, words*planeBits)}
		signs, lows := make([]uint64, words), make([]uint64, words)
		for _, of := range [][]uint64{p.bits, signs, lows} {
			for i := range of {
				of[i] = r.Uint64()
			}
		}
		ones, sum := p.countsInGo(signs, lows)
		if gotOnes, gotSum := p.counts(signs, lows); gotOnes != ones || gotSum != sum {
			t.Errorf("%d words: %d and %d, want %d and %d", words, gotOnes, gotSum, ones, sum)
		}
	}
}
