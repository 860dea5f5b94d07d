package perception_test

import (
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
)

// FuzzSamples checks what a reader may rely on: columns of one length, no more
// of them than asked for, times that never fall, and JSON.
func FuzzSamples(f *testing.F) {
	for _, seed := range []struct {
		data     []byte
		declared string
	}{
		{[]byte("t,a (N)\n0,1\n1,2\n9,3\n"), "text/csv"}, {[]byte("x,y,yaw\n0,1,0\n1,2,1\n"), "text/csv"}, {[]byte(tum), ""}, {[]byte("[[1,null],[3,4]]"), "application/json"},
		{[]byte(pcd), ""}, {wav(2, 8000, 40, 160), ""},
		{npy("<f4", "(2, 3)", elements(binary.LittleEndian, []float32{1, 2, 3, 4, 5, 6})), ""}, {wrenchSegment(f, -62).Data, ""},
		{segmentOf(f, "/odom", "any", "json", []byte(`{"pose":{"position":{"x":1,"y":2,"z":3},"orientation":{"x":0,"y":0,"z":0,"w":1}}}`), []byte(`{"pose":{"position":{"x":1,"y":2,"z":3},"orientation":{"x":0,"y":0,"z":0,"w":1}}}`)).Data, ""},
		{segmentOf(f, "/scan", "any", "json", []byte(`{"angle_min":0,"angle_increment":1,"ranges":[1,2],"intensities":[3,4]}`)).Data, ""},
		{[]byte(`{"angle_min":0,"angle_increment":1,"ranges":[1,null],"intensities":[3,4]}`), "application/json"},
	} {
		f.Add(seed.data, seed.declared, -1.0, 1e300, 16)
		f.Add(seed.data, seed.declared, 0.5, 0.25, 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, declared string, from, to float64, points int) {
		points = min(points, 5000)
		for _, metadata := range []map[string]any{nil, {"kind": "cloud", "channels": []any{"a", declared}, "frame_id": declared}} {
			it := perception.Item{MediaType: declared, Data: data, Metadata: metadata}
			s, err := perception.MakeSamples(it, perception.SamplesOptions{From: &from, To: &to, Points: points})
			if err != nil {
				continue
			}
			checkSamples(t, s, points)
		}
	})
}

func checkSamples(t *testing.T, s *perception.Samples, points int) {
	t.Helper()
	entries, most := len(s.X), points
	if s.Channels != nil {
		entries = len(s.Time)
	}
	if most <= 0 {
		most = 50_000
	}
	if entries > most || int64(entries) > s.Total || s.Reduced != (int64(entries) < s.Total) {
		t.Errorf("%s: %d entries of %d with %d points, reduced %v", s.Kind, entries, s.Total, points, s.Reduced)
	}
	columns := []perception.Numbers{s.X, s.Y, s.Z, s.Intensity, s.QX, s.QY, s.QZ, s.QW}
	if s.Kind != "scan" {
		columns = append(columns, s.Time)
	}
	for _, c := range s.Channels {
		columns = append(columns, c.Values, c.Min, c.Max)
		if c.Name == "" || (c.Values == nil) != s.Reduced || (c.Min == nil) == s.Reduced || (c.Max == nil) == s.Reduced {
			t.Errorf("channel %q has values %v, min %v, max %v; reduced is %v", c.Name, c.Values != nil, c.Min != nil, c.Max != nil, s.Reduced)
		}
	}
	for i, c := range columns {
		if c != nil && len(c) != entries {
			t.Errorf("%s: column %d has %d of %d entries", s.Kind, i, len(c), entries)
		}
	}
	if s.RGB != nil && len(s.RGB) != entries {
		t.Errorf("%d colours of %d points", len(s.RGB), entries)
	}
	for i := 1; i < len(s.Time); i++ {
		if s.Time[i] < s.Time[i-1] {
			t.Fatalf("time falls from %v to %v", s.Time[i-1], s.Time[i])
		}
	}
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
}
