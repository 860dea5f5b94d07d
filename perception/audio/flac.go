package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"
)

// maxStreamed bounds the samples of all channels that are unpacked: twelve minutes of mono at
// 48 kHz. A frame of a few bytes may hold half a million samples of silence, so samples are counted
// and not bytes.
const maxStreamed = 32 << 20

// errMoreSound means that the limit ended the reading.
var errMoreSound = errors.New("there is more sound than is read at once")

// openFLAC reads STREAMINFO, which is always the first block.
func openFLAC(data []byte) (source, error) {
	const info = 8 // after the magic and the block's header
	if len(data) < info+34 || data[4]&0x7f != 0 {
		return source{}, errors.New("the FLAC file does not begin with its stream information")
	}
	// From byte 10 on: 20 bits rate, 3 channels-1, 5 bits-1, 36 samples.
	packed := binary.BigEndian.Uint64(data[info+10:])
	h := header{format: "flac", rate: int(packed >> 44), channels: int(packed>>41&7) + 1, bits: int(packed>>36&31) + 1}
	if h.rate == 0 {
		return source{}, errors.New("the FLAC file gives no sampling rate")
	}
	h.claimed = int64(packed & (maxLength - 1))
	return source{h, func(lo, hi int64, f func([]float64)) (int64, error) {
		end, err := h.unpack(data, lo, hi, f)
		if end == 0 && err != nil && !errors.Is(err, io.EOF) {
			err = fmt.Errorf("the flac recording has no whole frame: %w", err)
		}
		return end, err
	}}, nil
}

// unpack decodes frame after frame. It counts the samples, whatever the header claims.
func (h header) unpack(data []byte, lo, hi int64, visit func(readings []float64)) (end int64, err error) {
	if _, err := flac.New(bytes.NewReader(data)); err != nil {
		return 0, fmt.Errorf("the header of the FLAC file: %v", err) // not an end of the sound
	}
	readings := make([]float64, h.channels)
	for r := bytes.NewReader(data[metadataEnd(data):]); end < hi; {
		f, err := frame.New(r)
		if err != nil {
			return end, err
		}
		if (end+int64(f.BlockSize))*int64(h.channels) > maxStreamed {
			return end, errMoreSound
		}
		if f.BitsPerSample == 0 {
			f.BitsPerSample = uint8(h.bits)
		}
		if err := f.Parse(); err != nil {
			return end, err
		}
		if len(f.Subframes) != h.channels {
			return end, fmt.Errorf("a frame has %d channels of %d", len(f.Subframes), h.channels)
		}
		full, n := float64(int64(1)<<(f.BitsPerSample-1)), int64(len(f.Subframes[0].Samples))
		for i := max(lo-end, 0); i < min(n, hi-end); i++ {
			for c, channel := range f.Subframes {
				readings[c] = float64(channel.Samples[i]) / full
			}
			visit(readings)
		}
		end += n
	}
	return end, nil
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
