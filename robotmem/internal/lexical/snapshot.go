package lexical

import (
	"encoding/binary"
	"fmt"
	"io"

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
// the postings at the same time. Numbers are truncated to 32 bits.

const format = "robolex\x01" // the last byte is the version

// Frozen is the state of an index at one moment. It can be written while the index changes.
type Frozen struct {
	collections []stored
}

// stored has the sections of a collection.
type stored struct {
	name, ids, lengths, deleted, dictionary []byte

	// postings shares the encoded blocks with the lists and copies the tails, which the
	// lists overwrite when they encode the next block.
	postings [][]byte
}

// sections are all but the postings, in the order of a snapshot.
func (s *stored) sections() []*[]byte {
	return []*[]byte{&s.name, &s.ids, &s.lengths, &s.deleted, &s.dictionary}
}

// Freeze returns the present state. It copies all but the blocks of postings, which takes some
// milliseconds for 30,000 lists. Searches continue meanwhile, unless a change waits for the lock.
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

func (c *collection) freeze() stored {
	s := stored{
		name:       []byte(c.name),
		ids:        make([]byte, 0, 2*len(c.ids)),
		lengths:    make([]byte, 0, len(c.lengths)),
		dictionary: make([]byte, 0, 16*len(c.stems)),
		postings:   make([][]byte, 0, 2*len(c.lists)),
	}

	last := int64(0)
	for doc, id := range c.ids {
		s.ids = binary.AppendVarint(s.ids, id-last)
		s.lengths = binary.AppendUvarint(s.lengths, uint64(c.lengths[doc]))
		last = id
	}

	before := uint32(none)
	for doc := range c.deleted.EachSet() {
		s.deleted = binary.AppendUvarint(s.deleted, uint64(uint32(doc)-before-1))
		before = uint32(doc)
	}

	// All tails share one slice, because each has only a few bytes.
	tails := make([]byte, 0, 64*len(c.lists))
	for slot, stem := range c.stems {
		l := &c.lists[slot]
		s.dictionary = binary.AppendUvarint(s.dictionary, uint64(len(stem)))
		s.dictionary = append(s.dictionary, stem...)
		s.dictionary = binary.AppendUvarint(s.dictionary, uint64(l.length))
		s.dictionary = binary.AppendUvarint(s.dictionary, uint64(len(l.data)))
		start, _ := l.start(len(l.blocks))
		had := len(tails)
		tails = append(tails, l.data[start:]...)
		s.postings = append(s.postings, l.data[:start:start], tails[had:])
	}

	return s
}

// Write writes a snapshot for Read.
func (f *Frozen) Write(w io.Writer) error {
	out := stream.NewWriter(w, format)
	out.Count(len(f.collections))

	for i := range f.collections {
		s := &f.collections[i]
		for _, part := range s.sections() {
			out.Section(*part)
		}

		size := 0
		for _, part := range s.postings {
			size += len(part)
		}
		out.Count(size)

		for _, part := range s.postings {
			out.Bytes(part)
		}
	}

	if err := out.Close(); err != nil {
		return fmt.Errorf("write lexical snapshot: %w", err)
	}

	return nil
}

// Read returns the index of a snapshot, which must end where r ends. A stream that is damaged,
// truncated or of another format gives an error. Memory is allocated as bytes arrive, and the
// index is built only after the checksum was verified. params is as for New.
//
// The checksum does not prove who wrote the bytes, so Read decodes every posting: no
// search can fail on an index that was built from a snapshot.
func Read(r io.Reader, params func(averageLength float64) Params) (x *Index, err error) {
	in := stream.NewReader(r, format)

	var all []stored

	for n := in.Count(); n > 0 && in.Err == nil; n-- {
		var s stored
		for _, part := range s.sections() {
			*part = in.Section()
		}
		s.postings = [][]byte{in.Section()}
		all = append(all, s)
	}

	if err := in.Close(); err != nil {
		return nil, fmt.Errorf("read lexical snapshot: %w", err)
	}

	defer func() {
		// restore panics on numbers and postings that end early.
		if problem := recover(); problem != nil {
			x, err = nil, fmt.Errorf("read lexical snapshot: not sound: %v", problem)
		}
	}()

	x = New(params)
	for i := range all {
		x.restore(&all[i])
	}

	return x, nil
}

// restore adds a stored collection. It panics if the collection is not sound.
func (x *Index) restore(s *stored) {
	_, taken := x.names[string(s.name)]
	must(!taken, "a collection comes twice")
	c := x.collection(string(s.name))
	c.restoreDocuments(s)

	for doc, id := range c.ids {
		if c.deleted.Test(uint(doc)) {
			continue
		}
		_, taken := x.locations.get(id)
		must(!taken, "a document comes twice")
		x.locations.set(id, location{c.number, uint32(doc)})
		c.live.Rows++
		c.live.Terms += int64(c.lengths[doc])
	}

	must(c.live.Rows > 0, "a collection has no document")
	x.live.Rows += c.live.Rows
	x.live.Terms += c.live.Terms

	postings := s.postings[0]
	for dictionary := s.dictionary; len(dictionary) > 0; {
		size := number(&dictionary)
		stem := string(dictionary[:size])
		dictionary = dictionary[size:]
		count, length := number(&dictionary), number(&dictionary)
		_, taken := c.slots[stem]
		must(!taken && 0 < count && count <= uint64(len(c.ids)), "the dictionary")
		c.lists[c.slot(stem)] = restoreList(postings[:length:length], uint32(count), c.lengths)
		postings = postings[length:]
	}

	must(len(postings) == 0, "postings of no stem")
}

func (c *collection) restoreDocuments(s *stored) {
	ids, lengths, deleted := s.ids, s.lengths, s.deleted
	// Every length takes at least a byte in the snapshot, so its size bounds the memory.
	c.ids = make([]int64, 0, len(lengths))
	c.lengths = make([]uint16, 0, len(lengths))

	for last := int64(0); len(ids) > 0; {
		gap := number(&ids)
		// Decode the sign as binary.Varint does.
		last += int64(gap>>1) ^ -int64(gap&1)
		c.ids = append(c.ids, last)
		c.lengths = append(c.lengths, uint16(min(number(&lengths), maxLength)))
	}

	must(len(lengths) == 0, "lengths of no document")
	before := uint32(none)

	for len(deleted) > 0 {
		gap := number(&deleted)
		must(gap < uint64(len(c.ids))-uint64(before+1), "a deleted document")
		before += uint32(gap) + 1
		c.deleted.Set(uint(before))
		c.deletions = append(c.deletions, before)
	}
}

// restoreList makes a posting list from its bytes and checks every posting.
func restoreList(data []byte, count uint32, lengths []uint16) postingList {
	l := newPostingList()
	l.data, l.length = data, count
	l.blocks = make([]block, 0, count/blockSize)

	var r decoded
	for range count / blockSize {
		data = r.decodeBlock(data, l.last)
		bounds := r.bounds(blockSize, l.last, lengths)
		l.last = r.docs[blockSize-1]
		l.blocks = append(l.blocks, block{last: l.last, end: uint32(len(l.data) - len(data)), max: bounds})
		l.packedMax.merge(bounds)
	}

	if n := int(count % blockSize); n > 0 {
		data = r.decodeTail(data, l.last, n)
		l.tailMax = r.bounds(n, l.last, lengths)
		l.last = r.docs[n-1]
	}

	must(len(data) == 0, "more bytes than postings")

	return l
}

// bounds returns the block maximum of the first n postings, whose documents must ascend
// from before and have a length.
func (r *decoded) bounds(n int, before uint32, lengths []uint16) blockMax {
	p := emptyMax

	for i, doc := range r.docs[:n] {
		must(before == none || doc > before, "the order of postings")
		before = doc
		p.add(r.repeats[i]+1, uint32(lengths[doc]))
	}

	return p
}

// number reads the next number of a section.
func number(section *[]byte) uint64 {
	value, size := binary.Uvarint(*section)
	must(size > 0, "a number is cut off")
	*section = (*section)[size:]
	return value
}

func must(sound bool, otherwise string) {
	if !sound {
		panic(otherwise)
	}
}
