package payload_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/robotmem/robotmem-go/perception/payload"
)

func TestChoose(t *testing.T) {
	grid, noisy := wrench(0.01), wrench(0)
	lines := []byte{}
	for i := range 10_000 {
		lines = fmt.Appendf(lines, "force %d N at %d ms\n", i*i%977, i)
	}
	for _, c := range []struct {
		name   string
		sample []byte
		want   payload.Codec
	}{
		{"nothing", nil, payload.Raw},
		{"a byte", []byte("a"), payload.Raw},
		{"noise", noise(100_000), payload.Raw},
		{"lines of a log", lines, payload.Zstd},
		{"zeros", make([]byte, 100_000), payload.Zstd},
		{"a noisy trace", noisy, "delta.planar.shuffle.zstd:le2x12"},
		{"the same after a header", append([]byte("16 bytes of head"), noisy...), "delta.planar.shuffle.zstd:le2x12"},
		{"a trace on a grid", grid, "delta.planar.zstd:le4x6"},
		{"counts of a converter", counts(), "delta.planar.shuffle.zstd:le2x6"},
		{"a segment of messages", append([]byte("\x89MCAP0\r\n"), grid...), payload.Zstd},
		{"pixels of three colours", pixels(), "delta.planar.zstd:le1x3"},
	} {
		if got := payload.Choose(c.sample); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// pixels is a picture whose colours change slowly, each in its own way.
func pixels() []byte {
	var data []byte
	for i := range 30_000 {
		data = append(data, byte(i/90), byte(128-i/200), byte(i/50))
	}
	return data
}

func FuzzChoose(f *testing.F) {
	f.Add(wrench(0.01)[:5000])
	f.Add(bytes.Repeat([]byte("abc"), 1000))
	f.Add([]byte("a"))
	f.Fuzz(func(t *testing.T, data []byte) { roundTrip(t, payload.Choose(data), data) })
}
