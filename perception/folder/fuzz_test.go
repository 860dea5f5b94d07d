package folder_test

import (
	"testing"

	"github.com/robotmem/robotmem-go/perception/folder"
	"github.com/robotmem/robotmem-go/perception/importing/importingtest"
)

// FuzzSidecar gives a file any sidecar, and its folder any session.json. The sink
// fails the test when a limit of its contract is broken.
func FuzzSidecar(f *testing.F) {
	f.Add(`{"description": "the glass slipped", "perception_type": "tactile", "observed_at": "2024-05-01T13:45:01Z"}`, `{"outcome_score": 1}`)
	f.Add(`{"metadata": {"kind": "wrench", "units": {"force": "N"}}, "media_type": "text/csv"}`, `{"context": {"task": {}}}`)
	f.Add("{\n\"description\": 1}", "{")
	f.Add(`{"description": "     "}`, `{}`)
	f.Fuzz(func(t *testing.T, side, session string) {
		dir := write(t, map[string]string{"f.csv": csv, "f.csv.json": side, "session.json": session})
		report := run(t, dir, importingtest.New(t), folder.Options{})
		if report.Stored == 0 && len(report.Skipped) == 0 {
			t.Errorf("the file is neither stored nor accounted for")
		}
	})
}
