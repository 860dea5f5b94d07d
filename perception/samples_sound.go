package perception

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/mewkiz/flac/frame"
)

// A sound is read whole and channel by channel here, but never held: the
// samples go into the envelope one by one.

// maxStreamed bounds the samples of all channels that are unpacked of a FLAC
// file, a frame of which may hold half a million in a few bytes: twelve minutes of
// mono at 48 kHz.
const maxStreamed = 32 << 20

func soundSamples(it Item, o SamplesOptions) (*Samples, error) {
	if isWAV(it.Data) {
		return wavSamples(it.Data, o)
	}
	return flacSamples(it.Data, o)
}

func wavSamples(data []byte, o SamplesOptions) (*Samples, error) {
	w, err := parseWAV(data)
	if err != nil {
		return nil, err
	}
	sample, err := w.reader()
	if err != nil {
		return nil, err
	}
	if w.length == 0 {
		return nil, fmt.Errorf("the %s recording has no sample", w.format)
	}
	lo, hi := o.cut(int(w.length), w.time)
	e, err := newEnvelope(w.channels, int64(hi-lo), o.points(tracePoints))
	if err != nil {
		return nil, err
	}
	readings := make([]float64, w.channels)
	at := w.body[lo*w.size*w.channels:]
	for range hi - lo {
		for c := range readings {
			readings[c] = sample(at)
			at = at[w.size:]
		}
		e.add(readings)
	}
	return w.samples(e, lo), nil
}

// time is when sample i was taken, in seconds.
func (a audio) time(i int) float64 { return float64(i) / float64(a.rate) }

func (a audio) samples(e *envelope, start int) *Samples {
	out := &Samples{Kind: "sound", TimeUnit: "s", RateHz: float64(a.rate), DurationS: a.time(int(a.length))}
	e.fill(out, int64(start), func(i int64) float64 { return a.time(int(i)) })
	for c := range out.Channels {
		out.Channels[c].Name, out.Channels[c].Unit = a.channelName(c), "1"
	}
	return out
}

func (a audio) channelName(c int) string {
	switch {
	case a.channels == 1:
		return "mono"
	case a.channels == 2:
		return [2]string{"left", "right"}[c]
	}
	return "channel " + strconv.Itoa(c+1)
}

func flacSamples(data []byte, o SamplesOptions) (*Samples, error) {
	a, err := parseFLAC(data)
	if err != nil {
		return nil, err
	}
	// The file counts, not what its header claims.
	const most = 1 << 36 // samples that a header can count
	lo, hi := o.cut(most, a.time)
	foreseen := max(min(int64(hi), a.claimed)-int64(lo), 0)
	e, err := newEnvelope(a.channels, foreseen, o.points(tracePoints))
	if err != nil {
		return nil, err
	}
	end, err := a.unpack(data[metadataEnd(data):], lo, hi, e)
	switch {
	case errors.Is(err, errMoreSound):
		return nil, fmt.Errorf("the sound is longer than %d samples, which are unpacked at once; ask for an earlier part with to", maxStreamed)
	case end == 0 && errors.Is(err, io.EOF):
		return nil, fmt.Errorf("the %s recording has no sample", a.format)
	case end == 0 && err != nil:
		return nil, fmt.Errorf("the %s recording has no whole frame: %w", a.format, err)
	case err != nil:
		a.length = int64(end)
	default:
		a.length = max(a.claimed, int64(end))
	}
	return a.samples(e, lo), nil
}

// unpack gives e the samples from lo to hi and returns where it stopped: at hi,
// or where the file ends (io.EOF) or breaks.
func (a audio) unpack(frames []byte, lo, hi int, e *envelope) (end int, err error) {
	readings := make([]float64, a.channels)
	for at := bytes.NewReader(frames); end < hi; {
		f, err := frame.New(at)
		if err != nil {
			return end, err
		}
		if int64(end+int(f.BlockSize))*int64(a.channels) > maxStreamed {
			return end, errMoreSound
		}
		if f.BitsPerSample == 0 {
			f.BitsPerSample = uint8(a.bits)
		}
		if err := f.Parse(); err != nil {
			return end, err
		}
		if len(f.Subframes) != a.channels {
			return end, fmt.Errorf("a frame has %d channels of %d", len(f.Subframes), a.channels)
		}
		full := float64(int64(1) << (f.BitsPerSample - 1))
		n := len(f.Subframes[0].Samples)
		for i := max(lo-end, 0); i < min(n, hi-end); i++ {
			for c, channel := range f.Subframes {
				readings[c] = float64(channel.Samples[i]) / full
			}
			e.add(readings)
		}
		end += n
	}
	return end, nil
}
