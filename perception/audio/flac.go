package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"

	"github.com/robotmem/robotmem-go/perception/media"
)

const (
	// maxStreamed bounds the samples of all channels that are unpacked for
	// [File.Samples]: twelve minutes of mono at 48 kHz. A frame of a few bytes may
	// hold half a million samples of silence, so samples are counted and not bytes.
	maxStreamed = 32 << 20
	// maxFrameSearch is more bytes than a frame of any encoder in use.
	maxFrameSearch = 64 << 10
	// maxLength is the number of samples that a FLAC header can count.
	maxLength = 1 << 36
)

// errMoreSound means that a limit ended the reading.
var errMoreSound = errors.New("there is more sound than is read at once")

// parseFLAC reads STREAMINFO, which is always the first block.
func parseFLAC(data []byte) (h header, err error) {
	const info = 8 // after the magic and the block's header
	if len(data) < info+34 || data[4]&0x7f != 0 {
		return h, errors.New("the FLAC file does not begin with its stream information")
	}
	// From byte 10 on: 20 bits rate, 3 channels-1, 5 bits-1, 36 samples.
	packed := binary.BigEndian.Uint64(data[info+10:])
	h = header{format: "flac", rate: int(packed >> 44), channels: int(packed>>41&7) + 1, bits: int(packed>>36&31) + 1}
	if h.rate == 0 {
		return h, errors.New("the FLAC file gives no sampling rate")
	}
	h.claimed = int64(packed & (maxLength - 1))
	h.length = h.claimed
	return h, nil
}

// metadataEnd returns where the first frame begins: after blocks of a type (its
// highest bit is set in the last), a length of 24 bits and so many bytes.
func metadataEnd(data []byte) int {
	at := len(flacMagic)
	for last := false; !last && at+4 <= len(data); {
		last = data[at]&0x80 != 0
		at += 4 + (int(data[at+1])<<16 | int(data[at+2])<<8 | int(data[at+3]))
	}
	return min(at, len(data))
}

// isSync reports whether a frame may begin here. A run of samples may look so.
func isSync(b []byte) bool { return b[0] == 0xff && b[1]&0xfe == 0xf8 }

// nextFrame decodes one frame unless admit refuses its number of samples, which is
// errMoreSound. io.EOF is the end.
func (h header) nextFrame(r io.Reader, admit func(samples int64) bool) (*frame.Frame, error) {
	f, err := frame.New(r)
	if err != nil {
		return nil, err
	}
	if !admit(int64(f.BlockSize)) {
		return nil, errMoreSound
	}
	if f.BitsPerSample == 0 {
		f.BitsPerSample = uint8(h.bits)
	}
	return f, f.Parse()
}

// fullScale is the largest sample of a frame.
func fullScale(f *frame.Frame) float64 { return float64(int64(1) << (f.BitsPerSample - 1)) }

// flacReader reads frames into stretches.
type flacReader struct {
	header
	block int64 // samples of a frame, in a file in which all but the last are alike
}

func decodeFLAC(data []byte) (*sound, error) {
	h, err := parseFLAC(data)
	if err != nil {
		return nil, err
	}
	stream, err := flac.New(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the header of the FLAC file: %w", err)
	}
	r := &flacReader{header: h, block: int64(stream.Info.BlockSizeMax)}
	frames := data[metadataEnd(data):]
	s := &sound{header: h}
	channels := int64(h.channels)
	// In a short file the parts below would hold no whole frame, whatever length its header claims.
	if h.claimed*channels <= maxSound || len(frames) < soundParts*maxFrameSearch {
		all, err := r.stretch(frames, maxSound/channels)
		if !errors.Is(err, errMoreSound) {
			if s.length = int64(len(all.samples)); s.length > 0 {
				s.stretches = []stretch{all}
			}
			if !errors.Is(err, io.EOF) {
				s.damage = err
			}
			return s, nil
		}
	}
	for i := range soundParts {
		from, to := media.Part(i, soundParts, len(frames))
		// A part that ends within a frame is not damaged: the next part has the rest.
		next, _ := r.stretch(firstFrame(frames[from:min(to, len(frames))]), maxSound/soundParts/channels)
		last := len(s.stretches) - 1
		if len(next.samples) > 0 && (last < 0 || next.start >= s.stretches[last].end()) {
			s.stretches = append(s.stretches, next)
		}
	}
	if n := len(s.stretches); n > 0 {
		// The last frame counts and not the header, since the file may be cut.
		s.length = max(s.stretches[n-1].end(), r.end(frames))
	}
	return s, nil
}

// end returns the number of samples up to the last whole frame; 0 if there is none near the end.
func (r *flacReader) end(frames []byte) int64 {
	tail := frames[max(0, len(frames)-2*maxFrameSearch):]
	for at := len(tail) - 2; at >= 0; at-- {
		if !isSync(tail[at:]) {
			continue
		}
		// The checksum tells a frame from a run of samples that looks like one.
		if last, _ := r.stretch(tail[at:], 1); len(last.samples) > 0 {
			return last.end()
		}
	}
	return 0
}

// firstFrame returns data from the first frame on, whose header has a valid
// checksum. It is empty if no frame begins near the start.
func firstFrame(data []byte) []byte {
	for at := 0; at+2 <= min(len(data), maxFrameSearch); at++ {
		if !isSync(data[at:]) {
			continue
		}
		if _, err := frame.New(bytes.NewReader(data[at:])); err == nil {
			return data[at:]
		}
	}
	return nil
}

// stretch reads frames up to limit samples of one channel, but at least one frame. It returns what
// it has read also with an error: errMoreSound at the limit, io.EOF at the end, or what is damaged.
func (r *flacReader) stretch(frames []byte, limit int64) (out stretch, err error) {
	for at := bytes.NewReader(frames); ; {
		f, err := r.nextFrame(at, func(n int64) bool { return len(out.samples) == 0 || int64(len(out.samples))+n <= limit })
		if err != nil {
			return out, err
		}
		if len(out.samples) == 0 {
			out.start = int64(f.Num)
			if f.HasFixedBlockSize {
				out.start *= r.block
			}
			if out.start < 0 || out.start >= maxLength {
				return stretch{}, fmt.Errorf("a FLAC frame begins at sample %d, beyond any file", out.start)
			}
		}
		out.add(f)
	}
}

func (s *stretch) add(f *frame.Frame) {
	full := fullScale(f)
	for i := range f.Subframes[0].Samples {
		sum := 0.0
		for _, channel := range f.Subframes {
			v := float64(channel.Samples[i]) / full
			s.level.add(v, s.end())
			sum += v
		}
		s.samples = append(s.samples, float32(sum/float64(len(f.Subframes))))
	}
}

// flacSamples counts the samples of the file, whatever its header claims.
func flacSamples(data []byte, o media.SamplesOptions) (*media.Samples, error) {
	h, err := parseFLAC(data)
	if err != nil {
		return nil, err
	}
	lo, hi := o.Cut(maxLength, h.time)
	e, err := media.NewEnvelope(h.channels, max(min(int64(hi), h.claimed)-int64(lo), 0), o)
	if err != nil {
		return nil, err
	}
	end, err := h.unpack(data[metadataEnd(data):], lo, hi, e)
	switch {
	case errors.Is(err, errMoreSound):
		return nil, fmt.Errorf("the sound is longer than %d samples, the most that are unpacked at once; ask for an earlier part with to", maxStreamed)
	case end == 0 && errors.Is(err, io.EOF):
		return nil, h.errEmpty()
	case end == 0 && err != nil:
		return nil, fmt.Errorf("the %s recording has no whole frame: %w", h.format, err)
	case err != nil:
		h.length = int64(end)
	default:
		h.length = max(h.claimed, int64(end))
	}
	return h.samples(e, lo), nil
}

// unpack adds the samples from lo to hi to e. It returns where it stopped: at hi, at
// the end of the file (io.EOF) or where it is damaged.
func (h header) unpack(frames []byte, lo, hi int, e *media.Envelope) (end int, err error) {
	readings := make([]float64, h.channels)
	for at := bytes.NewReader(frames); end < hi; {
		f, err := h.nextFrame(at, func(n int64) bool { return (int64(end)+n)*int64(h.channels) <= maxStreamed })
		if err != nil {
			return end, err
		}
		if len(f.Subframes) != h.channels {
			return end, fmt.Errorf("a frame has %d channels of %d", len(f.Subframes), h.channels)
		}
		full, n := fullScale(f), len(f.Subframes[0].Samples)
		for i := max(lo-end, 0); i < min(n, hi-end); i++ {
			for c, channel := range f.Subframes {
				readings[c] = float64(channel.Samples[i]) / full
			}
			e.Add(readings)
		}
		end += n
	}
	return end, nil
}
