package perception_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/robotmem/robotmem-go/perception"
)

func TestFeaturesOfTraces(t *testing.T) {
	ramp := func(channels, samples int) string {
		var b strings.Builder
		for i := range samples {
			fmt.Fprintf(&b, "%d%s\n", i, strings.Repeat(",1", channels-1))
		}
		return b.String()
	}
	tests := []struct {
		name string
		item perception.Item
		kind string // "" none
		size int
	}{
		{"short", csvItem("1,2\n3,4\n5,6\n"), "trace/v2/2", 128},
		{"as many as there are steps", csvItem(ramp(2, 32)), "trace/v2/2", 128},
		{"long", csvItem(ramp(2, 33)), "trace/v2/2", 128},
		{"wide", csvItem(ramp(256, 5)), "trace/v2/256", 256 * 64},
		{"too wide", csvItem(ramp(257, 5)), "", 0},
		{"missing reading", csvItem("1,2\n3,\n"), "", 0},
		{"infinite in 32 bits", csvItem("1\n1e300\n"), "", 0},
		{"no trace", csvItem("a,b\n"), "", 0},
		{"nothing", csvItem(""), "", 0},
		{"sound", perception.Item{Data: wav(1, 16000, 100, 200)}, "", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			kind, vector, ok := perception.Features(test.item)
			if kind != test.kind || len(vector) != test.size || ok != (test.kind != "") {
				t.Errorf("got %q, %d, %v, want %q, %d", kind, len(vector), ok, test.kind, test.size)
			}
		})
	}
}

func TestFeaturesOfALongTrace(t *testing.T) {
	var b strings.Builder
	for i := range 640 { // 20 samples in each of 32 parts
		fmt.Fprintf(&b, "%d,-49\n", 639-i)
	}
	_, got, _ := perception.Features(csvItem(b.String()))
	var want []float32
	for part := range 32 {
		want = append(want, float32(math.Sqrt(639-float64(20*part)-9.5)))
	}
	for rank := range 32 {
		want = append(want, float32(math.Sqrt(float64(rank)*639/31)))
	}
	for range 64 {
		want = append(want, -7)
	}
	if diff := cmp.Diff(got, want, cmpopts.EquateApprox(0, 1e-5)); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}

// The course goes by the stamps, not by the count.
func TestFeaturesOfUnevenTimes(t *testing.T) {
	short := func(header string, times ...float64) string {
		text := header
		for _, at := range times {
			text += fmt.Sprintf("%g,%g\n", at, at)
		}
		return text
	}
	long := "t,a\n"
	for i := range 200 {
		if i%20 < 7 || i < 20 {
			long += fmt.Sprintf("%d,%d\n", i, i)
		}
	}
	long += "199,199\n"
	for name, text := range map[string]string{
		"short": short("t,a\n", 0, 1, 2, 3, 4, 90, 95, 199),
		"long":  long,
	} {
		t.Run(name, func(t *testing.T) {
			_, got, _ := perception.Features(csvItem(text))
			var want []float32
			for step := range 32 {
				want = append(want, float32(math.Sqrt(float64(step)*199/31)))
			}
			// The mean of a part lies up to half a part beside its middle.
			if diff := cmp.Diff(got[:32], want, cmpopts.EquateApprox(0.05, 1.8)); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
		})
	}
}

func TestFeaturesDoNotDependOnMetadata(t *testing.T) {
	item := csvItem("1,2,3,4,5,6\n6,5,4,3,2,1\n")
	kind, vector, _ := perception.Features(item)
	gotKind, got, _ := perception.Features(with(item, map[string]any{"kind": "wrench", "rate_hz": 10.0, "units": "N"}))
	if diff := cmp.Diff(got, vector); diff != "" || gotKind != kind {
		t.Errorf("got %q, want %q; -got +want:\n%s", gotKind, kind, diff)
	}
}

// pngBomb is a valid header of a picture of the given size, and no pixels.
func pngBomb(width, height uint32) []byte {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR")
	b = binary.BigEndian.AppendUint32(b, width)
	b = binary.BigEndian.AppendUint32(b, height)
	b = append(b, 16, 6, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[12:]))
	idat := append([]byte("\x00\x00\x00\x04IDAT"), 0x78, 0x9c, 0, 0)
	b = append(b, idat...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(idat[4:]))
}

// The limits are for all that both functions allocate, most of it in turn.
func TestMemoryStaysBounded(t *testing.T) {
	blank := pngOf(t, image.NewGray(image.Rect(0, 0, 5000, 5000))) // 25 megapixels
	short := []byte(strings.Repeat("0\n", 1<<20))
	const mib = 1 << 20
	tests := []struct {
		name  string
		data  []byte
		limit uint64
	}{
		{"png that claims 64 megapixels", pngBomb(8192, 8192), 2 * mib},
		{"png that claims four megapixels", pngBomb(2048, 2048), 2 * mib},
		{"png that claims the earth", pngBomb(math.MaxInt32, math.MaxInt32), 2 * mib},
		{"png of many blank pixels", blank, 2 * mib},
		{"npy that claims a terabyte", npy("<f8", "(1000000000, 1000)", nil), 2 * mib},
		{"csv of short numbers", short, 12 * uint64(len(short))},
		{"json of short lists", []byte("[[0]" + strings.Repeat(",[0]", 1<<19) + "]"), 12 * (2 * mib)},
		{"json of empty lists", []byte("[[]" + strings.Repeat(",[]", 1<<19) + "]"), 20 * (2 * mib)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			item := perception.Item{Data: test.data}
			perception.Summarize(item)
			perception.Features(item)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > test.limit {
				t.Errorf("allocated %d bytes for %d, want at most %d", got, len(test.data), test.limit)
			}
		})
	}
}
