package payload

import (
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
	// Frames have no checksum, because payloads have a hash and blocks a checksum. A single segment makes each
	// frame state its size, which checkFrame needs.
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

// encode appends the frame of raw to dst. The numbers of an array are first arranged so that they compress better.
func (w *workspace) encode(l layout, dst, raw []byte) []byte {
	if l.element > 0 {
		arranged := w.room(len(raw))
		l.move(arranged, raw, false)
		raw = arranged
	}
	return w.encoder.EncodeAll(raw, dst)
}

// decode fills raw from stored, which must be a frame of that size.
func (w *workspace) decode(l layout, raw, stored []byte) error {
	into := raw
	if l.element > 0 {
		into = w.room(len(raw))
	}
	// The capacity ends the decoding of a frame that holds more than it should.
	got, err := w.decoder.DecodeAll(stored, into[:0:len(into)])
	if err != nil {
		return err
	}
	if len(got) != len(raw) {
		return fmt.Errorf("the frame holds %d bytes and should hold %d", len(got), len(raw))
	}
	if l.element > 0 {
		l.move(raw, got, true)
	} else if len(raw) > 0 && &got[0] != &raw[0] {
		copy(raw, got)
	}

	return nil
}

// maxRatio is the most bytes that one byte of a frame decompresses to: a block of 128 KiB takes at least four bytes.
const maxRatio = 32 << 10

// checkFrame checks without decoding that stored begins with a frame that claims size bytes, and
// that it can hold so many.
func checkFrame(stored []byte, size int64) error {
	var h zstd.Header
	if err := h.Decode(stored); err != nil {
		return fmt.Errorf("reading the frame: %w", err)
	}
	if h.Skippable || h.DictionaryID != 0 || !h.HasFCS || h.FrameContentSize != uint64(size) {
		return fmt.Errorf("the frame is not one of %d bytes", size)
	}
	if size > int64(len(stored))*maxRatio {
		return fmt.Errorf("the frame claims %d bytes in %d", size, len(stored))
	}

	return nil
}
