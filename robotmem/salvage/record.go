package salvage

import (
	"encoding/binary"
	"math"
)

const (
	// maxColumns is more than a table of this kind has.
	maxColumns = 200
	// maxRow is more than a row takes: payloads lie in the file up to 256 KiB,
	// parts of snapshots up to 1 MiB, and vectors, texts and contexts below that.
	maxRow = 16 << 20
)

// varint reads a number of one to nine bytes, the most significant first; the
// ninth gives all its bits. n is 0 when b ends within it.
func varint(b []byte) (v uint64, n int) {
	for i, c := range b {
		if i == 8 {
			return v<<8 | uint64(c), 9
		}
		v = v<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// header reads the serial types of a record of size bytes, and where its values
// begin. The values must fill the record exactly.
func header(b []byte, size int) (types []uint64, at int, ok bool) {
	length, n := varint(b)
	if n == 0 || length > uint64(len(b)) || length > uint64(size) || length < uint64(n) {
		return nil, 0, false
	}
	body := uint64(0)
	for i := n; i < int(length); {
		t, n := varint(b[i:length])
		if n == 0 || t == 10 || t == 11 || len(types) == maxColumns {
			return nil, 0, false
		}
		i += n
		types = append(types, t)
		if body += width(t); body > uint64(size) {
			return nil, 0, false
		}
	}
	return types, int(length), length+body == uint64(size)
}

// width is the bytes of a value of a serial type.
func width(t uint64) uint64 {
	switch {
	case t < 5:
		return t
	case t == 5:
		return 6
	case t == 6, t == 7:
		return 8
	case t < 12:
		return 0
	}
	return (t - 12) / 2
}

// value is a value of a serial type: nil, int64, float64, string or []byte.
// len(b) is its width.
func value(t uint64, b []byte) any {
	switch {
	case t == 0:
		return nil
	case t == 7:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	case t == 8, t == 9:
		return int64(t - 8)
	case t >= 12 && t%2 == 0:
		return append([]byte{}, b...)
	case t >= 13:
		return string(b)
	}
	n := int64(int8(b[0]))
	for _, c := range b[1:] {
		n = n<<8 | int64(c)
	}
	return n
}

// values takes a whole record apart; header has accepted it.
func values(types []uint64, body []byte) []any {
	out := make([]any, len(types))
	for i, t := range types {
		n := width(t)
		out[i] = value(t, body[:n])
		body = body[n:]
	}
	return out
}
