package pointcloud

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// LZF, the compression of Marc Lehmann's liblzf, is a sequence of pieces:
//
//	000LLLLL <L+1 bytes>          these bytes
//	LLLooooo oooooooo             L+2 bytes from o+1 back, L from 1 to 6
//	111ooooo LLLLLLLL oooooooo    L+9 bytes from o+1 back
//
// A copy may overlap what it writes.

const (
	// lzfRatio is the most that a byte can stand for: 3 bytes give 264.
	lzfRatio = 88
	// maxUnpacked is the limit of the unpacked bytes.
	maxUnpacked = 256 << 20
)

// unpackPoints unpacks the body of a binary_compressed PCD, the compressed and the full size, of 32 bits
// each, before the compressed bytes, and puts the fields, which come one after another, into points.
func (s *source) unpackPoints() ([]byte, error) {
	body := s.data
	if len(body) < 8 {
		return nil, errors.New("the compressed points end before their size")
	}

	packed, size := binary.LittleEndian.Uint32(body), int64(binary.LittleEndian.Uint32(body[4:]))
	body = body[8:]
	if int64(packed) > int64(len(body)) {
		return nil, fmt.Errorf("the compressed points claim %d bytes; %d are there", packed, len(body))
	}
	if need := s.points * s.stride; size != need {
		return nil, fmt.Errorf("the compressed points hold %d bytes; the %d points need %d", size, s.points, need)
	}

	columns, err := unpackLZF(body[:packed], size)
	if err != nil {
		return nil, err
	}

	// The compressed form has all x, then all y, and so on. The reader of records needs them point by point.
	rows := make([]byte, len(columns))
	from := columns

	for _, f := range s.fields {
		width := f.bytes()
		for i := range int(s.points) {
			copy(rows[i*int(s.stride)+f.offset:][:width], from[i*width:])
		}
		from = from[int(s.points)*width:]
	}

	return rows, nil
}

// unpackLZF returns exactly size bytes. It reads all pieces before it allocates, so
// that a false claim takes no memory.
func unpackLZF(in []byte, size int64) ([]byte, error) {
	if size > maxUnpacked {
		return nil, fmt.Errorf("the compressed points claim %d bytes; the limit is %d", size, maxUnpacked)
	}
	if size > lzfRatio*int64(len(in)) {
		return nil, fmt.Errorf("the compressed points claim %d bytes; %d compressed ones cannot hold that", size,
			len(in))
	}

	total := int64(0)
	whole := lzfPieces(in, func(literal []byte, back, n int) bool {
		total += int64(len(literal) + n)
		return total <= size && int64(back) <= total-int64(n)
	})
	if !whole || total != size {
		return nil, errors.New("the compressed points are damaged")
	}

	out := make([]byte, 0, size)
	lzfPieces(in, func(literal []byte, back, n int) bool {
		out = append(out, literal...)
		// Byte by byte, because a copy may overlap the bytes that it writes.
		for range n {
			out = append(out, out[len(out)-back])
		}
		return true
	})

	return out, nil
}

// lzfPieces calls f with each piece, literal bytes or a copy of n bytes from back
// before, until f returns false. It reports whether it came to the end.
func lzfPieces(in []byte, f func(literal []byte, back, n int) bool) bool {
	for len(in) > 0 {
		control := int(in[0])
		in = in[1:]
		if control < 32 {
			if control+1 > len(in) || !f(in[:control+1], 0, 0) {
				return false
			}
			in = in[control+1:]
			continue
		}
		n := control>>5 + 2
		if control>>5 == 7 && len(in) > 0 {
			n += int(in[0])
			in = in[1:]
		}
		if len(in) == 0 || !f(nil, (control&0x1f)<<8+int(in[0])+1, n) {
			return false
		}
		in = in[1:]
	}

	return true
}
