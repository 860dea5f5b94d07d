package payload_test

import (
	"context"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/robotmem/robotmem-go/perception/payload"
)

// wrench is a minute of a six-axis sensor at 1 kHz, in N and Nm, as row after
// row of float32: slow motion, a contact now and then, and noise. A grid above 0
// is the step of the sensor's converter.
func wrench(grid float64) []byte {
	r := rand.New(rand.NewPCG(6, 1000))
	data := make([]byte, 0, 60_000*6*4)
	for i := range 60_000 {
		t := float64(i) / 1000
		contact := 20 * math.Exp(-8*math.Mod(t, 1.7))
		for axis := range 6 {
			v := 10*math.Sin(t*(0.3+0.1*float64(axis))) + contact + 0.05*r.NormFloat64()
			if grid > 0 {
				v = math.Round(v/grid) * grid
			}
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
		}
	}
	return data
}

// counts is the same as int16 of a converter.
func counts() []byte {
	floats, data := wrench(0), []byte(nil)
	for ; len(floats) > 0; floats = floats[4:] {
		v := math.Float32frombits(binary.LittleEndian.Uint32(floats))
		data = binary.LittleEndian.AppendUint16(data, uint16(int16(v*500)))
	}
	return data
}

var traces = []struct {
	name    string
	data    func() []byte
	element int
}{
	{"noisy-f4", func() []byte { return wrench(0) }, 4},
	{"grid-f4", func() []byte { return wrench(0.0625) }, 4},
	{"fine-grid-f4", func() []byte { return wrench(0.01) }, 4},
	{"counts-i2", counts, 2},
}

// The ratio is that of raw bytes to stored ones.
func BenchmarkEncode(b *testing.B) {
	for _, trace := range traces {
		data := trace.data()
		for _, c := range codecs("le", trace.element, 6, 0)[1:] {
			b.Run(trace.name+"/"+string(c), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				stored := 0
				for b.Loop() {
					out, err := c.Encode(data)
					if err != nil {
						b.Fatal(err)
					}
					stored = len(out)
				}
				b.ReportMetric(float64(len(data))/float64(stored), "ratio")
			})
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	data := wrench(0)
	for _, c := range codecs("le", 4, 6, 0)[1:] {
		b.Run(string(c), func(b *testing.B) {
			stored, err := c.Encode(data)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := c.Decode(stored, int64(len(data))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkChoose(b *testing.B) {
	data := wrench(0)
	for b.Loop() {
		payload.Choose(data)
	}
}

// A payload of 64 MiB, to the disk and back.
func BenchmarkFolder(b *testing.B) {
	f := payload.Folder{Dir: b.TempDir()}
	const size = 64 << 20
	b.SetBytes(size)
	for seed := uint64(0); b.Loop(); seed++ {
		w, err := f.Write(context.Background(), &steps{left: size, value: seed}, payload.Options{})
		if err != nil {
			b.Fatal(err)
		}
		r, err := f.Open(w.Sum, w.Codec, w.Size)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}

// steps is a payload that nobody holds: numbers of eight bytes that rise by
// something each time.
type steps struct {
	left, value uint64
	rest        []byte // of the last number
}

func (s *steps) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	p = p[:min(uint64(len(p)), s.left)]
	for n := 0; n < len(p); {
		if len(s.rest) == 0 {
			s.value += s.value*6364136223846793005>>54 + 1
			s.rest = binary.LittleEndian.AppendUint64(s.rest, s.value)
		}
		k := copy(p[n:], s.rest)
		n, s.rest = n+k, s.rest[k:]
	}
	s.left -= uint64(len(p))
	return len(p), nil
}
