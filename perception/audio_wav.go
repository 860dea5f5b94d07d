package perception

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// A WAV file is RIFF: chunks of a name, a length of 32 bits and that many bytes,
// padded to an even number. "fmt " says how "data" is to be read.

const (
	wavPCM        = 1
	wavFloat      = 3
	wavALaw       = 6
	wavMuLaw      = 7
	wavExtensible = 0xfffe
)

// wavFile is a header with the bytes of its samples.
type wavFile struct {
	audio
	code uint16 // wavPCM, wavFloat or one that is not read
	size int    // bytes of a sample of one channel
	body []byte
}

func isWAV(data []byte) bool {
	return len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WAVE"
}

// parseWAV walks the chunks as far as the sound.
func parseWAV(data []byte) (w wavFile, err error) {
	w.format = "wav"
	for rest := data[12:]; len(rest) >= 8; {
		id, size := string(rest[:4]), uint64(binary.LittleEndian.Uint32(rest[4:]))
		rest = rest[8:]
		body := rest[:min(size, uint64(len(rest)))]
		switch {
		case id == "fmt ":
			if err := w.parseFormat(body); err != nil {
				return w, err
			}
		case id == "data" && w.rate > 0:
			return w, w.takeBody(rest, size)
		}
		rest = rest[min(uint64(len(body))+size%2, uint64(len(rest))):]
	}
	return w, errors.New("the WAV file has no fmt and data chunk, in this order")
}

func (w *wavFile) parseFormat(body []byte) error {
	if len(body) < 16 {
		return fmt.Errorf("the fmt chunk of the WAV file has %d bytes of 16", len(body))
	}
	w.code = binary.LittleEndian.Uint16(body)
	w.channels = int(binary.LittleEndian.Uint16(body[2:]))
	w.rate = int(binary.LittleEndian.Uint32(body[4:]))
	w.bits = int(binary.LittleEndian.Uint16(body[14:]))
	// The code proper begins the identifier of the extended form.
	if w.code == wavExtensible && len(body) >= 26 {
		w.code = binary.LittleEndian.Uint16(body[24:])
	}
	w.float = w.code == wavFloat
	w.size = (w.bits + 7) / 8
	const maxRate = 10_000_000 // beyond any converter of sound or vibration
	if w.channels == 0 || w.rate == 0 || w.rate > maxRate {
		return fmt.Errorf("the WAV file has %d channels at %d Hz; at least one and up to %d Hz are read", w.channels, w.rate, maxRate)
	}
	return nil
}

// takeBody keeps what is there of the size that the chunk claims. A recorder
// that streams writes 0 or about 2^32 and never comes back to it: that is no
// claim.
func (w *wavFile) takeBody(rest []byte, size uint64) error {
	const unknown = 0xffff_0000
	switch w.code {
	case wavPCM, wavFloat, wavALaw, wavMuLaw:
	default: // blocks of some compression, whose samples are not to be counted
		w.bits = 0
		return nil
	}
	frame := w.size * w.channels
	if frame == 0 {
		return errors.New("the WAV file has samples of no bits")
	}
	w.body = rest[:min(size, uint64(len(rest)))]
	if size == 0 {
		w.body = rest
	} else if size < unknown {
		w.claimed = int64(size) / int64(frame)
	}
	w.length = int64(len(w.body) / frame)
	return nil
}

func decodeWAV(data []byte) (*sound, error) {
	w, err := parseWAV(data)
	if err != nil {
		return nil, err
	}
	sample, err := w.reader()
	if err != nil {
		return nil, err
	}
	s := &sound{audio: w.audio}
	whole := w.length * int64(w.channels)
	if whole <= maxSound {
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
			// A float file may hold what is no number, or far beyond full scale.
			v := sample(at)
			if !finite(v) || math.Abs(v) > maxFloatSample {
				v = 0
			}
			out.loud.add(v, start+int64(i))
			sum += v
			at = at[w.size:]
		}
		out.samples[i] = float32(sum / float64(w.channels))
	}
	return out
}

// errSampleFormat marks a file that is sound, as far as known, in a form that is
// not decoded here.
var errSampleFormat = errors.New("are not read")

// maxFloatSample is 120 dB above full scale.
const maxFloatSample = 1e6

// reader turns the bytes of a sample into -1 to 1.
func (w *wavFile) reader() (func(b []byte) float64, error) {
	le := binary.LittleEndian
	switch {
	case w.code == wavPCM && w.size == 1: // the one width without a sign
		return func(b []byte) float64 { return (float64(b[0]) - 128) / 128 }, nil
	case w.code == wavPCM && w.size == 2:
		return func(b []byte) float64 { return float64(int16(le.Uint16(b))) / (1 << 15) }, nil
	case w.code == wavPCM && w.size == 3:
		return func(b []byte) float64 {
			return float64(int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24)) / (1 << 31)
		}, nil
	case w.code == wavPCM && w.size == 4:
		return func(b []byte) float64 { return float64(int32(le.Uint32(b))) / (1 << 31) }, nil
	case w.float && w.bits == 32:
		return func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }, nil
	case w.float && w.bits == 64:
		return func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }, nil
	}
	return nil, fmt.Errorf("WAV samples of %d bits in format %d %w; known are PCM (1) of 8, 16, 24 and 32 bits and floating point (3) of 32 and 64", w.bits, w.code, errSampleFormat)
}
