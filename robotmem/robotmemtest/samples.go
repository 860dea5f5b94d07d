package robotmemtest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// samplesOf saves a payload and returns its samples.
func samplesOf(
	t *testing.T, s robotmem.Service, p *robotmem.SavePerceptionRequest, r *robotmem.SamplesRequest,
) *robotmem.SamplesResponse {
	t.Helper()
	r.MemoryID = do(t, s.SavePerception, p).MemoryID
	got := do(t, s.Samples, r)
	equal(t, "memory_id", got.MemoryID, r.MemoryID)
	return got
}

var samplesCases = []testCase{
	{"OfATrace", func(t *testing.T, s robotmem.Service) {
		r := &robotmem.SamplesRequest{}
		got := samplesOf(t, s,
			&robotmem.SavePerceptionRequest{
				Description: "a trace of the grip", Data: forces(300),
				Metadata: object{"units": object{"force": "N", "torque": "Nm"}},
			},
			r)
		if got.Kind != "trace" || got.Total != 300 || got.Reduced || got.TimeUnit != "s" ||
			math.Abs(got.RateHz-100) > 1e-6 || math.Abs(got.DurationS-3) > 1e-9 || len(got.Time) != 300 ||
			len(got.Channels) != 6 {
			t.Fatalf("got %s, total %d, reduced %v, %v Hz, %v %s, %d times, %d channels", got.Kind, got.Total,
				got.Reduced, got.RateHz, got.DurationS, got.TimeUnit, len(got.Time), len(got.Channels))
		}

		fz := got.Channels[2]
		if fz.Name != "Fz" || fz.Unit != "N" || got.Channels[5].Unit != "Nm" || fz.Values[61] != -61 ||
			math.Abs(got.Time[61]-0.61) > 1e-12 || fz.Min != nil {
			t.Errorf("got %s in %s, %v at %v", fz.Name, fz.Unit, fz.Values[61], got.Time[61])
		}

		r.Points = 32
		got = do(t, s.Samples, r)
		fz = got.Channels[2]
		if !got.Reduced || got.Total != 300 || len(got.Time) > 32 || len(fz.Min) != len(got.Time) ||
			len(fz.Max) != len(got.Time) || fz.Values != nil {
			t.Fatalf("got reduced %v, total %d, %d times, %d and %d values", got.Reduced, got.Total, len(got.Time),
				len(fz.Min), len(fz.Max))
		}

		low, high := 0.0, -100.0
		for i := range fz.Min {
			low, high = min(low, fz.Min[i]), max(high, fz.Max[i])
		}

		equal(t, "extent of Fz", [2]float64{low, high}, [2]float64{-61, 0})

		r.From, r.To = new(0.6), new(0.62)
		got = do(t, s.Samples, r)
		equal(t, "zoomed", []float64(got.Channels[2].Values), []float64{-60, -61, 0})
		if got.Reduced || got.Total != 3 || math.Abs(got.DurationS-3) > 1e-9 {
			t.Errorf("got reduced %v, total %d of %v s", got.Reduced, got.Total, got.DurationS)
		}

		r.From, r.To = new(7.0), new(8.0)
		if got = do(t, s.Samples, r); got.Total != 0 || len(got.Time) != 0 || len(got.Channels) != 6 {
			t.Errorf("beyond the end: total %d, %d times, %d channels", got.Total, len(got.Time), len(got.Channels))
		}
	}},
	{"OfATraceWithoutRate", func(t *testing.T, s robotmem.Service) {
		got := samplesOf(t, s, &robotmem.SavePerceptionRequest{Description: "currents", Data: "[[1,2],[3,null],[5,6]]"},
			&robotmem.SamplesRequest{From: new(1.0)})
		if got.TimeUnit != "sample" || got.RateHz != 0 || got.DurationS != 0 || got.Total != 2 {
			t.Errorf("got %+v", got)
		}
		equal(t, "time", []float64(got.Time), []float64{1, 2})
		if v := got.Channels[1].Values; len(v) != 2 || !math.IsNaN(v[0]) || v[1] != 6 {
			t.Errorf("got %v, want a missing reading and 6", v)
		}
	}},
	{"OfACloud", func(t *testing.T, s robotmem.Service) {
		var b strings.Builder
		b.WriteString("# .PCD v0.7\nVERSION 0.7\nFIELDS x y z intensity\nSIZE 4 4 4 4\nTYPE F F F F\nCOUNT 1 1 1 1\nWIDTH 101\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 101\nDATA ascii\n")

		for i := range 100 {
			fmt.Fprintf(&b, "%d.1 0 1 %d\n", i, i)
		}
		b.WriteString("nan nan nan 0\n")
		p := &robotmem.SavePerceptionRequest{
			Description: "the shelf", Data: b.String(), Metadata: object{"frame_id": "map"},
		}
		got := samplesOf(t, s, p, &robotmem.SamplesRequest{Points: 20})
		if got.Kind != "cloud" || got.Total != 100 || got.Missing != 1 || !got.Reduced || got.Unit != "m" ||
			got.FrameID != "map" || len(got.X) != 20 || len(got.Intensity) != 20 || got.X[0] != 0.1 ||
			got.X[19] != 99.1 || got.Intensity[19] != 99 {
			t.Errorf("got %+v", got)
		}
	}},
	{"OfATrajectory", func(t *testing.T, s robotmem.Service) {
		p := &robotmem.SavePerceptionRequest{
			Description: "the way", MediaType: "text/x-tum",
			Data: "100.5 1 2 3 0 0 0 1\n101 4 5 6 0 0 1 0\n102 7 8 9 0 1 0 0\n",
		}
		got := samplesOf(t, s, p, &robotmem.SamplesRequest{From: new(0.5)})
		if got.Kind != "trajectory" || got.Total != 2 || got.TimeUnit != "s" || got.DurationS != 1.5 {
			t.Errorf("got %+v", got)
		}
		equal(t, "time, x, qy, qz", [][]float64{got.Time, got.X, got.QY, got.QZ},
			[][]float64{{0.5, 1.5}, {4, 7}, {0, 1}, {1, 0}})
	}},
	{"OfAScan", func(t *testing.T, s robotmem.Service) {
		p := &robotmem.SavePerceptionRequest{
			Description: "the door",
			Data:        `{"angle_min":0,"angle_increment":1.5707963267948966,"range_max":10,"ranges":[2,3,null]}`,
		}
		got := samplesOf(t, s, p, &robotmem.SamplesRequest{})
		if got.Kind != "scan" || got.Total != 2 || got.Missing != 1 || got.Reduced || len(got.X) != 2 ||
			got.X[0] != 2 || math.Abs(got.X[1]) > 1e-12 || got.Y[1] != 3 {
			t.Errorf("got %+v", got)
		}
	}},
	{"OfWhatHasNone", func(t *testing.T, s robotmem.Service) {
		fact := learn(t, s, grip, nil)
		words := do(t, s.SavePerception, &robotmem.SavePerceptionRequest{Description: "only told"}).MemoryID

		opaque := do(t, s.SavePerception,
			&robotmem.SavePerceptionRequest{Description: "bytes of no format", DataBase64: []byte{0, 1, 2, 250}}).MemoryID
		for _, id := range []int64{fact, words, opaque, 999} {
			refused(t, s.Samples, &robotmem.SamplesRequest{MemoryID: id}, robotmem.NotFound, "memory_id")
		}
		picture := do(t, s.SavePerception,
			&robotmem.SavePerceptionRequest{Description: "a grey ramp", DataBase64: grey(80, 20)}).MemoryID
		refused(t, s.Samples, &robotmem.SamplesRequest{MemoryID: picture}, robotmem.NotFound, "memory_id", "picture",
			"preview")

		for _, points := range []int{15, 200_001, -1} {
			refused(t, s.Samples, &robotmem.SamplesRequest{MemoryID: opaque, Points: points}, robotmem.Invalid,
				"points")
		}
		refused(t, s.Samples, &robotmem.SamplesRequest{MemoryID: opaque, From: new(2.0), To: new(1.0)},
			robotmem.Invalid, "to")
	}},
}
