package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/robotmem/robotmem-go/perception/internal/wav"
	"github.com/robotmem/robotmem-go/perception/media"
)

// wavFile is the header of a WAV file with the bytes of its samples.
type wavFile struct {
	header
	code uint16
	size int // bytes of a sample of one channel
	body []byte
}

// openWAV keeps the samples that are there of those that the header claims. A
// recorder that streams claims 0 or about 2^32 bytes, which counts as unknown.
func openWAV(data []byte) (w wavFile, err error) {
	h, err := wav.Parse(data)
	w.header = header{format: "wav", rate: h.Rate, channels: h.Channels, bits: h.Bits, float: h.Code == wav.Float}
	w.code, w.size = h.Code, (h.Bits+7)/8
	if err != nil {
		return w, err
	}
	const maxRate = 10_000_000 // more than any converter of sound or vibration
	if h.Rate == 0 || h.Rate > maxRate {
		return w, fmt.Errorf("the WAV file has %d Hz; 1 to %d Hz are read", h.Rate, maxRate)
	}
	switch h.Code {
	case wav.PCM, wav.Float, wav.ALaw, wav.MuLaw:
	default: // compressed blocks, whose samples cannot be counted
		w.bits = 0
		return w, nil
	}
	frame := w.size * w.channels
	if frame == 0 {
		return w, errors.New("the WAV file has samples of 0 bits")
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

func readableWAV(data []byte) (w wavFile, sample func([]byte) float64, err error) {
	if w, err = openWAV(data); err == nil {
		sample, err = w.reader()
	}
	return w, sample, err
}

func decodeWAV(data []byte) (*sound, error) {
	w, sample, err := readableWAV(data)
	if err != nil {
		return nil, err
	}
	s := &sound{header: w.header}
	if w.length*int64(w.channels) <= maxSound {
		if w.length > 0 {
			s.stretches = []stretch{w.stretch(sample, 0, w.length)}
		}
		return s, nil
	}
	each := max(maxSound/soundParts/int64(w.channels), 1)
	for i := range int64(soundParts) {
		s.stretches = append(s.stretches, w.stretch(sample, i*(w.length-each)/(soundParts-1), each))
	}
	return s, nil
}

func (w *wavFile) stretch(sample func([]byte) float64, start, n int64) stretch {
	out := stretch{start: start, samples: make([]float32, n)}
	at := w.body[start*int64(w.size*w.channels):]
	for i := range out.samples {
		sum := 0.0
		for range w.channels {
			// A float file may hold NaN, or numbers far beyond full scale.
			v := sample(at)
			if !media.Finite(v) || math.Abs(v) > maxFloatSample {
				v = 0
			}
			out.level.add(v, start+int64(i))
			sum += v
			at = at[w.size:]
		}
		out.samples[i] = float32(sum / float64(w.channels))
	}
	return out
}

// maxFloatSample is 120 dB above full scale.
const maxFloatSample = 1e6

var errSampleFormat = errors.New("are not read")

// reader returns a function that scales the bytes of one sample to -1 to 1.
func (w *wavFile) reader() (func(b []byte) float64, error) {
	le := binary.LittleEndian
	switch {
	case w.code == wav.PCM && w.size == 1: // the only size without a sign
		return func(b []byte) float64 { return (float64(b[0]) - 128) / 128 }, nil
	case w.code == wav.PCM && w.size == 2:
		return func(b []byte) float64 { return float64(int16(le.Uint16(b))) / (1 << 15) }, nil
	case w.code == wav.PCM && w.size == 3:
		return func(b []byte) float64 {
			return float64(int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24)) / (1 << 31)
		}, nil
	case w.code == wav.PCM && w.size == 4:
		return func(b []byte) float64 { return float64(int32(le.Uint32(b))) / (1 << 31) }, nil
	case w.float && w.bits == 32:
		return func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }, nil
	case w.float && w.bits == 64:
		return func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }, nil
	}
	return nil, fmt.Errorf("WAV samples of %d bits in format %d %w; known are PCM (1) of 8, 16, 24 and 32 bits and floating point (3) of 32 and 64", w.bits, w.code, errSampleFormat)
}

func wavSamples(data []byte, o media.SamplesOptions) (*media.Samples, error) {
	w, sample, err := readableWAV(data)
	if err != nil {
		return nil, err
	}
	if w.length == 0 {
		return nil, w.errEmpty()
	}
	lo, hi := o.Cut(int(w.length), w.time)
	e, err := media.NewEnvelope(w.channels, int64(hi-lo), o)
	if err != nil {
		return nil, err
	}
	readings := make([]float64, w.channels)
	at := w.body[lo*w.size*w.channels:]
	for range hi - lo {
		for c := range readings {
			readings[c] = sample(at)
			at = at[w.size:]
		}
		e.Add(readings)
	}
	return w.samples(e, lo), nil
}
