package perception_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/robotmem/robotmem-go/perception"
)

// Sounds are those of testdata/visual/make.py: 440 Hz at half of full scale, the
// right channel silent.
func TestSamplesOfSounds(t *testing.T) {
	tests := []struct {
		name     string
		samples  int
		channels []string
		step     float64 // of the sample format
	}{
		{"pcm_u8.wav", 800, []string{"mono"}, 1.0 / 128}, {"pcm_16.wav", 800, []string{"mono"}, 1.0 / (1 << 15)}, {"pcm_24.wav", 800, []string{"mono"}, 1.0 / (1 << 23)},
		{"pcm_32.wav", 800, []string{"mono"}, 1e-9}, {"float.wav", 800, []string{"mono"}, 1e-7}, {"double.wav", 800, []string{"mono"}, 1e-12},
		{"extensible.wav", 800, []string{"left", "right"}, 1.0 / (1 << 23)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			it := perception.Item{Data: file(t, test.name)}
			got := samplesOf(t, it, perception.SamplesOptions{Points: 20_000})
			if got.Kind != "sound" || int(got.Total) != test.samples || got.Reduced || got.RateHz != 8000 || got.DurationS != float64(test.samples)/8000 || len(got.Channels) != len(test.channels) {
				t.Fatalf("got a %s of %d, reduced %v, %v Hz, %v s, %d channels", got.Kind, got.Total, got.Reduced, got.RateHz, got.DurationS, len(got.Channels))
			}
			for c, channel := range got.Channels {
				if channel.Name != test.channels[c] || channel.Unit != "1" {
					t.Errorf("got channel %q in %q", channel.Name, channel.Unit)
				}
				for i, v := range channel.Values {
					want := 0.5 * math.Sin(2*math.Pi*440*float64(i)/8000)
					if c == 1 {
						want = 0
					}
					if math.Abs(v-want) > 1.01*test.step || got.Time[i] != float64(i)/8000 {
						t.Fatalf("%s, sample %d: got %v at %v, want %v", channel.Name, i, v, got.Time[i], want)
					}
				}
			}

			// A part, and the whole in fewer points, are of the same samples.
			from, to := 100/8000.0, 149/8000.0
			part := samplesOf(t, it, perception.SamplesOptions{From: &from, To: &to, Points: 50})
			if diff := cmp.Diff(part.Channels[0].Values, got.Channels[0].Values[100:150]); diff != "" || part.Reduced || part.DurationS != got.DurationS {
				t.Errorf("a part: reduced %v, %v s; -got +want:\n%s", part.Reduced, part.DurationS, diff)
			}
			few := samplesOf(t, it, perception.SamplesOptions{Points: 20})
			if len(few.Time) > 20 || extent(few.Channels[0].Min)[0] != extent(got.Channels[0].Values)[0] || extent(few.Channels[0].Max)[1] != extent(got.Channels[0].Values)[1] {
				t.Errorf("%d points: got %v to %v", len(few.Time), few.Channels[0].Min, few.Channels[0].Max)
			}
		})
	}
}

func TestSamplesOfClouds(t *testing.T) {
	for _, name := range []string{"ascii.pcd", "binary.pcd", "binary_compressed.pcd", "ascii.ply", "binary_big_endian.ply"} {
		t.Run(name, func(t *testing.T) {
			ref := reference(name != "ascii.pcd")
			want := perception.Samples{Kind: "cloud", Total: 39, Missing: 1, Unit: "m", RGB: ref.Colors}
			for i := range 39 {
				want.X, want.Y, want.Z = append(want.X, float64(ref.Positions[3*i])), append(want.Y, float64(ref.Positions[3*i+1])), append(want.Z, float64(ref.Positions[3*i+2]))
				want.Intensity = append(want.Intensity, float64(ref.Intensity[i]))
			}
			if diff := cmp.Diff(*samplesOf(t, cloudFile(t, name), perception.SamplesOptions{}), want); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
		})
	}
}

// line is a cloud of n points along x, with a NaN after each but the last.
func line(n int) perception.Item {
	values := make([]float32, 0, 8*n)
	for i := range n {
		values = append(values, float32(i), 0.1, 0, float32(i)/2, float32(math.NaN()), 0, 0, 0)
	}
	return perception.Item{
		Data:     npy("<f4", fmt.Sprintf("(%d, 4)", 2*n-1), elements(binary.LittleEndian, values[:8*n-4])),
		Metadata: map[string]any{"kind": "cloud", "units": "mm", "frame_id": "lidar"},
	}
}

// A part of a cloud is even, has its first and its last point, and is always the
// same.
func TestSamplesOfALargeCloud(t *testing.T) {
	for _, n := range []int{17, 100, 1000, 12_345, 100_000} {
		for _, points := range []int{16, 77, 1000} {
			got := samplesOf(t, line(n), perception.SamplesOptions{Points: points})
			if got.Total != int64(n) || got.Missing != int64(n-1) || got.Unit != "mm" || got.FrameID != "lidar" || len(got.X) != min(n, points) || got.Reduced != (n > points) {
				t.Fatalf("%d in %d: got %d of %d (%d missing) in %s of %s, reduced %v", n, points, len(got.X), got.Total, got.Missing, got.Unit, got.FrameID, got.Reduced)
			}
			if got.X[0] != 0 || got.X[len(got.X)-1] != float64(n-1) {
				t.Errorf("%d in %d: got %v to %v", n, points, got.X[0], got.X[len(got.X)-1])
			}
			mean := float64(n-1) / float64(len(got.X)-1)
			for i := 1; i < len(got.X); i++ {
				if d := got.X[i] - got.X[i-1]; d < mean/2-1 || d > 1.5*mean+1 || got.Intensity[i] != got.X[i]/2 || got.Y[i] != 0.1 {
					t.Fatalf("%d in %d: point %d is %v from the one before (mean %v), at y %v, intensity %v", n, points, i, d, mean, got.Y[i], got.Intensity[i])
				}
			}
			if diff := cmp.Diff(got, samplesOf(t, line(n), perception.SamplesOptions{Points: points})); diff != "" {
				t.Errorf("%d in %d, again:\n%s", n, points, diff)
			}
		}
	}
}

func TestSamplesOfTrajectories(t *testing.T) {
	half := math.Sqrt(0.5)
	pose := func(sec, x float64) []byte {
		return []byte(fmt.Sprintf(`{"header":{"stamp":{"sec":%.0f,"nanosec":500000000},"frame_id":"odom"},"pose":{"pose":{"position":{"x":%g,"y":2,"z":3},"orientation":{"x":0,"y":0,"z":2,"w":0}},"covariance":[1]},"twist":{"twist":{"linear":{"x":9}}}}`, sec, x))
	}
	cdrPose := func(x float64) []byte { return cdr(uint32(0), uint32(0), "map", x, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0) }
	from := 0.1
	tests := []struct {
		name string
		item perception.Item
		o    perception.SamplesOptions
		want perception.Samples
	}{
		{"tum", perception.Item{Data: []byte(tum)}, perception.SamplesOptions{}, perception.Samples{
			TimeUnit: "s", Total: 3, DurationS: 1, RateHz: 2, Unit: "m", Time: perception.Numbers{0, 0.1, 1},
			X: perception.Numbers{1.5, 1.75, 4.5}, Y: perception.Numbers{-2, -2, 2}, Z: perception.Numbers{0.25, 0.25, 0.25},
			QX: perception.Numbers{0, 0.5, 0}, QY: perception.Numbers{0, 0.5, 0}, QZ: perception.Numbers{0, 0.5, half}, QW: perception.Numbers{1, 0.5, half},
		}},
		{"table without time, a part", perception.Item{MediaType: "text/csv", Data: []byte("x,y\n1,2\n3,4\n5,6\n"), Metadata: map[string]any{"frame_id": "map"}}, perception.SamplesOptions{From: &from}, perception.Samples{
			TimeUnit: "sample", Total: 2, Unit: "m", FrameID: "map", Time: perception.Numbers{1, 2},
			X: perception.Numbers{3, 5}, Y: perception.Numbers{4, 6}, Z: perception.Numbers{0, 0},
		}},
		{"odometry", segmentOf(t, "/odom", "any", "json", pose(1, 10), pose(3, 20)), perception.SamplesOptions{}, perception.Samples{
			TimeUnit: "s", Total: 2, DurationS: 2, RateHz: 0.5, Unit: "m", FrameID: "odom", Time: perception.Numbers{0, 2},
			X: perception.Numbers{10, 20}, Y: perception.Numbers{2, 2}, Z: perception.Numbers{3, 3},
			QX: perception.Numbers{0, 0}, QY: perception.Numbers{0, 0}, QZ: perception.Numbers{1, 1}, QW: perception.Numbers{0, 0},
		}},
		{"poses by the log's time", segmentOf(t, "/pose", "geometry_msgs/msg/PoseStamped", "cdr", cdrPose(1), cdrPose(2)), perception.SamplesOptions{}, perception.Samples{
			TimeUnit: "s", Total: 2, DurationS: 0.01, RateHz: 100, Unit: "m", FrameID: "map", Time: perception.Numbers{0, 0.01},
			X: perception.Numbers{1, 2}, Y: perception.Numbers{2, 2}, Z: perception.Numbers{3, 3},
			QX: perception.Numbers{0, 0}, QY: perception.Numbers{0, 0}, QZ: perception.Numbers{0, 0}, QW: perception.Numbers{1, 1},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.want.Kind = "trajectory"
			if diff := cmp.Diff(*samplesOf(t, test.item, test.o), test.want, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
		})
	}

	// The velocities beside the poses, as a trace.
	asTrace := samplesOf(t, segmentOf(t, "/odom", "any", "json", pose(1, 10), pose(3, 20)), perception.SamplesOptions{Trace: true})
	values := map[string]perception.Numbers{}
	for _, c := range asTrace.Channels {
		values[c.Name] = c.Values
	}
	if asTrace.Kind != "trace" || !cmp.Equal(values["linear.x"], perception.Numbers{9, 9}) || !cmp.Equal(values["position.x"], perception.Numbers{10, 20}) {
		t.Errorf("got a %s of %v", asTrace.Kind, values)
	}

	var long strings.Builder
	long.WriteString("t,x,y\n")
	for i := range 1001 {
		fmt.Fprintf(&long, "%d,%d,0\n", i, 2*i)
	}
	got := samplesOf(t, csvItem(long.String()), perception.SamplesOptions{Points: 101})
	for i := range 101 {
		if got.Time[i] != float64(10*i) || got.X[i] != float64(20*i) {
			t.Fatalf("entry %d: got x %v at %v s", i, got.X[i], got.Time[i])
		}
	}
	if !got.Reduced || got.Total != 1001 {
		t.Errorf("got reduced %v, total %d", got.Reduced, got.Total)
	}
}

// The rays of a scan: ahead, to the left, behind without a return, right beyond
// what the sensor can measure.
func TestSamplesOfScans(t *testing.T) {
	sweep := func(sec int, ahead float64) string {
		return fmt.Sprintf(`{"header":{"stamp":{"sec":%d,"nanosec":0},"frame_id":"laser"},"angle_min":0,"angle_increment":%.17g,"range_min":0.1,"range_max":10,"ranges":[%g,3,0,12],"intensities":[7,8,9,10]}`, sec, math.Pi/2, ahead)
	}
	want := perception.Samples{Kind: "scan", Total: 2, Missing: 2, Unit: "m", X: perception.Numbers{2, 0}, Y: perception.Numbers{0, 3}, Z: perception.Numbers{0, 0}, Intensity: perception.Numbers{7, 8}}
	got := samplesOf(t, jsonItem(sweep(1, 2)), perception.SamplesOptions{})
	if diff := cmp.Diff(*got, want, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("JSON: -got +want:\n%s", diff)
	}

	many := segmentOf(t, "/scan", "any", "json", []byte(sweep(5, 2)), []byte(sweep(6, 4)), []byte(sweep(8, 6)))
	for _, test := range []struct {
		from          *float64
		wantX, wantAt float64
	}{{nil, 2, 0}, {new(0.005), 4, 0.01}, {new(0.01), 4, 0.01}, {new(99.0), 6, 0.02}} {
		want.X[0], want.Time, want.TimeUnit, want.DurationS, want.RateHz, want.FrameID = test.wantX, perception.Numbers{test.wantAt}, "s", 0.02, 100, "laser"
		got := samplesOf(t, many, perception.SamplesOptions{From: test.from})
		if diff := cmp.Diff(*got, want, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("sweep at %v: -got +want:\n%s", test.wantAt, diff)
		}
	}
}

// Messages of a few bytes do not take the room that the first claims for all.
func TestSamplesOfTooManyMessages(t *testing.T) {
	var wide strings.Builder
	for c := range 64 {
		fmt.Fprintf(&wide, `,"v%d":1`, c)
	}
	messages := [][]byte{[]byte("{" + wide.String()[1:] + "}")}
	for range 16 << 20 / 64 {
		messages = append(messages, []byte("{}"))
	}
	if _, err := perception.MakeSamples(segmentOf(t, "/f", "any", "json", messages...), perception.SamplesOptions{}); err == nil || !strings.Contains(err.Error(), "more than 16777216 readings") {
		t.Errorf("got %v", err)
	}
}
