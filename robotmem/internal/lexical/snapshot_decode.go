package lexical

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// Building an index from the sections of a snapshot. The checksum does not prove who
// wrote the bytes, so every section is checked: no search can fail on an index that
// was built from a snapshot.

var (
	errDocuments  = errors.New("the documents are not sound")
	errDictionary = errors.New("the dictionary is not sound")
	errPostings   = errors.New("the postings are not sound")
)

type varints struct {
	data []byte
	bad  bool
}

func (n *varints) next() uint64 {
	value, size := binary.Uvarint(n.data)
	if size <= 0 {
		n.data, n.bad = nil, true
		return 0
	}
	n.data = n.data[size:]
	return value
}

// below returns the next number, which must be below limit.
func (n *varints) below(limit uint64) uint64 {
	value := n.next()
	if value >= limit {
		n.data, n.bad = nil, true
		return 0
	}
	return value
}

func (n *varints) signed() int64 {
	value := n.next()
	return int64(value>>1) ^ -int64(value&1)
}

func (x *Index) addStored(s *storedCollection) error {
	if _, taken := x.names[s.name]; taken {
		return errors.New("the name comes twice")
	}
	c := x.collection(s.name)
	if !c.readDocuments(s) {
		return errDocuments
	}
	for doc, id := range c.ids {
		if c.deleted.Test(uint(doc)) {
			continue
		}
		if _, taken := x.locations.get(id); taken {
			return errDocuments
		}
		x.locations.set(id, location{c.number, uint32(doc)})
		c.live.Rows++
		c.live.Terms += int64(c.lengths[doc])
	}
	if c.live.Rows == 0 {
		return errDocuments
	}
	x.live.Rows += c.live.Rows
	x.live.Terms += c.live.Terms
	return c.readPostings(s)
}

func (c *collection) readDocuments(s *storedCollection) bool {
	// Every number takes at least a byte, which bounds the memory.
	ids, lengths, deleted := varints{data: s.ids}, varints{data: s.lengths}, varints{data: s.deleted}
	count := 0
	for _, b := range s.ids {
		if b < 0x80 {
			count++
		}
	}
	c.ids, c.lengths = make([]int64, count), make([]uint32, count)
	last := int64(0)
	for i := range c.ids {
		last += ids.signed()
		c.ids[i] = last
		c.lengths[i] = uint32(lengths.below(math.MaxUint32 + 1))
	}
	before := uint32(none)
	for len(deleted.data) > 0 {
		before += uint32(deleted.below(uint64(count)-uint64(before+1))) + 1
		if !deleted.bad {
			c.deleted.Set(uint(before))
			c.deletions = append(c.deletions, before)
		}
	}
	return !ids.bad && !lengths.bad && !deleted.bad && len(ids.data)+len(lengths.data) == 0
}

func (c *collection) readPostings(s *storedCollection) error {
	dictionary, postings := varints{data: s.dictionary}, s.postings
	for len(dictionary.data) > 0 {
		size := dictionary.next()
		if size > uint64(len(dictionary.data)) {
			return errDictionary
		}
		stem := string(dictionary.data[:size])
		dictionary.data = dictionary.data[size:]
		count := dictionary.below(uint64(len(c.ids)) + 1)
		length := dictionary.below(uint64(len(postings)) + 1)
		if _, taken := c.slots[stem]; taken || dictionary.bad || count == 0 {
			return errDictionary
		}
		l, ok := readList(postings[:length:length], uint32(count), c.lengths)
		if !ok {
			return errPostings
		}
		postings = postings[length:]
		c.slots[stem] = uint32(len(c.lists))
		c.stems = append(c.stems, stem)
		c.lists = append(c.lists, l)
	}
	if len(postings) > 0 {
		return errPostings
	}
	return nil
}

// readList makes a posting list from its bytes and checks every posting.
func readList(data []byte, count uint32, lengths []uint32) (l postingList, ok bool) {
	l = newPostingList()
	l.data, l.length = data, count
	if full := count / blockSize; full > 0 {
		l.blocks = make([]block, 0, full)
	}
	var r decoded
	start := 0
	for range count / blockSize {
		size, ok := checkBlock(data[start:])
		if !ok {
			return l, false
		}
		r.decodeBlock(data[start:start+size], l.last)
		p, ok := r.max(blockSize, l.last, lengths)
		if !ok {
			return l, false
		}
		start += size
		l.last = r.docs[blockSize-1]
		l.blocks = append(l.blocks, block{last: l.last, end: uint32(start), max: p})
		l.packedMax.merge(p)
	}
	size, ok := checkTail(data[start:], int(count%blockSize))
	if !ok || start+size != len(data) {
		return l, false
	}
	if n := r.decodeTail(data[start:], l.last); n > 0 {
		l.tailMax, ok = r.max(n, l.last, lengths)
		l.last = r.docs[n-1]
	}
	return l, ok
}

// max returns the block maximum of the first n postings. It fails if the documents
// do not ascend from before, or if one has no length.
func (r *decoded) max(n int, before uint32, lengths []uint32) (blockMax, bool) {
	p := emptyMax
	for i, doc := range r.docs[:n] {
		if before != none && doc <= before || doc >= uint32(len(lengths)) {
			return p, false
		}
		before = doc
		p.add(r.repeats[i]+1, lengths[doc])
	}
	return p, true
}

// checkBlock returns the size of the block at the start of data if it can be decoded
// without failure.
func checkBlock(data []byte) (size int, ok bool) {
	if len(data) == 0 {
		return 0, false
	}
	if data[0] == plainTail {
		size, ok = checkTail(data[1:], blockSize)
		return 1 + size, ok
	}
	width := int(data[0] &^ withRepeats)
	size = 1
	repeats := 0
	if data[0]&withRepeats != 0 {
		if len(data) < 1+bitmapSize {
			return 0, false
		}
		repeats = bits.OnesCount64(binary.LittleEndian.Uint64(data[1:])) + bits.OnesCount64(binary.LittleEndian.Uint64(data[9:]))
		size += bitmapSize
	}
	size += blockSize / 8 * width
	if width > maxWidth || len(data) < size {
		return 0, false
	}
	counts := varints{data: data[size:]}
	for range repeats {
		counts.below(math.MaxUint32 - 1)
	}
	return len(data) - len(counts.data), !counts.bad
}

// checkTail is checkBlock for a tail of n postings.
func checkTail(data []byte, n int) (size int, ok bool) {
	all := varints{data: data}
	for range n {
		if all.below(1<<33)&1 == 0 {
			all.below(math.MaxUint32 - 1)
		}
	}
	return len(data) - len(all.data), !all.bad
}
