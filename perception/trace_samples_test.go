package perception_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// TestDecodeFilesOfNumPy reads what NumPy wrote; testdata/npy/make.py says how.
func TestDecodeFilesOfNumPy(t *testing.T) {
	rows := [][]float64{{1, 2}, {3, 4}, {0, 1}}
	want := map[string][][]float64{
		"bool":          {{1, 1}, {1, 1}, {0, 1}},
		"float16_edges": {{math.Ldexp(1, -24)}, {-math.Ldexp(1, -24)}, {math.Ldexp(1, -14)}, {65504}, {math.Inf(-1)}, {math.NaN()}, {-0.0999755859375}},
	}
	for _, name := range strings.Fields("int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 big_endian fortran version2 version3") {
		want[name] = rows
	}
	for name, want := range want {
		t.Run(name, func(t *testing.T) {
			got, err := decodeTrace(perception.Item{Data: npyFile(t, name)}.Payload())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got.Samples, want, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
		})
	}
	for name, want := range map[string]string{"cube": "need metadata kind image", "objects": "element type |O is not read"} {
		t.Run(name, func(t *testing.T) {
			if got, err := decodeTrace(perception.Item{Data: npyFile(t, name)}.Payload()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, error %v, want one with %q", got, err, want)
			}
		})
	}
}

func npyFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "npy", name+".npy"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func samplesItem(t testing.TB, mediaType, metadata string, data []byte) perception.Item {
	t.Helper()
	item := perception.Item{MediaType: mediaType, Data: data}
	if err := json.Unmarshal([]byte(metadata), &item.Metadata); err != nil {
		t.Fatal(err)
	}
	return item
}

func TestDecodeSamples(t *testing.T) {
	floats := elements(binary.LittleEndian, []float32{1, 2, 3, -4.5})
	four, flat := [][]float64{{1, 2}, {3, -4.5}}, [][]float64{{1}, {2}, {3}, {-4.5}}
	tests := []struct {
		name, mediaType, metadata string
		data                      []byte
		want                      trace
	}{
		{"all named", "application/x-samples", `{"dtype":"<f4","shape":[2,2],"rate_hz":10,"channels":["a","b"],"units":"N"}`, floats,
			trace{Channels: []string{"a", "b"}, Units: []string{"N", "N"}, RateHz: 10, Samples: four}},
		{"shape alone", "application/x-samples", `{"shape":[2,2]}`, floats, trace{Samples: four}},
		{"one dimension", "application/octet-stream", `{"shape":[4]}`, floats, trace{Samples: flat}},
		{"type alone", "application/octet-stream", `{"dtype":"float32"}`, floats, trace{Samples: flat}},
		{"type and names", "", `{"dtype":"float32","channels":["a","b"]}`, floats, trace{Channels: []string{"a", "b"}, Samples: four}},
		{"float64", "application/x-samples", `{"dtype":"<f8"}`, elements(binary.LittleEndian, []float64{1, math.Inf(1)}), trace{Samples: [][]float64{{1}, {math.Inf(1)}}}},
		{"int16", "application/x-samples", `{"dtype":"int16","shape":[1,2]}`, elements(binary.LittleEndian, []int16{1, -2}), trace{Samples: [][]float64{{1, -2}}}},
		{"int32", "application/x-samples", `{"dtype":"<i4","shape":[2,1]}`, elements(binary.LittleEndian, []int32{1, -2}), trace{Samples: [][]float64{{1}, {-2}}}},
		{"big endian", "application/x-samples", `{"dtype":">i2"}`, elements(binary.BigEndian, []int16{1, -2}), trace{Samples: [][]float64{{1}, {-2}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := decodeTrace(samplesItem(t, test.mediaType, test.metadata, test.data).Payload())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(*got, test.want); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
		})
	}
	item := perception.Item{MediaType: "application/x-samples", Data: floats, Metadata: map[string]any{"shape": []int{2, 2}}}
	if got, err := decodeTrace(item.Payload()); err != nil || !cmp.Equal(got.Samples, four) {
		t.Errorf("a shape of Go: got %v, %v", got, err)
	}
}

func TestDecodeSamplesRefuses(t *testing.T) {
	tests := []struct {
		name, mediaType, metadata string
		size                      int
		want                      string
	}{
		{"nothing named", "application/x-samples", `{"rate_hz":10}`, 16, "need metadata: dtype"},
		{"bytes of nothing known", "application/octet-stream", `{}`, 16, "is not read as a trace"},
		{"another media type", "image/png", `{"shape":[2,2]}`, 16, "image/png is not read"},
		{"unknown type", "application/x-samples", `{"dtype":"<c8"}`, 16, `dtype "<c8" is not read`},
		{"type that is no text", "application/x-samples", `{"dtype":4}`, 16, `dtype "" is not read`},
		{"too few bytes", "application/x-samples", `{"shape":[3,2]}`, 16, "shape [3, 2] of <f4 needs 24 bytes; the data has 16"},
		{"too many bytes", "application/x-samples", `{"shape":[1,2],"dtype":"int16"}`, 16, "needs 4 bytes"},
		{"half an element", "application/x-samples", `{"dtype":"<f8"}`, 15, "not a whole number of <f8"},
		{"half a sample", "application/x-samples", `{"dtype":"<f4","channels":["a","b","c"]}`, 16, "samples of 3 channels"},
		{"cube", "application/x-samples", `{"shape":[1,2,2]}`, 16, "must be [samples, channels]"},
		{"fractions", "application/x-samples", `{"shape":[2.5,2]}`, 20, "whole numbers"},
		{"nothing at all", "application/x-samples", `{"shape":[0,2]}`, 0, "no samples"},
		{"overflow", "application/x-samples", `{"shape":[4294967296,4294967296]}`, 16, "whole numbers of 1 to"},
		{"infinity", "application/x-samples", `{"shape":[1e400]}`, 16, ""},
		{"too long", "application/x-samples", `{"dtype":"int8"}`, 16<<20 + 1, "more than 16777216 readings"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			item := perception.Item{MediaType: test.mediaType, Data: make([]byte, test.size)}
			dec := json.NewDecoder(strings.NewReader(test.metadata))
			dec.UseNumber()
			if err := dec.Decode(&item.Metadata); err != nil {
				t.Fatal(err)
			}
			if got, err := decodeTrace(item.Payload()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, error %v, want one with %q", got, err, test.want)
			}
		})
	}
}

func TestDecodeTraceBoundsReadings(t *testing.T) {
	rounds.OnlyInCI(t, "16 million readings")
	t.Parallel()
	if testing.Short() {
		t.Skip("reads traces of 16 million readings")
	}
	const most = 16 << 20
	for name, item := range map[string]perception.Item{
		"text": csvItem(strings.Repeat(strings.Repeat("0,", 1023)+"0\n", most/1024+1)),
		"json": jsonItem("[0" + strings.Repeat(",0", most) + "]"),
		"npy":  {Data: npy("|u1", "(16777217,)", make([]byte, most+1))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := decodeTrace(item.Payload()); err == nil || !strings.Contains(err.Error(), "more than 16777216 readings") {
				t.Errorf("got %v, error %v", got != nil, err)
			}
		})
	}
}
