// Package audio reads WAV and FLAC recordings. A [File] makes a summary, features,
// a spectrogram and samples of one.
//
// The tests of this package are those of package perception, through its API.
package audio

import (
	"bytes"
	"cmp"
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

// source is an open recording.
type source struct {
	header
	// each calls f with the readings of each sample from lo up to and without hi, full scale is 1. They
	// are valid until f returns. It returns where it stopped, and why it did if that is before hi:
	// io.EOF, errMoreSound, or what is damaged.
	each func(lo, hi int64, f func(readings []float64)) (end int64, err error)
}

func (f File) open() (source, error) {
	if wav.Is(f.Data) {
		return openWAV(f.Data)
	}
	return openFLAC(f.Data)
}

const (
	// maxLength is the number of samples that a FLAC header can count.
	maxLength = 1 << 36
	// maxSound bounds the samples of all channels that are kept: 32 MiB as float32, three minutes
	// of mono at 48 kHz. A longer recording is represented by up to soundParts parts of one length
	// that are spread evenly over it.
	maxSound   = 8 << 20
	soundParts = 64
	// maxSample is 120 dB above full scale.
	maxSample = 1e6
)

// sound is a recording mixed to one channel; full scale is 1.
type sound struct {
	header
	samples []float32 // every stride-th part
	part    int64     // samples of a part
	stride  int64
	count   int64 // samples that were read
	damage  error // what ended the reading early

	// Of all channels, before they were mixed:
	peak   float64
	peakAt int64
	energy float64 // the sum of squares
}

func (f File) decode() (*sound, error) {
	if err := f.Whole(); err != nil {
		return nil, err
	}
	src, err := f.open()
	if err != nil {
		return nil, err
	}
	s := &sound{header: src.header, part: max(maxSound/soundParts/int64(src.channels), 1), stride: 1}
	s.samples = make([]float32, 0, min(s.length, s.part*soundParts))
	_, err = src.each(0, maxLength, s.add)
	switch {
	case s.count == 0 && errors.Is(err, io.EOF):
		return nil, s.errEmpty()
	case s.count == 0:
		return nil, err
	case !errors.Is(err, io.EOF) && !errors.Is(err, errMoreSound):
		s.damage = err
	}
	if s.length = s.count; errors.Is(err, errMoreSound) {
		s.length = max(s.count, s.claimed)
	}
	return s, nil
}

func (h header) errEmpty() error { return fmt.Errorf("the %s recording has no sample", h.format) }

func (s *sound) add(readings []float64) {
	sum := 0.0
	for _, v := range readings {
		// A float file may hold NaN, or numbers far beyond full scale.
		if !(math.Abs(v) <= maxSample) {
			v = 0
		}
		if m := math.Abs(v); m > s.peak {
			s.peak, s.peakAt = m, s.count
		}
		s.energy += v * v
		sum += v
	}
	at := s.count / s.part
	s.count++
	if at%s.stride == 0 && int64(len(s.samples)) == s.part*soundParts {
		for i := range int64(soundParts / 2) {
			copy(s.samples[i*s.part:(i+1)*s.part], s.samples[2*i*s.part:])
		}
		s.samples = s.samples[:s.part*soundParts/2]
		s.stride *= 2
	}
	if at%s.stride == 0 {
		s.samples = append(s.samples, float32(sum/float64(len(readings))))
	}
}

// at returns n samples from start on, fewer at the end of a part. Between two parts it returns the
// end of the earlier one.
func (s *sound) at(start int64, n int) []float32 {
	low, high := int64(0), int64(len(s.samples))
	if s.stride > 1 {
		part := min(max(start, 0)/s.part/s.stride, (high-1)/s.part)
		start -= part * (s.stride - 1) * s.part
		low, high = part*s.part, min((part+1)*s.part, high)
	}
	from := min(max(start, low), max(high-int64(n), low))
	return s.samples[from:min(from+int64(n), high)]
}

// Summary returns "audio/wav, 2.5 s, 16 kHz, mono, 16-bit, peak -3.1 dBFS at
// 1.20 s, rms -20.0 dBFS".
func (f File) Summary() string {
	h, err := f.open()
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
	if s.peak == 0 {
		return out + ", silent"
	}
	rms := math.Sqrt(s.energy / float64(s.count*int64(s.channels)))
	out += ", peak " + decibels(s.peak) + " at " + s.seconds(s.peakAt) + ", rms " + decibels(rms)
	if s.count < s.length {
		out += " (of its first " + s.seconds(s.count) + ")"
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
	h, err := f.open()
	if err != nil {
		return nil, err
	}
	time := func(i int) float64 { return float64(i) / float64(h.rate) }
	lo, hi := o.Cut(maxLength, time)
	length := cmp.Or(h.length, h.claimed)
	e, err := media.NewEnvelope(h.channels, max(min(int64(hi), length)-int64(lo), 0), o)
	if err != nil {
		return nil, err
	}
	end, err := h.each(int64(lo), int64(hi), e.Add)
	switch {
	case errors.Is(err, errMoreSound):
		return nil, fmt.Errorf("the sound is longer than %d samples, the most that are unpacked at once; ask for an earlier part with to", maxStreamed)
	case end == 0 && errors.Is(err, io.EOF):
		return nil, h.errEmpty()
	case end == 0 && err != nil:
		return nil, err
	case err == nil:
		end = max(end, length)
	}
	out := &media.Samples{Kind: "sound", TimeUnit: "s", RateHz: float64(h.rate), DurationS: time(int(end))}
	e.Fill(out, lo, time, func(c int) (name, unit string) {
		switch h.channels {
		case 1:
			return "mono", "1"
		case 2:
			return [2]string{"left", "right"}[c], "1"
		}
		return "channel " + strconv.Itoa(c+1), "1"
	})
	return out, nil
}
