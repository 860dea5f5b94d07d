package perception_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"image"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
)

// recording is a WAV file of 16-bit samples, mono.
func recording(rate int, samples []float64) []byte {
	b := wav(1, rate, 0, 2*len(samples))
	for _, v := range samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(math.Round(32767*min(max(v, -1), 1)))))
	}
	return b
}

func sine(hz float64, rate int, seconds float64) []float64 {
	out := make([]float64, int(seconds*float64(rate)))
	for i := range out {
		out[i] = 0.5 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate))
	}
	return out
}

func TestSoundsOfOtherEncoders(t *testing.T) {
	t.Parallel()
	const tone = ", peak -6.0 dBFS at "
	tests := []struct {
		name, want string
	}{
		{"pcm_u8.wav", "audio/wav, 100 ms, 8 kHz, mono, 8-bit" + tone},
		{"pcm_16.wav", "audio/wav, 100 ms, 8 kHz, mono, 16-bit" + tone},
		{"pcm_24.wav", "audio/wav, 100 ms, 8 kHz, mono, 24-bit" + tone},
		{"pcm_32.wav", "audio/wav, 100 ms, 8 kHz, mono, 32-bit" + tone},
		{"float.wav", "audio/wav, 100 ms, 8 kHz, mono, 32-bit float" + tone},
		{"double.wav", "audio/wav, 100 ms, 8 kHz, mono, 64-bit float" + tone},
		{"extensible.wav", "audio/wav, 100 ms, 8 kHz, stereo, 24-bit" + tone},
		{"pcm_16.flac", "audio/flac, 500 ms, 8 kHz, mono, 16-bit" + tone},
		{"pcm_24.flac", "audio/flac, 500 ms, 8 kHz, stereo, 24-bit" + tone},
		{"pcm_s8.flac", "audio/flac, 500 ms, 8 kHz, mono, 8-bit" + tone},
	}
	_, pure, _ := perception.Features(perception.Item{Data: recording(8000, sine(440, 8000, 0.5))})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			item := perception.Item{Data: file(t, test.name)}
			got := perception.Summarize(item)
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			// The right channel of the stereo files is silent.
			rms := ", rms -9.0 dBFS"
			if strings.Contains(got, "stereo") {
				rms = ", rms -12.0 dBFS"
			}
			if !strings.HasSuffix(got, rms) {
				t.Errorf("got %q, want %q at its end", got, rms)
			}
			kind, vector, _ := perception.Features(item)
			if d := perception.Distance("sound/v1", pure, vector); kind != "sound/v1" || d > 1.5 {
				t.Errorf("got a %s %.2f from the same tone", kind, d)
			}
			if _, err := perception.MakePreview(item, perception.PreviewOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBrokenSounds(t *testing.T) {
	t.Parallel()
	whole := recording(16000, sine(440, 16000, 2))
	stream := bytes.Clone(whole)
	binary.LittleEndian.PutUint32(stream[len(stream)-64000-4:], math.MaxUint32)
	one := append(wav(1, 8000, 0, 2), 0, 0)
	float := file(t, "float.wav")
	binary.LittleEndian.PutUint32(float[len(float)-4:], math.Float32bits(float32(math.NaN())))
	binary.LittleEndian.PutUint32(float[len(float)-8:], math.Float32bits(math.MaxFloat32))
	adpcm := wav(1, 8000, 400, 800)
	copy(adpcm[20:], "\x11\x00") // IMA ADPCM: half as many bytes say nothing of the samples
	flac := file(t, "frames.flac")
	damaged, beginning := bytes.Clone(flac), bytes.Clone(flac)
	damaged[len(damaged)-100] ^= 0xff
	beginning[len(flac)/5] ^= 0xff
	long, claims := file(t, "long.flac"), bytes.Clone(flac)
	claims[21] |= 0x0f
	copy(claims[22:26], "\xff\xff\xff\xff")
	tests := []struct {
		name    string
		item    perception.Item
		summary string // its beginning
		err     string // "" none
	}{
		{"lies about its length", perception.Item{Data: whole[:len(whole)-32000]}, "audio/wav, 1.0 s, 16 kHz, mono, 16-bit, truncated: its header claims 2.0 s, peak -6.0 dBFS", ""},
		{"never came back to its length", perception.Item{Data: stream}, "audio/wav, 2.0 s, 16 kHz, mono, 16-bit, peak -6.0 dBFS", ""},
		{"an odd byte at the end", perception.Item{Data: whole[:len(whole)-31999]}, "audio/wav, 1.0 s, 16 kHz, mono, 16-bit, truncated", ""},
		{"beginning of a payload", perception.Item{Data: whole[:1000], Size: int64(len(whole))}, "audio/wav, 2.0 s, 16 kHz, mono, 16-bit", "too large to draw"},
		{"no number among floats", perception.Item{Data: float}, "audio/wav, 100 ms, 8 kHz, mono, 32-bit float, peak -6.0 dBFS", ""},
		{"one sample", perception.Item{Data: one}, "audio/wav, 0.125 ms, 8 kHz, mono, 16-bit, silent", ""},
		{"no sample", perception.Item{Data: wav(1, 8000, 0, 0)}, "audio/wav, 8 kHz, mono, 16-bit, not read: the wav recording has no sample", "has no sample"},
		{"mu-law", perception.Item{Data: file(t, "ulaw.wav")}, "858 bytes of audio/wav, not read: WAV samples of 8 bits in format 7 are not read", "in format 7 are not read"},
		{"flac that claims 99 days", perception.Item{Data: claims}, "audio/flac, 2.0 s, 8 kHz, mono, 16-bit, truncated: its header claims 8589934.6 s, peak -6.0 dBFS", ""},
		{"half a flac", perception.Item{Data: flac[:len(flac)/2]}, "audio/flac, 512 ms, 8 kHz, mono, 16-bit, truncated: its header claims 2.0 s, peak -6.0 dBFS", ""},
		{"damaged flac", perception.Item{Data: damaged}, "audio/flac, 1.5 s, 8 kHz, mono, 16-bit, damaged: its header claims 2.0 s, peak -6.0 dBFS", ""},
		{"damaged first frame", perception.Item{Data: beginning}, "11,264 bytes of audio/flac, not read: the flac recording has no whole frame", "has no whole frame"},
		{"a long flac", perception.Item{Data: long}, "audio/flac, 43.7 s, 48 kHz, 8 channels, 16-bit, only its first 43.7 s are read: its header claims 60.0 s, peak", ""},
		{"flac without frames", perception.Item{Data: flac[:42]}, "42 bytes of audio/flac, not read: the header of the FLAC", "header of the FLAC"},
		{"beginning of a flac", perception.Item{Data: flac[:1000], Size: int64(len(flac))}, "audio/flac, 2.0 s, 8 kHz, mono, 16-bit", "too large to draw"},
		{"compressed wav", perception.Item{Data: adpcm}, "856 bytes of audio/wav, not read: WAV samples of 16 bits in format 17", "in format 17 are not read"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := perception.Summarize(test.item); !strings.HasPrefix(got, test.summary) {
				t.Errorf("got  %q\nwant %q", got, test.summary)
			}
			_, err := perception.MakePreview(test.item, perception.PreviewOptions{})
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("got error %v, want %q in it", err, test.err)
			}
			if _, _, ok := perception.Features(test.item); ok && test.err != "" {
				t.Error("got features, want none")
			}
		})
	}
}

// Of a long recording parts are kept; what is said of it must still hold.
func TestLongSounds(t *testing.T) {
	const rate, seconds = 48000, 180
	samples := make([]float64, rate*seconds)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range samples {
		samples[i] = 0.2 * math.Sin(2*math.Pi*(300+10*float64(i)/rate)*float64(i)/rate) * (0.9 + 0.1*r.Float64())
	}
	long := perception.Item{Data: recording(rate, samples)}
	got := perception.Summarize(long)
	if want := "audio/wav, 180.0 s, 48 kHz, mono, 16-bit, peak -14.0 dBFS at "; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, a, _ := perception.Features(long)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 34<<20 {
		t.Errorf("allocated %d bytes, want at most 34 MiB", got)
	}
	// Half of it is short enough to be read whole, and so are both at half the rate.
	half := make([]float64, 0, len(samples)/2)
	for i := 0; i < len(samples); i += 2 {
		half = append(half, (samples[i]+samples[i+1])/2)
	}
	_, b, _ := perception.Features(perception.Item{Data: recording(rate/2, half)})
	_, other, _ := perception.Features(perception.Item{Data: recording(rate/2, half[:len(half)/2])})
	if same, far := perception.Distance("sound/v1", a, b), perception.Distance("sound/v1", a, other); same > far/2 {
		t.Errorf("got %.2f to itself at another rate, %.2f to its first half", same, far)
	}
}

func TestSoundPreview(t *testing.T) {
	t.Parallel()
	item := perception.Item{Data: recording(16000, append(sine(500, 16000, 1), sine(4000, 16000, 1)...))}
	for _, o := range []perception.PreviewOptions{{}, {Width: 300, Height: 200}, {Width: 40, Height: 30}, {Width: 1, Height: 1}, {Width: 4000, Height: 200}} {
		t.Run(fmt.Sprint(o), func(t *testing.T) {
			p, err := perception.MakePreview(item, o)
			if err != nil {
				t.Fatal(err)
			}
			if o.Width > 0 && (p.Width > o.Width || p.Height > o.Height) {
				t.Errorf("got %dx%d, want at most %v", p.Width, p.Height, o)
			}
			again, _ := perception.MakePreview(item, o)
			if !bytes.Equal(p.Data, again.Data) {
				t.Error("two previews of one sound differ")
			}
			img := spectrogramOf(t, p)
			w, h := img.Bounds().Dx(), img.Bounds().Dy()
			if w < 16 {
				return
			}
			// 500 Hz is below the middle of the mel axis up to 8 kHz, 4 kHz above.
			if early, late := brightest(img, w/4), brightest(img, 3*w/4); early < h/2 || late > h/2 {
				t.Errorf("got the tones in rows %d and %d of %d", early, late, h)
			}
		})
	}
	p, _ := perception.MakePreview(item, perception.PreviewOptions{})
	for _, want := range []string{`viewBox="0 0 640 360"`, ">time in s<", ">8 kHz<", ">0.5<", ">1.5<", ">mono<"} {
		if !strings.Contains(string(p.Data), want) {
			t.Errorf("got no %s in the preview", want)
		}
	}
}

var embedded = regexp.MustCompile(`data:image/png;base64,([^"]+)`)

// spectrogramOf checks that the preview is XML and takes the picture out of it.
func spectrogramOf(t testing.TB, p *perception.Preview) image.Image {
	t.Helper()
	for dec := xml.NewDecoder(bytes.NewReader(p.Data)); ; {
		if _, err := dec.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	m := embedded.FindSubmatch(p.Data)
	if m == nil {
		t.Fatalf("got a preview without a picture: %.300s", p.Data)
	}
	if rest := embedded.ReplaceAll(p.Data, nil); bytes.Contains(rest, []byte("NaN")) || bytes.Contains(rest, []byte("Inf")) {
		t.Fatalf("got a preview with what is no number: %.300s", rest)
	}
	b, err := base64.StdEncoding.DecodeString(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	img, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func brightest(img image.Image, x int) (row int) {
	best := uint32(0)
	for y := range img.Bounds().Dy() {
		if r, g, b, _ := img.At(x, y).RGBA(); r+g+b > best {
			best, row = r+g+b, y
		}
	}
	return row
}
