// Package audio reads WAV and FLAC recordings. A [File] makes a summary, features,
// a spectrogram and samples of one.
//
// The tests of this package are those of package perception, through its API.
package audio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/robotmem/robotmem-go/perception/internal/wav"
	"github.com/robotmem/robotmem-go/perception/media"
)

// File is a WAV or FLAC file.
type File struct{ media.Payload }

const flacMagic = "fLaC"

// Accepts reports whether the payload begins as a WAV or FLAC file.
func Accepts(in media.Payload) bool {
	return wav.Is(in.Data) || bytes.HasPrefix(in.Data, []byte(flacMagic))
}

type header struct {
	format   string // "wav" or "flac"
	rate     int    // samples per second
	channels int
	bits     int // of a sample; 0 is unknown
	float    bool
	// length is the number of samples of one channel that are there, as far as
	// known, and claimed the number that the header claims. 0 is unknown.
	length, claimed int64
}

func (f File) header() (header, error) {
	if wav.Is(f.Data) {
		w, err := openWAV(f.Data)
		return w.header, err
	}
	return parseFLAC(f.Data)
}

// maxSound bounds the samples of all channels that are decoded: 32 MiB as float32,
// three minutes of mono at 48 kHz. A longer recording is represented by soundParts
// stretches that are spread evenly over it.
const (
	maxSound   = 8 << 20
	soundParts = 64
)

// sound is a recording mixed to one channel; full scale is 1.
type sound struct {
	header
	stretches []stretch // in order of time, at least one
	damage    error     // what ended the reading early
}

// stretch is a part of a recording that is read without a gap.
type stretch struct {
	start   int64 // its first sample
	samples []float32
	level   level // of the channels before they were mixed
}

func (s stretch) end() int64 { return s.start + int64(len(s.samples)) }

func (f File) decode() (s *sound, err error) {
	if err := f.Whole(); err != nil {
		return nil, err
	}
	if wav.Is(f.Data) {
		s, err = decodeWAV(f.Data)
	} else {
		s, err = decodeFLAC(f.Data)
	}
	switch {
	case err != nil:
		return nil, err
	case len(s.stretches) == 0 && s.damage != nil:
		return nil, fmt.Errorf("the %s recording has no whole frame: %w", s.format, s.damage)
	case len(s.stretches) == 0:
		return nil, s.errEmpty()
	}
	return s, nil
}

func (h header) errEmpty() error { return fmt.Errorf("the %s recording has no sample", h.format) }

// end is the number of the last sample that is shown, plus one.
func (s *sound) end() int64 { return max(s.length, s.stretches[len(s.stretches)-1].end()) }

// at returns n samples from start on, fewer at the end of a stretch. Between two
// stretches it returns the end of the earlier one.
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

// level is the peak and the energy of the samples of all channels.
type level struct {
	peak   float64
	peakAt int64
	energy float64 // the sum of squares
	count  int
}

func (l *level) add(v float64, at int64) {
	if m := math.Abs(v); m > l.peak {
		l.peak, l.peakAt = m, at
	}
	l.energy += v * v
	l.count++
}

func (s *sound) level() (all level) {
	for _, part := range s.stretches {
		if part.level.peak > all.peak {
			all.peak, all.peakAt = part.level.peak, part.level.peakAt
		}
		all.energy += part.level.energy
		all.count += part.level.count
	}
	return all
}

// Summary returns "audio/wav, 2.5 s, 16 kHz, mono, 16-bit, peak -3.1 dBFS at
// 1.20 s, rms -20.0 dBFS".
func (f File) Summary() string {
	h, err := f.header()
	if err != nil {
		return ""
	}
	if f.IsHead() {
		h.length = h.claimed
		return h.String()
	}
	s, err := f.decode()
	switch {
	case errors.Is(err, errSampleFormat):
		return h.String() + ", its samples are not read"
	case err != nil && h.claimed > 0:
		h.length = 0
		return h.String() + ", no sound in it: its header claims " + h.seconds(h.claimed)
	case err != nil:
		return h.String() + ", no sound in it"
	}
	return s.header.String() + s.words()
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
	l := s.level()
	if l.peak == 0 {
		return out + ", silent"
	}
	rms := math.Sqrt(l.energy / float64(max(l.count, 1)))
	out += ", peak " + decibels(l.peak) + " at " + s.seconds(l.peakAt) + ", rms " + decibels(rms)
	if len(s.stretches) > 1 {
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

// seconds returns the duration of so many samples.
func (h header) seconds(samples int64) string {
	t := float64(samples) / float64(h.rate)
	switch {
	case t == 0:
		return "0 s"
	case t < 1:
		return media.Figure(t*1e3) + " ms"
	}
	return strconv.FormatFloat(t, 'f', 1, 64) + " s"
}

// String returns "audio/wav, 2.0 s, 16 kHz, mono, 16-bit".
func (h header) String() string {
	s := "audio/" + h.format
	if h.length > 0 {
		s += ", " + h.seconds(h.length)
	}
	rate := ", " + strconv.Itoa(h.rate) + " Hz"
	if h.rate >= 1000 {
		rate = ", " + strconv.FormatFloat(float64(h.rate)/1000, 'f', -1, 64) + " kHz"
	}
	channels, named := map[int]string{1: ", mono", 2: ", stereo"}[h.channels]
	if !named {
		channels = ", " + strconv.Itoa(h.channels) + " channels"
	}
	s += rate + channels
	if h.bits > 0 {
		s += ", " + strconv.Itoa(h.bits) + "-bit"
	}
	if h.float {
		s += " float"
	}
	return s
}

// Samples returns each channel of the recording. The samples go into the envelope
// one by one, so that a recording of any length takes little memory.
func (f File) Samples(o media.SamplesOptions) (*media.Samples, error) {
	if wav.Is(f.Data) {
		return wavSamples(f.Data, o)
	}
	return flacSamples(f.Data, o)
}

// time is when sample i was taken, in seconds.
func (h header) time(i int) float64 { return float64(i) / float64(h.rate) }

func (h header) samples(e *media.Envelope, start int) *media.Samples {
	out := &media.Samples{Kind: "sound", TimeUnit: "s", RateHz: float64(h.rate), DurationS: h.time(int(h.length))}
	e.Fill(out, start, h.time, func(c int) (name, unit string) {
		switch h.channels {
		case 1:
			return "mono", "1"
		case 2:
			return [2]string{"left", "right"}[c], "1"
		}
		return "channel " + strconv.Itoa(c+1), "1"
	})
	return out
}
