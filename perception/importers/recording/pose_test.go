package recording

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/num/quat"
)

func turned(x, y, yaw float64) transform {
	return transform{[3]float64{x, y, 0}, quat.Number{Kmag: math.Sin(yaw / 2), Real: math.Cos(yaw / 2)}}
}

const second = uint64(1e9)

func tree() *poses {
	p := newPoses("hall", clock{})
	p.put("map", "odom", false, sample{10 * second, turned(10, 0, math.Pi/2)})
	p.put("odom", "base_link", false, sample{10 * second, turned(1, 0, 0)})
	p.put("odom", "base_link", false, sample{11 * second, turned(3, 0, math.Pi/2)})
	p.put("base_link", "/camera", true, sample{1, turned(0.5, 0, 0)})
	return p
}

func TestPoseChain(t *testing.T) {
	for name, test := range map[string]struct {
		frame    string
		time     uint64
		x, y     float64
		yaw      float64
		root     string
		unlinked bool
	}{
		// base_link is 1 m along odom's x, which is map's y.
		"at a sample":            {"base_link", 10 * second, 10, 1, math.Pi / 2, "map", false},
		"between two samples":    {"base_link", 10*second + second/4, 10, 1.5, math.Pi * 5 / 8, "map", false},
		"nearer the next":        {"base_link", 10*second + 3*second/4, 10, 2.5, math.Pi * 7 / 8, "map", false},
		"a static child":         {"camera", 10 * second, 10, 1.5, math.Pi / 2, "map", false},
		"no frame: the robot":    {"", 10 * second, 10, 1, math.Pi / 2, "map", false},
		"told in the map":        {"map", 10 * second, 10, 1, math.Pi / 2, "map", false},
		"told in odom":           {"/odom", 10 * second, 10, 1, math.Pi / 2, "map", false},
		"an old map, a new odom": {"base_link", 12*second + second/2, 3, 0, math.Pi / 2, "odom", false},
		"long after":             {"base_link", 20 * second, 0, 0, 0, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := tree().of(test.frame, test.time)
			if ok == test.unlinked {
				t.Fatalf("got %v, %v", got, ok)
			}
			if test.unlinked {
				return
			}
			position, orientation := got["position"].([]any), got["orientation"].([]any)
			yaw := 2 * math.Atan2(orientation[2].(float64), orientation[3].(float64))
			if math.Hypot(position[0].(float64)-test.x, position[1].(float64)-test.y) > 1e-9 || math.Abs(yaw-test.yaw) > 1e-9 || got["frame_id"] != test.root {
				t.Errorf("got %v, yaw %g", got, yaw)
			}
			if hasMap := got["map_id"] == "hall"; hasMap != (test.root == "map") {
				t.Errorf("got map %v", got["map_id"])
			}
		})
	}
}

func TestPosesAreBounded(t *testing.T) {
	p := newPoses("", clock{})
	for i := range uint64(10000) {
		p.put("map", "base_link", false, sample{i * second / 1000, turned(0, 0, 0)})
	}
	if n := len(p.links["base_link"].samples); n > maxSamples {
		t.Errorf("got %d samples", n)
	}
	p.put("a", "b", false, sample{1, turned(0, 0, 0)})
	p.put("b", "a", false, sample{1, turned(0, 0, 0)})
	if _, _, _, ok := p.chain("a", 1); ok {
		t.Error("frames that turn in a circle lead to a map")
	}
	p.put("map", "mad", false, sample{1, transform{position: [3]float64{math.NaN(), 0, 0}}})
	if p.links["mad"] != nil {
		t.Error("a transform of no number was kept")
	}
	for i := range 2 * maxFrames {
		p.put("map", string(rune('a'+i)), false, sample{1, turned(0, 0, 0)})
	}
	if len(p.links) > maxFrames {
		t.Errorf("got %d frames", len(p.links))
	}
}

func TestMatches(t *testing.T) {
	got := map[string]bool{}
	for _, pair := range [][2]string{{"*", "/a/b"}, {"/a/*", "/a/b/c"}, {"/a/*", "/a"}, {"/*/b", "/a/b"}, {"/*/b", "/a/c/b"}, {"/a", "/a"}, {"/a", "/ab"}, {`/a\*`, "/ab"}, {"/?*", "/xyz/w"}} {
		got[pair[0]+" "+pair[1]] = matches(pair[0], pair[1])
	}
	want := map[string]bool{"* /a/b": true, "/a/* /a/b/c": true, "/a/* /a": false, "/*/b /a/b": true, "/*/b /a/c/b": false, "/a /a": true, "/a /ab": false, `/a\* /ab`: false, "/?* /xyz/w": false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
