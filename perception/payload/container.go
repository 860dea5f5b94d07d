package payload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// The file of a compressed payload can be read from any place. All numbers are
// little-endian. A checksum is CRC-32C (Castagnoli).
//
//	header   "\x89RMP\r\n\x1a\n", version 1 (1 byte), length of the codec's text
//	         (1 byte), the text, bytes in a block (4 bytes)
//	blocks   one after another
//	index    for each block: its stored length, with the top bit set if it is not
//	         encoded (4 bytes), the checksum of its decoded bytes (4 bytes)
//	trailer  SHA-256 of the payload (32 bytes), its size (8 bytes), checksum of
//	         header, index and the trailer so far (4 bytes), "RMPend\r\n"
//
// Each block but the last holds the same number of decoded bytes, whole rows of the array.
// Each is encoded independently; a block that would not shrink is not encoded.
const (
	headMagic = "\x89RMP\r\n\x1a\n"
	tailMagic = "RMPend\r\n"
	version   = 1

	blockSize   = 1 << 20 // decoded bytes, cut to whole rows
	entrySize   = 8
	trailerSize = 32 + 8 + 4 + 8
	storedRaw   = 1 << 31
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type block struct {
	at     int64 // in the file
	stored int
	raw    bool // not encoded
	check  uint32
}

// blockOf returns the largest block of whole rows within the limit, in decoded bytes.
func (l layout) blockOf(limit int) int {
	if l.element == 0 || limit < l.row() {
		return limit
	}
	return limit - limit%l.row()
}

func (l layout) header(block int) []byte {
	text := l.codec
	head := append([]byte(headMagic), version, byte(len(text)))
	head = append(head, text...)
	return binary.LittleEndian.AppendUint32(head, uint32(block))
}

// writeContainer writes the file of the bytes of src, in blocks of that many decoded bytes,
// and returns its length. It calls sum when src is at its end.
func writeContainer(dst io.Writer, src io.Reader, l layout, block int, sum func() [32]byte) (int64, error) {
	w := borrow()
	defer w.release()
	head := l.header(block)
	if _, err := dst.Write(head); err != nil {
		return 0, err
	}

	length, size := int64(len(head)), int64(0)
	raw, stored := make([]byte, block), []byte(nil)

	var index []byte

	for {
		n, err := io.ReadFull(src, raw)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return 0, err
		}
		if n == 0 {
			break
		}
		out, flag := raw[:n], uint32(storedRaw)
		stored = w.encode(l, stored[:0], out)
		// The checksum is of the decoded bytes, so that it also detects an error of the decoder.
		check := crc32.Checksum(out, castagnoli)
		if len(stored) < n {
			out, flag = stored, 0
		}
		if _, err := dst.Write(out); err != nil {
			return 0, err
		}
		index = binary.LittleEndian.AppendUint32(index, uint32(len(out))|flag)
		index = binary.LittleEndian.AppendUint32(index, check)
		size, length = size+int64(n), length+int64(len(out))
	}

	// The hash is complete only now, since writing reads the payload once. Sum and size are therefore in the
	// trailer.
	total := sum()
	tail := binary.LittleEndian.AppendUint64(append(index, total[:]...), uint64(size))
	check := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, tail)
	tail = append(binary.LittleEndian.AppendUint32(tail, check), tailMagic...)
	_, err := dst.Write(tail)

	return length + int64(len(tail)), err
}

type container struct {
	file   io.ReaderAt
	layout layout
	sum    [32]byte
	size   int64
	block  int // decoded bytes
	blocks []block

	raw    []byte // a decoded block
	loaded int    // its number; -1 before the first
}

func openContainer(file io.ReaderAt, length int64) (*container, error) {
	c := &container{file: file, loaded: -1}
	head, err := c.readHeader(length)
	if err != nil {
		return nil, err
	}

	trailer := make([]byte, trailerSize)
	if _, err := file.ReadAt(trailer, length-trailerSize); err != nil {
		return nil, cut(err)
	}

	c.sum = [32]byte(trailer)
	size := binary.LittleEndian.Uint64(trailer[32:])
	if string(trailer[44:]) != tailMagic {
		return nil, errors.New("the mark at its end is missing")
	}

	// The bytes between header and trailer limit the number of blocks.
	room := length - trailerSize - int64(len(head))
	count := size/uint64(c.block) + min(size%uint64(c.block), 1)
	if count > uint64(room/entrySize) {
		return nil, fmt.Errorf("it claims %d blocks in %d bytes", count, room)
	}

	c.size = int64(size)
	index := make([]byte, int(count)*entrySize)
	if _, err := file.ReadAt(index, length-trailerSize-int64(len(index))); err != nil {
		return nil, cut(err)
	}

	check := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, index)
	if crc32.Update(check, castagnoli, trailer[:40]) != binary.LittleEndian.Uint32(trailer[40:]) {
		return nil, errors.New("the checksum of its index does not match")
	}

	return c, c.readIndex(index, int64(len(head)), room-int64(len(index)))
}

// readHeader sets the layout and the block size, and returns the bytes of the header.
func (c *container) readHeader(length int64) ([]byte, error) {
	const fixed = len(headMagic) + 2
	// The length of the codec's text is only known after reading, so the longest possible header is read at once.
	head := make([]byte, max(0, min(length-trailerSize, int64(fixed+maxCodec+4))))
	if len(head) < fixed {
		return nil, errors.New("it is shorter than its header")
	}
	if _, err := c.file.ReadAt(head, 0); err != nil {
		return nil, cut(err)
	}
	if string(head[:len(headMagic)]) != headMagic {
		return nil, errors.New("the mark at its beginning is missing")
	}
	if head[fixed-2] != version {
		return nil, fmt.Errorf("its version is %d; known is %d", head[fixed-2], version)
	}

	end := fixed + int(head[fixed-1])
	if len(head) < end+4 {
		return nil, errors.New("it ends within its header")
	}

	var err error
	if c.layout, err = Codec(head[fixed:end]).parse(); err != nil {
		return nil, err
	}

	block := binary.LittleEndian.Uint32(head[end:])
	if block < 1 || block > blockSize {
		return nil, fmt.Errorf("its blocks have %d bytes; 1 to %d are allowed", block, blockSize)
	}

	c.block = int(block)

	return head[:end+4], nil
}

// readIndex computes where the blocks are. They must fill room bytes from at.
func (c *container) readIndex(index []byte, at, room int64) error {
	c.blocks = make([]block, 0, len(index)/entrySize)
	for ; len(index) > 0; index = index[entrySize:] {
		word := binary.LittleEndian.Uint32(index)
		b := block{
			at: at, stored: int(word &^ storedRaw), raw: word&storedRaw != 0,
			check: binary.LittleEndian.Uint32(index[4:]),
		}
		// load allocates the stored length, so the index must not claim more than a block or than the file has.
		if b.stored > blockSize || int64(b.stored) > room {
			return fmt.Errorf("block %d claims %d bytes of %d", len(c.blocks), b.stored, room)
		}
		at, room = at+int64(b.stored), room-int64(b.stored)
		c.blocks = append(c.blocks, b)
	}
	if room != 0 {
		return fmt.Errorf("%d bytes belong to no block", room)
	}

	return nil
}

// load decodes block i into raw.
func (c *container) load(i int) error {
	if i == c.loaded {
		return nil
	}

	// raw is overwritten from here on. If loading fails, the old block must not be taken for loaded.
	c.loaded = -1
	// All blocks but the last are full.
	size := int(min(int64(c.block), c.size-int64(i)*int64(c.block)))
	if cap(c.raw) < size {
		c.raw = make([]byte, size)
	}

	c.raw = c.raw[:size]
	b, stored := c.blocks[i], c.raw
	if !b.raw {
		stored = make([]byte, b.stored)
	} else if b.stored != size {
		return fmt.Errorf("block %d has %d bytes and should have %d", i, b.stored, size)
	}

	if _, err := c.file.ReadAt(stored, b.at); err != nil {
		return cut(err)
	}

	if !b.raw {
		w := borrow()
		defer w.release()
		if err := w.decode(c.layout, c.raw, stored); err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
	}

	if crc32.Checksum(c.raw, castagnoli) != b.check {
		return fmt.Errorf("the checksum of block %d does not match", i)
	}

	c.loaded = i

	return nil
}

// cut tells a file that is too short from an error of the file system.
func cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("its file ends too early")
	}
	return onDisk(err)
}
