package lexical

import (
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/bits-and-blooms/bitset"
)

// Encoding of postings. Documents are stored as gaps: the distance to the previous
// document, less 1; the first gap counts from −1.
//
// The tail of a list has for each posting gap<<1 | once as uvarint, where once is 1 if the term
// occurs once in the document; otherwise the uvarint occurrences−2 follows.
//
// After every blockSize postings the tail is encoded as a block: a byte with the width of the
// largest gap in bits; if any once is 0, a bitmap of those postings; the gaps with that many bits
// each, the lowest bits first; the occurrences−2 of the postings in the bitmap. If the block
// would be longer than the tail, the byte is plainTail and the unchanged tail follows.

const (
	blockSize = 128
	maxWidth  = 32

	// The other values of the first byte of a block.
	withRepeats = 0x80 // added to the width if the bitmap follows
	plainTail   = 0xff

	bitmapSize = blockSize / 8
)

type decoded struct {
	docs    [blockSize]uint32
	repeats [blockSize]uint32 // occurrences, less the first
}

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

// decodeTail decodes a tail of n postings and returns the bytes after it. Like decodeBlock,
// it panics if data ends early.
func (r *decoded) decodeTail(data []byte, before uint32, n int) (rest []byte) {
	clear(r.repeats[:])

	used := 0
	for i := range n {
		number := uint64(data[used])
		if number < 0x80 {
			used++
		} else {
			value, size := uvarint(data[used:])
			number, used = value, used+size
		}
		before += uint32(number>>1) + 1
		r.docs[i] = before
		if number&1 == 0 {
			count, size := uvarint(data[used:])
			r.repeats[i] = uint32(count) + 1
			used += size
		}
	}

	return data[used:]
}

// uvarint is binary.Uvarint. It panics if data ends early or the number is too large.
func uvarint(data []byte) (n uint64, size int) {
	if n, size = binary.Uvarint(data); size <= 0 {
		panic("lexical: a number of a posting is damaged")
	}
	return n, size
}

// encodeBlock appends to data the block of the postings in r, of which tail is the
// encoding as a tail. tail may directly follow data in the same memory.
func (r *decoded) encodeBlock(data, tail []byte, before uint32) []byte {
	var (
		gaps    [blockSize]uint32
		repeats [2]uint64
	)
	all := uint32(0)

	for i, doc := range r.docs {
		gaps[i] = doc - before - 1
		all |= gaps[i]
		before = doc
		if r.repeats[i] > 0 {
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

	// Gaps fill words of 64 bits. The bits of a gap that do not fit begin the next word.
	word, filled := uint64(0), 0
	for _, gap := range gaps {
		word |= uint64(gap) << filled
		if filled += width; filled >= 64 {
			block = binary.LittleEndian.AppendUint64(block, word)
			filled -= 64
			word = uint64(gap) >> (width - filled)
		}
	}

	for _, more := range r.repeats {
		if more > 0 {
			block = binary.AppendUvarint(block, uint64(more-1))
		}
	}

	// A block is never longer than its tail and one byte.
	if len(block) > 1+len(tail) {
		block = append(append(block[:0], plainTail), tail...)
	}

	return append(data, block...)
}

// decodeBlock decodes a block and returns the bytes after it.
func (r *decoded) decodeBlock(data []byte, before uint32) (rest []byte) {
	first := data[0]
	data = data[1:]
	if first == plainTail {
		return r.decodeTail(data, before, blockSize)
	}

	clear(r.repeats[:])

	var repeats [2]uint64
	if first&withRepeats != 0 {
		repeats[0], repeats[1] = binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		data = data[bitmapSize:]
	}

	width := int(first &^ withRepeats)
	size := blockSize / 8 * width
	r.decodeGaps(data[:size], width, before)
	rest = data[size:]

	for half, word := range repeats {
		for ; word != 0; word &= word - 1 {
			count, size := uvarint(rest)
			r.repeats[half*64+bits.TrailingZeros64(word)] = uint32(count) + 1
			rest = rest[size:]
		}
	}

	return rest
}

// decodeGaps decodes the gaps of a block. Eight gaps take width bytes. They are read
// from words of eight bytes; the last eight gaps are copied to room for that. A word
// holds eight gaps of up to 8 bits, or one.
func (r *decoded) decodeGaps(data []byte, width int, before uint32) {
	var room [maxWidth + 8]byte
	mask := uint64(1)<<width - 1

	// The mask lets the compiler omit a check of the shift.
	shift := uint(width) & 63
	for i := 0; i < blockSize; i += 8 {
		group := data[i/8*width:]
		if len(group) < len(room) {
			copy(room[:], group[:width])
			group = room[:]
		}
		docs := (*[8]uint32)(r.docs[i:])
		if width <= 8 {
			word := binary.LittleEndian.Uint64(group)
			for j := range docs {
				before += uint32(word&mask) + 1
				docs[j] = before
				word >>= shift
			}
			continue
		}

		for j := range docs {
			word := binary.LittleEndian.Uint64(group[j*width/8:]) >> (j * width % 8)
			before += uint32(word&mask) + 1
			docs[j] = before
		}
	}
}

// none is no document number: it is above all of them, and none + 1 is 0.
const none = math.MaxUint32

// block describes blockSize postings, or fewer at the end of a list.
type block struct {
	last uint32 // document
	end  uint32 // offset after the last byte
	max  blockMax
}

// A postingList holds the postings of one term in one collection in the order of
// document numbers: encoded blocks, then the tail. Only the tail changes.
type postingList struct {
	data      []byte
	blocks    []block  // encoded blocks
	length    uint32   // postings
	last      uint32   // document, or none
	tailMax   blockMax // of the postings after the blocks
	packedMax blockMax // of the postings in blocks

	// deleted caches how many of the postings belong to deleted documents. The upper
	// half is how many entries of the collection's deletions were examined, the lower
	// half how many of those are in this list. Atomic, because searches set it.
	deleted uint64
}

func newPostingList() postingList {
	return postingList{last: none, tailMax: emptyMax, packedMax: emptyMax}
}

// add appends a posting of a document of length terms. doc must be above all before.
func (l *postingList) add(doc, count, length uint32) {
	// For the first posting last is none, and none + 1 is 0, so the gap counts from −1.
	l.data = appendPosting(l.data, doc-l.last, count)
	l.last = doc
	l.length++
	l.tailMax.add(count, length)
	if l.length%blockSize == 0 {
		start, before := l.start(len(l.blocks))

		var r decoded
		r.decodeTail(l.data[start:], before, blockSize)
		l.data = r.encodeBlock(l.data[:start], l.data[start:], before)
		l.blocks = append(l.blocks, block{last: doc, end: uint32(len(l.data)), max: l.tailMax})
		l.packedMax.merge(l.tailMax)
		l.tailMax = emptyMax
	}
}

// decode decodes the i-th block and returns its number of postings.
func (l *postingList) decode(i int, r *decoded) int {
	start, before := l.start(i)
	if i < len(l.blocks) {
		r.decodeBlock(l.data[start:l.blocks[i].end], before)
		return blockSize
	}
	n := int(l.length % blockSize)
	r.decodeTail(l.data[start:], before, n)

	return n
}

// blockCount is the number of blocks including the tail.
func (l *postingList) blockCount() int { return (int(l.length) + blockSize - 1) / blockSize }

// start returns the offset of the i-th block and the document before it.
func (l *postingList) start(i int) (offset, before uint32) {
	if i == 0 {
		return 0, none
	}
	return l.blocks[i-1].end, l.blocks[i-1].last
}

// find returns the first block, from the i-th on, that ends at doc or later, or
// blockCount() if there is none.
func (l *postingList) find(i int, doc uint32) int {
	// Double the step until the block is passed, then search between the last two steps.
	step := 1
	for i+step < len(l.blocks) && l.blocks[i+step].last < doc {
		i += step
		step *= 2
	}

	for end := min(i+step+1, len(l.blocks)); i < end; {
		if mid := int(uint(i+end) / 2); l.blocks[mid].last < doc {
			i = mid + 1
		} else {
			end = mid
		}
	}
	if i == len(l.blocks) && (l.length%blockSize == 0 || l.last < doc) {
		return l.blockCount()
	}

	return i
}

func (l *postingList) count(doc uint32) uint32 {
	i := l.find(0, doc)
	if i == l.blockCount() {
		return 0
	}

	var r decoded
	n := l.decode(i, &r)
	if at, ok := slices.BinarySearch(r.docs[:n], doc); ok {
		return r.repeats[at] + 1
	}

	return 0
}

// blockMax bounds the scores of the postings of a block or of a list from above for any parameters
// and mean length. Lengths above 65535 are cut off, which makes the bound looser but never wrong.
type blockMax struct {
	shortest uint16 // length of the shortest document
	repeated uint16 // length of the shortest document with more than one occurrence
	most     uint32 // occurrences in one document
}

var emptyMax = blockMax{shortest: math.MaxUint16, repeated: math.MaxUint16}

func (p *blockMax) add(count, length uint32) {
	n := uint16(min(length, math.MaxUint16))
	p.shortest = min(p.shortest, n)
	p.most = max(p.most, count)
	if count > 1 {
		p.repeated = min(p.repeated, n)
	}
}

func (p *blockMax) merge(o blockMax) {
	p.shortest = min(p.shortest, o.shortest)
	p.repeated = min(p.repeated, o.repeated)
	p.most = max(p.most, o.most)
}

// upperBound returns the largest factor that a posting of the block can have, up to rounding.
func (p blockMax) upperBound(c *saturation) float64 {
	top := c.value(0, uint32(p.shortest))
	if p.most > 1 {
		top = max(top, c.value(p.most-1, uint32(p.repeated)))
	}
	return top
}

// live returns how many live documents hold the term. all marks the deleted
// documents, deletions has them in order. A few new deletions are looked up one by
// one; many are counted by decoding the list.
func (l *postingList) live(all *bitset.BitSet, deletions []uint32) int {
	known := atomic.LoadUint64(&l.deleted)
	seen, gone := int(known>>32), uint32(known)
	if seen < len(deletions) {
		if fresh := deletions[seen:]; len(fresh) <= l.blockCount() {
			for _, doc := range fresh {
				if l.count(doc) > 0 {
					gone++
				}
			}
		} else {
			gone = 0

			for doc := range l.all() {
				if all.Test(uint(doc)) {
					gone++
				}
			}
		}
		atomic.StoreUint64(&l.deleted, uint64(len(deletions))<<32|uint64(gone))
	}

	return int(l.length - gone)
}

// all visits the documents with their occurrences.
func (l *postingList) all() iter.Seq2[uint32, uint32] {
	return func(yield func(doc, count uint32) bool) {
		var r decoded
		for i := range l.blockCount() {
			for at, doc := range r.docs[:l.decode(i, &r)] {
				if !yield(doc, r.repeats[at]+1) {
					return
				}
			}
		}
	}
}
