package perception_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/perception"
)

// slow is far beyond what any of the small inputs of a fuzz test takes, even on
// a busy machine.
const slow = 10 * time.Second

// checkVisual makes all there is of an item and checks the bounds that hold for
// any input.
func checkVisual(t *testing.T, item perception.Item, o perception.PreviewOptions) {
	t.Helper()
	begin := time.Now()
	summary := perception.Summarize(item)
	if utf8.RuneCountInString(summary) > 300 {
		t.Fatalf("got a summary of %d characters", utf8.RuneCountInString(summary))
	}
	if kind, vector, ok := perception.Features(item); ok && perception.Distance(kind, vector, vector) != 0 {
		t.Fatalf("got %s that is not equal to itself", kind)
	}
	p, err := perception.MakePreview(item, o)
	if took := time.Since(begin); took > slow {
		t.Fatalf("took %s for %d bytes", took, len(item.Data))
	}
	if err != nil {
		return
	}
	if p.Width < 1 || p.Height < 1 || p.Width > o.Width || p.Height > o.Height {
		t.Fatalf("got %dx%d within %v", p.Width, p.Height, o)
	}
	if p.MediaType == "image/svg+xml" {
		if bytes.Contains(p.Data, []byte("base64")) {
			spectrogramOf(t, p)
		}
		return
	}
	c, name, err := image.DecodeConfig(bytes.NewReader(p.Data))
	if err != nil || c.Width != p.Width || c.Height != p.Height || "image/"+name != p.MediaType {
		t.Fatalf("got a preview of %s %dx%d, %v; want %s %dx%d", name, c.Width, c.Height, err, p.MediaType, p.Width, p.Height)
	}
}

var fuzzEncodings = []string{
	"mono8", "rgb8", "bgr8", "rgba8", "bgra8", "mono16", "16UC1", "32FC1", "8UC1", "8UC3",
	"bayer_rggb8", "bayer_bggr8", "bayer_gbrg8", "bayer_grbg8", "yuv422", "yuv422_yuy2", "none",
}

func FuzzImage(f *testing.F) {
	for _, name := range []string{
		"plain.png", "depth.png", "lossy.webp", "lossless.webp", "alpha.webp", "animated.webp",
		"progressive.jpg", "cmyk.jpg", "depth.npy", "colour.npy",
	} {
		f.Add(file(f, name), 0, 0, 0, uint8(0), uint8(40))
	}
	for i := range fuzzEncodings {
		f.Add(make([]byte, 48), 4, 3, 0, uint8(i), uint8(200))
	}
	f.Add(elements(binary.LittleEndian, []float32{1, 2, 0, 4}), 2, 2, 8, uint8(7), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, width, height, step int, encoding, side uint8) {
		item := perception.Item{Data: data, Metadata: map[string]any{"kind": []string{"image", "depth"}[encoding%2]}}
		if width != 0 {
			item.MediaType = "image/x-raw"
			item.Metadata["width"], item.Metadata["height"] = width, float64(height)
			item.Metadata["encoding"] = fuzzEncodings[int(encoding)%len(fuzzEncodings)]
			item.Metadata["is_bigendian"] = encoding > 127
			if step != 0 {
				item.Metadata["step"] = step
			}
		}
		checkVisual(t, item, perception.PreviewOptions{Width: int(side) + 1, Height: 255 - int(side) + 1})
	})
}

func FuzzAudio(f *testing.F) {
	for _, name := range []string{
		"pcm_u8.wav", "pcm_24.wav", "float.wav", "double.wav", "extensible.wav", "ulaw.wav", "frames.flac", "pcm_24.flac",
	} {
		data := file(f, name)
		f.Add(data, uint8(100))
		f.Add(data[:len(data)/2], uint8(255))
	}
	f.Fuzz(func(t *testing.T, data []byte, side uint8) {
		checkVisual(t, perception.Item{Data: data}, perception.PreviewOptions{Width: 2*int(side) + 1, Height: int(side) + 1})
	})
}
