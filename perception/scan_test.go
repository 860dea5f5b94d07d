package perception_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
)

// wall is a line from (x1, y1) to (x2, y2) in metres.
type wall [4]float64

// scenes are rooms around a sensor near the origin.
var scenes = map[string][]wall{
	"room":     {{-2, -1.5, 2, -1.5}, {2, -1.5, 2, 1.5}, {2, 1.5, -2, 1.5}, {-2, 1.5, -2, -1.5}},
	"corridor": {{-30, -0.8, 30, -0.8}, {-30, 0.8, 30, 0.8}},
	"corner":   {{-30, -0.9, 0.9, -0.9}, {0.9, -0.9, 0.9, 30}, {-30, 0.9, -0.9, 0.9}, {-0.9, 0.9, -0.9, 30}},
	"doorway":  {{1, -30, 1, -0.5}, {1, 0.5, 1, 30}, {-3, -30, -3, 30}},
	"crossing": {{-30, -1, -1, -1}, {-1, -1, -1, -30}, {1, -30, 1, -1}, {1, -1, 30, -1}, {30, 1, 1, 1}, {1, 1, 1, 30}, {-1, 30, -1, 1}, {-1, 1, -30, 1}},
	"wall":     {{1.2, -30, 1.2, 30}},
}

// scanItem is a scan of a scene, from a sensor that stands off by up to shift
// metres and faces anywhere.
func scanItem(span float64, rays int, scene string, shift, noise float64, r *rand.Rand) perception.Item {
	x, y, facing := shift*(2*r.Float64()-1), shift*(2*r.Float64()-1), 2*math.Pi*r.Float64()
	start, increment := -span/2*math.Pi/180, span/float64(rays)*math.Pi/180
	ranges := make([]any, rays)
	for i := range ranges {
		sin, cos := math.Sincos(facing + start + float64(i)*increment)
		nearest := 12.0
		for _, w := range scenes[scene] {
			dx, dy := w[2]-w[0], w[3]-w[1]
			det := cos*dy - sin*dx
			if det == 0 {
				continue
			}
			along := ((w[0]-x)*dy - (w[1]-y)*dx) / det
			at := ((w[0]-x)*sin - (w[1]-y)*cos) / det
			if along > 0 && at >= 0 && at <= 1 {
				nearest = min(nearest, along)
			}
		}
		if nearest < 12 && r.Float64() > 0.02 {
			ranges[i] = nearest + noise*r.NormFloat64()
		}
	}
	data, err := json.Marshal(map[string]any{"angle_min": start, "angle_increment": increment, "range_min": 0.05, "range_max": 12, "ranges": ranges})
	if err != nil {
		panic(err)
	}
	return perception.Item{MediaType: "application/json", Data: data}
}

func TestSummarizeScans(t *testing.T) {
	tests := []struct {
		name string
		item perception.Item
		want string
	}{
		{"json", jsonItem(`{"angle_min":-2.356194,"angle_max":2.356194,"angle_increment":0,"range_min":0.1,"range_max":10,"ranges":[5,null,0.42,0.05,11,3,4]}`),
			"laser scan, 7 rays over 270°, nearest 0.42 m at -45°, 3 rays without return"},
		{"as Python writes it", jsonItem(`{"ranges": [1.5, Infinity, NaN, 2, -Infinity], "angle_min": 0, "angle_increment": 0.017453}`),
			"laser scan, 5 rays over 4°, nearest 1.5 m at 0°, 3 rays without return"},
		{"whole turn", jsonItem(`{"ranges":[1,2,3,4],"angle_min":0,"angle_increment":1.5707963}`), "laser scan, 4 rays over 270°, nearest 1 m at 0°"},
		{"beyond half a turn", jsonItem(`{"ranges":[4,3,2,1],"angle_min":0,"angle_increment":1.5707963}`), "laser scan, 4 rays over 270°, nearest 1 m at -90°"},
		{"nothing there", jsonItem(`{"ranges":[null,0],"angle_min":0,"angle_increment":1}`), "laser scan, 2 rays over 57°, 2 rays without return"},
		{"degrees", jsonItem(`{"ranges":[1,2],"angle_min":-135,"angle_increment":270}`), `text, 1 line: {"ranges":[1,2],"angle_min":-135,"angle_increment":270}`},
		{"rows of ranges", jsonItem(`{"ranges":[[1,2],[3,4]],"angle_min":0,"angle_increment":1}`), `text, 1 line: {"ranges":[[1,2],[3,4]],"angle_min":0,"angle_increment":1}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := perception.Summarize(test.item); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestNearestScanHasTheSameScene(t *testing.T) {
	t.Parallel()
	for name, sensor := range map[string]struct {
		span float64
		rays int
	}{"whole turn": {360, 360}, "270 degrees": {270, 1080}} {
		t.Run(name, func(t *testing.T) {
			members := map[string][]perception.Item{}
			r := newRandom(5)
			for _, scene := range sortedKeys(scenes) {
				for range 20 {
					members[scene] = append(members[scene], scanItem(sensor.span, sensor.rays, scene, 0.3, 0.02, r))
				}
			}
			want := 0.95
			got := leaveOneOut(t, members, "scan/v1")
			if got < want {
				t.Errorf("got accuracy %.3f, want %.2f", got, want)
			}
			t.Logf("accuracy %.3f", got)
		})
	}
}

func TestScanDistanceDoesNotDependOnTheHeading(t *testing.T) {
	t.Parallel()
	shifted := func(by int) []float32 {
		_, v, ok := perception.Features(scanItem(360, 360, "corner", 0, 0, newRandom(1)))
		if !ok {
			t.Fatal("no features")
		}
		return append(append([]float32{}, v[by:]...), v[:by]...)
	}
	a := shifted(0)
	for _, by := range []int{1, 17, 71} {
		if got := perception.Distance("scan/v1", a, shifted(by)); got != 0 {
			t.Errorf("by %d sectors: got distance %g, want 0", by, got)
		}
	}
	if got := perception.Distance("scan/v1", a, a[:71]); !math.IsInf(got, 1) {
		t.Errorf("got distance %g of vectors of different lengths", got)
	}
}

func FuzzScan(f *testing.F) {
	f.Add(scanItem(270, 30, "room", 0, 0, newRandom(1)).Data, 0.1, "application/json")
	f.Add([]byte(`{"ranges": [1.5, Infinity, NaN], "angle_min": 0, "angle_max": 1}`), 0.0, "application/json")
	f.Add([]byte(`{"ranges":[[1],[2]],"angle_min":1e308,"angle_increment":1e308}`), 0.0, "application/json")
	f.Fuzz(func(t *testing.T, data []byte, increment float64, mediaType string) {
		item := perception.Item{Data: data, MediaType: mediaType, Metadata: map[string]any{"kind": "laser_scan", "angle_min": 0.0, "angle_increment": increment}}
		if strings.HasPrefix(perception.Summarize(item), "laser scan") {
			checkFace(t, item)
		}
	})
}
