package lexical

import (
	"math"
	"slices"
)

// none is no document number: beyond all of them, and the number before 0.
const none = math.MaxUint32

// block describes blockSize postings, or the fewer at the end of a list.
type block struct {
	last uint32 // document
	end  uint32 // offset behind the last byte
	peak peak
}

// A list holds the postings of one term in one collection, in the order of
// document numbers: packed blocks, then the tail, as pack.go describes. Only the
// tail ever changes.
type list struct {
	data   []byte
	blocks []block // packed ones
	count  uint32  // postings
	last   uint32  // document, or none
	tail   peak    // of the postings behind the blocks
	whole  peak    // of those in blocks

	// gone caches how many of the postings belong to dead documents: in the
	// upper half how many entries of the collection's deaths it has seen, in
	// the lower half how many of those are here. Atomic, as questions set it.
	gone uint64
}

func newList() list { return list{last: none, tail: noPeak, whole: noPeak} }

// add appends a posting of a document of so many terms. doc is larger than all
// before.
func (l *list) add(doc, count, length uint32) {
	l.data = appendPosting(l.data, doc-l.last, count) // none + 1 is 0
	l.last = doc
	l.count++
	l.tail.add(count, length)
	if l.count%blockSize == 0 {
		start, before := l.start(len(l.blocks))
		var r run
		r.read(l.data[start:], before)
		l.data = r.pack(l.data[:start], l.data[start:], before)
		l.blocks = append(l.blocks, block{last: doc, end: uint32(len(l.data)), peak: l.tail})
		l.whole.merge(l.tail)
		l.tail = noPeak
	}
}

// bound returns the peak of all postings.
func (l *list) bound() peak {
	p := l.whole
	p.merge(l.tail)
	return p
}

// decode reads the i-th block, and returns how many postings it has.
func (l *list) decode(i int, r *run) int {
	start, before := l.start(i)
	if i < len(l.blocks) {
		r.unpack(l.data[start:l.blocks[i].end], before)
		return blockSize
	}
	return r.read(l.data[start:], before)
}

// size is the number of blocks, the last of which may be short.
func (l *list) size() int { return (int(l.count) + blockSize - 1) / blockSize }

// block returns the i-th block.
func (l *list) block(i int) block {
	if i < len(l.blocks) {
		return l.blocks[i]
	}
	return block{last: l.last, end: uint32(len(l.data)), peak: l.tail}
}

// start returns where the i-th block begins, and the document before it.
func (l *list) start(i int) (offset, before uint32) {
	if i == 0 {
		return 0, none
	}
	return l.blocks[i-1].end, l.blocks[i-1].last
}

// find returns the first block from the i-th on that ends at doc or later; it
// is size() if there is none.
func (l *list) find(i int, doc uint32) int {
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
	if i == len(l.blocks) && (l.count%blockSize == 0 || l.last < doc) {
		return l.size()
	}
	return i
}

// in returns how often doc holds the term.
func (l *list) in(doc uint32) uint32 {
	i := l.find(0, doc)
	if i == l.size() {
		return 0
	}
	var r run
	n := l.decode(i, &r)
	if at, ok := slices.BinarySearch(r.docs[:n], doc); ok {
		return r.more[at] + 1
	}
	return 0
}
