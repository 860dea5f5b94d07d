package recording_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/events"
	"github.com/robotmem/robotmem-go/perception/importers/importerstest"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
)

// Messages in protobuf with Foxglove's schemas give pictures, clouds, poses and facts: testdata/protobuf.py.
func TestProtobufInMCAP(t *testing.T) {
	path := filepath.Join("testdata", "foxglove.mcap")
	sink := importerstest.New(t)
	report, err := recording.Import(t.Context(), open(t, path), recording.Options{Events: events.Builtin()}, sink, nil)
	if err != nil || report.Messages != 180 || report.Undecoded+report.Mistimed != 0 {
		t.Fatalf("got %+v, %v", report, err)
	}
	for topic, want := range map[string]uint64{"/tf": 40, "/map_to_odom": 40, "/pose": 40, "/joints": 40, "/camera": 4, "/raw": 4, "/cloud": 4, "/fix": 4, "/log": 4} {
		if got := topics(report)[topic].Kept; got != want {
			t.Errorf("%s: %d messages are kept, want %d", topic, got, want)
		}
	}

	summaries := map[string]string{}
	for _, p := range sink.Saved {
		topic, _ := p.Metadata["topic"].(string)
		item := perception.Item{MediaType: p.MediaType, Data: p.Data, Metadata: p.Metadata}
		summaries[topic] += p.MediaType + ": " + perception.Summarize(item) + "\n"
		if topic == "/camera" {
			pose, _ := p.Context["spatial"].(map[string]any)["pose"].(map[string]any)
			if x := pose["position"].([]any)[0].(float64); pose["frame_id"] != "map" || x < 10.4 || x > 13.6 {
				t.Errorf("the pose of %s is %v", p.Origin, pose)
			}
		}
		if topic == "/fix" {
			if globe, _ := p.Context["spatial"].(map[string]any)["globe"].(map[string]any); globe["lat"] != 53.0 {
				t.Errorf("got the place %v", globe)
			}
		}
	}
	for topic, want := range map[string]string{
		"/camera": "image/png: image/png image, 8x8",
		"/raw":    "raw mono8 image, 4x2",
		"/cloud":  "point cloud, 5 points, fields x y z intensity",
		"/pose":   "position.x peak 13.9 m",
		"/joints": "; a peak 3.9 rad",
	} {
		if !strings.Contains(summaries[topic], want) {
			t.Errorf("%s: %q is not in\n%s", topic, want, summaries[topic])
		}
	}
	if len(sink.Facts) != 1 || sink.Facts[0].Text != "planner: no path to the goal" || sink.Facts[0].Outcome != "failure" {
		t.Errorf("got facts %+v", sink.Facts)
	}

	// What was imported and exported again is what was recorded.
	roundTrip(t, path, 180)
}
