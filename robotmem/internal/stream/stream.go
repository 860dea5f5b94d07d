// Package stream writes and reads the snapshots of indexes: a format, counts as uvarints and
// sections of bytes, each after its length, and at the end CRC-32C of everything before, four
// bytes, little-endian.
package stream

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"slices"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Writer writes a snapshot. It keeps its first error until Close.
type Writer struct {
	out *bufio.Writer
	crc uint32
}

// NewWriter begins a snapshot of a format, which includes its version.
func NewWriter(w io.Writer, format string) *Writer {
	s := &Writer{out: bufio.NewWriterSize(w, 1<<16)}
	s.Bytes([]byte(format))
	return s
}

// Bytes writes bytes whose length the reader knows.
func (w *Writer) Bytes(b []byte) {
	w.crc = crc32.Update(w.crc, castagnoli, b)
	_, _ = w.out.Write(b)
}

// Count writes a number from 0.
func (w *Writer) Count(n int) { w.Bytes(binary.AppendUvarint(w.out.AvailableBuffer(), uint64(n))) }

// Section writes bytes after their length.
func (w *Writer) Section(b []byte) {
	w.Count(len(b))
	w.Bytes(b)
}

// Close writes the checksum.
func (w *Writer) Close() error {
	w.Bytes(binary.LittleEndian.AppendUint32(nil, w.crc))
	return w.out.Flush()
}

// Reader reads a snapshot until the first error, and zeros from there on.
type Reader struct {
	Err error
	r   *bufio.Reader
	crc uint32
}

// NewReader begins to read a snapshot of a format.
func NewReader(r io.Reader, format string) *Reader {
	s := &Reader{r: bufio.NewReaderSize(r, 1<<16)}
	if string(s.Bytes(len(format))) != format && s.Err == nil {
		s.Err = errors.New("another format or version")
	}
	return s
}

// readSize is how many bytes are allocated before they have arrived.
const readSize = 1 << 20

// Bytes reads n bytes, nil after an error. It allocates memory for all of them when all have
// arrived.
func (r *Reader) Bytes(n int) []byte {
	var chunks [][]byte

	for ; n > 0 && r.Err == nil; n -= min(n, readSize) {
		b := make([]byte, min(n, readSize))
		_, r.Err = io.ReadFull(r.r, b)
		r.crc = crc32.Update(r.crc, castagnoli, b)
		chunks = append(chunks, b)
	}

	switch {
	case errors.Is(r.Err, io.EOF), errors.Is(r.Err, io.ErrUnexpectedEOF):
		r.Err = errors.New("the stream is cut off")
	case r.Err == nil && len(chunks) == 1:
		return chunks[0]
	case r.Err == nil:
		return slices.Concat(chunks...)
	}

	return nil
}

func (r *Reader) ReadByte() (byte, error) {
	b := r.Bytes(1)
	if r.Err != nil {
		return 0, r.Err
	}
	return b[0], nil
}

// Count reads a number of at most 2⁴⁷.
func (r *Reader) Count() int {
	n, err := binary.ReadUvarint(r)
	if r.Err == nil && (err != nil || n > math.MaxInt>>16) {
		r.Err = errors.Join(errors.New("a number is too large"), err)
	}
	if r.Err != nil {
		return 0
	}

	return int(n)
}

// Section reads bytes after their length.
func (r *Reader) Section() []byte { return r.Bytes(r.Count()) }

// Close checks that the snapshot ends here, with its checksum.
func (r *Reader) Close() error {
	want := r.crc
	if sum := r.Bytes(4); r.Err == nil && binary.LittleEndian.Uint32(sum) != want {
		r.Err = errors.New("the checksum is wrong")
	}
	if r.Err == nil {
		if _, err := r.r.ReadByte(); err != io.EOF {
			r.Err = errors.New("there is more behind the end")
		}
	}

	return r.Err
}
