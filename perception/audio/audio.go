// Package audio reads WAV and FLAC recordings. A [File] makes a summary, features, a spectrogram and samples.
//
// The tests of this package are those of package perception, through its API.
package audio

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strconv"

	"github.com/robotmem/robotmem-go/perception/internal/draw"
	"github.com/robotmem/robotmem-go/perception/media"
)

// File is a WAV or FLAC file.
type File struct{ media.Payload }

// Accepts reports whether the payload begins as a WAV or FLAC file.
func Accepts(in media.Payload) bool { return isWAV(in) || isFLAC(in) }

func isFLAC(in media.Payload) bool { return bytes.HasPrefix(in.Data, []byte(flacMagic)) }

func isWAV(in media.Payload) bool {
	return len(in.Data) >= 12 && string(in.Data[:4]) == "RIFF" && string(in.Data[8:12]) == "WAVE"
}

func (w *wavFile) errEmpty() error { return fmt.Errorf("the %s recording has no sample", w.kind) }

func (f File) read() (*wavFile, error) {
	if isFLAC(f.Payload) {
		return openFLAC(f.Data, f.IsHead())
	}
	return openWAV(f.Data)
}

// open returns a whole recording that has at least one sample.
func (f File) open() (*wavFile, error) {
	if err := f.Whole(); err != nil {
		return nil, err
	}
	w, err := f.read()
	if err == nil && w.length == 0 {
		err = w.errEmpty()
	}

	return w, err
}

// window returns n samples from start on, mixed to one channel, with full scale as 1. A window that
// reaches beyond an end of the recording is moved until it lies within it.
func (w *wavFile) window(start int64, n int) []float32 {
	start = max(min(start, w.length-int64(n)), 0)
	samples := make([]float32, 0, n)
	w.each(start, min(start+int64(n), w.length), func(readings []float64) {
		sum := 0.0
		for _, v := range readings {
			sum += audible(v)
		}
		samples = append(samples, float32(sum/float64(len(readings))))
	})

	return samples
}

// audible returns 0 for what cannot be a reading: a float file may hold NaN or huge numbers.
func audible(v float64) float64 {
	const most = 1e6 // 120 dB above full scale
	if math.Abs(v) <= most {
		return v
	}
	return 0
}

// Summary returns "audio/wav, 2.5 s, 16 kHz, mono, 16-bit, peak -3.1 dBFS at
// 1.20 s, rms -20.0 dBFS".
func (f File) Summary() string {
	w, err := f.read()
	if err != nil {
		return ""
	}

	// The first bytes hold only some of the samples, so the length is the one that the header claims.
	if f.IsHead() {
		w.length = w.claimed
		return w.String()
	}

	if w.length == 0 {
		return w.String() + ", not read: " + w.errEmpty().Error()
	}
	if w.cut != "" {
		return w.String() + w.cut + w.loudness()
	}
	if w.claimed > w.length {
		return w.String() + ", truncated: its header claims " + w.duration(w.claimed) + w.loudness()
	}

	return w.String() + w.loudness()
}

// loudness returns ", peak -3.1 dBFS at 1.20 s, rms -20.0 dBFS", over all channels.
func (w *wavFile) loudness() string {
	var (
		peak, energy float64
		at, count    int64
	)
	w.each(0, w.length, func(readings []float64) {
		for _, v := range readings {
			v = audible(v)
			if m := math.Abs(v); m > peak {
				peak, at = m, count
			}
			energy += v * v
		}
		count++
	})
	if peak == 0 {
		return ", silent"
	}

	rms := math.Sqrt(energy / float64(count*int64(w.channels)))

	return ", peak " + decibels(peak) + " at " + w.duration(at) + ", rms " + decibels(rms)
}

func decibels(v float64) string {
	// A level just below full scale rounds to -0, and 0 is added so that it is not printed as "-0.0".
	db := math.Round(200*math.Log10(v))/10 + 0
	return strconv.FormatFloat(db, 'f', 1, 64) + " dBFS"
}

// duration returns how long this many samples last: 250 ms, 2.5 s.
func (w *wavFile) duration(samples int64) string {
	t := float64(samples) / float64(w.rate)
	if t == 0 || t >= 1 {
		return strconv.FormatFloat(t, 'f', 1, 64) + " s"
	}
	return media.Figure(t*1e3) + " ms"
}

// String returns "audio/wav, 2.0 s, 16 kHz, mono, 16-bit".
func (w *wavFile) String() string {
	s := "audio/" + w.kind
	if w.length > 0 {
		s += ", " + w.duration(w.length)
	}

	rate := ", " + strconv.Itoa(w.rate) + " Hz"
	if w.rate >= 1000 {
		rate = ", " + strconv.FormatFloat(float64(w.rate)/1000, 'f', -1, 64) + " kHz"
	}

	channels, named := map[int]string{1: ", mono", 2: ", stereo"}[w.channels]
	if !named {
		channels = ", " + strconv.Itoa(w.channels) + " channels"
	}

	s += rate + channels
	s += ", " + strconv.Itoa(w.bits) + "-bit"
	if w.code == codeFloat {
		s += " float"
	}

	return s
}

// Samples returns each channel of the recording. The samples go into the envelope
// one by one, so that a recording of any length takes little memory.
func (f File) Samples(o media.SamplesOptions) (*media.Samples, error) {
	w, err := f.open()
	if err != nil {
		return nil, err
	}

	time := func(i int) float64 { return float64(i) / float64(w.rate) }
	lo, hi := o.Cut(int(w.length), time)
	e, err := media.NewEnvelope(w.channels, int64(hi-lo), o)
	if err != nil {
		return nil, err
	}

	w.each(int64(lo), int64(hi), e.Add)
	out := &media.Samples{Kind: "sound", TimeUnit: "s", RateHz: float64(w.rate), DurationS: time(int(w.length))}
	e.Fill(out, lo, time, func(c int) (name, unit string) {
		switch w.channels {
		case 1:
			return "mono", "1"
		case 2:
			return [2]string{"left", "right"}[c], "1"
		}

		return "channel " + strconv.Itoa(c+1), "1"
	})

	return out, nil
}

const (
	spectrogramRows       = 96 // mel bands
	maxSpectrogramColumns = 1024
	// spectrogramRange is how many decibels below the loudest cell a cell is drawn black.
	spectrogramRange = 70.0
)

// Preview draws the spectrogram over time and pitch, bright where the sound is
// loud, and the waveform below it.
func (f File) Preview(o media.PreviewOptions) (*media.Preview, error) {
	w, err := f.open()
	if err != nil {
		return nil, err
	}
	wave, err := f.Samples(media.SamplesOptions{})
	if err != nil {
		return nil, err
	}

	return draw.Sound(wave, w.spectrogram, o)
}

// spectrogram has a column per step of time and a row per band, the highest on top.
func (w *wavFile) spectrogram(columns int) image.Image {
	columns = min(columns, maxSpectrogramColumns)
	spec := newSpectrum(w.rate, spectrogramRows, 0, float64(w.rate)/2)

	power := make([]float64, columns*spectrogramRows)
	for x := range columns {
		middle := (2*int64(x) + 1) * w.length / int64(2*columns)
		column := power[x*spectrogramRows:][:spectrogramRows]
		spec.add(w.window(middle-int64(spec.size()/2), spec.size()), column)
	}
	loudest := max(slices.Max(power), math.SmallestNonzeroFloat64)
	img := image.NewGray(image.Rect(0, 0, columns, spectrogramRows))

	for i, p := range power {
		x, band := i/spectrogramRows, i%spectrogramRows
		// The bound keeps the logarithm of silence finite.
		belowLoudest := 10 * math.Log10(max(p/loudest, 1e-12))
		level := 1 + belowLoudest/spectrogramRange
		// The lowest band is the bottom row.
		img.SetGray(x, spectrogramRows-1-band, color.Gray{uint8(255 * max(level, 0))})
	}

	return img
}
