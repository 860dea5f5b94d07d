// Package wav reads the header of a WAV file: RIFF chunks, each a name, a length of
// 32 bits and that many bytes, padded to an even number. The chunk "fmt " says how
// the chunk "data" is to be read.
package wav

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The codes of the formats.
const (
	PCM        = 1
	Float      = 3
	ALaw       = 6
	MuLaw      = 7
	Extensible = 0xfffe // the code is in a part of the header that is missing
)

// Header is what the chunks before the samples say.
type Header struct {
	Code     uint16
	Channels int
	Rate     int // samples per second
	Bits     int // of a sample
	Frame    int // bytes of one sample of all channels
	Start    int // where the samples begin in the file
	Claimed  int64
}

// Is reports whether data begins as a WAV file.
func Is(data []byte) bool {
	return len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WAVE"
}

// Parse reads the chunks of a file for which [Is] is true, up to the samples. The
// chunk of the samples may claim more bytes than the file has.
func Parse(data []byte) (h Header, err error) {
	for at := 12; len(data)-at >= 8; {
		name, size := string(data[at:at+4]), int64(binary.LittleEndian.Uint32(data[at+4:]))
		at += 8
		body := data[at:min(int64(at)+size, int64(len(data)))]
		switch {
		case name == "fmt ":
			if err := h.format(body); err != nil {
				return h, err
			}
		case name == "data" && h.Channels > 0:
			h.Start, h.Claimed = at, size
			return h, nil
		}
		at = int(min(int64(at)+size+size%2, int64(len(data))))
	}
	return h, errors.New("the WAV file has no fmt and data chunk, in this order")
}

func (h *Header) format(body []byte) error {
	if len(body) < 16 {
		return fmt.Errorf("the fmt chunk of the WAV file has %d bytes of 16", len(body))
	}
	le := binary.LittleEndian
	h.Code, h.Channels, h.Rate = le.Uint16(body), int(le.Uint16(body[2:])), int(le.Uint32(body[4:]))
	h.Frame, h.Bits = int(le.Uint16(body[12:])), int(le.Uint16(body[14:]))
	// In the extended form the real code begins the identifier of the format.
	if h.Code == Extensible && len(body) >= 26 {
		h.Code = le.Uint16(body[24:])
	}
	if h.Channels == 0 {
		return errors.New("the WAV file has no channels")
	}
	return nil
}
