package lexical

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// A snapshot is, in this order (numbers are uvarints unless told otherwise; a
// section is its length in bytes, then the bytes):
//
//	magic, 8 bytes, of which the last is the version
//	number of collections, and for each:
//	  section: name
//	  section: identifiers by document number, as varint differences
//	  section: lengths by document number
//	  section: dead document numbers, ascending, as differences
//	  section: for each list the length of its stem, the stem, the number of
//	           postings, and their length in bytes
//	  section: the postings of all lists, coded as in memory
//	CRC-32C of everything before, 4 bytes, the lowest first
//
// What the postings imply, as the ends and the peaks of blocks, is computed when
// they are read, which checks them at the same time.

const magic = "robolex\x01"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Frozen is an index as it was at one moment, to be written while the index
// goes on changing.
type Frozen struct {
	collections []frozenCollection
}

type frozenCollection struct {
	name    string
	ids     []int64
	lengths []uint32
	dead    bitmap
	stems   []string
	lists   []frozenList
}

// frozenList shares the blocks with the list, and has a copy of the tail, which
// is overwritten when it is packed.
type frozenList struct {
	blocks, tail []byte
	count        uint32
}

// Freeze keeps the present state. It copies little more than the ends of the
// lists, which takes some milliseconds for 30,000 of them. Questions go on
// meanwhile, unless a change is waiting: they wait behind it.
func (x *Index) Freeze() *Frozen {
	x.mu.RLock()
	defer x.mu.RUnlock()
	f := &Frozen{}
	for _, c := range x.collections {
		if c != nil {
			f.collections = append(f.collections, c.freeze())
		}
	}
	return f
}

func (c *collection) freeze() frozenCollection {
	f := frozenCollection{
		name:    c.name,
		ids:     c.ids[:len(c.ids):len(c.ids)],
		lengths: c.lengths[:len(c.lengths):len(c.lengths)],
		dead:    slices.Clone(c.dead),
		stems:   slices.Clone(c.stems),
		lists:   make([]frozenList, len(c.lists)),
	}
	size := 0
	for i := range c.lists {
		start, _ := c.lists[i].start(len(c.lists[i].blocks))
		size += len(c.lists[i].data) - int(start)
	}
	tails := make([]byte, 0, size)
	for i := range c.lists {
		l := &c.lists[i]
		start, _ := l.start(len(l.blocks))
		had := len(tails)
		tails = append(tails, l.data[start:]...)
		f.lists[i] = frozenList{l.data[:start:start], tails[had:len(tails):len(tails)], l.count}
	}
	return f
}

// WriteTo writes a snapshot that Read understands. It returns the number of
// bytes, and the error of w.
func (f *Frozen) WriteTo(w io.Writer) (int64, error) {
	s := sink{w: w, buf: append(make([]byte, 0, sinkSize+binary.MaxVarintLen64), magic...)}
	s.number(len(f.collections))
	for i := range f.collections {
		f.collections[i].write(&s)
	}
	s.flush()
	s.buf = binary.LittleEndian.AppendUint32(s.buf, s.crc)
	s.flush()
	if s.err != nil {
		return s.n, fmt.Errorf("write lexical snapshot: %w", s.err)
	}
	return s.n, nil
}

func (f *frozenCollection) write(s *sink) {
	s.section([]byte(f.name))
	var part []byte
	last := int64(0)
	for _, id := range f.ids {
		part = binary.AppendVarint(part, id-last)
		last = id
	}
	s.section(part)
	part = part[:0]
	for _, n := range f.lengths {
		part = binary.AppendUvarint(part, uint64(n))
	}
	s.section(part)
	part = part[:0]
	before := uint32(none)
	for doc := range uint32(len(f.ids)) {
		if f.dead.has(doc) {
			part = binary.AppendUvarint(part, uint64(doc-before-1))
			before = doc
		}
	}
	s.section(part)
	part = part[:0]
	postings := 0
	for i, l := range f.lists {
		if l.count > 0 {
			part = binary.AppendUvarint(part, uint64(len(f.stems[i])))
			part = append(part, f.stems[i]...)
			part = binary.AppendUvarint(part, uint64(l.count))
			part = binary.AppendUvarint(part, uint64(len(l.blocks)+len(l.tail)))
			postings += len(l.blocks) + len(l.tail)
		}
	}
	s.section(part)
	s.number(postings)
	for _, l := range f.lists {
		s.bytes(l.blocks)
		s.bytes(l.tail)
	}
}

// sinkSize is how many bytes are written at once.
const sinkSize = 1 << 16

// sink writes and sums up what it wrote, until an error.
type sink struct {
	w   io.Writer
	buf []byte
	crc uint32
	n   int64
	err error
}

func (s *sink) number(n int) { s.buf = binary.AppendUvarint(s.buf, uint64(n)) }

func (s *sink) section(b []byte) {
	s.number(len(b))
	s.bytes(b)
}

func (s *sink) bytes(b []byte) {
	if len(s.buf)+len(b) > sinkSize {
		s.flush()
	}
	if len(b) > sinkSize {
		s.put(b)
		return
	}
	s.buf = append(s.buf, b...)
}

func (s *sink) flush() {
	s.put(s.buf)
	s.buf = s.buf[:0]
}

func (s *sink) put(b []byte) {
	if s.err != nil || len(b) == 0 {
		return
	}
	s.crc = crc32.Update(s.crc, castagnoli, b)
	n, err := s.w.Write(b)
	s.n += int64(n)
	s.err = err
}
