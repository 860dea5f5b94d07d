package perception_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"image/color"
	"math"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
)

// rawItem is a frame as a ROS node would hand it over.
func rawItem(encoding string, width, height int, data []byte) perception.Item {
	return perception.Item{MediaType: "image/x-raw", Data: data, Metadata: map[string]any{
		"encoding": encoding, "width": json.Number(itoa(width)), "height": float64(height),
	}}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// TestPixelEncodings draws two by two squares: red and green, blue and white.
func TestPixelEncodings(t *testing.T) {
	red, green := color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 255, 0, 255}
	blue, white := color.NRGBA{0, 0, 255, 255}, color.NRGBA{255, 255, 255, 255}
	four := [4]color.NRGBA{red, green, blue, white}
	greys := [4]color.NRGBA{{0, 0, 0, 255}, {85, 85, 85, 255}, {170, 170, 170, 255}, white}
	dark := color.NRGBA{0x51, 0x51, 0x51, 255}
	tests := []struct {
		encoding string
		data     string
		want     [4]color.NRGBA
	}{
		{"rgb8", "\xff\x00\x00\x00\xff\x00\x00\x00\xff\xff\xff\xff", four},
		{"bgr8", "\x00\x00\xff\x00\xff\x00\xff\x00\x00\xff\xff\xff", four},
		{"8UC3", "\x00\x00\xff\x00\xff\x00\xff\x00\x00\xff\xff\xff", four},
		{"rgba8", "\xff\x00\x00\xff\x00\xff\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff", four},
		{"bgra8", "\x00\x00\xff\xff\x00\xff\x00\x00\xff\x00\x00\xff\xff\xff\xff\xff", four},
		{"mono8", "\x00\x55\xaa\xff", greys},
		{"8UC1", "\x00\x55\xaa\xff", greys},
		{"yuv422", "\x5a\x51\xf0\x51\x80\xff\x80\xff", [4]color.NRGBA{dark, dark, white, white}},
		{"yuyv", "\x51\x5a\x51\xf0\xff\x80\xff\x80", [4]color.NRGBA{dark, dark, white, white}},
		{"bayer_rggb8", "\x00\x55\xaa\xff", greys},
	}
	for _, test := range tests {
		t.Run(test.encoding, func(t *testing.T) {
			img := drawn(t, rawItem(test.encoding, 2, 2, []byte(test.data)), perception.PreviewOptions{Width: 2, Height: 2})
			for i, want := range test.want {
				near(t, img, i%2, i/2, want)
			}
		})
	}
}

func TestPixelsOfTwoBytes(t *testing.T) {
	little := rawItem("16UC1", 2, 2, []byte{0, 0, 0xe8, 0x03, 0xd0, 0x07, 0xb8, 0x0b})
	little.Metadata["kind"] = "depth"
	big := rawItem("16UC1", 2, 2, []byte{0, 0, 0x03, 0xe8, 0x07, 0xd0, 0x0b, 0xb8})
	big.Metadata["is_bigendian"] = json.Number("1")
	padded := rawItem("16UC1", 2, 2, []byte{0, 0, 0xe8, 0x03, 99, 99, 0xd0, 0x07, 0xb8, 0x0b, 99, 99})
	padded.Metadata["step"] = 6.0
	for want, item := range map[string]perception.Item{
		"raw 16UC1 depth image, 2x2, 1000 to 3000 mm, 25% missing": little,
		"raw 16UC1 image, 2x2, values 1000 to 3000, 25% missing":   big,
		"raw 16UC1 image, 2x2, values 1000 to 3000, 25% missing ":  padded,
	} {
		if got := perception.Summarize(item); got != strings.TrimSpace(want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

func TestDepthInMetres(t *testing.T) {
	data := elements(binary.LittleEndian, []float32{0.5, float32(math.NaN()), float32(math.Inf(1)), 2.25})
	item := rawItem("32FC1", 2, 2, data)
	if got, want := perception.Summarize(item), "raw 32FC1 image, 2x2, values 0.5 to 2.25, 50% missing"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	item.Metadata["kind"] = "depth"
	if got, want := perception.Summarize(item), "raw 32FC1 depth image, 2x2, 0.5 to 2.25 m, 50% missing"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	none := rawItem("32FC1", 1, 1, make([]byte, 4))
	if got, want := perception.Summarize(none), "raw 32FC1 image, 1x1, no valid pixel"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if kind, _, ok := perception.Features(none); ok {
		t.Errorf("got features %s of no valid pixel, want none", kind)
	}
}

func TestPixelsThatDoNotFit(t *testing.T) {
	six := make([]byte, 6)
	change := func(key string, value any) perception.Item {
		item := rawItem("rgb8", 2, 1, six)
		item.Metadata[key] = value
		return item
	}
	head := rawItem("rgb8", 640, 480, six)
	head.Size = 640 * 480 * 3
	tests := []struct {
		name string
		item perception.Item
		want string
	}{
		{"short", rawItem("rgb8", 2, 1, six[:5]), "2x1 pixels of rgb8 in rows of 6 bytes are 6 bytes; the data has 5"},
		{"long", rawItem("rgb8", 2, 1, make([]byte, 7)), "the data has 7"},
		{"no encoding", change("encoding", nil), "names no encoding"},
		{"other encoding", change("encoding", "rgb9"), `encoding "rgb9" are not read; known are 16UC1, 32FC1`},
		{"no width", change("width", nil), "metadata width is <nil>"},
		{"huge width", change("width", 1e300), "from 1 to 65535"},
		{"negative height", change("height", -1.0), "metadata height is -1"},
		{"broken height", change("height", 1.5), "metadata height is 1.5"},
		{"no number", change("height", math.NaN()), "metadata height is NaN"},
		{"short step", change("step", 5.0), "a row of 2 pixels of rgb8 takes at least 6 bytes"},
		{"huge step", change("step", 1e18), "the limit is 524280"},
		{"step that is none", change("step", "six"), "step is six"},
		{"beginning of a payload", head, "too large to draw"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := perception.MakePreview(test.item, perception.PreviewOptions{}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q in it", err, test.want)
			}
			if kind, _, ok := perception.Features(test.item); ok {
				t.Errorf("got features %s, want none", kind)
			}
			if got := perception.Summarize(test.item); !strings.HasPrefix(got, "raw ") {
				t.Errorf("got summary %q", got)
			}
		})
	}
}

func TestArraysAsImages(t *testing.T) {
	colour := perception.Item{Data: file(t, "colour.npy"), Metadata: map[string]any{"kind": "image"}}
	if got, want := perception.Summarize(colour), "raw rgb8 image, 48x32, colour, brightness 0.32"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	_, a, _ := perception.Features(colour)
	_, b, _ := perception.Features(perception.Item{Data: file(t, "plain.png")})
	if d := perception.Distance("image/v2", a, b); len(a) == 0 || d > 1e-6 {
		t.Errorf("got %g between an array and its PNG, want 0", d)
	}
	depth := perception.Item{Data: file(t, "depth.npy"), Metadata: map[string]any{"kind": "depth", "units": "m"}}
	if got, want := perception.Summarize(depth), "raw 32FC1 depth image, 48x32, 1 to 1.94 m, 25% missing"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for name, data := range map[string][]byte{
		"shape that lies": npy("<u2", "(1000, 1000)", make([]byte, 8)),
		"four dimensions": npy("|u1", "(1, 1, 1, 1)", make([]byte, 1)),
		"no rows":         npy("|u1", "(0, 4)", nil),
		"complex numbers": npy("<c8", "(1, 1)", make([]byte, 8)),
	} {
		if p, err := perception.MakePreview(perception.Item{Data: data, Metadata: colour.Metadata}, perception.PreviewOptions{}); err == nil {
			t.Errorf("%s: got a picture of %dx%d, want an error", name, p.Width, p.Height)
		}
	}
	// Without a kind it is a trace, or an array.
	bare := perception.Item{Data: bytes.Clone(colour.Data)}
	if got := perception.Summarize(bare); strings.HasPrefix(got, "raw") {
		t.Errorf("got %q", got)
	}
}
