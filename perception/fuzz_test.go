package perception_test

import (
	"encoding/binary"
	"image/color"
	"mime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/perception"
)

// seed adds one of each format, most with a sibling that is broken.
func seed(f *testing.F) {
	f.Helper()
	img := picture(9, 5, color.White, color.Black)
	for _, data := range [][]byte{
		nil, []byte(pcd), wav(1, 16000, 100, 200),
		pngOf(f, img), jpegOf(f, img), pngBomb(8192, 8192), webp("VP8X", make([]byte, 10)),
		npy("<f8", "(2, 2)", elements(binary.LittleEndian, []float64{1, 2, 3, 4})), npy("|O", "(1,)", []byte("\x80")),
		npy(">i2", "(3,)", []byte{0, 1, 0, 2, 0, 3}), []byte("\x89MCAP0\r\n"),
		[]byte(wrenchCSV("Fx,Fy,Fz,Tx,Ty,Tz\n")), []byte("t,a (N)\n0,1\n1,2\n"), []byte("# a b\n1 2\n3 \t4\n"),
		[]byte("[[1,2],[3,null]]"), []byte(`{"channels":["a"],"units":{"a":"N"},"samples":[1,2],"rate_hz":5}`),
		[]byte("open the gripper\nslowly"), []byte("打开夹爪"),
	} {
		for _, declared := range []string{"", "text/csv", "application/json", "text/plain"} {
			f.Add(data, declared)
		}
	}
}

func FuzzSniff(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte, declared string) {
		got, err := perception.Sniff(data, declared)
		if err != nil {
			return
		}
		if base, _, err := mime.ParseMediaType(got); err != nil || !strings.Contains(base, "/") {
			t.Fatalf("got %q, %v", got, err)
		}
		// What was found, declared, must be found again.
		if again, err := perception.Sniff(data, got); err != nil || again != got {
			t.Fatalf("got %q for %q, %v", again, got, err)
		}
	})
}

func FuzzDecodeTrace(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte, declared string) {
		got, err := decodeTrace(perception.Item{MediaType: declared, Data: data}.Payload())
		if err != nil {
			return
		}
		if len(got.Samples) == 0 || len(got.Samples[0]) == 0 || got.RateHz < 0 {
			t.Fatalf("got an empty trace or a negative rate: %v", got)
		}
		width := len(got.Samples[0])
		for _, sample := range got.Samples {
			if len(sample) != width {
				t.Fatalf("got %d readings, want %d", len(sample), width)
			}
		}
		if n := len(got.Channels); n != 0 && n != width {
			t.Fatalf("got %d channels, want %d", n, width)
		}
		if n := len(got.Units); n != 0 && n != width {
			t.Fatalf("got %d units, want %d", n, width)
		}
	})
}

func FuzzSummarize(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte, declared string) {
		item := perception.Item{MediaType: declared, Data: data, Metadata: map[string]any{"kind": "wrench", "duration_s": 0.5, "units": declared}}
		got := perception.Summarize(item)
		if got == "" && len(data) > 0 || len(data) == 0 && got != "" {
			t.Fatalf("got %q for %d bytes", got, len(data))
		}
		if utf8.RuneCountInString(got) > 300 || !utf8.ValidString(got) || strings.ContainsAny(got, "\r\n") {
			t.Fatalf("got %q", got)
		}
		if kind, vector, ok := perception.Features(item); ok != (kind != "") || ok != (len(vector) > 0) {
			t.Fatalf("got features %q, %d, %v", kind, len(vector), ok)
		}
	})
}
