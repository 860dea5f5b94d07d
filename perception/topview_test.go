package perception_test

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
)

// checkFace asks everything of an item that was understood.
func checkFace(t *testing.T, item perception.Item) {
	t.Helper()
	if got := perception.Summarize(item); got == "" {
		t.Error("got no summary")
	}
	if kind, vector, ok := perception.Features(item); ok {
		if d := perception.Distance(kind, vector, vector); !(d < 1e-6) {
			t.Errorf("got distance %g of %s from itself", d, kind)
		}
	}
	if p, err := perception.MakePreview(item, perception.PreviewOptions{Width: 320, Height: 200}); err == nil && p.MediaType == "image/svg+xml" {
		checkSVG(t, p, 320, 200)
	}
}

// checkSVG wants a picture of that size that is one whole and asks for nothing.
func checkSVG(t *testing.T, p *perception.Preview, width, height int) {
	t.Helper()
	const limit = 300 << 10
	if p.Width != width || p.Height != height || len(p.Data) > limit {
		t.Errorf("got %dx%d in %d bytes, want %dx%d in %d", p.Width, p.Height, len(p.Data), width, height, limit)
	}
	d := xml.NewDecoder(strings.NewReader(string(p.Data)))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if ok && (e.Name.Local == "script" || e.Name.Local == "foreignObject") {
			t.Errorf("got an element %s", e.Name.Local)
		}
		for _, a := range e.Attr {
			if a.Name.Local == "href" && !strings.HasPrefix(a.Value, "data:image/png;base64,") {
				t.Errorf("got a link to %.40q", a.Value)
			}
		}
	}
	for _, bad := range []string{"NaN", "Inf", "javascript"} {
		if strings.Contains(string(p.Data), bad) && !strings.Contains(string(p.Data), "base64") {
			t.Errorf("got %s in the picture", bad)
		}
	}
}

// pictures are the items that are drawn, by name.
func pictures(t *testing.T) map[string]perception.Item {
	lawn := family(t, pathFamilies, "lawnmower")
	return map[string]perception.Item{
		"cloud room":       asciiPCD(20_000, room),
		"cloud few":        asciiPCD(300, room),
		"cloud flat":       asciiPCD(500, func(i int) [3]float64 { return [3]float64{float64(i % 25), float64(i / 25), 1} }),
		"cloud one point":  asciiPCD(1, func(int) [3]float64 { return [3]float64{1e6, 2, 3} }),
		"scan room":        scanItem(270, 540, "room", 0.3, 0.01, newRandom(1)),
		"scan corridor":    scanItem(360, 360, "corridor", 0.1, 0.02, newRandom(2)),
		"path lawnmower":   tumItem(lawn(newRandom(3), 400), 60.2),
		"path figureeight": tumItem(family(t, pathFamilies, "figure eight")(newRandom(4), 300), 12),
		"path straight":    csvItem("x,y,z\n0,0,0\n1,0,0\n2,0,0\n"),
		"path in place":    csvItem("x,y,z\n1,1,0\n1,1,0\n"),
	}
}

func TestPreviewsOfPlaces(t *testing.T) {
	t.Parallel()
	for name, item := range pictures(t) {
		t.Run(name, func(t *testing.T) {
			p, err := perception.MakePreview(item, perception.PreviewOptions{})
			if err != nil {
				t.Fatal(err)
			}
			checkSVG(t, p, 640, 360)
			for _, o := range []perception.PreviewOptions{{Width: 1, Height: 1}, {Width: 64, Height: 48}, {Width: 4096, Height: 4096}, {Width: 130, Height: 900}} {
				p, err := perception.MakePreview(item, o)
				if err != nil {
					t.Fatal(err)
				}
				checkSVG(t, p, o.Width, o.Height)
			}
		})
	}
}

func TestPreviewIsEqualForEqualItems(t *testing.T) {
	t.Parallel()
	for name, item := range pictures(t) {
		a, errA := perception.MakePreview(item, perception.PreviewOptions{})
		b, errB := perception.MakePreview(item, perception.PreviewOptions{})
		if errA != nil || errB != nil || string(a.Data) != string(b.Data) {
			t.Errorf("%s: got two pictures, %v, %v", name, errA, errB)
		}
	}
}

func TestPreviewEscapesUnits(t *testing.T) {
	item := with(perception.Item{Data: []byte(pcd)}, map[string]any{"units": `<script>&"`})
	p, err := perception.MakePreview(item, perception.PreviewOptions{})
	if err != nil {
		t.Fatal(err)
	}
	checkSVG(t, p, 640, 360)
	if !strings.Contains(string(p.Data), "&lt;script&gt;") {
		t.Error("got no escaped unit")
	}
}

func TestPreviewOfAHeadIsRefused(t *testing.T) {
	for name, item := range pictures(t) {
		item.Size = int64(len(item.Data)) + 1
		if _, err := perception.MakePreview(item, perception.PreviewOptions{}); err == nil || !strings.Contains(err.Error(), "too large to draw") {
			t.Errorf("%s: got %v", name, err)
		}
		if kind, _, ok := perception.Features(item); ok && !strings.HasPrefix(kind, "trace/") {
			t.Errorf("%s: got features %s of a head", name, kind)
		}
	}
}
