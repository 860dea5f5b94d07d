package occupancy_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/occupancy"
)

const plain = "image: map.pgm\nresolution: 0.05\norigin: [-1.5, 2, 0.5]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n"

// write writes a map.yaml with its picture.
func write(t *testing.T, text, name string, data []byte) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "map.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if data != nil {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// The top row of a picture has the largest y.
func TestMapFiles(t *testing.T) {
	gray := func(rows ...[]uint8) []byte {
		pic := image.NewGray(image.Rect(0, 0, len(rows[0]), len(rows)))
		for y, row := range rows {
			for x, v := range row {
				pic.SetGray(x, y, color.Gray{v})
			}
		}
		var b bytes.Buffer
		if err := png.Encode(&b, pic); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	asPNG := strings.Replace(plain, "map.pgm", "map.png", 1)
	for name, tt := range map[string]struct {
		text, file string
		data       []byte
		want       []int8
	}{
		"bytes":          {plain, "map.pgm", []byte("P5\n# made\n3 2\n255\n\x00\xfe\xcd\xfe\x00\xcd"), []int8{0, 100, -1, 100, 0, -1}},
		"text":           {plain, "map.pgm", []byte("P2 3 2 100\n0 100 80\n100 0 80"), []int8{0, 100, -1, 100, 0, -1}},
		"two bytes":      {plain, "map.pgm", []byte("P5 2 1 65535\n\x00\x00\xff\xff"), []int8{100, 0}},
		"a PNG":          {asPNG, "map.png", gray([]uint8{0, 254, 205}, []uint8{254, 0, 205}), []int8{0, 100, -1, 100, 0, -1}},
		"negated":        {strings.Replace(plain, "negate: 0", "negate: 1", 1), "map.pgm", []byte("P5 2 1 255\n\x00\xff"), []int8{0, 100}},
		"scaled":         {plain + "mode: scale\n", "map.pgm", []byte("P5 3 1 100\n\x64\x00\x3a"), []int8{0, 100, 49}},
		"raw":            {plain + "mode: raw\n", "map.pgm", []byte("P5 3 1 255\n\x00\x64\xff"), []int8{0, 100, -1}},
		"without limits": {"image: map.pgm\nresolution: 0.05\norigin: [-1.5, 2, 0.5]\n", "map.pgm", []byte("P5 2 1 255\n\x00\xff"), []int8{100, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, tt.text, tt.file, tt.data)
			if text, err := os.ReadFile(path); err != nil || !occupancy.Recognizes(text) {
				t.Errorf("not recognized: %v", err)
			}
			g, err := occupancy.ReadFile(path, "hall")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, g.Cells); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
			if g.Frame != "map" || g.MapID != "hall" || g.Resolution != 0.05 || g.X != -1.5 || g.Y != 2 || g.Yaw != 0.5 {
				t.Errorf("place: %+v", g)
			}
		})
	}
}

func TestBadMapFiles(t *testing.T) {
	pgm := []byte("P5 2 1 255\n\x00\xff")
	with := func(old, replacement string) string { return strings.Replace(plain, old, replacement, 1) }
	for name, tt := range map[string]struct {
		text string
		data []byte
		want string
	}{
		"no picture":          {plain, nil, "put it beside the map.yaml"},
		"an empty picture":    {plain, []byte{}, "is empty"},
		"another format":      {plain, []byte("GIF89a....."), "neither a PGM nor a PNG"},
		"a cut picture":       {plain, []byte("P5 2 2 255\n\x00\xff"), "ends after 2 of 2 x 2 pixels"},
		"a huge picture":      {plain, []byte("P5 60000 60000 255\n"), "over the"},
		"no pixels":           {plain, []byte("P5 0 5 255\n"), "nothing is mapped"},
		"a bad head":          {plain, []byte("P5 x"), "head cannot be read"},
		"a bad largest value": {plain, []byte("P5 1 1 70000\n"), "1 to 65535"},
		"no resolution":       {with("resolution: 0.05\n", ""), pgm, "names no resolution"},
		"resolution 0":        {with("0.05", "0"), pgm, "must be above 0"},
		"resolution NaN":      {with("0.05", ".nan"), pgm, "must be a number"},
		"an origin of NaN":    {with("-1.5", ".nan"), pgm, "x of the origin"},
		"a yaw of infinity":   {with("0.5]", ".inf]"), pgm, "yaw of the origin"},
		"an origin of one":    {with("[-1.5, 2, 0.5]", "[1]"), pgm, "[x, y, yaw]"},
		"another mode":        {plain + "mode: best\n", pgm, "trinary, scale or raw"},
		"mixed limits":        {with("0.196", "0.9"), pgm, "the first below the second"},
		"a bad negate":        {with("negate: 0", "negate: maybe"), pgm, "0 or 1"},
		"no YAML":             {"image: [", pgm, "map.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := occupancy.ReadFile(write(t, tt.text, "map.pgm", tt.data), ""); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func number(n float64) message.Value { return message.Value{Kind: message.Float64, Float: n} }

func fields(of map[string]message.Value) message.Value {
	v := message.Value{Kind: message.Struct}
	for name, f := range of {
		v.Names, v.List = append(v.Names, name), append(v.List, f)
	}
	return v
}

// grid is a message of 2 x 1 cells that is turned by yaw.
func grid(data message.Value, resolution, yaw float64) *message.Value {
	v := fields(map[string]message.Value{
		"header": fields(map[string]message.Value{"frame_id": {Kind: message.String, Text: "map"}}),
		"info": fields(map[string]message.Value{
			"resolution": number(resolution), "width": number(2), "height": number(1),
			"origin": fields(map[string]message.Value{
				"position":    fields(map[string]message.Value{"x": number(-3), "y": number(4)}),
				"orientation": fields(map[string]message.Value{"z": number(math.Sin(yaw / 2)), "w": number(math.Cos(yaw / 2))}),
			}),
		}),
		"data": data,
	})
	return &v
}

func TestMessages(t *testing.T) {
	bytesOf := func(cells ...int8) message.Value {
		v := message.Value{}
		for _, c := range cells {
			v.Data = append(v.Data, byte(c))
		}
		return v
	}
	for _, yaw := range []float64{0, math.Pi / 2, -3} {
		g, err := occupancy.OfMessage(grid(bytesOf(-1, 100), float64(float32(0.05)), yaw), "hall")
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(g.Yaw-yaw) > 1e-9 || g.X != -3 || g.Y != 4 || g.Resolution != 0.05 || g.MapID != "hall" || g.Frame != "map" {
			t.Errorf("yaw %v: %+v", yaw, g)
		}
	}

	if g, err := occupancy.OfMessage(grid(message.Value{Numbers: []float64{7, -1}}, 1, 0), ""); err != nil || !cmp.Equal(g.Cells, []int8{7, -1}) {
		t.Errorf("numbers: %+v, %v", g, err)
	}
	if g, err := occupancy.OfMessage(grid(bytesOf(101, -2), 1, 0), ""); err != nil || g.Repaired != 2 || !cmp.Equal(g.Cells, []int8{-1, -1}) {
		t.Errorf("values that mean nothing: %+v, %v", g, err)
	}
	for name, v := range map[string]*message.Value{
		"too few cells": grid(bytesOf(1), 1, 0), "too many": grid(bytesOf(1, 2, 3), 1, 0),
		"resolution 0": grid(bytesOf(1, 2), 0, 0), "resolution NaN": grid(bytesOf(1, 2), math.NaN(), 0), "yaw NaN": grid(bytesOf(1, 2), 1, math.NaN()),
		"nothing": {},
	} {
		if g, err := occupancy.OfMessage(v, ""); err == nil {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

// The picture loses nothing, stands upright, and an equal map has an equal origin.
func TestPerceptions(t *testing.T) {
	g := &occupancy.Grid{Frame: "map", MapID: "hall", Resolution: 0.5, Width: 2, Height: 2, Cells: []int8{0, 50, -1, 100}}
	p, err := g.Perception(nil, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	pic, err := png.Decode(bytes.NewReader(p.Data))
	if err != nil {
		t.Fatal(err)
	}
	var got []color.Color
	for y := range 2 {
		for x := range 2 {
			got = append(got, color.RGBAModel.Convert(pic.At(x, y)))
		}
	}
	if diff := cmp.Diff([]color.Color{color.RGBA{180, 200, 220, 255}, color.RGBA{0, 0, 0, 255}, color.RGBA{254, 254, 254, 255}, color.RGBA{127, 127, 127, 255}}, got); diff != "" {
		t.Errorf("pixels (-want +got):\n%s", diff)
	}
	again, err := g.Perception(map[string]any{"recording": "b"}, time.Now())
	if err != nil || again.Origin != p.Origin {
		t.Errorf("origins %s and %s, %v", p.Origin, again.Origin, err)
	}
	g.Yaw = 1
	if other, err := g.Perception(nil, time.Time{}); err != nil || other.Origin == p.Origin {
		t.Errorf("a turned map has the origin of another, %v", err)
	}
}
