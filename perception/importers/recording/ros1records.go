package recording

// A bag of ROS 1 (http://wiki.ros.org/Bags/Format/2.0) is a line that names the version, and records. A record is the
// length of its head in four bytes, the head, the length of its data in four bytes, and the data. A head is fields:
// each is its length in four bytes, its name, an equals sign and its value. The field op is the kind of the record.
//
//	3 bag header   where the index is, how many connections and chunks it has
//	5 chunk        compressed records: connections and messages
//	4 index        follows its chunk, one for each connection: the time and the place of each message
//	7 connection   a topic as one node published it, with its type and the definition of it
//	2 message      of a connection, at a time
//	6 chunk info   at the end, after all connections: where a chunk is, and how many messages it has
//
// Everything is little-endian.

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/pierrec/lz4/v4"
)

// ros1Line is the first line of a bag that is read.
const ros1Line = ros1Magic + "2.0\n"

// The kinds of records.
const (
	ros1Message    = 2
	ros1BagHeader  = 3
	ros1Index      = 4
	ros1Chunk      = 5
	ros1ChunkInfo  = 6
	ros1Connection = 7
)

const (
	// maxROS1Head bounds the head of a record, in bytes. A topic is in it.
	maxROS1Head = 1 << 20
	// ros1IndexEntry is the bytes of the time and the place of one message in the index of a chunk, and
	// ros1CountEntry those of a connection and the number of its messages in a chunk info.
	ros1IndexEntry = 12
	ros1CountEntry = 8
)

// ros1Head is the head of a record. Of each kind some fields are set.
type ros1Head struct {
	op          byte
	conn        uint32
	time        uint64 // ns
	topic       string
	compression string
	size        uint32 // of a chunk when it is decompressed
	indexPos    uint64
	chunkPos    uint64
	count       uint32
	chunkCount  uint32
	encryptor   string

	hasOp, hasConn, hasTime, hasSize bool
}

// parseROS1Head reads the fields of a head. Unknown ones are left out.
func parseROS1Head(raw []byte) (h ros1Head, err error) {
	err = eachROS1Field(raw, func(name string, value []byte) error { return h.set(name, value) })
	if err == nil && !h.hasOp {
		err = errors.New("the head of a record has no kind")
	}
	return h, err
}

// eachROS1Field calls visit with each field of a head. The value is a part of it.
func eachROS1Field(raw []byte, visit func(name string, value []byte) error) error {
	for len(raw) > 0 {
		if len(raw) < 4 {
			return fmt.Errorf("a field of a head takes 4 bytes where %d are left", len(raw))
		}
		length := binary.LittleEndian.Uint32(raw)
		raw = raw[4:]
		if uint64(length) > uint64(len(raw)) {
			return fmt.Errorf("a field of a head takes %d bytes where %d are left", length, len(raw))
		}
		name, value, ok := bytes.Cut(raw[:length], []byte("="))
		if !ok {
			return fmt.Errorf("the field %.40q of a head has no value", raw[:length])
		}
		if err := visit(string(name), value); err != nil {
			return err
		}
		raw = raw[length:]
	}

	return nil
}

// ros1Widths are the bytes of the fields of a fixed length.
var ros1Widths = map[string]int{
	"op": 1, "conn": 4, "size": 4, "count": 4, "chunk_count": 4, "time": 8, "index_pos": 8, "chunk_pos": 8,
}

func (h *ros1Head) set(name string, value []byte) error {
	width, known := ros1Widths[name]
	if known && len(value) != width {
		return fmt.Errorf("the field %s of a head has %d bytes; it takes %d", name, len(value), width)
	}

	switch name {
	case "op":
		h.op, h.hasOp = value[0], true
	case "conn":
		h.conn, h.hasConn = binary.LittleEndian.Uint32(value), true
	case "time":
		h.time, h.hasTime = ros1Time(value), true
	case "size":
		h.size, h.hasSize = binary.LittleEndian.Uint32(value), true
	case "count":
		h.count = binary.LittleEndian.Uint32(value)
	case "chunk_count":
		h.chunkCount = binary.LittleEndian.Uint32(value)
	case "index_pos":
		h.indexPos = binary.LittleEndian.Uint64(value)
	case "chunk_pos":
		h.chunkPos = binary.LittleEndian.Uint64(value)
	case "topic":
		h.topic = string(value)
	case "compression":
		h.compression = string(value)
	case "encryptor":
		h.encryptor = string(value)
	}

	return nil
}

// ros1Time returns a time of seconds and nanoseconds in ns.
func ros1Time(value []byte) uint64 {
	return uint64(binary.LittleEndian.Uint32(value))*1e9 + uint64(binary.LittleEndian.Uint32(value[4:]))
}

// ros1Records reads the records of a bag from a place on.
type ros1Records struct {
	records

	head []byte
}

func newROS1Records(r io.Reader, at, end int64, buf []byte) *ros1Records {
	return &ros1Records{records: records{r: bufio.NewReaderSize(r, 256<<10), at: at, end: end, buf: buf}}
}

// errROS1Cut means that the file ends within the data of a record. What there is of the data comes with it.
var errROS1Cut = errors.New("the file ends within a record")

// next returns the head and the data, which is valid until the next call, and where the record begins. The error at
// the end of the file is io.EOF.
func (s *ros1Records) next() (h ros1Head, data []byte, start int64, err error) {
	start = s.at

	length, err := s.length(maxROS1Head)
	if err != nil {
		return h, nil, start, err
	}

	if cap(s.head) < length {
		s.head = make([]byte, length)
	}
	s.head = s.head[:length]
	n, err := io.ReadFull(s.r, s.head)
	s.at += int64(n)
	if err != nil {
		return h, nil, start, fmt.Errorf("the head of a record takes %d bytes where %d are left", length, n)
	}

	if h, err = parseROS1Head(s.head); err != nil {
		return h, nil, start, err
	}

	length, err = s.length(maxRecord)
	if err == io.EOF {
		err = errors.New("a record ends before its data")
	}
	if err != nil {
		return h, nil, start, err
	}

	// The file may end within the record. Its chunk has whole messages before that.
	wanted := length
	if left := s.end - s.at; s.end >= 0 && int64(length) > left {
		wanted = int(left)
	}
	data, err = s.body(wanted)
	if err != nil {
		data = s.buf
	}
	s.at += int64(len(data))
	if len(data) < length {
		err = fmt.Errorf("%w: it takes %d bytes where %d are left", errROS1Cut, length, len(data))
	}

	return h, data, start, err
}

// length reads a length of four bytes, of which at most limit is allowed.
func (s *ros1Records) length(limit uint32) (int, error) {
	var raw [4]byte
	n, err := io.ReadFull(s.r, raw[:])
	s.at += int64(n)
	if err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("a length takes 4 bytes where %d are left", n)
	}
	if err != nil {
		return 0, err
	}

	length := binary.LittleEndian.Uint32(raw[:])
	if length > limit {
		return 0, fmt.Errorf("a part of a record takes %d bytes; at most %d are read", length, limit)
	}

	return int(length), nil
}

// rest returns all bytes that follow, at most those of one record.
func (s *ros1Records) rest() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(s.r, maxRecord))
	s.at += int64(len(data))
	return data, err
}

// eachROS1Record calls visit with each record of a decompressed chunk, until visit returns an error.
func eachROS1Record(data []byte, visit func(h ros1Head, data []byte) error) error {
	part := func(at int) ([]byte, int, error) {
		if len(data)-at < 4 {
			return nil, at, fmt.Errorf("a length at byte %d of a chunk takes 4 bytes where %d are left", at, len(data)-at)
		}
		length := binary.LittleEndian.Uint32(data[at:])
		at += 4
		if uint64(length) > uint64(len(data)-at) {
			return nil, at, fmt.Errorf("a part at byte %d of a chunk takes %d bytes where %d are left", at, length,
				len(data)-at)
		}

		return data[at:][:length:length], at + int(length), nil
	}

	for at := 0; at < len(data); {
		head, next, err := part(at)
		if err != nil {
			return err
		}
		h, err := parseROS1Head(head)
		if err != nil {
			return fmt.Errorf("the record at byte %d of a chunk: %w", at, err)
		}
		body, next, err := part(next)
		if err != nil {
			return err
		}
		if err := visit(h, body); err != nil {
			return fmt.Errorf("the record at byte %d of a chunk: %w", at, err)
		}
		at = next
	}

	return nil
}

// ros1Inflater decompresses chunks. It reuses its buffer.
type ros1Inflater struct {
	lz4 *lz4.Reader // nil before the first
	buf []byte
}

// inflate returns the records of a chunk, which are valid until the next call. Those of a chunk without compression
// are its data. Of a chunk that ends early, what could be decompressed comes with the error.
func (f *ros1Inflater) inflate(h *ros1Head, data []byte) ([]byte, error) {
	if h.size > maxRecord {
		return nil, fmt.Errorf("a chunk claims %d bytes; at most %d are read", h.size, maxRecord)
	}

	var r io.Reader

	switch h.compression {
	case "none":
		if h.hasSize && uint64(h.size) != uint64(len(data)) {
			return data, fmt.Errorf("the chunk has %d bytes where its head claims %d", len(data), h.size)
		}
		return data, nil
	case "bz2":
		r = bzip2.NewReader(bytes.NewReader(data))
	case "lz4":
		if f.lz4 == nil {
			f.lz4 = lz4.NewReader(nil)
		}
		f.lz4.Reset(bytes.NewReader(data))
		r = f.lz4
	default:
		return nil, fmt.Errorf("the chunk compression %.20q is unknown; none, bz2 and lz4 are read", h.compression)
	}

	// The size is only a claim: the buffer grows with the bytes that come. A recorder that was killed has not filled
	// it in.
	limit := int(h.size)
	if limit == 0 {
		limit = maxRecord
	}

	err := f.fill(r, limit)
	// A reader fails on a damaged block before it gives any of it, but on a damaged checksum only after that.
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		f.buf = f.buf[:0]
	}
	if err == nil && h.size > 0 && len(f.buf) != int(h.size) {
		err = fmt.Errorf("it has %d bytes where its head claims %d", len(f.buf), h.size)
	}
	if err != nil {
		return f.buf, fmt.Errorf("decompressing a chunk: %w", err)
	}

	return f.buf, nil
}

// fill reads all bytes into the buffer, and fails for more than limit.
func (f *ros1Inflater) fill(r io.Reader, limit int) error {
	f.buf = f.buf[:0]
	for {
		// One byte beyond the limit has the reader check what stands at the end of its data.
		if left := limit + 1 - len(f.buf); len(f.buf) == cap(f.buf) && left > 0 {
			f.buf = slices.Grow(f.buf, min(left, max(readStep, cap(f.buf))))
		}
		n, err := r.Read(f.buf[len(f.buf):min(cap(f.buf), limit+1)])
		f.buf = f.buf[:len(f.buf)+n]

		switch {
		case len(f.buf) > limit:
			return fmt.Errorf("it has more bytes than the %d that its head claims", limit)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}
