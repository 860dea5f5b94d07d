package perception

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

var audioFormat = format{
	name: "audio",
	accepts: func(it Item) bool {
		return isWAV(it.Data) || bytes.HasPrefix(it.Data, []byte(flacMagic))
	},
	summarize: summarizeAudio,
	kinds:     []string{"sound/"},
	features: func(it Item) (string, []float32, bool) {
		s, err := readSound(it)
		if err != nil {
			return "", nil, false
		}
		return s.features()
	},
	preview: func(it Item, o PreviewOptions) (*Preview, error) {
		s, err := readSound(it)
		if err != nil {
			return nil, err
		}
		return s.preview(o)
	},
	samples: soundSamples,
}

// audio is what the header of a recording says.
type audio struct {
	format   string // "wav" or "flac"
	rate     int    // samples per second
	channels int
	bits     int // per sample, 0 unknown
	float    bool
	// length is in samples of one channel: what is there, as far as known, and
	// what the header claims. 0 is unknown.
	length, claimed int64
}

// maxSound bounds the samples that are decoded of one item, over all channels:
// 32 MiB as float32, three minutes of mono at 48 kHz. Of a longer one soundParts
// stretches, evenly spread, stand for the whole.
const (
	maxSound   = 8 << 20
	soundParts = 64
)

// sound is a recording mixed down to one channel, full scale at 1.
type sound struct {
	audio
	stretches []stretch // in order of time, at least one
	damage    error     // what ended the reading early
}

// stretch is a piece of a recording that is read without a gap.
type stretch struct {
	start   int64 // its first sample
	samples []float32
	loud    loudness // of the channels before they are mixed
}

func (s stretch) end() int64 { return s.start + int64(len(s.samples)) }

// readHeader reads no sample.
func readHeader(data []byte) (audio, error) {
	if isWAV(data) {
		w, err := parseWAV(data)
		return w.audio, err
	}
	return parseFLAC(data)
}

func readSound(it Item) (*sound, error) {
	if err := wholeItem(it); err != nil {
		return nil, err
	}
	var s *sound
	var err error
	if isWAV(it.Data) {
		s, err = decodeWAV(it.Data)
	} else {
		s, err = decodeFLAC(it.Data)
	}
	if err != nil {
		return nil, err
	}
	if len(s.stretches) == 0 && s.damage != nil {
		return nil, fmt.Errorf("the %s recording has no whole frame: %w", s.format, s.damage)
	}
	if len(s.stretches) == 0 {
		return nil, fmt.Errorf("the %s recording has no sample", s.format)
	}
	return s, nil
}

// partial says that only some stretches were read.
func (s *sound) partial() bool { return len(s.stretches) > 1 }

// at is n samples from start on, fewer at the end of a stretch. Between two
// stretches it takes the end of the one before.
func (s *sound) at(start int64, n int) []float32 {
	in := s.stretches[0]
	for _, next := range s.stretches[1:] {
		if next.start > start {
			break
		}
		in = next
	}
	from := min(max(start-in.start, 0), max(int64(len(in.samples)-n), 0))
	return in.samples[from:min(from+int64(n), int64(len(in.samples)))]
}

// loudness is what the samples of all channels say, full scale at 1.
type loudness struct {
	peak   float64
	peakAt int64
	energy float64 // the sum of squares
	count  int
}

func (l *loudness) add(v float64, at int64) {
	if m := math.Abs(v); m > l.peak {
		l.peak, l.peakAt = m, at
	}
	l.energy += v * v
	l.count++
}

func (s *sound) loudness() (all loudness) {
	for _, part := range s.stretches {
		if part.loud.peak > all.peak {
			all.peak, all.peakAt = part.loud.peak, part.loud.peakAt
		}
		all.energy += part.loud.energy
		all.count += part.loud.count
	}
	return all
}

func (l loudness) rms() float64 { return math.Sqrt(l.energy / float64(max(l.count, 1))) }

// summarizeAudio writes "audio/wav, 2.5 s, 16 kHz, mono, 16-bit, peak -3.1 dBFS
// at 1.20 s, rms -20.0 dBFS".
func summarizeAudio(it Item) string {
	a, err := readHeader(it.Data)
	if err != nil {
		return ""
	}
	if wholeItem(it) != nil {
		// A FLAC header tells the length of all, a WAV what it claims.
		a.length = a.claimed
		return a.String()
	}
	s, err := readSound(it)
	switch {
	case errors.Is(err, errSampleFormat):
		return a.String() + ", its samples are not read"
	case err != nil && a.claimed > 0:
		a.length = 0
		return a.String() + ", no sound in it: its header claims " + a.seconds(a.claimed)
	case err != nil:
		return a.String() + ", no sound in it"
	}
	return s.audio.String() + s.words()
}

func (s *sound) words() string {
	out := ""
	if s.damage != nil && !errors.Is(s.damage, io.ErrUnexpectedEOF) {
		out = ", damaged"
	} else if s.claimed > s.length {
		out = ", truncated"
	}
	if out != "" && s.claimed > s.length {
		out += ": its header claims " + s.seconds(s.claimed)
	}
	l := s.loudness()
	if l.peak == 0 {
		return out + ", silent"
	}
	out += ", peak " + decibels(l.peak) + " at " + s.seconds(l.peakAt) + ", rms " + decibels(l.rms())
	if s.partial() {
		out += " (of " + strconv.Itoa(len(s.stretches)) + " stretches of it)"
	}
	return out
}

func decibels(v float64) string {
	db := 20 * math.Log10(v)
	if db > -0.05 && db < 0.05 {
		db = 0 // not "-0.0"
	}
	return strconv.FormatFloat(db, 'f', 1, 64) + " dBFS"
}

// seconds writes the time that so many samples take.
func (a audio) seconds(samples int64) string {
	t := float64(samples) / float64(a.rate)
	switch {
	case t == 0:
		return "0 s"
	case t < 1:
		return figure(t*1e3) + " ms"
	}
	return strconv.FormatFloat(t, 'f', 1, 64) + " s"
}

// String writes "audio/wav, 2.0 s, 16 kHz, mono, 16-bit".
func (a audio) String() string {
	s := "audio/" + a.format
	if a.length > 0 {
		s += ", " + a.seconds(a.length)
	}
	if a.rate >= 1000 {
		s += ", " + strconv.FormatFloat(float64(a.rate)/1000, 'f', -1, 64) + " kHz"
	} else {
		s += ", " + strconv.Itoa(a.rate) + " Hz"
	}
	switch a.channels {
	case 1:
		s += ", mono"
	case 2:
		s += ", stereo"
	default:
		s += ", " + strconv.Itoa(a.channels) + " channels"
	}
	if a.bits > 0 {
		s += ", " + strconv.Itoa(a.bits) + "-bit"
	}
	if a.float {
		s += " float"
	}
	return s
}
