package pagesum_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/pagesum"
)

func page(r *rand.Rand) []byte {
	p := make([]byte, 4096)
	for i := range p[:len(p)-pagesum.Reserved] {
		p[i] = byte(r.Uint32())
	}
	return p
}

func TestFits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := page(r)
	pagesum.Put(p, 7)
	if !pagesum.Fits(p, 7) {
		t.Fatal("a page does not match its own sum")
	}
	if pagesum.Fits(p, 8) {
		t.Error("a page in the place of another matches")
	}
	if pagesum.Fits(make([]byte, 4096), 7) || pagesum.Fits(bytes.Repeat([]byte{0xff}, 4096), 7) || pagesum.Fits(nil, 7) {
		t.Error("a page of zeros, of ones or of nothing matches")
	}
	for bit := range 8 * len(p) {
		p[bit/8] ^= 1 << (bit % 8)
		if pagesum.Fits(p, 7) {
			t.Errorf("bit %d flipped, and the page matches", bit)
		}
		p[bit/8] ^= 1 << (bit % 8)
	}
	zeros := make([]byte, 4096) // in use, as one that holds zeros
	if pagesum.Put(zeros, 9); !pagesum.Fits(zeros, 9) {
		t.Error("a page of zeros in use does not match")
	}
}

func BenchmarkFits(b *testing.B) {
	p := page(rand.New(rand.NewPCG(1, 2)))
	pagesum.Put(p, 7)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		if !pagesum.Fits(p, 7) {
			b.Fatal("no match")
		}
	}
}
