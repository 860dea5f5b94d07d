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

const flacMagic = "fLaC"

// maxUnpacked bounds the samples of all channels that are unpacked: six minutes of mono at 48 kHz, 64 MiB
// at most. A frame of a few bytes may hold half a million samples of silence, so samples are counted
// and not bytes.
const maxUnpacked = 16 << 20

// openFLAC unpacks a FLAC file to samples as a WAV file has them. Of the first bytes of a file only the
// stream information is read, which is always the first block.
func openFLAC(data []byte, isHead bool) (*wavFile, error) {
	// The stream information follows the magic and the header of its block. The first byte of the header has the type
	// of the block, 0, below the bit of the last block.
	const info, infoBytes = 8, 34
	if len(data) < info+infoBytes || data[4]&0x7f != 0 {
		return nil, errors.New("the FLAC file does not begin with its stream information")
	}

	// The 64 bits from byte 10 on are 20 of the rate, 3 of the channels less 1, 5 of the sample size less 1, and 36 of
	// the number of samples.
	packed := binary.BigEndian.Uint64(data[info+10:])
	w := &wavFile{
		kind: "flac", code: codePCM, rate: int(packed >> 44), channels: int(packed>>41&7) + 1, bits: int(packed>>36&31) +
			1,
		claimed: int64(packed & (1<<36 - 1)), size: 4,
	}
	if w.rate == 0 {
		return nil, errors.New("the FLAC file gives no sampling rate")
	}

	full := float64(int64(1) << (w.bits - 1))
	w.sample = func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) / full }
	if isHead {
		return w, nil
	}

	// This checks the metadata only. unpack reads the frames itself, so that it can bound them.
	if _, err := flac.New(bytes.NewReader(data)); err != nil {
		return nil, fmt.Errorf("the header of the FLAC file: %w", err)
	}

	err := w.unpack(bytes.NewReader(data[metadataEnd(data):]))

	w.length = int64(len(w.body) / (w.size * w.channels))
	switch {
	case w.length == 0 && errors.Is(err, io.EOF):
		return w, nil // it has no sample
	case w.length == 0:
		return nil, fmt.Errorf("the flac recording has no whole frame: %w", err)
	case errors.Is(err, errMoreSound):
		w.cut = ", only its first " + w.duration(w.length) + " are read"
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		w.cut = ", damaged"
	}

	if w.claimed > w.length && w.cut == "" {
		w.cut = ", truncated"
	}
	if w.claimed > w.length {
		w.cut += ": its header claims " + w.duration(w.claimed)
	}

	return w, nil
}

// errMoreSound means that the limit ended the reading.
var errMoreSound = errors.New("there is more sound than is read at once")

// unpack decodes frame after frame. It counts the samples, whatever the header claims, and returns why
// it ended.
func (w *wavFile) unpack(r io.Reader) (err error) {
	// The library may panic over damaged bytes.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a frame is damaged: %v", p)
		}
	}()

	for {
		f, err := frame.New(r)
		if err != nil {
			return err
		}
		// The head of the frame gives its size, so a frame too many is refused before its samples are decoded.
		if len(w.body)/w.size+int(f.BlockSize)*w.channels > maxUnpacked {
			return errMoreSound
		}
		// 0 means that the frame has the sample size of the stream information.
		if f.BitsPerSample == 0 {
			f.BitsPerSample = uint8(w.bits)
		}
		if err := f.Parse(); err != nil {
			return err
		}
		if len(f.Subframes) != w.channels || int(f.BitsPerSample) > w.bits {
			return fmt.Errorf("a frame has %d channels of %d and %d bits of %d", len(f.Subframes), w.channels,
				f.BitsPerSample, w.bits)
		}

		// A frame with fewer bits is scaled up, so that full scale is the same in all frames.
		shift := w.bits - int(f.BitsPerSample)
		for i := range f.Subframes[0].Samples {
			for _, channel := range f.Subframes {
				w.body = binary.LittleEndian.AppendUint32(w.body, uint32(channel.Samples[i]<<shift))
			}
		}
	}
}

// metadataEnd returns where the first frame begins, which is after the blocks of metadata. A block is a
// byte with its type, whose highest bit is set in the last block, a length of 24 bits, and that many bytes.
func metadataEnd(data []byte) int {
	at := len(flacMagic)
	for last := false; !last && at+4 <= len(data); {
		last = data[at]&0x80 != 0
		at += 4 + (int(data[at+1])<<16 | int(data[at+2])<<8 | int(data[at+3]))
	}
	return min(at, len(data))
}
