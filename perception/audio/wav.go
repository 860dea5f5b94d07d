package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/robotmem/robotmem-go/perception/internal/wav"
)

// wavFile is the header of a WAV file with the bytes of its samples. Its Bits are 0 if unknown.
type wavFile struct {
	wav.Header
	// length is the number of samples of one channel that are there, and claimed the number that
	// the header claims; 0 is unknown.
	length, claimed int64
	size            int // bytes of a sample of one channel
	body            []byte
	// sample scales the bytes of one sample to -1 to 1; err says why samples are not read.
	sample func(b []byte) float64
	err    error
}

// openWAV keeps the samples that are there of those that the header claims. A
// recorder that streams claims 0 or about 2^32 bytes, which counts as unknown.
func openWAV(data []byte) (*wavFile, error) {
	h, err := wav.Parse(data)
	if err != nil {
		return nil, err
	}
	const maxRate = 10_000_000 // more than any converter of sound or vibration
	if h.Rate == 0 || h.Rate > maxRate {
		return nil, fmt.Errorf("the WAV file has %d Hz; 1 to %d Hz are read", h.Rate, maxRate)
	}
	w := &wavFile{Header: h, size: (h.Bits + 7) / 8}
	w.sample, w.err = w.reader()
	switch h.Code {
	case wav.PCM, wav.Float, wav.ALaw, wav.MuLaw:
	default: // compressed blocks, whose samples cannot be counted
		w.Bits = 0
		return w, nil
	}
	frame := w.size * w.Channels
	if frame == 0 {
		return nil, errors.New("the WAV file has samples of 0 bits")
	}
	const unknown = 0xffff_0000
	w.body = data[h.Start:]
	if h.Claimed > 0 {
		w.body = w.body[:min(h.Claimed, int64(len(w.body)))]
	}
	if h.Claimed < unknown {
		w.claimed = h.Claimed / int64(frame)
	}
	w.length = int64(len(w.body) / frame)
	return w, nil
}

// each calls f with the readings of each sample from lo up to and without hi. They are valid until
// f returns. The samples must be readable.
func (w *wavFile) each(lo, hi int64, f func(readings []float64)) {
	readings := make([]float64, w.Channels)
	for at := lo; at < hi; at++ {
		frame := w.body[at*int64(w.size*w.Channels):]
		for c := range readings {
			readings[c] = w.sample(frame[c*w.size:])
		}
		f(readings)
	}
}

// reader returns a function that scales the bytes of one sample to -1 to 1.
func (w *wavFile) reader() (func(b []byte) float64, error) {
	le := binary.LittleEndian
	read := map[[2]int]func(b []byte) float64{
		{wav.PCM, 8}:    func(b []byte) float64 { return (float64(b[0]) - 128) / 128 }, // the only size without a sign
		{wav.PCM, 16}:   func(b []byte) float64 { return float64(int16(le.Uint16(b))) / (1 << 15) },
		{wav.PCM, 24}:   func(b []byte) float64 { return float64(int32(le.Uint16(b))<<8|int32(b[2])<<24) / (1 << 31) },
		{wav.PCM, 32}:   func(b []byte) float64 { return float64(int32(le.Uint32(b))) / (1 << 31) },
		{wav.Float, 32}: func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) },
		{wav.Float, 64}: func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) },
	}
	bits := w.Bits
	if w.Code == wav.PCM {
		bits = 8 * w.size // 12 bits are the upper ones of 16
	}
	if f, ok := read[[2]int{int(w.Code), bits}]; ok {
		return f, nil
	}
	return nil, fmt.Errorf("WAV samples of %d bits in format %d are not read; known are PCM (1) of 8, 16, 24 and 32 bits and floating point (3) of 32 and 64", w.Bits, w.Code)
}
