package salvage

import (
	"encoding/binary"
	"io"

	"github.com/robotmem/robotmem-go/robotmem/pagesum"
)

const (
	walHeader   = 32
	frameHeader = 24
	walMagic    = 0x377f0682 // with 1 added: its sums are over big-endian words
)

// wal is a log: the newest committed place of each page in it. A frame is
// believed when its checksum follows from the stored checksum of the frame
// before it, and its salts are those of the log.
//
// SQLite ends at the first frame that does not check, and so does at. What
// follows may have been committed after a frame that was damaged since, or be
// left of a commit that a power cut has torn and that another was written over:
// late holds it apart, and its rows are only added to what is there.
type wal struct {
	r        io.ReaderAt
	pageSize int
	at, late map[uint32]int64 // of a page's bytes
	last     uint32           // the largest page of a commit's file
	frames   int
	damaged  int
}

// readLog reads a log. Its own page size is taken when it is whole, as it should
// be that of the file.
func readLog(r io.ReaderAt, size int64, pageSize int) *wal {
	w := &wal{r: r, pageSize: pageSize, at: map[uint32]int64{}, late: map[uint32]int64{}}
	head := make([]byte, walHeader)
	if size < walHeader || !readAt(r, head, 0) {
		return w
	}
	order, headWhole := logHead(head)
	if headWhole && int(binary.BigEndian.Uint32(head[8:])) != pageSize {
		return w // not of this file
	}
	salts := binary.BigEndian.Uint64(head[16:])
	seed1, seed2 := binary.BigEndian.Uint32(head[24:]), binary.BigEndian.Uint32(head[28:])
	frame := make([]byte, frameHeader+pageSize)
	into, pending := w.at, map[uint32]int64{}
	waiting, broken := 0, 0
	for at := int64(walHeader); at+int64(len(frame)) <= size; at += int64(len(frame)) {
		whole := readAt(r, frame, at)
		n, commit := binary.BigEndian.Uint32(frame), binary.BigEndian.Uint32(frame[4:])
		first := !headWhole && at == walHeader
		if first {
			salts = binary.BigEndian.Uint64(frame[8:]) // nothing is left to check it by
		}
		c1, c2 := binary.BigEndian.Uint32(frame[16:]), binary.BigEndian.Uint32(frame[20:])
		s1, s2 := pagesum.Fletcher(order, seed1, seed2, frame[:8])
		s1, s2 = pagesum.Fletcher(order, s1, s2, frame[frameHeader:])
		seed1, seed2 = c1, c2
		if !whole || n == 0 || binary.BigEndian.Uint64(frame[8:]) != salts || !first && (s1 != c1 || s2 != c2) {
			// What was not committed before this is not known to have been.
			into = w.late
			clear(pending)
			waiting, broken = 0, broken+1
			continue
		}
		pending[n] = at + frameHeader
		waiting++
		if commit != 0 {
			for n, at := range pending {
				into[n] = at
			}
			clear(pending)
			w.last = max(w.last, commit)
			w.frames += waiting
			// What follows the last commit was never acknowledged, whole or not.
			w.damaged += broken
			waiting, broken = 0, 0
		}
	}
	if !headWhole && w.frames > 0 {
		w.damaged++
	}
	return w
}

// logHead returns the order of the words that a log's sums are made of, and
// whether its head is whole.
func logHead(head []byte) (order binary.ByteOrder, whole bool) {
	order = binary.LittleEndian
	kind := binary.BigEndian.Uint32(head)
	if kind == walMagic|1 {
		order = binary.BigEndian
	}
	s1, s2 := pagesum.Fletcher(order, 0, 0, head[:24])
	return order, kind|1 == walMagic|1 && s1 == binary.BigEndian.Uint32(head[24:]) && s2 == binary.BigEndian.Uint32(head[28:])
}

// logPageSize is the page size that a log names, 0 if its head is damaged.
func logPageSize(r io.ReaderAt) int {
	head := make([]byte, walHeader)
	if !readAt(r, head, 0) {
		return 0
	}
	if _, whole := logHead(head); !whole {
		return 0
	}
	if size := int(binary.BigEndian.Uint32(head[8:])); validSize(size) {
		return size
	}
	return 0
}

func (w *wal) empty() bool { return w == nil || w.frames == 0 }

// page reads the newest bytes of a page, if the log has it.
func (w *wal) page(n uint32, p []byte) bool {
	if w == nil {
		return false
	}
	at, ok := w.at[n]
	return ok && readAt(w.r, p, at)
}

func (w *wal) latePage(n uint32, p []byte) bool {
	if w == nil {
		return false
	}
	at, ok := w.late[n]
	return ok && readAt(w.r, p, at)
}
