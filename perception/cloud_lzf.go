package perception

import (
	"errors"
	"fmt"
)

// LZF, the compression of Marc Lehmann's liblzf, is a run of pieces:
//
//	000LLLLL <L+1 bytes>          these bytes
//	LLLooooo oooooooo             L+2 bytes from o+1 back, L from 1 to 6
//	111ooooo LLLLLLLL oooooooo    L+9 bytes from o+1 back
//
// A copy may overlap what it writes.

const (
	// lzfRatio is the most that a byte can stand for: 3 bytes give 264.
	lzfRatio = 88
	// maxUnpacked is what is unpacked at most.
	maxUnpacked = 256 << 20
)

var errLZF = errors.New("the compressed points are damaged")

// lzfPiece is what a piece says: so many bytes that follow (back is 0), or so many
// from back before the end of what is unpacked.
type lzfPiece struct{ n, back int }

// nextLZF reads the head of the piece at i and returns where it ends.
func nextLZF(in []byte, i int) (p lzfPiece, end int, ok bool) {
	control := int(in[i])
	i++
	if control < 32 {
		return lzfPiece{n: control + 1}, i, control+1 <= len(in)-i
	}
	p.n = control>>5 + 2
	if control>>5 == 7 {
		if i == len(in) {
			return p, i, false
		}
		p.n += int(in[i])
		i++
	}
	if i == len(in) {
		return p, i, false
	}
	p.back = (control&0x1f)<<8 + int(in[i]) + 1
	return p, i + 1, true
}

// unpackLZF returns exactly size bytes. It reads all pieces before it allocates:
// what is claimed must be what they give.
func unpackLZF(in []byte, size int64) ([]byte, error) {
	if size > maxUnpacked {
		return nil, fmt.Errorf("the compressed points claim %d bytes; the limit is %d", size, maxUnpacked)
	}
	if size > lzfRatio*int64(len(in)) {
		return nil, fmt.Errorf("the compressed points claim %d bytes; %d compressed ones cannot hold that", size, len(in))
	}
	total := int64(0)
	for i := 0; i < len(in); {
		p, end, ok := nextLZF(in, i)
		if !ok || int64(p.back) > total {
			return nil, errLZF
		}
		if total += int64(p.n); total > size {
			return nil, errLZF
		}
		if i = end; p.back == 0 {
			i += p.n
		}
	}
	if total != size {
		return nil, errLZF
	}
	out := make([]byte, 0, size)
	for i := 0; i < len(in); {
		p, end, _ := nextLZF(in, i)
		if i = end; p.back == 0 {
			out = append(out, in[i:i+p.n]...)
			i += p.n
			continue
		}
		for range p.n {
			out = append(out, out[len(out)-p.back])
		}
	}
	return out, nil
}
