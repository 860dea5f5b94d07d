package perception_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/media"
	"github.com/robotmem/robotmem-go/perception/timeseries"
)

// trace is a decoded trace as the tests compare it.
type trace struct {
	Channels, Units []string
	RateHz          float64
	Times           []float64
	Samples         [][]float64
}

func decodeTrace(in media.Payload) (*trace, error) {
	s, err := timeseries.Decode(in)
	if err != nil {
		return nil, err
	}
	t := &trace{s.Channels, s.Units, s.RateHz, s.Stamps, make([][]float64, s.Len())}
	for i := range t.Samples {
		t.Samples[i] = s.Row(i)
	}
	return t, nil
}

func TestDecodeTrace(t *testing.T) {
	four := [][]float64{{1, 2}, {3, -4.5}}
	nan := math.NaN()
	tests := []struct {
		name string
		item perception.Item
		want trace
	}{
		{"csv", csvItem("1,2\n3,-4.5\n"), trace{Samples: four}},
		{"no line break at the end", csvItem("1,2\n3,-4.5"), trace{Samples: four}},
		{"carriage returns", csvItem("a,b\r\n1,2\r\n3,-4.5\r\n"), trace{Channels: []string{"a", "b"}, Samples: four}},
		{"byte order mark", csvItem("\ufeff1,2\n3,-4.5\n"), trace{Samples: four}},
		{"header with units", csvItem("Fx (N), v [m/s]\n1,2\n3,-4.5\n"), trace{Channels: []string{"Fx", "v"}, Units: []string{"N", "m/s"}, Samples: four}},
		{"quotes", csvItem("\"a\",\"b\"\n\"1\",2\n3,-4.5\n"), trace{Channels: []string{"a", "b"}, Samples: four}},
		{"tabs, one in front", csvItem("\t1\t2\n\t3\t-4.5\n"), trace{Samples: four}},
		{"blanks", csvItem("  1   2\n3 \t -4.5 \n"), trace{Samples: four}},
		{"semicolons", csvItem("a;b\n1;2\n3;-4.5\n"), trace{Channels: []string{"a", "b"}, Samples: four}},
		{"comments", csvItem("# a b\n1 2\n\n# later\n3 -4.5\n"), trace{Samples: four}},
		{"missing readings", csvItem("a,b\n1,\n,nan\n"), trace{Channels: []string{"a", "b"}, Samples: [][]float64{{1, nan}, {nan, nan}}}},
		{"time column", csvItem("t,a\n0.5,1\n0.75,2\n1,3\n"), trace{Channels: []string{"a"}, RateHz: 4, Times: []float64{0, 0.25, 0.5}, Samples: [][]float64{{1}, {2}, {3}}}},
		{"time in milliseconds", csvItem("time_ms,a (N)\n0,1\n500,2\n"), trace{Channels: []string{"a"}, Units: []string{"N"}, RateHz: 2, Times: []float64{0, 0.5}, Samples: [][]float64{{1}, {2}}}},
		{"time since 1970, unit unknown", csvItem("stamp,a\n1700000000000,1\n1700000000500,2\n"), trace{Channels: []string{"a"}, RateHz: 2, Times: []float64{0, 0.5}, Samples: [][]float64{{1}, {2}}}},
		{"a temperature is no time", csvItem("T,a\n20,1\n19,2\n"), trace{Channels: []string{"T", "a"}, Samples: [][]float64{{20, 1}, {19, 2}}}},
		{"time that is not first", csvItem("seq,stamp,a\n7,0,1\n8,0.5,2\n"), trace{Channels: []string{"seq", "a"}, RateHz: 2, Times: []float64{0, 0.5}, Samples: [][]float64{{7, 1}, {8, 2}}}},
		{"uneven times", csvItem("t_ms,a\n100,1\n200,2\n600,3\n"), trace{Channels: []string{"a"}, RateHz: 4, Times: []float64{0, 0.1, 0.5}, Samples: [][]float64{{1}, {2}, {3}}}},
		{"times that are rounded", csvItem("time (ms),a\n0,1\n3,2\n7,3\n10,4\n"), trace{Channels: []string{"a"}, RateHz: 300, Times: []float64{0, 0.003, 0.007, 0.01}, Samples: [][]float64{{1}, {2}, {3}, {4}}}},
		{"times that stand still", csvItem("t,a\n5,1\n5,2\n"), trace{Channels: []string{"a"}, Samples: [][]float64{{1}, {2}}}},
		{"time alone", csvItem("t\n0\n1\n"), trace{Channels: []string{"t"}, Samples: [][]float64{{0}, {1}}}},
		{"plain text", perception.Item{MediaType: "text/plain; charset=utf-8", Data: []byte("1 2\n3 -4.5\n")}, trace{Samples: four}},
		{"type not given", perception.Item{Data: []byte("1 2\n3 -4.5\n")}, trace{Samples: four}},

		{"json samples", jsonItem("[[1,2],[3,-4.5]]"), trace{Samples: four}},
		{"json flat", jsonItem(" [1, 2e1, null]\n"), trace{Samples: [][]float64{{1}, {20}, {nan}}}},
		{"json object", jsonItem(`{"channels":["a","b"],"units":["N","m"],"rate_hz":10,"samples":[[1,2],[3,-4.5]],"note":{"x":[]}}`),
			trace{Channels: []string{"a", "b"}, Units: []string{"N", "m"}, RateHz: 10, Samples: four}},
		{"json object, one channel", jsonItem(`{"samples":[1],"units":"N","duration_s":0.5}`), trace{Units: []string{"N"}, RateHz: 2, Samples: [][]float64{{1}}}},
		{"json wrench", jsonItem(`{"kind":"wrench","samples":[[1,2,3,4,5,6]]}`),
			trace{Channels: []string{"Fx", "Fy", "Fz", "Tx", "Ty", "Tz"}, Samples: [][]float64{{1, 2, 3, 4, 5, 6}}}},

		{"npy float64", npyItem("<f8", "(2, 2)", binary.LittleEndian, []float64{1, 2, 3, -4.5}), trace{Samples: four}},
		{"npy float32, big endian", npyItem(">f4", "(2, 2)", binary.BigEndian, []float32{1, 2, 3, -4.5}), trace{Samples: four}},
		{"npy int16", npyItem("<i2", "(2,)", binary.LittleEndian, []int16{1, -2}), trace{Samples: [][]float64{{1}, {-2}}}},
		{"npy int32", npyItem(">i4", "(2,)", binary.BigEndian, []int32{1, -2}), trace{Samples: [][]float64{{1}, {-2}}}},
		{"npy int64", npyItem("=i8", "(1, 2)", binary.LittleEndian, []int64{1, -2}), trace{Samples: [][]float64{{1, -2}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := decodeTrace(test.item.Payload())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(*got, test.want, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
		})
	}
}

func npyItem(descr, shape string, order binary.AppendByteOrder, values any) perception.Item {
	return perception.Item{MediaType: "application/x-npy", Data: npy(descr, shape, elements(order, values))}
}

func TestDecodeTraceRefuses(t *testing.T) {
	tests := []struct {
		name string
		item perception.Item
		want string // part of the error
	}{
		{"an image", perception.Item{MediaType: "image/png", Data: []byte("x")}, "image/png is not read as a trace"},
		{"ragged csv", csvItem("1,2\n3\n"), "line 2: has 1 fields"},
		{"words in csv", csvItem("a,b\n1,2\n3,x\n"), "line 3: field 2 is not a number"},
		{"a comma too many", csvItem("1;2\n1,500,0;2,5\n"), "line 2: field 1 is not a number"},
		{"a separator in quotes", csvItem("\"force, x\",b\n1,2\n"), "line 2: has 2 fields"},
		{"header only", csvItem("a,b\n"), "no samples"},
		{"nothing", csvItem(""), "no samples"},
		{"out of range", csvItem("a\n1e999\n"), "not a number"},
		{"one number in text", perception.Item{MediaType: "text/plain", Data: []byte("42")}, "at least 2"},
		{"prose", perception.Item{MediaType: "text/plain", Data: []byte("open\nthe gripper")}, "line 2"},
		{"json number", jsonItem("5"), "neither a list of numbers"},
		{"json empty", jsonItem("[]"), "no samples"},
		{"json empty sample", jsonItem("[[]]"), "no readings"},
		{"json ragged", jsonItem("[[1],[2,3]]"), "has 2 readings"},
		{"json mixed", jsonItem("[[1],2]"), "neither a list of numbers"},
		{"json mixed, number first", jsonItem("[1,[2]]"), "neither a list of numbers"},
		{"json deep", jsonItem("[[[1]]]"), "nested"},
		{"json words", jsonItem(`[1,"2"]`), "more than lists"},
		{"json broken", jsonItem("[1,"), "not valid JSON"},
		{"json blank", jsonItem(" "), "not valid JSON"},
		{"json object without samples", jsonItem(`{"a":1}`), "no samples"},
		{"json out of range", jsonItem("[1e999]"), "too large"},
		{"npy objects", perception.Item{Data: npy("|O", "(1,)", []byte("\x80\x04K\x01."))}, "element type |O is not read"},
		{"npy structured", perception.Item{Data: []byte("\x93NUMPY\x01\x00\x46\x00{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }          ")}, "no plain element type"},
		{"npy complex", perception.Item{Data: npy("<c8", "(1,)", make([]byte, 8))}, "c8 is not read"},
		{"npy text", perception.Item{Data: npy("<U1", "(1,)", make([]byte, 4))}, "U1 is not read"},
		{"npy cube", perception.Item{Data: npy("<f8", "(1, 1, 1)", make([]byte, 8))}, "3 dimensions"},
		{"npy scalar", perception.Item{Data: npy("<f8", "()", make([]byte, 8))}, "0 dimensions"},
		{"npy empty", perception.Item{Data: npy("<f8", "(0, 6)", nil)}, "no samples"},
		{"npy cut short", perception.Item{Data: npy("<f8", "(2,)", make([]byte, 15))}, "needs 2 elements"},
		{"npy that claims terabytes", perception.Item{Data: npy("<f8", "(2147483647, 2147483647)", make([]byte, 8))}, "needs"},
		{"npy beyond all bounds", perception.Item{Data: npy("<f8", "(99999999999999999999,)", make([]byte, 8))}, "larger than any"},
		{"npy long header", perception.Item{Data: []byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{}")}, "longer than the file"},
		{"npy stub", perception.Item{Data: []byte("\x93NUMPY\x01")}, "within its header"},
		{"npy version", perception.Item{Data: []byte("\x93NUMPY\x09\x00\x00\x00\x00\x00")}, "version 9"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := decodeTrace(test.item.Payload())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, error %v, want an error with %q", got, err, test.want)
			}
		})
	}
}

func TestDecodeTraceMetadata(t *testing.T) {
	two := "a,b (N)\n1,2\n3,4\n"
	tests := []struct {
		name     string
		metadata string
		want     trace
	}{
		{"none", `{}`, trace{Channels: []string{"a", "b"}, Units: []string{"", "N"}}},
		{"names and units", `{"channels":["x","y"],"units":["m","rad"]}`, trace{Channels: []string{"x", "y"}, Units: []string{"m", "rad"}}},
		{"one unit", `{"units":"m"}`, trace{Channels: []string{"a", "b"}, Units: []string{"m", "m"}}},
		{"units by name", `{"units":{"a":"m"}}`, trace{Channels: []string{"a", "b"}, Units: []string{"m", ""}}},
		{"what does not fit", `{"channels":["x"],"units":["m",1],"rate_hz":-1,"kind":"wrench"}`, trace{Channels: []string{"a", "b"}, Units: []string{"", "N"}}},
		{"rate", `{"rate_hz":100,"duration_s":5}`, trace{Channels: []string{"a", "b"}, Units: []string{"", "N"}, RateHz: 100}},
		{"interval", `{"sample_interval_s":0.25}`, trace{Channels: []string{"a", "b"}, Units: []string{"", "N"}, RateHz: 4}},
		{"duration", `{"duration_s":0.5}`, trace{Channels: []string{"a", "b"}, Units: []string{"", "N"}, RateHz: 4}},
		{"rate beyond all bounds", `{"sample_interval_s":1e-320}`, trace{Channels: []string{"a", "b"}, Units: []string{"", "N"}}},
	}
	for _, test := range tests {
		for _, numbers := range []string{"float64", "json.Number"} {
			t.Run(test.name+"/"+numbers, func(t *testing.T) {
				item := csvItem(two)
				dec := json.NewDecoder(strings.NewReader(test.metadata))
				if numbers == "json.Number" {
					dec.UseNumber()
				}
				if err := dec.Decode(&item.Metadata); err != nil {
					t.Fatal(err)
				}
				got, err := decodeTrace(item.Payload())
				if err != nil {
					t.Fatal(err)
				}
				test.want.Samples = [][]float64{{1, 2}, {3, 4}}
				if diff := cmp.Diff(*got, test.want); diff != "" {
					t.Errorf("-got +want:\n%s", diff)
				}
			})
		}
	}
}
