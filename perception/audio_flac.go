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

// flacReader reads frames. A frame takes a few bytes and may hold half a million
// samples of silence, so it is samples that are counted, not bytes.
type flacReader struct {
	audio
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
	r := &flacReader{audio: a, block: int64(stream.Info.BlockSizeMax)}
	frames := data[metadataEnd(data):]
	s := &sound{audio: a}
	// In a short file the parts below would hold no whole frame, whatever length
	// its header claims.
	if a.claimed*int64(a.channels) <= maxSound || len(frames) < soundParts*maxFrameSearch {
		all, err := r.stretch(frames, maxSound/int64(a.channels))
		if !errors.Is(err, errMoreSound) {
			return s.whole(all, err), nil
		}
	}
	for i := range soundParts {
		from, to := part(i, soundParts, len(frames))
		piece := firstFrame(frames[from:min(to, len(frames))])
		// That it ends within a frame is no damage: the next piece has the rest.
		next, _ := r.stretch(piece, maxSound/soundParts/int64(a.channels))
		last := len(s.stretches) - 1
		if len(next.samples) > 0 && (last < 0 || next.start >= s.stretches[last].end()) {
			s.stretches = append(s.stretches, next)
		}
	}
	if n := len(s.stretches); n > 0 {
		// The last frame counts, not the header: the file may be cut.
		s.length = max(s.stretches[n-1].end(), r.end(frames))
	}
	return s, nil
}

// end is the sample after the last whole frame; 0 if none is near the end.
func (r *flacReader) end(frames []byte) int64 {
	tail := frames[max(0, len(frames)-2*maxFrameSearch):]
	for at := len(tail) - 2; at >= 0; at-- {
		if tail[at] != 0xff || tail[at+1]&0xfe != 0xf8 {
			continue
		}
		// A frame whose checksum holds is no chance run of sound that looks so.
		if last, _ := r.stretch(tail[at:], 1); len(last.samples) > 0 {
			return last.end()
		}
	}
	return 0
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

// metadataEnd is where the first frame begins: after blocks of a type (its
// highest bit set in the last), a length of 24 bits and so many bytes.
func metadataEnd(data []byte) int {
	at := len(flacMagic)
	for last := false; !last && at+4 <= len(data); {
		last = data[at]&0x80 != 0
		at += 4 + (int(data[at+1])<<16 | int(data[at+2])<<8 | int(data[at+3]))
	}
	return min(at, len(data))
}

// maxFrameSearch is more than a frame of any encoder in use takes.
const maxFrameSearch = 64 << 10

// firstFrame is data from the first frame on that begins in it: a sync code and
// a header whose checksum holds. It is empty if none is near.
func firstFrame(data []byte) []byte {
	for at := 0; at+2 <= min(len(data), maxFrameSearch); at++ {
		if data[at] != 0xff || data[at+1]&0xfe != 0xf8 {
			continue
		}
		if _, err := frame.New(bytes.NewReader(data[at:])); err == nil {
			return data[at:]
		}
	}
	return nil
}

var errMoreSound = errors.New("there is more sound than is read at once")

// stretch reads frames until limit samples (of one channel) are there, which is
// errMoreSound, or the end, which is io.EOF, or damage. It returns what it has
// in any case.
func (r *flacReader) stretch(frames []byte, limit int64) (out stretch, err error) {
	for at := bytes.NewReader(frames); ; {
		f, err := frame.New(at)
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
			const maxStart = 1 << 36 // what a FLAC header can count
			if out.start < 0 || out.start >= maxStart {
				return stretch{}, fmt.Errorf("a FLAC frame begins at sample %d, beyond any file", out.start)
			}
		}
		out.add(f)
	}
}

// add mixes the channels of a frame down to one.
func (s *stretch) add(f *frame.Frame) {
	full := float64(int64(1) << (f.BitsPerSample - 1))
	for i := range f.Subframes[0].Samples {
		sum := 0.0
		for _, channel := range f.Subframes {
			v := float64(channel.Samples[i]) / full
			s.loud.add(v, s.end())
			sum += v
		}
		s.samples = append(s.samples, float32(sum/float64(len(f.Subframes))))
	}
}
