package recording

// An MCAP file is a magic number and records. A record is one byte of kind, eight bytes of
// length and the body. The body of a chunk holds compressed records. The readers of the
// library allocate what a record claims and slice by it, so that a damaged file makes them
// panic. This file therefore checks all lengths first; the library parses the bodies.

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/robotmem/robotmem-go/perception/segment"
)

const (
	recordHead = segment.RecordHead
	// maxRecord bounds a record, and a chunk when it is decompressed, in bytes. Recorders
	// write chunks of up to some ten megabytes.
	maxRecord = 256 << 20
	// The most that one byte can decompress to: a zstd block of 128 KiB takes four bytes, and each
	// byte of LZ4 adds 255.
	zstdRatio, lz4Ratio = 32 << 10, 255
	ratioSlack          = 128 << 10
)

// records reads the records of a file from a place on.
type records struct {
	r   *bufio.Reader
	at  int64
	end int64 // -1 is unknown
	buf []byte
	sum uint32 // of the bytes so far
	// sumBefore is the checksum of the bytes before the last record.
	sumBefore uint32
}

// skip passes over bytes that are no record.
func (s *records) skip(n int64) error {
	copied, err := io.CopyN(sumWriter{&s.sum}, s.r, n)
	s.at += copied
	return err
}

// next returns the kind, the body, which is valid until the next call, and where the record begins.
// Bodies of attachments, of metadata and of most of the index are skipped. The error at the end is
// io.EOF.
func (s *records) next() (op mcap.OpCode, body []byte, start int64, err error) {
	start = s.at
	s.sumBefore = s.sum

	var head [recordHead]byte
	n, err := io.ReadFull(s.r, head[:])
	if err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("the head of a record takes %d bytes where %d are left", recordHead, n)
	}
	if err != nil {
		return 0, nil, start, err
	}

	s.sum = crc32.Update(s.sum, crc32.IEEETable, head[:])
	s.at += recordHead

	// Zeros, which a file system leaves after a crash, would be empty records.
	if op = mcap.OpCode(head[0]); op == mcap.OpReserved {
		return op, nil, start, errors.New("a record has the kind 0, which no record has")
	}

	length := binary.LittleEndian.Uint64(head[1:])
	if left := s.end - s.at; s.end >= 0 && length > uint64(left) {
		return op, nil, start, fmt.Errorf("a record takes %d bytes where %d are left", length, left)
	}

	read := op <= mcap.OpChunk || op == mcap.OpMessageIndex || op == mcap.OpStatistics || op == mcap.OpDataEnd
	// Attachments can be gigabytes. They pass through the checksum but not through memory.
	if !read {
		copied, err := io.CopyN(sumWriter{&s.sum}, s.r, int64(min(length, math.MaxInt64)))
		if err == io.EOF {
			err = fmt.Errorf("a record takes %d bytes where %d are left", length, copied)
		}
		s.at += copied
		return op, nil, start, err
	}

	if length > maxRecord {
		return op, nil, start, fmt.Errorf("a record takes %d bytes; at most %d are read", length, maxRecord)
	}

	body, err = s.body(int(length))
	s.sum = crc32.Update(s.sum, crc32.IEEETable, body)
	s.at += int64(length)

	return op, body, start, err
}

// readStep is the number of bytes that are read at once of a record whose length cannot be compared with the file's.
const readStep = 1 << 20

func (s *records) body(length int) ([]byte, error) {
	// The length was checked against the file, so it may be allocated at once, with room for the next larger chunk.
	if s.end >= 0 && cap(s.buf) < length {
		s.buf = make([]byte, length+length/4)
	}

	s.buf = s.buf[:0]
	for len(s.buf) < length {
		// In a compressed file the length is only a claim. The buffer grows with the bytes that arrive.
		had := len(s.buf)
		s.buf = slices.Grow(s.buf, min(length-had, max(readStep, cap(s.buf)-had)))
		s.buf = s.buf[:min(length, cap(s.buf))]
		if n, err := io.ReadFull(s.r, s.buf[had:]); err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, fmt.Errorf("a record takes %d bytes where %d are left", length, had+n)
		} else if err != nil {
			return nil, err
		}
	}

	return s.buf, nil
}

// sumWriter adds what is written to a checksum.
type sumWriter struct{ sum *uint32 }

func (w sumWriter) Write(data []byte) (int, error) {
	*w.sum = crc32.Update(*w.sum, crc32.IEEETable, data)
	return len(data), nil
}

// inflater decompresses chunks. It reuses its decoders and its buffer.
type inflater struct {
	zstd *zstd.Decoder
	lz4  *lz4.Reader
	buf  []byte
}

func newInflater() inflater {
	// The constant options are valid.
	decoder, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxMemory(maxRecord))
	return inflater{zstd: decoder, lz4: lz4.NewReader(nil)}
}

// inflate returns the records of a chunk, which are valid until the next call. Those of a chunk
// without compression are part of its body.
func (f *inflater) inflate(body []byte) ([]byte, error) {
	var head struct {
		Start, End, Size uint64 // decompressed
		CRC              uint32 // of the decompressed bytes; 0 is none
		NameBytes        uint32 // of the compression
	}
	n, err := binary.Decode(body, binary.LittleEndian, &head)
	if err != nil || uint64(head.NameBytes)+8 > uint64(len(body)-n) {
		return nil, errors.New("the head of the chunk is cut")
	}

	compression, rest := string(body[n:][:head.NameBytes]), body[n:][head.NameBytes:]
	length, packed := binary.LittleEndian.Uint64(rest), rest[8:]
	if length != uint64(len(packed)) {
		return nil, fmt.Errorf("the chunk claims %d bytes of records where it has %d", length, len(packed))
	}
	// Check before allocating the buffer: a few damaged bytes could claim gigabytes.
	if head.Size > maxRecord ||
		head.Size > length*max(1, map[string]uint64{"zstd": zstdRatio, "lz4": lz4Ratio}[compression])+ratioSlack {
		return nil, fmt.Errorf("a chunk claims %d bytes in %d of %.20q; at most %d are read", head.Size, length,
			compression, maxRecord)
	}
	if compression != "" && uint64(cap(f.buf)) < head.Size {
		f.buf = make([]byte, head.Size)
	}

	var buf []byte

	switch compression {
	case "":
		buf = packed
	case "zstd":
		// The capacity stops the decoder at the claimed size; see WithDecodeAllCapLimit.
		buf, err = f.zstd.DecodeAll(packed, f.buf[:0:head.Size])
	case "lz4":
		f.lz4.Reset(bytes.NewReader(packed))
		buf = f.buf[:head.Size]
		_, err = io.ReadFull(f.lz4, buf)
	default:
		return nil, fmt.Errorf("the chunk compression %.20q is unknown; zstd and lz4 are read", compression)
	}

	if err == nil && uint64(len(buf)) != head.Size {
		err = fmt.Errorf("it has %d bytes where its head claims %d", len(buf), head.Size)
	}
	if err != nil {
		return nil, fmt.Errorf("decompressing a chunk: %w", err)
	}
	if sum := crc32.ChecksumIEEE(buf); head.CRC != 0 && sum != head.CRC {
		return nil, fmt.Errorf("the checksum of a chunk is %08x; %08x is stored", sum, head.CRC)
	}

	return buf, nil
}

// unpacker decompresses messages that a recorder compressed one by one, as rosbag2 does with
// --compression-mode message. It reuses its decoder and its buffer.
type unpacker struct {
	zstd *zstd.Decoder // nil before the first
	buf  []byte
}

// maxMessage bounds such a message when it is decompressed, in bytes.
const maxMessage = 96 << 20

// unpack returns the message itself, which is valid until the next call, if it is in CDR and begins
// as zstd does, which no CDR message does. A message that is damaged is returned as it is: decoding it
// says so.
func (u *unpacker) unpack(c *Channel, data []byte) []byte {
	if c.MessageEncoding != "cdr" || !bytes.HasPrefix(data, []byte(zstdMagic)) {
		return data
	}

	var head zstd.Header
	if err := head.Decode(data); err != nil {
		return data
	}
	// Refuse a message whose size is more than its bytes can hold before the decoder allocates it.
	if limit := min(maxMessage, uint64(len(data))*zstdRatio+ratioSlack); head.HasFCS && head.FrameContentSize > limit {
		return data
	}

	if u.zstd == nil {
		// The constant options are valid.
		u.zstd, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxMessage))
	}

	out, err := u.zstd.DecodeAll(data, u.buf[:0])
	if err != nil {
		return data
	}
	// Each open file has its own unpacker; one large image must not keep its memory for the whole import.
	if u.buf = out; cap(out) > keptBuffer {
		u.buf = nil
	}

	return out
}

// keptBuffer is the largest buffer that is kept for the next message, in bytes.
const keptBuffer = 1 << 20

func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}
