// Package audio reads WAV recordings. A [File] makes a summary, features, a spectrogram and samples
// of one.
//
// The tests of this package are those of package perception, through its API.
package audio

import (
	"errors"
	"math"
	"strconv"

	"github.com/robotmem/robotmem-go/perception/internal/wav"
	"github.com/robotmem/robotmem-go/perception/media"
)

// File is a WAV file.
type File struct{ media.Payload }

// Accepts reports whether the payload begins as a WAV file.
func Accepts(in media.Payload) bool { return wav.Is(in.Data) }

const (
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
	*wavFile
	samples []float32 // every stride-th part
	part    int64     // samples of a part
	stride  int64
	count   int64 // samples that were read

	// Of all channels, before they were mixed:
	peak   float64
	peakAt int64
	energy float64 // the sum of squares
}

func (f File) decode() (*sound, error) {
	if err := f.Whole(); err != nil {
		return nil, err
	}
	src, err := openWAV(f.Data)
	if err != nil {
		return nil, err
	}
	s := &sound{wavFile: src, part: max(maxSound/soundParts/int64(src.Channels), 1), stride: 1}
	for s.length > s.part*soundParts*s.stride {
		s.stride *= 2
	}
	s.samples = make([]float32, 0, min(s.length, s.part*soundParts))
	if err := src.each(0, s.length, s.add); err != nil {
		return nil, err
	}
	if s.count == 0 {
		return nil, errEmpty
	}
	return s, nil
}

var errEmpty = errors.New("the wav recording has no sample")

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
	h, err := openWAV(f.Data)
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
	return s.String() + s.words()
}

func (s *sound) words() string {
	out := ""
	if s.claimed > s.length {
		out = ", truncated: its header claims " + s.seconds(s.claimed)
	}
	if s.peak == 0 {
		return out + ", silent"
	}
	rms := math.Sqrt(s.energy / float64(s.count*int64(s.Channels)))
	return out + ", peak " + decibels(s.peak) + " at " + s.seconds(s.peakAt) + ", rms " + decibels(rms)
}

func decibels(v float64) string {
	db := 20 * math.Log10(v)
	if db > -0.05 && db < 0.05 {
		db = 0 // not "-0.0"
	}
	return strconv.FormatFloat(db, 'f', 1, 64) + " dBFS"
}

// seconds returns the duration of so many samples.
func (h *wavFile) seconds(samples int64) string {
	t := float64(samples) / float64(h.Rate)
	switch {
	case t == 0:
		return "0 s"
	case t < 1:
		return media.Figure(t*1e3) + " ms"
	}
	return strconv.FormatFloat(t, 'f', 1, 64) + " s"
}

// String returns "audio/wav, 2.0 s, 16 kHz, mono, 16-bit".
func (h *wavFile) String() string {
	s := "audio/wav"
	if h.length > 0 {
		s += ", " + h.seconds(h.length)
	}
	rate := ", " + strconv.Itoa(h.Rate) + " Hz"
	if h.Rate >= 1000 {
		rate = ", " + strconv.FormatFloat(float64(h.Rate)/1000, 'f', -1, 64) + " kHz"
	}
	channels, named := map[int]string{1: ", mono", 2: ", stereo"}[h.Channels]
	if !named {
		channels = ", " + strconv.Itoa(h.Channels) + " channels"
	}
	s += rate + channels
	if h.Bits > 0 {
		s += ", " + strconv.Itoa(h.Bits) + "-bit"
	}
	if h.Code == wav.Float {
		s += " float"
	}
	return s
}

// Samples returns each channel of the recording. The samples go into the envelope
// one by one, so that a recording of any length takes little memory.
func (f File) Samples(o media.SamplesOptions) (*media.Samples, error) {
	h, err := openWAV(f.Data)
	if err != nil {
		return nil, err
	}
	time := func(i int) float64 { return float64(i) / float64(h.Rate) }
	lo, hi := o.Cut(int(h.length), time)
	e, err := media.NewEnvelope(h.Channels, int64(hi-lo), o)
	if err != nil {
		return nil, err
	}
	if err := h.each(int64(lo), int64(hi), e.Add); err != nil {
		return nil, err
	}
	if h.length == 0 {
		return nil, errEmpty
	}
	out := &media.Samples{Kind: "sound", TimeUnit: "s", RateHz: float64(h.Rate), DurationS: time(int(h.length))}
	e.Fill(out, lo, time, func(c int) (name, unit string) {
		switch h.Channels {
		case 1:
			return "mono", "1"
		case 2:
			return [2]string{"left", "right"}[c], "1"
		}
		return "channel " + strconv.Itoa(c+1), "1"
	})
	return out, nil
}
