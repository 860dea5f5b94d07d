package perception_test

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"strings"
	"testing"

	"golang.org/x/image/tiff"

	"github.com/robotmem/robotmem-go/perception"
)

// GIF and TIFF files are pictures, an animation by its first frame.
func TestStillPicturesOfOtherFormats(t *testing.T) {
	scene := image.NewPaletted(image.Rect(0, 0, 64, 48), color.Palette{color.Black, color.RGBA{250, 20, 20, 255}})
	for i := range scene.Pix {
		scene.Pix[i] = byte(i / 64 / 24) // the lower half is red
	}
	depth := image.NewGray16(image.Rect(0, 0, 64, 48))
	for i := range 64 * 48 {
		depth.SetGray16(i%64, i/64, color.Gray16{Y: uint16(500 + i)})
	}
	files := map[string]*bytes.Buffer{}
	make := func(name string, write func(b *bytes.Buffer) error) {
		files[name] = &bytes.Buffer{}
		if err := write(files[name]); err != nil {
			t.Fatal(err)
		}
	}
	make("gif", func(b *bytes.Buffer) error {
		return gif.EncodeAll(b, &gif.GIF{Image: []*image.Paletted{scene, scene}, Delay: []int{1, 1}})
	})
	make("tiff", func(b *bytes.Buffer) error { return tiff.Encode(b, scene, &tiff.Options{Compression: tiff.Deflate}) })
	make("tiff, 16-bit", func(b *bytes.Buffer) error { return tiff.Encode(b, depth, nil) })

	for name, want := range map[string]string{"gif": "image/gif image, 64x48, colour", "tiff": "image/tiff image, 64x48, colour", "tiff, 16-bit": "image/tiff image, 64x48, 16-bit grey"} {
		t.Run(name, func(t *testing.T) {
			item := perception.Item{Data: files[name].Bytes()}
			summary := perception.Summarize(item)
			if !strings.HasPrefix(summary, want) || strings.Contains(summary, "not read") {
				t.Errorf("got %q, want %q", summary, want)
			}
			mediaType, err := perception.Sniff(item.Data, "")
			if err != nil || perception.SenseOf(mediaType, summary) != "visual" {
				t.Errorf("got %s, %v", mediaType, err)
			}
			if kind, _, ok := perception.Features(item); !ok || kind == "" {
				t.Error("it has no features")
			}
			if p, err := perception.MakePreview(item, perception.PreviewOptions{}); err != nil || p.Width == 0 {
				t.Errorf("got %v, %v", p, err)
			}
			cut := perception.Item{Data: item.Data[:len(item.Data)/2], MediaType: mediaType}
			if got := perception.Summarize(cut); got == "" {
				t.Error("a cut file has no summary")
			}
		})
	}
}
