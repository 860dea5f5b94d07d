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

func fits(p []byte, n uint32) bool { return pagesum.Fits(p, n, pagesum.Reserved) }

func TestFits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := page(r)
	for _, reserved := range []int{pagesum.ReservedBySQLite, pagesum.Reserved} {
		if pagesum.Put(p, 7, reserved); !pagesum.Fits(p, 7, reserved) || pagesum.Fits(p, 7, 24-reserved) {
			t.Fatal("a page does not match its own sum, or matches another")
		}
	}
	if pagesum.Put(p, 7, 0); pagesum.Fits(p, 7, 0) {
		t.Error("a page that has no sum matches")
	}
	if pagesum.Fits(p, 8, pagesum.Reserved) {
		t.Error("a page in the place of another matches")
	}
	if fits(make([]byte, 4096), 7) || fits(bytes.Repeat([]byte{0xff}, 4096), 7) || fits(nil, 7) {
		t.Error("a page of zeros, of ones or of nothing matches")
	}
	for bit := range 8 * len(p) {
		p[bit/8] ^= 1 << (bit % 8)
		if fits(p, 7) {
			t.Errorf("bit %d flipped, and the page matches", bit)
		}
		p[bit/8] ^= 1 << (bit % 8)
	}
	zeros := make([]byte, 4096) // in use, as one that holds zeros
	if pagesum.Put(zeros, 9, pagesum.Reserved); !fits(zeros, 9) {
		t.Error("a page of zeros in use does not match")
	}
}

func BenchmarkFits(b *testing.B) {
	p := page(rand.New(rand.NewPCG(1, 2)))
	pagesum.Put(p, 7, pagesum.Reserved)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		if !fits(p, 7) {
			b.Fatal("no match")
		}
	}
}
