package perception

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"
)

// parseFLAC reads STREAMINFO, which is always the first block.
func parseFLAC(data []byte) (a audio, err error) {
	const info = 8 // after the magic and the block's header
	if len(data) < info+34 || data[4]&0x7f != 0 {
		return a, errors.New("the FLAC file does not begin with its stream information")
	}
	// From byte 10 on: 20 bits rate, 3 channels-1, 5 bits-1, 36 samples.
	packed := binary.BigEndian.Uint64(data[info+10:])
	a = audio{format: "flac", rate: int(packed >> 44), channels: int(packed>>41&7) + 1, bits: int(packed>>36&31) + 1}
	if a.rate == 0 {
		return a, errors.New("the FLAC file gives no sampling rate")
	}
	a.claimed = int64(packed & (1<<36 - 1))
	a.length = a.claimed
	return a, nil
}

// flacReader reads frames from where it stands. A frame takes a few bytes and
// may hold half a million samples of silence, so it is samples that are counted,
// not bytes.
type flacReader struct {
	audio
	data  []byte
	at    *bytes.Reader
	block int64 // samples of a frame, where all but the last are alike
}

func decodeFLAC(data []byte) (*sound, error) {
	a, err := parseFLAC(data)
	if err != nil {
		return nil, err
	}
	at := bytes.NewReader(data)
	// The library buffers what it is given, so the frames are looked for again.
	stream, err := flac.New(at)
	if err != nil {
		return nil, fmt.Errorf("the header of the FLAC file: %w", err)
	}
	r := &flacReader{audio: a, data: data, at: bytes.NewReader(data), block: int64(stream.Info.BlockSizeMax)}
	first := r.skipMetadata()
	s := &sound{audio: a}
	if a.claimed*int64(a.channels) <= maxSound {
		r.seek(first)
		all, err := r.stretch(maxSound / int64(a.channels))
		if !errors.Is(err, errMoreSound) {
			return s.whole(all, err), nil
		}
	}
	span := len(data) - first
	for i := range soundParts {
		r.seek(r.sync(first + int(int64(i)*int64(span)/soundParts)))
		part, err := r.stretch(maxSound / soundParts / int64(a.channels))
		last := len(s.stretches) - 1
		if len(part.samples) == 0 || last >= 0 && part.start < s.stretches[last].end() {
			if err != nil && !errors.Is(err, io.EOF) {
				s.damage = err
			}
			continue
		}
		s.stretches = append(s.stretches, part)
		s.length = max(s.length, part.end())
	}
	return s, nil
}

// whole takes the frames of a file that was read to its end, or to where it
// breaks.
func (s *sound) whole(all stretch, err error) *sound {
	s.length = int64(len(all.samples))
	if len(all.samples) > 0 {
		s.stretches = []stretch{all}
	}
	if !errors.Is(err, io.EOF) {
		s.damage = err
	}
	return s
}

// skipMetadata is where the first frame begins: after blocks of a type (its
// highest bit set in the last), a length of 24 bits and so many bytes.
func (r *flacReader) skipMetadata() int {
	at := len(flacMagic)
	for at+4 <= len(r.data) {
		last := r.data[at]&0x80 != 0
		at += 4 + (int(r.data[at+1])<<16 | int(r.data[at+2])<<8 | int(r.data[at+3]))
		if last {
			break
		}
	}
	return min(at, len(r.data))
}

func (r *flacReader) seek(at int) { _, _ = r.at.Seek(int64(at), io.SeekStart) }

// sync is the first place from at on where a frame begins: its sync code and a
// header whose checksum holds.
func (r *flacReader) sync(at int) int {
	for ; at+2 <= len(r.data); at++ {
		next := bytes.IndexByte(r.data[at:], 0xff)
		if next < 0 {
			break
		}
		at += next
		if at+2 <= len(r.data) && r.data[at+1]&0xfe == 0xf8 {
			if _, err := frame.New(bytes.NewReader(r.data[at:])); err == nil {
				return at
			}
		}
	}
	return len(r.data)
}

var errMoreSound = errors.New("there is more sound than is read at once")

// stretch reads frames until limit samples (of one channel) are there, which is
// errMoreSound, or the end, which is io.EOF, or damage. It returns what it has
// in any case.
func (r *flacReader) stretch(limit int64) (out stretch, err error) {
	for {
		f, err := frame.New(r.at)
		if err != nil {
			return out, err
		}
		if int64(len(out.samples))+int64(f.BlockSize) > limit && len(out.samples) > 0 {
			return out, errMoreSound
		}
		if f.BitsPerSample == 0 {
			f.BitsPerSample = uint8(r.bits)
		}
		if err := f.Parse(); err != nil {
			return out, err
		}
		if len(out.samples) == 0 {
			out.start = int64(f.Num)
			if f.HasFixedBlockSize {
				out.start *= r.block
			}
			if r.claimed > 0 && out.start >= r.claimed || out.start < 0 {
				return stretch{}, fmt.Errorf("a FLAC frame begins at sample %d of %d", out.start, r.claimed)
			}
		}
		out.samples = appendMono(out.samples, f)
	}
}

func appendMono(to []float32, f *frame.Frame) []float32 {
	full := float64(int64(1)<<(f.BitsPerSample-1)) * float64(len(f.Subframes))
	for i := range f.Subframes[0].Samples {
		sum := 0.0
		for _, channel := range f.Subframes {
			sum += float64(channel.Samples[i])
		}
		to = append(to, float32(sum/full))
	}
	return to
}
