package web_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// sample is a payload with the metadata that its format needs.
type sample struct {
	name      string
	data      []byte
	declared  string // media type; "" leaves it to the node
	metadata  robotmem.Object
	mediaType string // without parameters
	preview   string // "" if nothing can be drawn
	summary   string // a part of it
}

// samples are one or more payloads of every format. The files were written by other
// programs, as the make.py in their folders shows.
func samples(t *testing.T) []sample {
	t.Helper()
	file := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("..", "perception", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	scan := jsonOf(t, map[string]any{"angle_min": -1.5, "angle_max": 1.5, "angle_increment": 0.01, "range_min": 0.1, "range_max": 30, "ranges": ranges(301)})
	return []sample{
		{name: "JPEG", data: file("visual/progressive.jpg"), mediaType: "image/jpeg", preview: "image/png", summary: "image/jpeg"},
		{name: "JPEG, larger than its picture", data: photo(t), mediaType: "image/jpeg", preview: "image/jpeg", summary: "1000x700"},
		{name: "JPEG, CMYK", data: file("visual/cmyk.jpg"), mediaType: "image/jpeg", preview: "image/png", summary: "image/jpeg"},
		{name: "PNG", data: file("visual/plain.png"), mediaType: "image/png", preview: "image/png", summary: "image, 48x32"},
		{name: "WebP", data: file("visual/alpha.webp"), mediaType: "image/webp", preview: "image/png", summary: "image, 48x32"},
		{name: "16-bit depth PNG", data: file("visual/depth.png"), metadata: robotmem.Object{"encoding": "16UC1"}, mediaType: "image/png", preview: "image/png", summary: "48x32, 16-bit grey"},
		{name: "raw pixels", data: everyByte(64 * 48 * 3), declared: "image/x-raw", metadata: robotmem.Object{"encoding": "rgb8", "width": 64, "height": 48}, mediaType: "image/x-raw", preview: "image/png", summary: "64x48"},
		{name: "CSV", data: wrench(200), mediaType: "text/csv", preview: "image/svg+xml", summary: "200 samples"},
		{name: "JSON arrays", data: jsonOf(t, rows(120, 6)), mediaType: "application/json", preview: "image/svg+xml", summary: "120 samples"},
		{name: ".npy", data: file("npy/float32.npy"), mediaType: "application/x-npy", preview: "image/svg+xml", summary: "samples"},
		{name: "raw float32 samples", data: floats(1000 * 6), declared: "application/x-samples", metadata: robotmem.Object{"dtype": "<f4", "shape": []int{1000, 6}, "rate_hz": 1000}, mediaType: "application/x-samples", preview: "image/svg+xml", summary: "1,000 samples over 1.00 s"},
		{name: "WAV", data: file("visual/pcm_16.wav"), mediaType: "audio/wav", preview: "image/svg+xml", summary: "100 ms, 8 kHz, mono, 16-bit"},
		{name: "TUM", data: tum(50), declared: "text/x-tum", mediaType: "text/x-tum", preview: "image/svg+xml", summary: "trajectory"},
		{name: "PCD, ascii", data: file("spatial/ascii.pcd"), mediaType: "application/x-pcd", preview: "image/svg+xml", summary: "40 points"},
		{name: "PCD, binary", data: file("spatial/binary.pcd"), mediaType: "application/x-pcd", preview: "image/svg+xml", summary: "40 points"},
		{name: "laser scan", data: scan, mediaType: "application/json", preview: "image/svg+xml", summary: "scan"},
		{name: "PointCloud2", data: floats(300 * 4), declared: "application/x-pointcloud2", metadata: pointCloud2(300), mediaType: "application/x-pointcloud2", preview: "image/svg+xml", summary: "300 points"},
		{name: "MCAP", data: mcap(), mediaType: "application/vnd.mcap", summary: "application/vnd.mcap"},
		{name: "MP4", data: mp4(), mediaType: "video/mp4", summary: "video/mp4"},
		{name: "unknown bytes", data: []byte{0, 1, 2, 250, 251, '\r', '\n', '-', '-'}, mediaType: "application/octet-stream", summary: "9 bytes"},
		{name: "empty", data: []byte{}, mediaType: "application/octet-stream", summary: "sample: empty"},
		{name: "300 KiB of one kind", data: wrench(7000)[:300<<10], mediaType: "text/csv", preview: "image/svg+xml", summary: "samples"},
		{name: "300 KiB at random", data: noise(300 << 10), mediaType: "application/octet-stream", summary: "307,200 bytes"},
		{name: "5 MiB of one kind", data: bytes.Repeat([]byte("0123456789abcdef"), 5<<16), mediaType: "text/plain", summary: "0123"},
		{name: "5 MiB at random", data: noise(5 << 20), mediaType: "application/octet-stream", summary: "5,242,880 bytes"},
		{name: "a boundary within", data: []byte("\r\n--xxx\r\nContent-Disposition: form-data; name=\"description\"\r\n\r\nforged\r\n--xxx--\r\n"), mediaType: "text/plain", summary: "form-data"},
	}
}

func jsonOf(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// photo is a picture that is smaller as a JPEG than as a PNG.
func photo(t *testing.T) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 1000, 700))
	copy(m.Pix, noise(len(m.Pix)))
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// everyByte returns n bytes with every value.
func everyByte(n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(i)
	}
	return out
}

func noise(n int) []byte {
	out := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(out) // never fails
	return out
}

// wrench is a six-axis force trace as CSV, a row every 21 ms.
func wrench(rows int) []byte {
	var b bytes.Buffer
	b.WriteString("t,Fx,Fy,Fz,Tx,Ty,Tz\n")
	for i := range rows {
		a := float64(i) / 9
		fmt.Fprintf(&b, "%.3f,%.2f,%.2f,%.2f,%.3f,%.3f,%.3f\n", 0.021*float64(i), math.Sin(a), math.Cos(a), -20*math.Exp(-a/9), a/50, -a/60, math.Sin(a/3))
	}
	return b.Bytes()
}

func rows(n, width int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, width)
		for k := range out[i] {
			out[i][k] = math.Round(1000*math.Sin(float64(i*(k+1))/17)) / 1000
		}
	}
	return out
}

func ranges(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 4 + math.Round(100*math.Sin(float64(i)/20))/100
	}
	return out
}

// floats are little-endian float32.
func floats(n int) []byte {
	out := make([]byte, 0, 4*n)
	for i := range n {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(math.Sin(float64(i)/11))))
	}
	return out
}

func tum(poses int) []byte {
	var b bytes.Buffer
	for i := range poses {
		a := float64(i) / 20
		fmt.Fprintf(&b, "%.4f %.4f %.4f 0.5 0 0 %.6f %.6f\n", 1700000000+a, 3*math.Cos(a), 3*math.Sin(a), math.Sin(a/2), math.Cos(a/2))
	}
	return b.Bytes()
}

// pointCloud2 is the layout of points of x, y, z and intensity.
func pointCloud2(points int) robotmem.Object {
	var fields []any
	for i, name := range []string{"x", "y", "z", "intensity"} {
		fields = append(fields, map[string]any{"name": name, "offset": 4 * i, "datatype": 7, "count": 1})
	}
	return robotmem.Object{"width": points, "height": 1, "point_step": 16, "row_step": 16 * points, "is_bigendian": false, "fields": fields}
}

// mcap is the smallest file of the format: header, end of data and footer, as
// https://mcap.dev/spec has them.
func mcap() []byte {
	const magic = "\x89MCAP0\r\n"
	out := []byte(magic)
	record := func(op byte, content []byte) {
		out = append(out, op)
		out = binary.LittleEndian.AppendUint64(out, uint64(len(content)))
		out = append(out, content...)
	}
	text := func(b []byte, s string) []byte {
		return append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	record(0x01, text(text(nil, "ros2"), "robotmem"))
	record(0x0f, make([]byte, 4))
	record(0x02, make([]byte, 8+8+4))
	return append(out, magic...)
}

// mp4 is a file type box and an empty box.
func mp4() []byte {
	return []byte("\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isommp41\x00\x00\x00\x10free" + strings.Repeat("\x00", 8))
}
