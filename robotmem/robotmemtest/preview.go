package robotmemtest

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // previews are JPEG, PNG or SVG
	imagepng "image/png"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// grey returns a PNG whose brightness increases from left to right.
func grey(width, height int) []byte {
	m := image.NewGray(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.SetGray(x, y, color.Gray{Y: uint8(255 * x / width)})
		}
	}

	var b bytes.Buffer
	if err := imagepng.Encode(&b, m); err != nil {
		// Writing to a buffer never fails.
		panic(err)
	}

	return b.Bytes()
}

// forces returns a force trace of six axes as CSV.
func forces(samples int) string {
	var b strings.Builder
	b.WriteString("t,Fx,Fy,Fz,Tx,Ty,Tz\n")

	for i := range samples {
		fmt.Fprintf(&b, "%.3f,%d,%d,%d,0.1,0.2,0.3\n", float64(i)/100, i%7, i%5, -i%62)
	}

	return b.String()
}

var previewCases = []testCase{
	{"OfAnImage", func(t *testing.T, s robotmem.Service) {
		saved := do(t, s.SavePerception,
			&robotmem.SavePerceptionRequest{Description: "a grey ramp", DataBase64: grey(800, 200)})
		for _, tt := range []struct {
			width, height         int // requested
			wantWidth, wantHeight int
		}{{0, 0, 640, 160}, {100, 0, 100, 25}, {0, 20, 80, 20}, {4096, 4096, 800, 200}} {
			p := do(t, s.Preview, &admin.PreviewRequest{MemoryID: saved.MemoryID, Width: tt.width, Height: tt.height})
			c, kind, err := image.DecodeConfig(bytes.NewReader(p.DataBase64))
			if err != nil || "image/"+kind != p.MediaType || c.Width != tt.wantWidth || c.Height != tt.wantHeight ||
				p.Width != c.Width || p.Height != c.Height {
				t.Errorf("within %dx%d: %s of %dx%d, called %s of %dx%d (%v)", tt.width, tt.height, kind, c.Width,
					c.Height, p.MediaType, p.Width, p.Height, err)
			}
			if p.MemoryID != saved.MemoryID || p.Summary != saved.Summary || p.SHA256 != saved.SHA256 {
				t.Errorf("got %d, %q, %s; want those of %+v", p.MemoryID, p.Summary, p.SHA256, saved)
			}
		}
	}},
	{"OfATrace", func(t *testing.T, s robotmem.Service) {
		saved := do(t, s.SavePerception,
			&robotmem.SavePerceptionRequest{
				Description: "a trace of the grip", PerceptionType: "tactile", Data: forces(300),
			})
		r := &admin.PreviewRequest{MemoryID: saved.MemoryID, Width: 500, Height: 300}
		p := do(t, s.Preview, r)
		if p.MediaType != "image/svg+xml" || p.Width != 500 || p.Height != 300 || p.Summary != saved.Summary ||
			!bytes.Contains(p.DataBase64, []byte("<svg")) || !bytes.Contains(p.DataBase64, []byte("Fz")) {
			t.Errorf("got %s of %dx%d: %.200s", p.MediaType, p.Width, p.Height, p.DataBase64)
		}
		equal(t, "drawn again", string(do(t, s.Preview, r).DataBase64), string(p.DataBase64))
	}},
	{"OfWhatHasNone", func(t *testing.T, s robotmem.Service) {
		fact := learn(t, s, grip, nil)
		words := do(t, s.SavePerception, &robotmem.SavePerceptionRequest{Description: "only told"}).MemoryID

		opaque := do(t, s.SavePerception,
			&robotmem.SavePerceptionRequest{Description: "bytes of no format", DataBase64: []byte{0, 1, 2, 250}}).MemoryID
		for _, id := range []int64{fact, words, opaque, 999} {
			refused(t, s.Preview, &admin.PreviewRequest{MemoryID: id}, robotmem.NotFound, "memory_id")
		}

		for _, r := range []admin.PreviewRequest{
			{MemoryID: opaque, Width: 15}, {MemoryID: opaque, Width: 4097}, {MemoryID: opaque, Width: -1},
		} {
			refused(t, s.Preview, &r, robotmem.Invalid, "width")
		}
		refused(t, s.Preview, &admin.PreviewRequest{MemoryID: opaque, Height: 15}, robotmem.Invalid, "height")
	}},
}
