package lexical

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// A snapshot has, in this order (numbers are uvarints unless stated otherwise; a
// section is its length in bytes, then the bytes):
//
//	magic, 8 bytes, of which the last is the version
//	number of collections, and for each:
//	  section: name
//	  section: identifiers by document number, as varint differences
//	  section: lengths by document number
//	  section: deleted document numbers, ascending, as differences
//	  section: for each list the length of its stem, the stem, the number of
//	           postings, and their length in bytes
//	  section: the postings of all lists, encoded as in memory
//	CRC-32C of everything before, 4 bytes, little-endian
//
// The ends and maxima of blocks are computed when a snapshot is read, which checks
// the postings at the same time.

const magic = "robolex\x01"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Frozen is the state of an index at one moment. It can be written while the index
// changes.
type Frozen struct {
	collections []frozenCollection
}

type frozenCollection struct {
	name    string
	ids     []int64
	lengths []uint32
	deleted bitmap
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
		deleted: slices.Clone(c.deleted),
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

// WriteTo writes a snapshot for Read. It returns the number of bytes and the error
// of w.
func (f *Frozen) WriteTo(w io.Writer) (int64, error) {
	sum := &checksumWriter{w: w}
	s := snapshotWriter{bufio.NewWriterSize(sum, 1<<16)}
	s.bytes([]byte(magic))
	s.number(len(f.collections))
	for i := range f.collections {
		f.collections[i].write(s)
	}
	err := s.Flush()
	s.bytes(binary.LittleEndian.AppendUint32(nil, sum.crc))
	if err = cmp.Or(err, s.Flush()); err != nil {
		return sum.n, fmt.Errorf("write lexical snapshot: %w", err)
	}
	return sum.n, nil
}

func (f *frozenCollection) write(s snapshotWriter) {
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
		if f.deleted.has(doc) {
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

// snapshotWriter keeps the first error until Flush.
type snapshotWriter struct{ *bufio.Writer }

func (s snapshotWriter) bytes(b []byte) { _, _ = s.Write(b) }

func (s snapshotWriter) number(n int) { s.bytes(binary.AppendUvarint(s.AvailableBuffer(), uint64(n))) }

func (s snapshotWriter) section(b []byte) {
	s.number(len(b))
	s.bytes(b)
}

type checksumWriter struct {
	w   io.Writer
	crc uint32
	n   int64
}

func (s *checksumWriter) Write(b []byte) (int, error) {
	s.crc = crc32.Update(s.crc, castagnoli, b)
	n, err := s.w.Write(b)
	s.n += int64(n)
	return n, err
}

// Read returns the index of a snapshot, which must end where r ends. A stream that is
// damaged, truncated or of another format gives an error. Memory is allocated as
// bytes arrive, and the index is built only after the checksum was verified. params
// is as for New.
func Read(r io.Reader, params func(averageLength float64) Params) (*Index, error) {
	stored, err := load(r)
	if err != nil {
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

// load reads the sections and verifies the checksum.
func load(r io.Reader) ([]storedCollection, error) {
	s := checksumReader{r: bufio.NewReaderSize(r, 1<<16)}
	if string(s.take(uint64(len(magic)))) != magic && s.err == nil {
		return nil, errors.New("another format or version")
	}
	var stored []storedCollection
	for n := s.number(); n > 0 && s.err == nil; n-- {
		var c storedCollection
		c.name = string(s.section())
		for _, part := range []*[]byte{&c.ids, &c.lengths, &c.deleted, &c.dictionary, &c.postings} {
			*part = s.section()
		}
		stored = append(stored, c)
	}
	want := s.crc
	sum := s.take(4)
	if s.err != nil {
		return nil, s.err
	}
	if binary.LittleEndian.Uint32(sum) != want {
		return nil, errors.New("the checksum is wrong")
	}
	if _, err := s.r.ReadByte(); err != io.EOF {
		return nil, errors.New("there is more behind the end")
	}
	return stored, nil
}

// checksumReader reads and computes the checksum until the first error.
type checksumReader struct {
	r   *bufio.Reader
	crc uint32
	err error
}

// readSize is how many bytes are allocated before they have arrived.
const readSize = 1 << 20

// take reads n bytes. It allocates memory for all of them when all have arrived.
func (s *checksumReader) take(n uint64) []byte {
	var chunks [][]byte
	for ; n > 0 && s.err == nil; n -= min(n, readSize) {
		b := make([]byte, min(n, readSize))
		_, s.err = io.ReadFull(s.r, b)
		s.crc = crc32.Update(s.crc, castagnoli, b)
		chunks = append(chunks, b)
	}
	switch {
	case errors.Is(s.err, io.EOF), errors.Is(s.err, io.ErrUnexpectedEOF):
		s.err = errors.New("the stream is cut off")
	case s.err == nil && len(chunks) == 1:
		return chunks[0]
	case s.err == nil:
		return slices.Concat(chunks...)
	}
	return nil
}

// ReadByte implements io.ByteReader.
func (s *checksumReader) ReadByte() (byte, error) {
	b := s.take(1)
	if s.err != nil {
		return 0, s.err
	}
	return b[0], nil
}

func (s *checksumReader) number() uint64 {
	n, err := binary.ReadUvarint(s)
	if s.err == nil {
		s.err = err // a number over 64 bits
	}
	return n
}

func (s *checksumReader) section() []byte { return s.take(s.number()) }
