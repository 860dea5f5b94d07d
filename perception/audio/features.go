package audio

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/dsp/fourier"
)

// Two sounds are alike if their power is spread alike over pitch and time. A vector holds the
// logarithm of the power in mel bands, for equal parts of the recording. The mean is subtracted, so
// that the distance to the microphone does not count. Power far below the loudest cell is raised to
// a floor, so that faint noise does not count.
const (
	soundKind  = "sound/v1"
	soundTimes = 8
	soundBands = 24
	// soundWindows is the number of windows in each part at most.
	soundWindows = 64
	// The bands do not depend on the sampling rate, so that recordings of different
	// rates are comparable. In Hz.
	soundLow  = 60.0
	soundHigh = 8000.0
	// soundFloor is in bels below the loudest cell.
	soundFloor = 2.5
)

// Features returns a vector of the kind sound/v1. Silence has none.
func (f File) Features() (kind string, vector []float32, ok bool) {
	w, err := f.open()
	if err != nil {
		return "", nil, false
	}

	spec := newSpectrum(w.rate, soundBands, soundLow, soundHigh)

	var cells [soundTimes * soundBands]float64
	loudest := 0.0

	for t := range soundTimes {
		from, to := int64(t)*w.length/soundTimes, int64(t+1)*w.length/soundTimes
		// Windows overlap by half if there are few.
		n := min(max(int(2*(to-from)/int64(spec.size())), 1), soundWindows)

		bands := cells[t*soundBands : (t+1)*soundBands]
		for i := range n {
			spec.add(w.window(from+int64(i)*(to-from)/int64(n), spec.size()), bands)
		}

		for b := range bands {
			bands[b] /= float64(n)
			loudest = max(loudest, bands[b])
		}
	}

	if loudest == 0 {
		return "", nil, false
	}

	mean := 0.0

	for i, power := range cells {
		cells[i] = max(math.Log10(power/loudest), -soundFloor)
		mean += cells[i] / float64(len(cells))
	}

	vector = make([]float32, len(cells))
	for i, v := range cells {
		vector[i] = float32((v - mean) / soundFloor)
	}

	return soundKind, vector, true
}

// spectrum computes the power of a window of samples in bands of equal width on the
// mel scale, which are about equal steps of pitch to the ear.
type spectrum struct {
	fft      *fourier.FFT
	window   []float64 // Hann
	windowed []float64 // the samples times the window
	result   []complex128
	// place is where a bin of the transform lies on the scale of the bands, which are triangles
	// around whole numbers. The two bands beside it share its power.
	place []float64
}

// mel is the scale of O'Shaughnessy (1987).
func mel(hz float64) float64 { return 2595 * math.Log10(1+hz/700) }

// windowSeconds is long enough to separate tones and short enough for a knock.
const windowSeconds = 0.032

// newSpectrum has count bands from low to high, in Hz. Bands above half the
// sampling rate stay empty.
func newSpectrum(rate, count int, low, high float64) *spectrum {
	const shortest, longest = 6, 12 // powers of two
	// The transform needs a power of two. Without the limits a rate of 10 MHz would give a window of 320,000
	// samples.
	size := 1 << min(max(bits.Len(uint(windowSeconds*float64(rate))), shortest), longest)

	s := &spectrum{
		fft: fourier.NewFFT(size), result: make([]complex128, size/2+1),
		window: make([]float64, size), windowed: make([]float64, size), place: make([]float64, size/2),
	}
	for i := range s.window {
		s.window[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(size))
	}

	bottom, width := mel(low), (mel(high)-mel(low))/float64(count)
	for k := range s.place {
		s.place[k] = (mel(float64(k)*float64(rate)/float64(size))-bottom)/width - 0.5
	}

	// The mean is no tone.
	s.place[0] = math.Inf(-1)

	return s
}

func (s *spectrum) size() int { return len(s.window) }

// add adds the power of the samples to the bands. There may be fewer samples than a window has.
func (s *spectrum) add(samples []float32, bands []float64) {
	// A short window is padded with zeros, and the buffer still has the samples of the one before.
	clear(s.windowed)

	for i, v := range samples[:min(len(samples), len(s.window))] {
		s.windowed[i] = float64(v) * s.window[i]
	}
	s.fft.Coefficients(s.result, s.windowed)

	for k, place := range s.place {
		re, im := real(s.result[k]), imag(s.result[k])
		power, lower := re*re+im*im, math.Floor(place)
		if lower >= 0 && lower < float64(len(bands)) {
			bands[int(lower)] += power * (1 - (place - lower))
		}
		if upper := lower + 1; upper >= 0 && upper < float64(len(bands)) {
			bands[int(upper)] += power * (place - lower)
		}
	}
}
