package lexical

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem/internal/stream"
)

// A snapshot has, in this order (numbers are uvarints; see package stream):
//
//	format
//	number of collections, and for each:
//	  section: name
//	  section: identifiers by document number, as varint differences
//	  section: lengths by document number
//	  section: deleted document numbers, ascending, as differences
//	  section: for each list the length of its stem, the stem, the number of
//	           postings, and their length in bytes
//	  section: the postings of all lists, encoded as in memory
//	checksum
//
// The ends and maxima of blocks are computed when a snapshot is read, which checks
// the postings at the same time.

const format = "robolex\x01" // the last byte is the version

// Frozen is the state of an index at one moment. It can be written while the index
// changes.
type Frozen struct {
	collections []frozenCollection
}

type frozenCollection struct {
	name    string
	ids     []int64
	lengths []uint32
	deleted *bitset.BitSet
	stems   []string
	lists   []frozenList
}

// frozenList shares the encoded blocks with the list and copies the tail, which the
// list overwrites when it encodes the next block.
type frozenList struct {
	blocks, tail []byte
	count        uint32
}

// Freeze returns the present state. It copies little more than the tails of the
// lists, which takes some milliseconds for 30,000 lists. Searches continue meanwhile,
// unless a change waits for the lock.
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
		deleted: c.deleted.Clone(),
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
		f.lists[i] = frozenList{l.data[:start:start], tails[had:len(tails):len(tails)], l.length}
	}
	return f
}

// Write writes a snapshot for Read.
func (f *Frozen) Write(w io.Writer) error {
	s := stream.NewWriter(w, format)
	s.Count(len(f.collections))
	for i := range f.collections {
		f.collections[i].write(s)
	}
	if err := s.Close(); err != nil {
		return fmt.Errorf("write lexical snapshot: %w", err)
	}
	return nil
}

func (f *frozenCollection) write(s *stream.Writer) {
	s.Section([]byte(f.name))
	var part []byte
	last := int64(0)
	for _, id := range f.ids {
		part = binary.AppendVarint(part, id-last)
		last = id
	}
	s.Section(part)
	part = part[:0]
	for _, n := range f.lengths {
		part = binary.AppendUvarint(part, uint64(n))
	}
	s.Section(part)
	part = part[:0]
	before := uint32(none)
	for doc := range f.deleted.EachSet() {
		part = binary.AppendUvarint(part, uint64(uint32(doc)-before-1))
		before = uint32(doc)
	}
	s.Section(part)
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
	s.Section(part)
	s.Count(postings)
	for _, l := range f.lists {
		s.Bytes(l.blocks)
		s.Bytes(l.tail)
	}
}

// Read returns the index of a snapshot, which must end where r ends. A stream that is
// damaged, truncated or of another format gives an error. Memory is allocated as
// bytes arrive, and the index is built only after the checksum was verified. params
// is as for New.
func Read(r io.Reader, params func(averageLength float64) Params) (*Index, error) {
	s := stream.NewReader(r, format)
	var stored []storedCollection
	for n := s.Count(); n > 0 && s.Err == nil; n-- {
		c := storedCollection{name: string(s.Section())}
		for _, part := range []*[]byte{&c.ids, &c.lengths, &c.deleted, &c.dictionary, &c.postings} {
			*part = s.Section()
		}
		stored = append(stored, c)
	}
	if err := s.Close(); err != nil {
		return nil, fmt.Errorf("read lexical snapshot: %w", err)
	}
	x := New(params)
	for i := range stored {
		if err := x.addStored(&stored[i]); err != nil {
			return nil, fmt.Errorf("read lexical snapshot: collection %q: %w", stored[i].name, err)
		}
	}
	return x, nil
}

type storedCollection struct {
	name                                        string
	ids, lengths, deleted, dictionary, postings []byte
}
