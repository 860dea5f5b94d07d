package lexical

import (
	"encoding/binary"
	"math/bits"
)

// How postings are coded. Documents become gaps: the distance to the document
// before, less 1; the first counts from −1.
//
// The tail of a list is a number for each posting, gap<<1 | once as uvarint,
// where once is 1 if the term occurs once in the document; if not, the uvarint
// occurrences−2 follows.
//
// Every blockSize postings the tail becomes a block: a byte with the width of
// the largest gap in bits, then, if any once is 0, a bitmap of those postings,
// then the gaps with so many bits each, the lowest bits first, then the
// occurrences−2 of the postings in the bitmap. If that is longer than the tail
// was, the byte is plainTail and the tail follows as it is.

const (
	blockSize = 128
	maxWidth  = 32

	// The other values of the first byte of a block.
	withRepeats = 0x80 // added to the width if the bitmap follows
	plainTail   = 0xff

	bitmapSize = blockSize / 8
)

// run is a stretch of postings, decoded.
type run struct {
	docs [blockSize]uint32
	more [blockSize]uint32 // occurrences, less the first
}

// appendPosting appends a posting to a tail.
func appendPosting(data []byte, gap, count uint32) []byte {
	number := uint64(gap-1) << 1
	if count > 1 {
		return binary.AppendUvarint(binary.AppendUvarint(data, number), uint64(count-2))
	}
	if number |= 1; number < 0x80 {
		return append(data, byte(number))
	}
	return binary.AppendUvarint(data, number)
}

// read decodes a tail, which is sound, and returns the number of postings.
func (r *run) read(data []byte, before uint32) (n int) {
	clear(r.more[:])
	for used := 0; used < len(data); n++ {
		number := uint64(data[used])
		if number < 0x80 {
			used++
		} else {
			value, size := binary.Uvarint(data[used:])
			number, used = value, used+size
		}
		before += uint32(number>>1) + 1
		r.docs[n] = before
		if number&1 == 0 {
			count, size := binary.Uvarint(data[used:])
			r.more[n] = uint32(count) + 1
			used += size
		}
	}
	return n
}

// pack appends to data the block of the postings in r, of which tail is the
// code as a tail. tail may lie right behind data, in the same memory.
func (r *run) pack(data, tail []byte, before uint32) []byte {
	var gaps [blockSize]uint32
	var repeats [2]uint64
	all := uint32(0)
	for i, doc := range r.docs {
		gaps[i] = doc - before - 1
		all |= gaps[i]
		before = doc
		if r.more[i] > 0 {
			repeats[i>>6] |= 1 << (i & 63)
		}
	}
	width := bits.Len32(all)
	block := make([]byte, 1, 2+len(tail)+bitmapSize)
	block[0] = byte(width)
	if repeats != [2]uint64{} {
		block[0] |= withRepeats
		block = binary.LittleEndian.AppendUint64(block, repeats[0])
		block = binary.LittleEndian.AppendUint64(block, repeats[1])
	}
	word, filled := uint64(0), 0
	for _, gap := range gaps {
		word |= uint64(gap) << filled
		if filled += width; filled >= 64 {
			block = binary.LittleEndian.AppendUint64(block, word)
			filled -= 64
			word = uint64(gap) >> (width - filled)
		}
	}
	for _, more := range r.more {
		if more > 0 {
			block = binary.AppendUvarint(block, uint64(more-1))
		}
	}
	if len(block) > 1+len(tail) {
		block = append(append(block[:0], plainTail), tail...)
	}
	return append(data, block...)
}

// unpack decodes a block, which is sound.
func (r *run) unpack(data []byte, before uint32) {
	first := data[0]
	data = data[1:]
	if first == plainTail {
		r.read(data, before)
		return
	}
	clear(r.more[:])
	var repeats [2]uint64
	if first&withRepeats != 0 {
		repeats[0], repeats[1] = binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		data = data[bitmapSize:]
	}
	width := int(first &^ withRepeats)
	size := blockSize / 8 * width
	r.unpackGaps(data[:size], width, before)
	rest := data[size:]
	for half, word := range repeats {
		for ; word != 0; word &= word - 1 {
			count, size := binary.Uvarint(rest)
			r.more[half*64+bits.TrailingZeros64(word)] = uint32(count) + 1
			rest = rest[size:]
		}
	}
}

// unpackGaps decodes the gaps of a block. Eight of them take width bytes. They
// are read from words of eight bytes, for which the last eight gaps get some
// room behind them. A word holds eight narrow gaps, four broader ones, or one.
func (r *run) unpackGaps(data []byte, width int, before uint32) {
	var room [maxWidth + 8]byte
	mask := uint64(1)<<width - 1
	shift := uint(width) & 63 // lets the compiler leave out a test
	for i := 0; i < blockSize; i += 8 {
		group := data[i/8*width:]
		if len(group) < len(room) {
			copy(room[:], group[:width])
			group = room[:]
		}
		docs := (*[8]uint32)(r.docs[i:])
		switch {
		case width <= 8:
			word := binary.LittleEndian.Uint64(group)
			for j := range docs {
				before += uint32(word&mask) + 1
				docs[j] = before
				word >>= shift
			}
		case width <= 16:
			for half := 0; half < 8; half += 4 {
				word := binary.LittleEndian.Uint64(group[half*width/8:]) >> (half * width % 8)
				for j := half; j < half+4; j++ {
					before += uint32(word&mask) + 1
					docs[j] = before
					word >>= shift
				}
			}
		default:
			for j := range docs {
				word := binary.LittleEndian.Uint64(group[j*width/8:]) >> (j * width % 8)
				before += uint32(word&mask) + 1
				docs[j] = before
			}
		}
	}
}
