package perception

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// audio is what the header of a recording says.
type audio struct {
	rate     uint32 // samples per second
	channels uint16
	bits     uint16 // per sample, 0 unknown
	float    bool
	seconds  float64 // 0 unknown
}

// String writes "audio, 2.0 s, 16 kHz, mono, 16-bit".
func (a audio) String() string {
	s := "audio"
	if a.seconds >= 1 {
		s += ", " + strconv.FormatFloat(a.seconds, 'f', 1, 64) + " s"
	} else if a.seconds > 0 {
		s += ", " + strconv.FormatFloat(a.seconds*1e3, 'f', 0, 64) + " ms"
	}
	if a.rate >= 1000 {
		s += ", " + strconv.FormatFloat(float64(a.rate)/1000, 'f', -1, 64) + " kHz"
	} else {
		s += ", " + strconv.Itoa(int(a.rate)) + " Hz"
	}
	switch a.channels {
	case 1:
		s += ", mono"
	case 2:
		s += ", stereo"
	default:
		s += ", " + strconv.Itoa(int(a.channels)) + " channels"
	}
	if a.bits > 0 {
		s += ", " + strconv.Itoa(int(a.bits)) + "-bit"
	}
	if a.float {
		s += " float"
	}
	return s
}

// summarizeWAV walks the chunks of a RIFF file as far as its sound.
func summarizeWAV(data []byte) string {
	if len(data) < 12 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WAVE" {
		return ""
	}
	var a audio
	var bytesPerSecond uint32
	for rest := data[12:]; len(rest) >= 8; {
		id, size := string(rest[:4]), uint64(binary.LittleEndian.Uint32(rest[4:]))
		rest = rest[8:]
		// A recorder that streams writes a size of 0 or 2^32-1 and never comes
		// back to it, so no more than what is there counts.
		body := rest[:min(size, uint64(len(rest)))]
		switch {
		case id == "fmt " && len(body) >= 16:
			a.channels = binary.LittleEndian.Uint16(body[2:])
			a.rate = binary.LittleEndian.Uint32(body[4:])
			bytesPerSecond = binary.LittleEndian.Uint32(body[8:])
			a.bits = binary.LittleEndian.Uint16(body[14:])
			a.float = binary.LittleEndian.Uint16(body) == 3
		case id == "data" && a.rate > 0 && a.channels > 0:
			if size == 0 {
				body = rest
			}
			if bytesPerSecond > 0 {
				a.seconds = float64(len(body)) / float64(bytesPerSecond)
			}
			return a.String()
		}
		// Chunks of odd length are padded.
		rest = rest[min(uint64(len(body))+size%2, uint64(len(rest))):]
	}
	return ""
}

// summarizeFLAC reads STREAMINFO, which is always the first block.
func summarizeFLAC(data []byte) string {
	const info = 8 // after the magic and the block's header
	if len(data) < info+34 || !bytes.HasPrefix(data, []byte(flacMagic)) || data[4]&0x7f != 0 {
		return ""
	}
	// From byte 10 on: 20 bits rate, 3 channels-1, 5 bits-1, 36 samples.
	packed := binary.BigEndian.Uint64(data[info+10:])
	a := audio{rate: uint32(packed >> 44), channels: uint16(packed>>41&7) + 1, bits: uint16(packed>>36&31) + 1}
	if a.rate == 0 {
		return ""
	}
	a.seconds = float64(packed&(1<<36-1)) / float64(a.rate)
	return a.String()
}

var audioFormat = format{
	name:    "audio",
	accepts: func(it Item) bool { return summarizeWAV(it.Data) != "" || summarizeFLAC(it.Data) != "" },
	summarize: func(it Item) string {
		if s := summarizeWAV(it.Data); s != "" {
			return s
		}
		return summarizeFLAC(it.Data)
	},
}
