package payload

import (
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// workspace holds the coders and the buffer of one encoding or decoding, for reuse. One
// goroutine uses it at a time.
type workspace struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
	scratch []byte // for rearranged arrays
}

// zstdWindow is the window of the compressor in bytes.
const zstdWindow = 1 << 20

// workspaces holds the unused ones. The garbage collector empties it.
var workspaces = sync.Pool{New: func() any {
	// The constant options are valid.
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(zstdWindow), zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false),
		zstd.WithZeroFrames(true), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(MaxWhole), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err)
	}
	return &workspace{encoder: encoder, decoder: decoder}
}}

func borrow() *workspace { return workspaces.Get().(*workspace) }

func (w *workspace) release() {
	if cap(w.scratch) > blockSize {
		w.scratch = nil // large payloads are rare
	}
	workspaces.Put(w)
}

func (w *workspace) room(size int) []byte {
	if cap(w.scratch) < size {
		w.scratch = make([]byte, size)
	}
	return w.scratch[:size]
}

// encode appends the encoding in a layout that compresses.
func (w *workspace) encode(l layout, dst, raw []byte) []byte {
	if l.Element > 0 {
		arranged := w.room(len(raw))
		l.move(arranged, raw, false)
		raw = arranged
	}
	return w.encoder.EncodeAll(raw, dst)
}

// decode fills raw from stored, which must be exactly one frame of that size.
func (w *workspace) decode(l layout, raw, stored []byte) error {
	if err := checkFrame(stored, int64(len(raw))); err != nil {
		return err
	}
	into := raw
	if l.Element > 0 {
		into = w.room(len(raw))
	}
	got, err := w.decoder.DecodeAll(stored, into[:0:len(into)])
	if err != nil {
		return err
	}
	if len(got) != len(raw) {
		return fmt.Errorf("the frame holds %d bytes and should hold %d", len(got), len(raw))
	}
	if l.Element > 0 {
		l.move(raw, got, true)
	} else if len(raw) > 0 && &got[0] != &raw[0] {
		copy(raw, got)
	}
	return nil
}

// checkFrame checks without decoding (RFC 8878, 3.1.1) that stored is exactly one frame,
// that the frame claims size bytes, and that its blocks can hold that many.
func checkFrame(stored []byte, size int64) error {
	var h zstd.Header
	if err := h.Decode(stored); err != nil {
		return fmt.Errorf("reading the frame: %w", err)
	}
	if h.Skippable || h.DictionaryID != 0 || !h.HasFCS || h.FrameContentSize != uint64(size) {
		return fmt.Errorf("the frame is not one of %d bytes", size)
	}
	const (
		blockRaw, blockRLE, blockCompressed = 0, 1, 2

		maxBlock = 128 << 10
	)
	rest, most := stored[h.HeaderSize:], int64(0)
	for last := false; !last; {
		if len(rest) < 3 {
			return errors.New("the frame ends within a block")
		}
		head := int(rest[0]) | int(rest[1])<<8 | int(rest[2])<<16
		kind, length, here := head>>1&3, head>>3, head>>3
		last, rest = head&1 == 1, rest[3:]
		switch kind {
		case blockRaw:
		case blockRLE:
			here = 1
		case blockCompressed:
			length = maxBlock
		default:
			return errors.New("the frame has a block of an unknown kind")
		}
		if here > len(rest) {
			return errors.New("the frame ends within a block")
		}
		rest, most = rest[here:], most+int64(min(length, maxBlock))
	}
	if h.HasCheckSum {
		if len(rest) < 4 {
			return errors.New("the frame ends within its checksum")
		}
		rest = rest[4:]
	}
	if len(rest) > 0 {
		return fmt.Errorf("%d bytes follow the frame", len(rest))
	}
	if most < size {
		return fmt.Errorf("the frame claims %d bytes and holds at most %d", size, most)
	}
	return nil
}
