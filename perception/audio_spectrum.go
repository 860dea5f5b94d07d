package perception

import (
	"math"
	"math/bits"
	"math/cmplx"
)

// spectrum gives the power of a window of samples in bands of equal width on the
// mel scale, which is about equal steps of pitch to an ear.
type spectrum struct {
	window []float64    // Hann
	twist  []complex128 // the roots of one of the transform
	buffer []complex128
	// Of each bin of the transform: the band it belongs to, from -1 on, and the
	// share that goes to the band above.
	band  []int
	share []float64
	count int
}

// mel is the scale of O'Shaughnessy (1987).
func mel(hz float64) float64 { return 2595 * math.Log10(1+hz/700) }

// noBand marks a bin outside of all bands.
const noBand = -2

// windowSeconds is long enough to tell tones apart and short enough for a knock.
const windowSeconds = 0.032

// newSpectrum has count bands between two frequencies in Hz. Bands above half
// the sampling rate stay empty.
func newSpectrum(rate, count int, low, high float64) *spectrum {
	const shortest, longest = 6, 12 // as powers of two
	size := 1 << min(max(bits.Len(uint(windowSeconds*float64(rate))), shortest), longest)
	s := &spectrum{count: count, window: make([]float64, size), twist: make([]complex128, size/2), buffer: make([]complex128, size)}
	for i := range s.window {
		s.window[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(size))
	}
	for i := range s.twist {
		s.twist[i] = cmplx.Rect(1, -2*math.Pi*float64(i)/float64(size))
	}
	bottom, width := mel(low), (mel(high)-mel(low))/float64(count)
	for k := range size / 2 {
		// Triangles around the middles of the bands.
		place := (mel(float64(k)*float64(rate)/float64(size))-bottom)/width - 0.5
		if place <= -1 || place >= float64(count) || k == 0 {
			s.band, s.share = append(s.band, noBand), append(s.share, 0)
			continue
		}
		whole := math.Floor(place)
		s.band, s.share = append(s.band, int(whole)), append(s.share, place-whole)
	}
	return s
}

func (s *spectrum) size() int { return len(s.window) }

// add adds the power of the samples, of which there may be fewer than a window,
// to the bands.
func (s *spectrum) add(samples []float32, bands []float64) {
	clear(s.buffer)
	shift := 64 - uint(bits.TrailingZeros(uint(len(s.buffer))))
	for i, v := range samples[:min(len(samples), len(s.window))] {
		s.buffer[bits.Reverse64(uint64(i))>>shift] = complex(float64(v)*s.window[i], 0)
	}
	s.transform()
	for k, b := range s.band {
		re, im := real(s.buffer[k]), imag(s.buffer[k])
		power := re*re + im*im
		if b >= 0 {
			bands[b] += power * (1 - s.share[k])
		}
		if b >= -1 && b+1 < s.count {
			bands[b+1] += power * s.share[k]
		}
	}
}

// transform is the radix-2 FFT of Cooley and Tukey over what add has put into
// bit-reversed order.
func (s *spectrum) transform() {
	n := len(s.buffer)
	for half := 1; half < n; half *= 2 {
		step := n / (2 * half)
		for start := 0; start < n; start += 2 * half {
			for i := range half {
				even, odd := s.buffer[start+i], s.buffer[start+half+i]*s.twist[i*step]
				s.buffer[start+i], s.buffer[start+half+i] = even+odd, even-odd
			}
		}
	}
}
