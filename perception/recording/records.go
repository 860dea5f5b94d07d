package recording

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// MCAP is a magic number and records: a byte of kind, eight of length, the body.
// A chunk's body holds records in turn, compressed. The library's own readers
// allocate what a record claims and slice by it, which a hostile or a cut file
// turns into a crash; here lengths are checked first, and the library parses
// what is within.

const (
	recordHead = 1 + 8
	// maxRecord bounds a record, and a chunk when it is decompressed. Recorders
	// write chunks of up to some ten megabytes.
	maxRecord = 256 << 20
	// chunkHead is a chunk's body up to the name of its compression.
	chunkHead = 8 + 8 + 8 + 4 + 4
	// The most that a byte can unfold to: a zstd block of 128 KiB takes four
	// bytes, and each byte of LZ4 adds 255.
	zstdRatio, lz4Ratio = 32 << 10, 255
	ratioSlack          = 128 << 10
)

// records reads one record after the other between two places of a file.
type records struct {
	r       *bufio.Reader
	at, end int64
	buf     []byte
}

func newRecords(r io.ReaderAt, from, to int64) *records {
	return &records{r: bufio.NewReaderSize(io.NewSectionReader(r, from, to-from), 256<<10), at: from, end: to}
}

// next returns the kind, the body, which is valid until the next call, and where
// the record begins. Bodies that are not wanted are skipped. io.EOF is the end.
func (s *records) next(want func(mcap.OpCode) bool) (op mcap.OpCode, body []byte, start int64, err error) {
	start = s.at
	left := s.end - s.at
	if left == 0 {
		return 0, nil, start, io.EOF
	}
	if left < recordHead {
		return 0, nil, start, fmt.Errorf("%d bytes are left where a record's head takes %d", left, recordHead)
	}
	var head [recordHead]byte
	if _, err := io.ReadFull(s.r, head[:]); err != nil {
		return 0, nil, start, err
	}
	op = mcap.OpCode(head[0])
	length := binary.LittleEndian.Uint64(head[1:])
	left -= recordHead
	if length > uint64(left) {
		return op, nil, start, fmt.Errorf("a record of %d bytes where %d are left", length, left)
	}
	s.at += recordHead + int64(length)
	if !want(op) {
		_, err := s.r.Discard(int(length))
		return op, nil, start, err
	}
	if length > maxRecord {
		return op, nil, start, fmt.Errorf("a record of %d bytes, at most %d are read", length, maxRecord)
	}
	if uint64(cap(s.buf)) < length {
		s.buf = make([]byte, length+length/4)
	}
	body = s.buf[:length]
	_, err = io.ReadFull(s.r, body)
	return op, body, start, err
}

// inner walks the records of a decompressed chunk.
func inner(data []byte, visit func(op mcap.OpCode, body []byte) error) error {
	for at := 0; at < len(data); {
		if len(data)-at < recordHead {
			return fmt.Errorf("%d bytes are left in the chunk where a record's head takes %d", len(data)-at, recordHead)
		}
		length := binary.LittleEndian.Uint64(data[at+1:])
		body := data[at+recordHead:]
		if length > uint64(len(body)) {
			return fmt.Errorf("a record of %d bytes where the chunk has %d left", length, len(body))
		}
		if err := visit(mcap.OpCode(data[at]), body[:length:length]); err != nil {
			return err
		}
		at += recordHead + int(length)
	}
	return nil
}

// chunk is a chunk's body with what its head says.
type chunk struct {
	start, end  uint64
	size        uint64
	crc         uint32
	compression string
	records     []byte
}

func parseChunk(body []byte) (c chunk, err error) {
	short := errors.New("the chunk's head is cut")
	if len(body) < chunkHead {
		return c, short
	}
	le := binary.LittleEndian
	c.start, c.end, c.size, c.crc = le.Uint64(body), le.Uint64(body[8:]), le.Uint64(body[16:]), le.Uint32(body[24:])
	n := le.Uint32(body[28:])
	rest := body[chunkHead:]
	if uint64(n)+8 > uint64(len(rest)) {
		return c, short
	}
	c.compression, rest = string(rest[:n]), rest[n:]
	length := le.Uint64(rest)
	rest = rest[8:]
	if length != uint64(len(rest)) {
		return c, fmt.Errorf("the chunk says that its records take %d bytes where there are %d", length, len(rest))
	}
	c.records = rest
	return c, nil
}

// inflater decompresses chunks, reusing what it can.
type inflater struct {
	zstd *zstd.Decoder
	lz4  *lz4.Reader
}

// inflate returns the chunk's records, in buf when there is room.
func (f *inflater) inflate(c chunk, buf []byte) ([]byte, error) {
	ratio := uint64(1)
	switch c.compression {
	case "zstd":
		ratio = zstdRatio
	case "lz4":
		ratio = lz4Ratio
	}
	if c.size > maxRecord || c.size > uint64(len(c.records))*ratio+ratioSlack {
		return nil, fmt.Errorf("a chunk of %d bytes in %d of %.20q; at most %d are read", c.size, len(c.records), c.compression, maxRecord)
	}
	if uint64(cap(buf)) < c.size {
		buf = make([]byte, c.size)
	}
	buf = buf[:c.size:c.size]
	var err error
	switch c.compression {
	case "":
		if uint64(len(c.records)) != c.size {
			return nil, fmt.Errorf("a chunk of %d bytes says that they are %d", len(c.records), c.size)
		}
		copy(buf, c.records)
	case "zstd":
		err = f.unzstd(c, buf)
	case "lz4":
		if f.lz4 == nil {
			f.lz4 = lz4.NewReader(nil)
		}
		f.lz4.Reset(bytes.NewReader(c.records))
		_, err = io.ReadFull(f.lz4, buf)
	default:
		return nil, fmt.Errorf("chunk compression %.20q is not read; zstd and lz4 are", c.compression)
	}
	if err != nil {
		return nil, fmt.Errorf("decompressing a chunk: %w", err)
	}
	if sum := crc32.ChecksumIEEE(buf); c.crc != 0 && sum != c.crc {
		return nil, fmt.Errorf("a chunk's checksum is %08x where %08x is written", sum, c.crc)
	}
	return buf, nil
}

func (f *inflater) unzstd(c chunk, buf []byte) error {
	if f.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(maxRecord))
		if err != nil {
			return err
		}
		f.zstd = d
	}
	out, err := f.zstd.DecodeAll(c.records, buf[:0])
	if err == nil && len(out) != len(buf) {
		err = fmt.Errorf("%d bytes where %d are written", len(out), len(buf))
	}
	return err
}

func (f *inflater) close() {
	if f.zstd != nil {
		f.zstd.Close()
	}
}
