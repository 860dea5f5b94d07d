package payload_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/robotmem/robotmem-go/perception/payload"
)

// npy is the header that numpy.save writes, of version 1.
func npy(descr, fortran, shape string) []byte {
	dict := fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }", descr, fortran, shape)
	dict += string(bytes.Repeat([]byte(" "), 63-(10+len(dict))%64)) + "\n"
	head := append([]byte("\x93NUMPY\x01\x00"), byte(len(dict)), byte(len(dict)>>8))
	return append(head, dict...)
}

// wav is a header with a chunk of odd length before the format.
func wav(format, channels, bits uint16) []byte {
	le := binary.LittleEndian
	b := []byte("RIFF\x00\x00\x00\x00WAVELIST\x03\x00\x00\x00abc\x00fmt \x10\x00\x00\x00")
	b = le.AppendUint16(le.AppendUint16(b, format), channels)
	b = append(b, make([]byte, 8)...) // rates
	b = le.AppendUint16(le.AppendUint16(b, channels*((bits+7)/8)), bits)
	return append(b, "data\xff\xff\xff\xffabcdef"...)
}

func TestHintOf(t *testing.T) {
	type meta = map[string]any
	for _, c := range []struct {
		name      string
		mediaType string
		metadata  meta
		head      []byte
		want      payload.Hint
	}{
		{"nothing", "", nil, nil, payload.Hint{}},
		{"npy", "", nil, npy("'<f4'", "False", "(1000, 6)"), payload.Hint{Element: 4, Columns: 6, Offset: 128}},
		{"npy, big-endian", "", nil, npy("'>i2'", "False", "(1000, 3)"), payload.Hint{Element: 2, Columns: 3, Offset: 128, BigEndian: true}},
		{"npy of one axis", "", nil, npy("'<f8'", "False", "(1000,)"), payload.Hint{Element: 8, Columns: 1, Offset: 128}},
		{"npy of three axes", "", nil, npy("'<f4'", "False", "(1000, 21, 3)"), payload.Hint{Element: 4, Columns: 63, Offset: 128}},
		{"npy of pictures", "", nil, npy("'|u1'", "False", "(100, 480, 640, 3)"), payload.Hint{Element: 1, Columns: 3, Offset: 128}},
		{"npy in Fortran order", "", nil, npy("'<f4'", "True", "(1000, 6)"), payload.Hint{Element: 4, Columns: 1, Offset: 128}},
		{"npy of objects", "", nil, npy("'|O'", "False", "(1000,)"), payload.Hint{}},
		{"npy of structures", "", nil, npy("[('x', '<f4')]", "False", "(1000,)"), payload.Hint{}},
		{"npy that is cut off", "", nil, npy("'<f4'", "False", "(1000, 6)")[:60], payload.Hint{}},
		{"wav", "", nil, wav(1, 2, 16), payload.Hint{Element: 2, Columns: 2, Offset: 56}},
		{"wav of 24 bits", "", nil, wav(0xFFFE, 2, 24), payload.Hint{Element: 3, Columns: 2, Offset: 56}},
		{"wav of floats", "audio/wav", nil, wav(3, 1, 32), payload.Hint{Element: 4, Columns: 1, Offset: 56}},
		{"wav in μ-law", "", nil, wav(7, 1, 8), payload.Hint{}},
		{"wav of no channels", "", nil, wav(1, 0, 16), payload.Hint{}},
		{"wav that is cut off", "", nil, wav(1, 2, 16)[:40], payload.Hint{}},
		{"dtype and shape", "", meta{"dtype": "float32", "shape": []any{1000.0, 6.0}}, nil, payload.Hint{Element: 4, Columns: 6}},
		{"dtype and names", "", meta{"dtype": "<i2", "channels": []any{"x", "y", "z"}}, nil, payload.Hint{Element: 2, Columns: 3}},
		{"dtype alone", "application/octet-stream", meta{"dtype": "float64"}, nil, payload.Hint{Element: 8, Columns: 1}},
		{"a cloud", "", meta{"point_step": 32.0, "is_bigendian": true}, nil, payload.Hint{Element: 4, Columns: 8, BigEndian: true}},
		{"a cloud of odd step", "", meta{"point_step": 15}, nil, payload.Hint{}},
		{"a depth image", "", meta{"encoding": "16UC1"}, nil, payload.Hint{Element: 2, Columns: 1}},
		{"a colour image", "", meta{"encoding": "bgra8", "is_bigendian": 0.0}, nil, payload.Hint{Element: 1, Columns: 4}},
		{"text", "text/csv; charset=utf-8", meta{"dtype": "float32"}, nil, payload.Hint{}},
		{"JSON", "application/json", meta{"dtype": "float32"}, nil, payload.Hint{}},
		{"nonsense", "", meta{"dtype": 5, "shape": "x", "point_step": -1.0, "encoding": []any{}}, nil, payload.Hint{}},
		{"too many columns", "", meta{"dtype": "float32", "shape": []any{2.0, 1e9}}, nil, payload.Hint{}},
		{"a broken shape", "", meta{"dtype": "float32", "shape": []any{10.0, 0.5}}, nil, payload.Hint{}},
	} {
		if got := payload.HintOf(c.mediaType, c.metadata, c.head); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	grid, noisy := wrench(0.01), wrench(0)
	odd := append([]byte("13 bytes here"), noisy...)
	rows := payload.Hint{Element: 4, Columns: 6}
	for _, c := range []struct {
		name   string
		sample []byte
		hint   payload.Hint
		want   payload.Codec
	}{
		{"nothing", nil, rows, payload.Raw},
		{"noise", noise(100_000), payload.Hint{}, payload.Raw},
		{"noise, hinted", noise(100_000), rows, payload.Raw},
		{"zeros", make([]byte, 100_000), payload.Hint{}, payload.Zstd},
		{"a noisy trace, not hinted", noisy, payload.Hint{}, payload.Raw},
		{"a noisy trace", noisy, rows, "delta.planar.shuffle.zstd:le4x6"},
		{"the same after a header", odd, payload.Hint{Element: 4, Columns: 6, Offset: 13}, "delta.planar.shuffle.zstd:le4x6+13"},
		{"a trace on a grid", grid, rows, "delta.planar.zstd:le4x6"},
		{"an impossible hint", make([]byte, 100_000), payload.Hint{Element: 9, Columns: -1, Offset: -5}, payload.Zstd},
	} {
		if got := payload.Choose(c.sample, c.hint); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func FuzzHintOf(f *testing.F) {
	f.Add(npy("'<f4'", "False", "(1000, 6)"), "float32", 6.0)
	f.Add(wav(1, 2, 16), "", 0.0)
	f.Fuzz(func(t *testing.T, head []byte, dtype string, n float64) {
		for _, m := range []map[string]any{{"dtype": dtype, "channels": n}, {"encoding": dtype}, {"point_step": n}} {
			h := payload.HintOf("", m, head)
			roundTrip(t, payload.Choose(head, h), head)
		}
	})
}
