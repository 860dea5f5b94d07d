package perception_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
)

// file reads one that testdata/visual/make.py wrote.
func file(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/visual", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// drawn is the preview of an item, decoded.
func drawn(t testing.TB, item perception.Item, o perception.PreviewOptions) image.Image {
	t.Helper()
	p, err := perception.MakePreview(item, o)
	if err != nil {
		t.Fatal(err)
	}
	img, name, err := image.Decode(bytes.NewReader(p.Data))
	if err != nil {
		t.Fatal(err)
	}
	if got := img.Bounds().Size(); "image/"+name != p.MediaType || got != image.Pt(p.Width, p.Height) {
		t.Fatalf("got a %s of %v, want %s of %dx%d", name, got, p.MediaType, p.Width, p.Height)
	}
	return img
}

// near fails unless the pixel has about the colour. Only its alpha counts where
// it is to be transparent.
func near(t testing.TB, img image.Image, x, y int, want color.NRGBA) {
	t.Helper()
	got := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
	const tolerance = 24
	far := func(a, b uint8) bool { return max(a, b)-min(a, b) > tolerance }
	if far(got.A, want.A) || want.A > 0 && (far(got.R, want.R) || far(got.G, want.G) || far(got.B, want.B)) {
		t.Errorf("at %d, %d: got %v, want about %v", x, y, got, want)
	}
}

func TestImagesOfOtherEncoders(t *testing.T) {
	const words = ", colour, brightness 0.32"
	tests := []struct {
		name    string
		summary string // "" not checked
		likely  float64
	}{
		{"plain.png", "image/png image, 48x32" + words, 0},
		{"lossless.webp", "image/webp image, 48x32" + words, 0.001},
		{"lossy.webp", "image/webp image, 48x32, colour, brightness 0.34", 0.2},
		{"progressive.jpg", "image/jpeg image, 48x32" + words, 0.2},
		{"cmyk.jpg", "", 0.2},
	}
	_, plain, _ := perception.Features(perception.Item{Data: file(t, "plain.png")})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			item := perception.Item{Data: file(t, test.name)}
			if got := perception.Summarize(item); test.summary != "" && got != test.summary {
				t.Errorf("got  %q\nwant %q", got, test.summary)
			}
			kind, vector, _ := perception.Features(item)
			if got := perception.Distance(kind, plain, vector); kind != "image/v2" || got > test.likely {
				t.Errorf("got a %s %.3f from the plain image, want at most %.3f", kind, got, test.likely)
			}
			img := drawn(t, item, perception.PreviewOptions{Width: 48, Height: 32})
			if got := img.Bounds().Size(); got != image.Pt(48, 32) {
				t.Fatalf("got %v", got)
			}
			near(t, img, 3, 4, color.NRGBA{16, 200, 33, 255})
			near(t, img, 44, 4, color.NRGBA{238, 0, 33, 255})
			near(t, img, 3, 28, color.NRGBA{16, 0, 230, 255})
		})
	}
}

func TestTransparencyIsKept(t *testing.T) {
	img := drawn(t, perception.Item{Data: file(t, "alpha.webp")}, perception.PreviewOptions{})
	near(t, img, 5, 5, color.NRGBA{})
	near(t, img, img.Bounds().Dx()-3, 5, color.NRGBA{238, 0, 33, 255})
}

func TestDepthImages(t *testing.T) {
	plain := perception.Item{Data: file(t, "depth.png")}
	known := with(plain, map[string]any{"kind": "depth", "units": "mm"})
	for _, test := range []struct {
		item perception.Item
		want string
	}{
		{plain, "image/png image, 48x32, 16-bit grey, values 1000 to 1940, 25% missing"},
		{known, "image/png depth image, 48x32, 16-bit grey, 1000 to 1940 mm, 25% missing"},
	} {
		if got := perception.Summarize(test.item); got != test.want {
			t.Errorf("got  %q\nwant %q", got, test.want)
		}
	}
	img := drawn(t, plain, perception.PreviewOptions{Width: 48, Height: 32})
	near(t, img, 20, 3, color.NRGBA{})
	near(t, img, 0, 20, color.NRGBA{0, 0, 229, 255})
	near(t, img, 47, 20, color.NRGBA{229, 0, 0, 255})

	// The same distances in metres, as floating point, NaN for none.
	array := perception.Item{Data: file(t, "depth.npy"), Metadata: map[string]any{"kind": "depth"}}
	kind, a, _ := perception.Features(plain)
	kindArray, b, _ := perception.Features(array)
	if d := perception.Distance(kind, a, b); kind != "depth/v2" || kindArray != kind || d > 1e-4 {
		t.Errorf("got %s and %s, %g apart", kind, kindArray, d)
	}
	_, turned, _ := perception.Features(perception.Item{Data: pngOf(t, mirrored(t, plain.Data))})
	if d := perception.Distance(kind, a, turned); d < 1 {
		t.Errorf("got %g to the mirror image, want it far", d)
	}
}

func mirrored(t *testing.T, data []byte) image.Image {
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r := img.Bounds()
	out := image.NewGray16(r)
	for y := range r.Dy() {
		for x := range r.Dx() {
			out.Set(r.Dx()-1-x, y, img.At(x, y))
		}
	}
	return out
}

func TestBrokenImages(t *testing.T) {
	whole := jpegOf(t, scene(1, 64, 48))
	pixels := pngOf(t, scene(1, 64, 48))
	damaged := bytes.Clone(pixels)
	damaged[len(damaged)/2] ^= 0xff
	lossy := file(t, "lossy.webp")
	tests := []struct {
		name    string
		item    perception.Item
		summary string
		err     string
	}{
		{"jpeg", perception.Item{Data: whole[:len(whole)/2]}, "image/jpeg image, 64x48, not read: the picture is cut, damaged or animated: unexpected EOF", "unexpected EOF"},
		{"png", perception.Item{Data: pixels[:len(pixels)/2]}, "image/png image, 64x48, not read: the picture is cut, damaged or animated: png: invalid format: not enough pixel data", "not enough pixel data"},
		{"webp", perception.Item{Data: lossy[:len(lossy)-40]}, "image/webp image, 48x32, not read: the picture is cut, damaged or animated: unexpected EOF", "unexpected EOF"},
		{"damaged png", perception.Item{Data: damaged}, "image/png image, 64x48, not read: the picture is cut, damaged or animated: png: invalid format: zlib: invalid checksum", "checksum"},
		{"animation", perception.Item{Data: file(t, "animated.webp")}, "image/webp image, 48x32, not read: the picture is cut, damaged or animated: webp: invalid format", "animated"},
		{"no header", perception.Item{Data: whole[:20], MediaType: "image/jpeg"}, "20 bytes of image/jpeg, not read: the header of the jpeg image is damaged: unexpected EOF", "the header of the jpeg image is damaged"},
		{"beginning of a payload", perception.Item{Data: whole[:len(whole)-100], Size: int64(len(whole))}, "image/jpeg image, 64x48", "too large to draw"},
		{"webp too large", perception.Item{Data: webp("VP8L", []byte{0x2f, 0xff, 0xff, 0xff, 0x0f})}, "image/webp image, 16384x16384, not read: a picture of 16384x16384 pixels from 35 bytes is more than is decoded here (at most 67108864 pixels, and 64 MiB or 64 times the data to hold them)", "is more than is decoded here"},
		{"too large", perception.Item{Data: pngBomb(8192, 8192)}, "image/png image, 8192x8192, not read: a picture of 8192x8192 pixels from 49 bytes is more than is decoded here (at most 67108864 pixels, and 64 MiB or 64 times the data to hold them)", "8192x8192 pixels from 49 bytes is more than is decoded here"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := perception.Summarize(test.item); got != test.summary {
				t.Errorf("got  %q\nwant %q", got, test.summary)
			}
			if kind, _, ok := perception.Features(test.item); ok {
				t.Errorf("got features %s, want none", kind)
			}
			if _, err := perception.MakePreview(test.item, perception.PreviewOptions{}); err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("got error %v, want %q in it", err, test.err)
			}
		})
	}
}

func TestBlankImagesAreSaidToBe(t *testing.T) {
	img := picture(64, 48, color.Gray{30}, color.Gray{30})
	if got, want := perception.Summarize(perception.Item{Data: pngOf(t, img)}), "image/png image, 64x48, grey, brightness 0.12, blank"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPreviewSizes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		width, height int
		options       perception.PreviewOptions
		want          image.Point
		mediaType     string
	}{
		{1280, 720, perception.PreviewOptions{}, image.Pt(640, 360), "image/jpeg"},
		{1280, 720, perception.PreviewOptions{Width: 100, Height: 100}, image.Pt(100, 56), "image/jpeg"},
		{300, 900, perception.PreviewOptions{}, image.Pt(120, 360), "image/jpeg"},
		{3000, 2, perception.PreviewOptions{}, image.Pt(640, 1), "image/png"},
		{400, 300, perception.PreviewOptions{}, image.Pt(400, 300), "image/jpeg"},
		{100, 80, perception.PreviewOptions{}, image.Pt(100, 80), "image/png"},
		{64, 48, perception.PreviewOptions{}, image.Pt(64, 48), "image/png"},
		{2, 1, perception.PreviewOptions{}, image.Pt(2, 1), "image/png"},
		{64, 48, perception.PreviewOptions{Width: 1, Height: 1}, image.Pt(1, 1), "image/png"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%dx%d", test.width, test.height), func(t *testing.T) {
			item := perception.Item{Data: pngOf(t, picture(test.width, test.height, color.White, color.Black))}
			img := drawn(t, item, test.options)
			p, _ := perception.MakePreview(item, test.options)
			if got := img.Bounds().Size(); got != test.want || p.MediaType != test.mediaType {
				t.Errorf("got %v %s, want %v %s", got, p.MediaType, test.want, test.mediaType)
			}
			if test.want.X > 8 {
				near(t, img, 1, 0, color.NRGBA{255, 255, 255, 255})
				near(t, img, test.want.X-2, test.want.Y-1, color.NRGBA{0, 0, 0, 255})
			}
		})
	}
}
