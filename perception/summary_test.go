package perception_test

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/timeseries"
)

// wrenchCSV is 15 samples at rest under a load of 60, with a blow at the fifth.
func wrenchCSV(header string) string {
	var b strings.Builder
	b.WriteString(header)
	for i := range 15 {
		fz := 60
		if i == 4 {
			fz = -62
		}
		fmt.Fprintf(&b, "1,2,%d,0,900,-900\n", fz-i%2)
	}
	return b.String()
}

func TestSummarize(t *testing.T) {
	seconds := map[string]any{"duration_s": 0.315}
	units := map[string]any{"duration_s": 0.315, "units": map[string]any{"force": "N", "torque": "Nm"}}
	kind := map[string]any{"kind": "wrench"}
	gyro := "gyro_x,gyro_y,gyro_z\n" + strings.Repeat("0,0,0.1\n", 80) + "0.3,0,2.1\n" + strings.Repeat("0,0,0\n", 119)
	depth := image.NewGray16(image.Rect(0, 0, 20, 10))
	tests := []struct {
		name string
		item perception.Item
		want string
	}{
		{"wrench", with(csvItem(wrenchCSV("Fx,Fy,Fz,Tx,Ty,Tz\n")), units), "6-axis wrench, 15 samples over 315 ms, Fz peak -62 N at 84 ms"},
		{"readings that are missing at the ends", csvItem("t,Fx,Fy\n0,,1\n0.1,5,2\n0.2,9,1\n0.3,,1\n"), "2-channel trace, 4 samples over 400 ms, Fx peak 9 at 200 ms, 2 readings missing"},
		{"a last reading that is infinite", csvItem("a,b\n,1\n5,2\n9,90\ninf,1\n"), "2-channel trace, 4 samples, b peak 90 at sample 3, 1 reading missing"},
		{"wrench without units", with(csvItem(wrenchCSV("fx,fy,fz,tx,ty,tz\n")), seconds), "6-axis wrench, 15 samples over 315 ms, fz peak -62 at 84 ms"},
		{"wrench without time", csvItem(wrenchCSV("Fx,Fy,Fz,Tx,Ty,Tz\n")), "6-axis wrench, 15 samples, Fz peak -62 at sample 5"},
		{"wrench by metadata", with(csvItem(wrenchCSV("")), kind), "6-axis wrench, 15 samples, Fz peak -62 at sample 5"},
		{"six channels of something", csvItem(wrenchCSV("")), "6-channel trace, 15 samples, channel 3 peak -62 at sample 5"},
		{"generic", with(csvItem(gyro), map[string]any{"rate_hz": 200.0, "units": "rad/s"}), "3-channel trace, 200 samples over 1.00 s, gyro_z peak 2.1 rad/s at 0.40 s"},
		{"impact at the first sample", csvItem("a\n-133\n21\n14\n6\n1\n0\n0\n"), "1-channel trace, 7 samples, a peak -133 at sample 1"},
		{"grip that is held", csvItem("a\n0\n11\n12\n12\n12\n12\n"), "1-channel trace, 6 samples, a peak 12 at sample 3"},
		{"constant", csvItem("a,b\n1,2\n1,2\n"), "2-channel trace, 2 samples"},
		{"missing readings", csvItem("a,b\n1,\n,nan\n"), "2-channel trace, 2 samples, 3 readings missing"},
		{"position", jsonItem("[0.5,0.25,-1.5]"), "1-channel trace, 3 samples, peak -1.5 at sample 3"},
		{"npy", npyItem("<f4", "(3, 2)", binary.LittleEndian, []float32{0, 0, 0, 12345, 0, 0}), "2-channel trace, 3 samples, channel 2 peak 12345 at sample 2"},
		{"npy cube", perception.Item{Data: npy("|u1", "(1, 2, 3)", make([]byte, 6))}, "79 bytes of application/x-npy, not read: the .npy array has 3 dimensions; a trace has one or two; rows, columns and colours of a picture need metadata kind image"},
		{"npy that lies", perception.Item{Data: npy("|u1", "(9, 2, 3)", make([]byte, 6)), MediaType: "application/x-npy"}, "79 bytes of application/x-npy, not read: the .npy array has 3 dimensions; a trace has one or two; rows, columns and colours of a picture need metadata kind image"},

		{"png", perception.Item{MediaType: "image/png", Data: pngOf(t, picture(640, 480, color.White, color.Black))}, "image/png image, 640x480, grey, brightness 0.50"},
		{"depth", perception.Item{Data: pngOf(t, depth)}, "image/png image, 20x10, 16-bit grey, no valid pixel"},
		{"jpeg by another name", perception.Item{MediaType: "image/png", Data: jpegOf(t, picture(64, 48, color.White, color.Black))}, "image/jpeg image, 64x48, grey, brightness 0.50"},
		{"webp lossy", perception.Item{Data: webp("VP8 ", []byte{0, 0, 0, 0x9d, 1, 0x2a, 0x80, 2, 0xe0, 1})}, "image/webp image, 640x480, not read: the picture is cut, damaged or animated: unexpected EOF"},
		{"webp lossless", perception.Item{Data: webp("VP8L", []byte{0x2f, 0x7f, 0xc2, 0x77, 0})}, "image/webp image, 640x480, not read: a picture of 640x480 pixels from 35 bytes is more than is decoded here (at most 67108864 pixels, and 64 MiB or 64 times the data to hold them)"},
		{"webp extended", perception.Item{Data: webp("VP8X", []byte{0, 0, 0, 0, 0x7f, 2, 0, 0xdf, 1, 0})}, "image/webp image, 640x480, not read: the picture is cut, damaged or animated: webp: invalid format"},

		{"wav", perception.Item{Data: wav(1, 16000, 32000, 64000)}, "audio/wav, 2.0 s, 16 kHz, mono, 16-bit, silent"},
		{"wav of a stream", perception.Item{Data: wav(2, 44100, 4410, math.MaxUint32)}, "audio/wav, 100 ms, 44.1 kHz, stereo, 16-bit, silent"},

		{"pcd", perception.Item{Data: []byte(pcd)}, "point cloud, 2 points, fields x y z, ascii, within 1 x 0 x 0 m"},
		{"pcd that lies", perception.Item{Data: []byte(strings.Replace(pcd, "POINTS 2", "POINTS 2000", 1))}, "147 bytes of application/x-pcd, not read: the data ends within point 3 of 2000"},

		{"text", perception.Item{MediaType: "text/plain", Data: []byte("1. open the gripper\n\n2. move   up\n")}, "text, 3 lines: 1. open the gripper 2. move up"},
		{"table of words", csvItem("a,b\nx,y\n"), "text, 2 lines: a,b x,y"},
		{"json object", jsonItem(`{"door":"open","tags":[1,2]}`), `text, 1 line: {"door":"open","tags":[1,2]}`},
		{"json list", jsonItem(`["a",{"b":1}]`), `text, 1 line: ["a",{"b":1}]`},
		{"json scalar", jsonItem(`"open"`), `text, 1 line: "open"`},
		{"bytes", perception.Item{MediaType: "application/octet-stream", Data: make([]byte, 1234)}, "1,234 bytes of application/octet-stream"},
		{"one byte", perception.Item{MediaType: "application/x-thing; a=b", Data: []byte{0}}, "1 byte of application/x-thing"},
		{"nothing", perception.Item{MediaType: "text/plain"}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := perception.Summarize(test.item); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func with(item perception.Item, metadata map[string]any) perception.Item {
	item.Metadata = metadata
	return item
}

func TestSummarizeStaysOneShortLine(t *testing.T) {
	long := strings.Repeat("夹爪\n力\x00\x1b[31m", 500)
	for name, item := range map[string]perception.Item{
		"text":    {MediaType: "text/plain", Data: []byte(long)},
		"keys":    jsonItem(`{"` + strings.Repeat("é", 999) + `":1,"` + strings.Repeat("x", 999) + `":1}`),
		"channel": csvItem(strings.Repeat("é", 999) + ",b\n1,2\n3,2\n"),
		"unit":    with(csvItem("a\n1\n3\n"), map[string]any{"units": long}),
		"type":    {MediaType: strings.Repeat("x", 5000), Data: []byte{0}},
		"fields":  {Data: []byte(strings.Replace(pcd, "x y z", strings.Repeat("field ", 500), 1))},
	} {
		t.Run(name, func(t *testing.T) {
			got := perception.Summarize(item)
			if got == "" || strings.ContainsAny(got, "\n\x00\x1b") || utf8.RuneCountInString(got) > 300 {
				t.Errorf("got %d characters: %q", utf8.RuneCountInString(got), got)
			}
		})
	}
}

func TestSummarizeEveryRobotFailure(t *testing.T) {
	for _, f := range failures(t) {
		item := with(perception.Item{Data: f.CSV()}, map[string]any{"duration_s": 0.315})
		if got := perception.Summarize(item); !strings.HasPrefix(got, "6-axis wrench, 15 samples over 315 ms, F") {
			t.Fatalf("%s %d: got %q", f.Set, f.Index, got)
		}
	}
}

// Of the head of a payload nothing is told as if it were all.
func TestSummarizeHeads(t *testing.T) {
	array := npy("<f8", "(1000, 2)", make([]byte, 160))
	for name, test := range map[string]struct {
		item perception.Item
		want string
	}{
		"table":   {perception.Item{MediaType: "text/csv", Data: []byte("a,b\n1,2\n3,4\n5,6")}, "text, beginning: a,b 1,2 3,4"},
		"letters": {perception.Item{MediaType: "text/plain", Data: []byte("one\ntwo\nthr\xc3")}, "text, beginning: one two"},
		"json":    {perception.Item{MediaType: "application/json", Data: []byte("[[1,2],[3,4]]")}, "1,048,576 bytes of application/json"},
		"array":   {perception.Item{Data: array}, "1,048,576 bytes of application/x-npy"},
		"bytes":   {perception.Item{Data: []byte{0, 1, 2}}, "1,048,576 bytes of application/octet-stream"},
	} {
		test.item.Size = 1 << 20
		if got := perception.Summarize(test.item); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		if _, err := timeseries.Decode(test.item.Payload()); err == nil {
			t.Errorf("%s: the beginning of a trace was taken for all of it", name)
		}
	}
}
