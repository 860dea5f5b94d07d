package perception_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
)

func FuzzTracePlot(f *testing.F) {
	for _, text := range []string{
		wrenchCSV("Fx,Fy,Fz,Tx,Ty,Tz\n"), "t,a (N)\n0,1\n1,2\n9,3\n", "a;b\n1,5;\n2,5;inf\n", "<a>,&\n1e308,-1e308\n5e-324,1\n", "1\n",
		"[1e300,-1e300]",
	} {
		f.Add([]byte(text), 640, 360)
		f.Add([]byte(text), 120, 4096)
	}
	f.Fuzz(func(t *testing.T, data []byte, width, height int) {
		for _, declared := range []string{"text/csv", "application/json"} {
			item := perception.Item{MediaType: declared, Data: data, Metadata: map[string]any{"units": string(data)}}
			if _, err := decodeTrace(item.Payload()); err == nil {
				plotOf(t, item, perception.PreviewOptions{Width: width, Height: height})
			}
		}
	})
}

func FuzzRawSamples(f *testing.F) {
	f.Add(elements(binary.LittleEndian, []float32{1, 2, 3, 4}), "<f4", 2.0, 2.0)
	f.Add([]byte{1, 0, 2, 0}, "int16", 2.0, 1.0)
	f.Add([]byte{1, 0, 2}, ">f2", 1e300, -1.0)
	f.Fuzz(func(t *testing.T, data []byte, dtype string, rows, columns float64) {
		item := perception.Item{MediaType: "application/x-samples", Data: data, Metadata: map[string]any{"dtype": dtype, "shape": []any{rows, columns}}}
		got, err := decodeTrace(item.Payload())
		if err != nil {
			return
		}
		if float64(len(got.Samples)) != rows || float64(len(got.Samples[0])) != columns {
			t.Fatalf("got %dx%d, want %vx%v", len(got.Samples), len(got.Samples[0]), rows, columns)
		}
		if kind, vector, ok := perception.Features(item); ok {
			if d := perception.Distance(kind, vector, vector); d != 0 {
				t.Fatalf("got a distance of %v to itself", d)
			}
		}
	})
}

func FuzzTraceDistance(f *testing.F) {
	f.Add([]byte{0, 0, 128, 63}, []byte{255, 255, 127, 127})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		vectors := [2][]float32{}
		for i, data := range [][]byte{a, b} {
			for at := range 64 {
				var v float32
				if 4*at+4 <= len(data) {
					v = math.Float32frombits(binary.LittleEndian.Uint32(data[4*at:]))
				}
				if v-v != 0 {
					return // not finite
				}
				vectors[i] = append(vectors[i], v)
			}
		}
		d := perception.Distance("trace/v2/1", vectors[0], vectors[1])
		if !(d >= 0 && d <= math.Sqrt2+1e-9) || d != perception.Distance("trace/v2/1", vectors[1], vectors[0]) {
			t.Fatalf("got %v", d)
		}
	})
}
