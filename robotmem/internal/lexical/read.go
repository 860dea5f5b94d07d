package lexical

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Read returns the index of a snapshot, which ends where r ends. A stream that
// is damaged, cut off, or none of ours, gives an error; memory is taken as bytes
// arrive, and nothing is built before the checksum is known to be right. params
// is as for New.
func Read(r io.Reader, params func(averageLength float64) Params) (*Index, error) {
	stored, err := load(r)
	if err != nil {
		return nil, fmt.Errorf("read lexical snapshot: %w", err)
	}
	x := New(params)
	for i := range stored {
		if err := x.build(&stored[i]); err != nil {
			return nil, fmt.Errorf("read lexical snapshot: collection %q: %w", stored[i].name, err)
		}
	}
	return x, nil
}

// storedCollection holds the sections of a collection.
type storedCollection struct {
	name                                     string
	ids, lengths, dead, dictionary, postings []byte
}

// load reads the sections, and checks the sum.
func load(r io.Reader) ([]storedCollection, error) {
	s := source{r: bufio.NewReaderSize(r, 1<<16)}
	if string(s.take(uint64(len(magic)))) != magic && s.err == nil {
		return nil, errors.New("another format or version")
	}
	var stored []storedCollection
	for n := s.number(); n > 0 && s.err == nil; n-- {
		var c storedCollection
		c.name = string(s.section())
		for _, part := range []*[]byte{&c.ids, &c.lengths, &c.dead, &c.dictionary, &c.postings} {
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

// source reads and sums up what it read, until an error.
type source struct {
	r   *bufio.Reader
	crc uint32
	err error
}

// chunk is how many bytes are taken on trust.
const chunk = 1 << 20

// take reads n bytes. Memory for all of them is taken when all have come.
func (s *source) take(n uint64) []byte {
	var chunks [][]byte
	for left := n; left > 0 && s.err == nil; {
		b := make([]byte, min(left, chunk))
		if _, err := io.ReadFull(s.r, b); err != nil {
			s.err = cutOff(err)
			return nil
		}
		s.crc = crc32.Update(s.crc, castagnoli, b)
		left -= uint64(len(b))
		chunks = append(chunks, b)
	}
	if len(chunks) == 1 {
		return chunks[0]
	}
	var all []byte
	if len(chunks) > 1 {
		all = make([]byte, 0, n)
	}
	for _, b := range chunks {
		all = append(all, b...)
	}
	return all
}

func (s *source) number() uint64 {
	var b []byte
	for s.err == nil && len(b) < binary.MaxVarintLen64 {
		one := s.take(1)
		if s.err != nil {
			return 0
		}
		if b = append(b, one[0]); one[0] < 0x80 {
			n, size := binary.Uvarint(b)
			if size <= 0 {
				break
			}
			return n
		}
	}
	if s.err == nil {
		s.err = errors.New("a number is too long")
	}
	return 0
}

func (s *source) section() []byte { return s.take(s.number()) }

func cutOff(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the stream is cut off")
	}
	return err
}
