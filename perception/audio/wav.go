package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// A WAV file is RIFF chunks, each a name, a length of 32 bits and that many bytes, padded to an even
// number. The chunk "fmt " says how the chunk "data" is to be read.

// The codes of the formats that are read.
const (
	codePCM        = 1
	codeFloat      = 3
	codeExtensible = 0xfffe // the code is in a later part of the chunk
)

// wavFile is the header of a WAV file with the bytes of its samples. Of a FLAC file they are unpacked.
type wavFile struct {
	kind     string // wav or flac
	cut      string // what the summary says of an end before the claimed one; "" is said of a WAV file by its lengths
	code     uint16
	channels int
	rate     int // samples per second
	bits     int // of a sample of one channel
	size     int // bytes of such a sample
	// length is the number of samples of one channel that are there, and claimed the number that
	// the header claims; 0 is unknown.
	length, claimed int64
	body            []byte
	sample          func(b []byte) float64 // scales the bytes of one sample to -1 to 1
}

// openWAV reads the chunks up to the samples. The chunk of the samples may claim more bytes than the
// file has.
func openWAV(data []byte) (*wavFile, error) {
	w := &wavFile{kind: "wav"}

	for at := 12; len(data)-at >= 8; {
		name, size := string(data[at:at+4]), int64(binary.LittleEndian.Uint32(data[at+4:]))
		at += 8
		body := data[at:min(int64(at)+size, int64(len(data)))]

		switch {
		case name == "fmt ":
			if err := w.format(body); err != nil {
				return nil, err
			}
		case name == "data" && w.sample != nil:
			w.fill(data[at:], size)
			return w, nil
		}
		// Chunks are padded to an even length, and the padding is not part of the size.
		at = int(min(int64(at)+size+size%2, int64(len(data))))
	}

	return nil, errors.New("the WAV file has no fmt and data chunk, in this order")
}

func (w *wavFile) format(body []byte) error {
	if len(body) < 16 {
		return fmt.Errorf("the fmt chunk of the WAV file has %d bytes of 16", len(body))
	}

	le := binary.LittleEndian
	w.code, w.channels, w.rate, w.bits = le.Uint16(body), int(le.Uint16(body[2:])), int(le.Uint32(body[4:])), int(le.Uint16(body[14:]))
	w.size = (w.bits + 7) / 8
	// In the extended form the real code begins the identifier of the format.
	if w.code == codeExtensible && len(body) >= 26 {
		w.code = le.Uint16(body[24:])
	}

	// More than any converter of sound or vibration.
	const maxRate = 10_000_000
	if w.channels == 0 || w.rate == 0 || w.rate > maxRate {
		return fmt.Errorf("the WAV file has %d channels at %d Hz; 1 channel or more at 1 to %d Hz are read", w.channels,
			w.rate, maxRate)
	}

	read := map[[2]int]func(b []byte) float64{
		// The only size without a sign.
		{codePCM, 8}:    func(b []byte) float64 { return (float64(b[0]) - 128) / 128 },
		{codePCM, 16}:   func(b []byte) float64 { return float64(int16(le.Uint16(b))) / (1 << 15) },
		{codePCM, 24}:   func(b []byte) float64 { return float64(int32(le.Uint16(b))<<8|int32(b[2])<<24) / (1 << 31) },
		{codePCM, 32}:   func(b []byte) float64 { return float64(int32(le.Uint32(b))) / (1 << 31) },
		{codeFloat, 32}: func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) },
		{codeFloat, 64}: func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) },
	}
	// 12 bits are the upper ones of 16.
	if w.sample = read[[2]int{int(w.code), 8 * w.size}]; w.sample == nil {
		return fmt.Errorf("WAV samples of %d bits in format %d are not read; known are PCM (1) of 8, 16, 24 and 32 bits and floating point (3) of 32 and 64", w.bits, w.code)
	}

	return nil
}

// fill keeps the samples that are there of those that the header claims. A recorder that streams
// claims 0 or about 2^32 bytes, which counts as unknown.
func (w *wavFile) fill(body []byte, claimed int64) {
	const unknown = 0xffff_0000
	frame := w.size * w.channels
	if claimed > 0 {
		body = body[:min(claimed, int64(len(body)))]
	}
	if claimed < unknown {
		w.claimed = claimed / int64(frame)
	}
	w.body, w.length = body, int64(len(body)/frame)
}

// each calls f with the readings of each sample from lo up to and without hi. They are valid until
// f returns.
func (w *wavFile) each(lo, hi int64, f func(readings []float64)) {
	readings := make([]float64, w.channels)
	for at := lo; at < hi; at++ {
		frame := w.body[at*int64(w.size*w.channels):]
		for c := range readings {
			readings[c] = w.sample(frame[c*w.size:])
		}
		f(readings)
	}
}
