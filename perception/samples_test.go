package perception_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/robotmem/robotmem-go/perception"
)

func samplesOf(t testing.TB, it perception.Item, o perception.SamplesOptions) *perception.Samples {
	t.Helper()
	s, err := perception.MakeSamples(it, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSamplesOfTraces(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	tests := []struct {
		name string
		item perception.Item
		want perception.Samples
	}{
		{"even stamps, each as it stands", csvItem("t_ms,a (N),b\n1000,1,2\n1011,3,4\n1019,5,6\n1030,7,8\n"), perception.Samples{
			TimeUnit: "s", RateHz: 100, DurationS: 0.04, Time: perception.Numbers{0, 0.011, 0.019, 0.03},
			Channels: []perception.Channel{{Name: "a", Unit: "N", Values: perception.Numbers{1, 3, 5, 7}}, {Name: "b", Values: perception.Numbers{2, 4, 6, 8}}},
		}},
		{"uneven stamps", csvItem("t,a\n0,1\n1,2\n9,3\n"), perception.Samples{
			TimeUnit: "s", RateHz: 2 / 9.0, DurationS: 13.5, Time: perception.Numbers{0, 1, 9},
			Channels: []perception.Channel{{Name: "a", Values: perception.Numbers{1, 2, 3}}},
		}},
		{"metadata knows the clock", perception.Item{MediaType: "text/csv", Data: []byte("t,a\n0,1\n1.1,2\n2,3\n"), Metadata: map[string]any{"rate_hz": 10.0}}, perception.Samples{
			TimeUnit: "s", RateHz: 10, DurationS: 0.3, Time: perception.Numbers{0, 0.1, 0.2},
			Channels: []perception.Channel{{Name: "a", Values: perception.Numbers{1, 2, 3}}},
		}},
		{"no clock, no names, readings missing", jsonItem("[[1,null],[3,4]]"), perception.Samples{
			TimeUnit: "sample", Time: perception.Numbers{0, 1},
			Channels: []perception.Channel{{Name: "channel 1", Values: perception.Numbers{1, 3}}, {Name: "channel 2", Values: perception.Numbers{nan, 4}}},
		}},
		{"infinite", perception.Item{Data: npy("<f8", "(2,)", elements(binary.LittleEndian, []float64{math.Inf(1), 2}))}, perception.Samples{
			TimeUnit: "sample", Time: perception.Numbers{0, 1}, Channels: []perception.Channel{{Name: "channel 1", Values: perception.Numbers{nan, 2}}},
		}},
		{"raw samples", perception.Item{MediaType: "application/x-samples", Data: elements(binary.LittleEndian, []int16{1, -2, 3, -4}), Metadata: map[string]any{"dtype": "<i2", "channels": []any{"u", "v"}, "sample_interval_s": 0.5}}, perception.Samples{
			TimeUnit: "s", RateHz: 2, DurationS: 1, Time: perception.Numbers{0, 0.5},
			Channels: []perception.Channel{{Name: "u", Values: perception.Numbers{1, 3}}, {Name: "v", Values: perception.Numbers{-2, -4}}},
		}},
		{"stamps of messages", segmentOf(t, "/f", "any", "json",
			[]byte(`{"header":{"stamp":{"sec":5,"nanosec":0}},"wrench":{"force":{"x":1}}}`),
			[]byte(`{"header":{"stamp":{"sec":5,"nanosec":250000000}},"wrench":{"force":{"x":2}}}`),
			[]byte(`{"header":{"stamp":{"sec":7,"nanosec":0}},"wrench":{"force":{"x":3}}}`)), perception.Samples{
			TimeUnit: "s", RateHz: 1, DurationS: 3, Time: perception.Numbers{0, 0.25, 2},
			Channels: []perception.Channel{{Name: "Fx", Unit: "N", Values: perception.Numbers{1, 2, 3}}},
		}},
		{"stamps that fall, so those of the log", segmentOf(t, "/f", "any", "json",
			[]byte(`{"header":{"stamp":{"sec":5,"nanosec":0}},"v":1}`), []byte(`{"header":{"stamp":{"sec":4,"nanosec":0}},"v":2}`), []byte(`{"header":{"stamp":{"sec":9,"nanosec":0}},"v":3}`)), perception.Samples{
			TimeUnit: "s", RateHz: 100, DurationS: 0.03, Time: perception.Numbers{0, 0.01, 0.02},
			Channels: []perception.Channel{{Name: "v", Values: perception.Numbers{1, 2, 3}}},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.want.Kind, test.want.Total = "trace", int64(len(test.want.Time))
			if diff := cmp.Diff(*samplesOf(t, test.item, perception.SamplesOptions{}), test.want, cmpopts.EquateApprox(0, 1e-12), cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
		})
	}
}

// noisy is a trace of n samples at 1 kHz with lone spikes, and readings missing
// where of two channels.
func noisy(n int, r *rand.Rand) (perception.Item, [][]float64) {
	columns := [][]float64{make([]float64, n), make([]float64, n)}
	for c := range columns {
		for i := range columns[c] {
			switch columns[c][i] = r.NormFloat64(); {
			case r.IntN(10) == 0:
				columns[c][i] = math.NaN()
			case r.IntN(200) == 0:
				columns[c][i] *= 1000
			}
		}
	}
	var data []byte
	for i := range n {
		data = append(data, elements(binary.LittleEndian, []float64{columns[0][i], columns[1][i]})...)
	}
	return perception.Item{Data: npy("<f8", fmt.Sprintf("(%d, 2)", n), data), Metadata: map[string]any{"rate_hz": 1000.0}}, columns
}

// extent is the smallest and the largest reading, NaN without any.
func extent(values []float64) [2]float64 {
	out := [2]float64{math.NaN(), math.NaN()}
	for _, v := range values {
		if !math.IsNaN(v) {
			out = [2]float64{math.Min(v, nanOr(out[0], v)), math.Max(v, nanOr(out[1], v))}
		}
	}
	return out
}

func nanOr(v, other float64) float64 {
	if math.IsNaN(v) {
		return other
	}
	return v
}

// Every bucket is what its own samples say, so that none of the peaks is lost.
func TestReducedSamplesKeepEveryPeak(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{17, 31, 32, 33, 999, 1000, 1001, 12_345} {
		item, columns := noisy(n, r)
		for _, points := range []int{16, 17, 100, 1000} {
			got := samplesOf(t, item, perception.SamplesOptions{Points: points})
			if int(got.Total) != n || got.Reduced != (n > points) || len(got.Time) > points || 2*len(got.Time) < min(points, n) {
				t.Fatalf("%d samples in %d points: got %d of %d, reduced %v", n, points, len(got.Time), got.Total, got.Reduced)
			}
			if !got.Reduced {
				continue
			}
			for c, channel := range got.Channels {
				for b := range got.Time {
					from, to := int(math.Round(got.Time[b]*1000)), n
					if b+1 < len(got.Time) {
						to = int(math.Round(got.Time[b+1] * 1000))
					}
					bucket := [2]float64{channel.Min[b], channel.Max[b]}
					if diff := cmp.Diff(bucket, extent(columns[c][from:to]), cmpopts.EquateNaNs()); diff != "" {
						t.Fatalf("%d samples in %d points, channel %d, samples %d to %d: -got +want:\n%s", n, points, c, from, to, diff)
					}
				}
				whole := [2]float64{extent(channel.Min)[0], extent(channel.Max)[1]}
				if diff := cmp.Diff(whole, extent(columns[c])); diff != "" {
					t.Errorf("%d samples in %d points, channel %d: -got +want:\n%s", n, points, c, diff)
				}
			}
		}
	}
}

// What is zoomed into is there reading for reading.
func TestZoomedSamplesAreExact(t *testing.T) {
	t.Parallel()
	item, columns := noisy(5000, rand.New(rand.NewPCG(3, 4)))
	for _, at := range [][2]int{{0, 0}, {0, 99}, {1234, 1300}, {4950, 4999}} {
		from, to := float64(at[0])/1000, float64(at[1])/1000
		got := samplesOf(t, item, perception.SamplesOptions{From: &from, To: &to, Points: 100})
		if got.Reduced || int(got.Total) != at[1]-at[0]+1 || got.DurationS != 5 {
			t.Fatalf("%v: got %d, reduced %v, of %v s", at, got.Total, got.Reduced, got.DurationS)
		}
		for c, channel := range got.Channels {
			if diff := cmp.Diff([]float64(channel.Values), columns[c][at[0]:at[1]+1], cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("%v, channel %d: -got +want:\n%s", at, c, diff)
			}
		}
		if got.Time[0] != from || got.Time[len(got.Time)-1] != to {
			t.Errorf("%v: got times from %v to %v", at, got.Time[0], got.Time[len(got.Time)-1])
		}
	}
}

// Of many channels each has fewer entries, and too many are refused.
func TestSamplesOfManyChannels(t *testing.T) {
	t.Parallel()
	row := "[" + strings.Repeat("1,", 1023) + "2]"
	got := samplesOf(t, jsonItem("["+strings.Repeat(row+",", 2100)+row+"]"), perception.SamplesOptions{Points: 200_000})
	if len(got.Channels) != 1024 || len(got.Time) > 2048 || !got.Reduced || got.Total != 2101 {
		t.Errorf("got %d channels of %d entries, reduced %v", len(got.Channels), len(got.Time), got.Reduced)
	}
	if _, err := perception.MakeSamples(jsonItem("[["+strings.Repeat("1,", 1024)+"2]]"), perception.SamplesOptions{}); err == nil || !strings.Contains(err.Error(), "1025 channels; at most 1024") {
		t.Errorf("got %v", err)
	}
}

func TestNumbersAsJSON(t *testing.T) {
	in := perception.Numbers{0, -1.5, math.NaN(), math.Inf(-1), 1e300, 5e-324, 0.1, 1e21, 123456789}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(data), "[0,-1.5,null,null,1e+300,5e-324,0.1,1e+21,123456789]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	in[3] = math.NaN()
	var out perception.Numbers
	if err := json.Unmarshal(data, &out); err != nil || cmp.Diff(out, in, cmpopts.EquateNaNs()) != "" {
		t.Errorf("got %v (%v), want %v", out, err, in)
	}
}

func TestNoSamples(t *testing.T) {
	depth := perception.Item{Data: npy("<u2", "(2, 3)", make([]byte, 12)), Metadata: map[string]any{"kind": "depth"}}
	tests := []struct {
		name string
		item perception.Item
		none bool // of this format there never are any
		want string
	}{
		{"image", perception.Item{Data: file(t, "plain.png")}, true, "picture"},
		{"depth image", depth, true, "picture"},
		{"messages of text", segmentOf(t, "/chatter", "std_msgs/msg/String", "cdr", cdr("Hello")), true, "messages"},
		{"segment without a message", segmentOf(t, "/chatter", "std_msgs/msg/String", "cdr"), true, "messages"},
		{"bytes", perception.Item{Data: []byte{0, 1, 2, 250}}, true, "no numbers"},
		{"text", perception.Item{Data: []byte("open the gripper\nslowly")}, false, "line 2"},
		{"beginning of a trace", perception.Item{MediaType: "text/csv", Data: []byte("1,2\n"), Size: 1 << 40}, false, "1099511627776 bytes is too large"},
		{"compressed WAV", perception.Item{Data: file(t, "ulaw.wav")}, false, "are not read"},
		{"cloud without a point", perception.Item{Data: []byte(strings.ReplaceAll(pcd, "0 1\n", "nan 1\n"))}, false, "no point"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := perception.MakeSamples(test.item, perception.SamplesOptions{})
			if err == nil || errors.Is(err, perception.ErrNoSamples) != test.none || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
