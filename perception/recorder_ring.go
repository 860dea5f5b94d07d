package perception

import (
	"encoding/binary"
	"sync/atomic"
)

// recordRing is a queue of records between one goroutine that writes and one that
// reads. A record is a header of headerBytes and a payload; it may lie across
// the end of buf. head and tail count bytes since the beginning: head moves
// when a record is complete, tail when it has been read, so that neither side
// ever sees half a record.
type recordRing struct {
	buf  []byte
	head atomic.Uint64 // moved by the writer
	tail atomic.Uint64 // moved by the reader
}

// recordHeader is what precedes a payload.
type recordHeader struct {
	seq    uint64
	at     int64  // nanoseconds since 1970
	missed uint64 // sequence numbers never offered since the record before
	// restart says that the numbers began anew since the record before.
	restart bool
	size    int // bytes of the payload
}

const (
	headerBytes = 32
	restartBit  = 1 << 63
)

func (h recordHeader) encode() (b [headerBytes]byte) {
	size := uint64(h.size)
	if h.restart {
		size |= restartBit
	}
	binary.LittleEndian.PutUint64(b[0:], h.seq)
	binary.LittleEndian.PutUint64(b[8:], uint64(h.at))
	binary.LittleEndian.PutUint64(b[16:], h.missed)
	binary.LittleEndian.PutUint64(b[24:], size)
	return b
}

func decodeHeader(b [headerBytes]byte) recordHeader {
	size := binary.LittleEndian.Uint64(b[24:])
	return recordHeader{
		seq:     binary.LittleEndian.Uint64(b[0:]),
		at:      int64(binary.LittleEndian.Uint64(b[8:])),
		missed:  binary.LittleEndian.Uint64(b[16:]),
		restart: size&restartBit != 0,
		size:    int(size &^ restartBit),
	}
}

// room reports whether the writer can add n bytes.
func (q *recordRing) room(n int) bool {
	return uint64(n) <= uint64(len(q.buf))-(q.head.Load()-q.tail.Load())
}

func (q *recordRing) halfFull() bool {
	return q.head.Load()-q.tail.Load() > uint64(len(q.buf)/2)
}

// put copies b to the place of the byte at pos.
func (q *recordRing) put(pos uint64, b []byte) {
	n := copy(q.buf[pos%uint64(len(q.buf)):], b)
	copy(q.buf, b[n:])
}

// next returns the header at the tail, if it lies before end.
func (q *recordRing) next(end uint64) (recordHeader, bool) {
	tail := q.tail.Load()
	if tail == end {
		return recordHeader{}, false
	}
	var b [headerBytes]byte
	n := copy(b[:], q.buf[tail%uint64(len(q.buf)):])
	copy(b[n:], q.buf)
	return decodeHeader(b), true
}

// take appends the payload of the record at the tail to dst and frees its room.
func (q *recordRing) take(dst []byte, h recordHeader) []byte {
	pos := q.tail.Load() + headerBytes
	from := pos % uint64(len(q.buf))
	first := min(uint64(h.size), uint64(len(q.buf))-from)
	dst = append(dst, q.buf[from:from+first]...)
	dst = append(dst, q.buf[:uint64(h.size)-first]...)
	q.tail.Store(pos + uint64(h.size))
	return dst
}
