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

// unpackLZF returns exactly size bytes. What it allocates grows with what is
// really there, not with what is claimed.
func unpackLZF(in []byte, size int64) ([]byte, error) {
	if size > maxUnpacked {
		return nil, fmt.Errorf("the compressed points claim %d bytes; the limit is %d", size, maxUnpacked)
	}
	if size > lzfRatio*int64(len(in)) {
		return nil, fmt.Errorf("the compressed points claim %d bytes; %d compressed ones cannot hold that", size, len(in))
	}
	out := make([]byte, 0, min(size, 4*int64(len(in))))
	for i := 0; i < len(in); {
		control := int(in[i])
		i++
		if control < 32 {
			n := control + 1
			if n > len(in)-i || int64(len(out)+n) > size {
				return nil, errLZF
			}
			out = append(out, in[i:i+n]...)
			i += n
			continue
		}
		n := control >> 5
		if n == 7 {
			if i == len(in) {
				return nil, errLZF
			}
			n += int(in[i])
			i++
		}
		n += 2
		if i == len(in) {
			return nil, errLZF
		}
		back := (control&0x1f)<<8 + int(in[i]) + 1
		i++
		if back > len(out) || int64(len(out)+n) > size {
			return nil, errLZF
		}
		for range n {
			out = append(out, out[len(out)-back])
		}
	}
	if int64(len(out)) != size {
		return nil, errLZF
	}
	return out, nil
}
