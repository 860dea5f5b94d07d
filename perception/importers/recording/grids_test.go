package recording_test

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/importerstest"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
)

// The map of a recording is kept beside its message, once for each name and content.
func TestTheMapOfARecording(t *testing.T) {
	data := realFile(t, "recordings/nav_failures.mcap")
	sink := importerstest.New(t)
	run := func(o recording.Options) *recording.Report {
		t.Helper()
		report, err := recording.Import(t.Context(), open(t, write(t, "nav.mcap", data)), o, sink, nil)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	kept := func() (all []importers.Perception) {
		for _, origin := range sink.Order {
			if strings.HasPrefix(origin, "map/") {
				all = append(all, sink.Saved[origin].Perception)
			}
		}
		return all
	}

	if report := run(recording.Options{MapID: "hall", Robot: "r1"}); report.Maps != 1 {
		t.Errorf("%d maps", report.Maps)
	}
	all := kept()
	if len(all) != 1 {
		t.Fatalf("%d maps are kept", len(all))
	}
	p := all[0]
	about := p.Context["map"].(map[string]any)
	pic, err := png.Decode(bytes.NewReader(p.Data))
	if err != nil {
		t.Fatal(err)
	}
	if size := pic.Bounds().Size(); about["width"] != float64(size.X) || about["height"] != float64(size.Y) {
		t.Errorf("a picture of %v of %v", size, about)
	}
	delete(about, "width")
	delete(about, "height")
	want := map[string]any{"kind": "occupancy", "frame_id": "map", "map_id": "hall", "resolution": 0.05, "origin_x": -1.0, "origin_y": -1.0, "origin_yaw": 0.0}
	if diff := cmp.Diff(want, about); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}

	// Other options read the same map; another name is another map.
	if run(recording.Options{MapID: "hall", Exclude: []string{"/rosout"}}); len(kept()) != 1 {
		t.Errorf("%d maps after the same one again", len(kept()))
	}
	if run(recording.Options{MapID: "yard", Exclude: []string{"/plan"}}); len(kept()) != 2 {
		t.Errorf("%d maps after one of another name", len(kept()))
	}
	if report := run(recording.Options{Exclude: []string{"/map"}}); report.Maps != 0 || len(kept()) != 2 {
		t.Errorf("%d maps without the topic", report.Maps)
	}
}
