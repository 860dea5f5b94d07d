package folder_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception/folder"
	"github.com/robotmem/robotmem-go/perception/importing"
	"github.com/robotmem/robotmem-go/perception/importing/importingtest"
)

// written is the time of every file that write makes.
var written = time.Date(2024, 6, 7, 8, 9, 10, 0, time.UTC)

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, written, written); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func run(t *testing.T, dir string, sink *importingtest.Memory, o folder.Options) *importing.Report {
	t.Helper()
	o.Name = "bench"
	report, err := folder.Import(t.Context(), dir, sink, o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// saved is what the sink holds of the file at path, whatever its hash.
func saved(t *testing.T, sink *importingtest.Memory, path string) importingtest.Saved {
	t.Helper()
	for origin, p := range sink.Saved {
		if strings.HasPrefix(origin, "folder/bench/"+path+"@") {
			return p
		}
	}
	t.Fatalf("%s is not saved; there are %q", path, sink.Order)
	return importingtest.Saved{}
}

const (
	png  = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00"
	wav  = "RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00"
	pcd  = "VERSION .7\nFIELDS x y z\nPOINTS 0\n"
	ply  = "ply\nformat ascii 1.0\nelement vertex 0\nend_header\n"
	npy  = "\x93NUMPY\x01\x00\x36\x00{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }\n"
	csv  = "fx,fy\n1,2\n3,4\n"
	pose = "1.0 0 0 0 0 0 0 1\n"
)

func TestWhatAFileBecomes(t *testing.T) {
	tests := []struct {
		name, content                string
		kind, mediaType, description string
		observed                     time.Time
	}{
		{"wrist/2024-05-01/glass_slip_03.csv", csv, "proprioceptive", "text/csv; charset=utf-8", "glass slip 03, wrist 2024-05-01", written},
		{"wrench/glass.csv", csv, "tactile", "text/csv; charset=utf-8", "glass, wrench", written},
		{"plan/glass.tsv", "a\tb\n1\t2\n", "procedural", "text/tab-separated-values; charset=utf-8", "glass, plan", written},
		{"gripper-force.npy", npy, "tactile", "application/x-npy", "gripper force", written},
		{"top_20240501_134501.png", png, "visual", "image/png", "top 20240501 134501", time.Date(2024, 5, 1, 13, 45, 1, 0, time.UTC)},
		{"2024-05-01T13-45-02 bang.wav", wav, "auditory", "audio/wav", "2024-05-01T13-45-02 bang", time.Date(2024, 5, 1, 13, 45, 2, 0, time.UTC)},
		{"99991231_134501.wav", wav, "auditory", "audio/wav", "99991231 134501", written},
		{"20241501_134501.wav", wav, "auditory", "audio/wav", "20241501 134501", written},
		{"shelf.pcd", pcd, "spatial", "application/x-pcd", "shelf", written},
		{"cup.ply", ply, "spatial", "application/x-ply", "file cup.ply", written},
		{"slam/run.tum", pose, "procedural", "text/plain; charset=utf-8", "run, slam", written},
		{"joint_states.json", `{"samples": [[1]]}`, "proprioceptive", "application/json", "joint states", written},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sink := importingtest.New(t)
			report := run(t, write(t, map[string]string{tt.name: tt.content}), sink, folder.Options{})
			if diff := cmp.Diff(&importing.Report{Perceptions: 1, Stored: 1, Messages: 1}, report); diff != "" {
				t.Fatalf("report (-want +got):\n%s", diff)
			}
			p := saved(t, sink, tt.name)
			if p.Type != tt.kind || p.MediaType != tt.mediaType || p.Description != tt.description {
				t.Errorf("got %s, %s, %q", p.Type, p.MediaType, p.Description)
			}
			if !p.ObservedAt.Equal(tt.observed) {
				t.Errorf("observed at %v, want %v", p.ObservedAt, tt.observed)
			}
			if string(p.Data) != tt.content || p.Metadata["path"] != tt.name {
				t.Errorf("%d bytes of %v", len(p.Data), p.Metadata["path"])
			}
		})
	}
}

func TestSidecar(t *testing.T) {
	sink := importingtest.New(t)
	report := run(t, write(t, map[string]string{
		"a/glass.csv": csv,
		"a/glass.csv.json": `{"description": "the glass slipped", "perception_type": "tactile", "media_type": "text/plain",
			"metadata": {"rate_hz": 100}, "context": {"task": {"name": "pick"}}, "observed_at": "2024-05-01T13:45:01+02:00"}`,
		"a/glass.png":  png,
		"a/glass.json": `{"description": "what the wrist saw"}`,
	}), sink, folder.Options{})
	if report.Stored != 2 || report.Skipped != nil {
		t.Fatalf("report %+v", report)
	}
	p := saved(t, sink, "a/glass.csv")
	if p.Description != "the glass slipped" || p.Type != "tactile" || p.MediaType != "text/plain" {
		t.Errorf("got %q, %s, %s", p.Description, p.Type, p.MediaType)
	}
	if want := time.Date(2024, 5, 1, 11, 45, 1, 0, time.UTC); !p.ObservedAt.Equal(want) {
		t.Errorf("observed at %v, want %v", p.ObservedAt, want)
	}
	if diff := cmp.Diff(map[string]any{"task": map[string]any{"name": "pick"}}, p.Context); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	if got := saved(t, sink, "a/glass.png").Description; got != "what the wrist saw" {
		t.Errorf("the picture is %q", got)
	}
}

func TestEpisode(t *testing.T) {
	files := map[string]string{
		"loose.png":         png,
		"run1/session.json": `{"context": {"task": {"name": "pick"}, "robot": {"id": "r1"}}, "outcome_score": 0.5, "started_at": "2024-05-01T13:45:00Z"}`,
		"run1/cam/one.png":  png,
		"run1/f.csv":        csv,
		"run1/f.json":       `{"context": {"task": {"name": "place"}}}`,
	}
	dir := write(t, files)
	sink := importingtest.New(t)
	report := run(t, dir, sink, folder.Options{})
	if report.Sessions != 1 || report.Stored != 3 || report.Broken != "" {
		t.Fatalf("report %+v", report)
	}
	s := sink.Sessions["folder/bench/session/run1"]
	if s == nil || !s.Ended || *s.Outcome != 0.5 || !s.StartedAt.Equal(time.Date(2024, 5, 1, 13, 45, 0, 0, time.UTC)) {
		t.Errorf("session %+v", s)
	}
	for path, want := range map[string]string{"loose.png": "", "run1/cam/one.png": "folder/bench/session/run1", "run1/f.csv": "folder/bench/session/run1"} {
		if got := saved(t, sink, path).Session; got != want {
			t.Errorf("%s is in session %q, want %q", path, got, want)
		}
	}
	want := map[string]any{"task": map[string]any{"name": "place"}, "robot": map[string]any{"id": "r1"}}
	if diff := cmp.Diff(want, saved(t, sink, "run1/f.csv").Context); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	again := run(t, dir, sink, folder.Options{})
	if again.Stored != 0 || again.Known != 1 || again.Ended != 1 || again.Skipped["run1/f.csv"]["its session was imported before"] != 1 {
		t.Errorf("the second time: %+v", again)
	}
}

func TestEpisodeWithAMistakeStaysOpen(t *testing.T) {
	files := map[string]string{"run1/session.json": `{}`, "run1/f.csv": csv, "run1/f.json": `{"x"`, "run1/g.png": png}
	dir, sink := write(t, files), importingtest.New(t)
	if report := run(t, dir, sink, folder.Options{}); report.Sessions != 0 || report.Stored != 1 {
		t.Errorf("report %+v", report)
	}
	if err := os.WriteFile(filepath.Join(dir, "run1/f.json"), []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if report := run(t, dir, sink, folder.Options{}); report.Sessions != 1 || report.Stored != 1 || report.Known != 1 {
		t.Errorf("after mending it: %+v", report)
	}
}

func TestChangedFileIsNew(t *testing.T) {
	dir, sink := write(t, map[string]string{"f.csv": csv}), importingtest.New(t)
	run(t, dir, sink, folder.Options{})
	if err := os.WriteFile(filepath.Join(dir, "f.csv"), []byte(csv+"5,6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if report := run(t, dir, sink, folder.Options{}); report.Stored != 1 {
		t.Errorf("after a change: %+v", report)
	}
	if report := run(t, dir, sink, folder.Options{}); report.Known != 1 || report.Stored != 0 {
		t.Errorf("without one: %+v", report)
	}
}

func TestLargeFileIsStreamed(t *testing.T) {
	large := "a,é\n" + strings.Repeat("1.25,-3\n", 1<<18)
	dir, sink := write(t, map[string]string{"large.csv": large, "large.bin": strings.Repeat("\x01\xff", 1<<20)}), importingtest.New(t)
	run(t, dir, sink, folder.Options{Other: "spatial"})
	p := saved(t, sink, "large.csv")
	if p.Size != int64(len(large)) || !bytes.Equal(p.Data, []byte(large)) || p.MediaType != "text/csv; charset=utf-8" {
		t.Errorf("%d bytes read of %d, %s", len(p.Data), p.Size, p.MediaType)
	}
	if p := saved(t, sink, "large.bin"); p.Type != "spatial" || p.MediaType != "application/octet-stream" {
		t.Errorf("%s, %s", p.Type, p.MediaType)
	}
}

func TestWhatIsLeftOut(t *testing.T) {
	dir := write(t, map[string]string{
		"good.png": png, "empty.png": "", ".hidden.png": png, ".git/config": "x", "what.bin": "\x00\x01", "large.png": png + strings.Repeat("x", 100),
		"a/f.csv": csv, "a/f.csv.json": "{\n\"description\": \"the glass\",\n\"metadata\": [1]\n}",
		"b/f.csv": csv, "b/f.json": "{\n\"descripton\": \"the glass\"}",
		"c/f.csv": csv, "c/f.json": `{"perception_type": "smell"}`,
		"d/f.csv": csv, "d/f.json": `{"description": "abc"}`,
		"t/f.csv": csv, "t/f.json": `{"observed_at": "9999-12-31T23:59:59Z"}`,
		"e/session.json": `{"outcome_score": 2}`, "e/f.png": png,
		"skip/f.png": png,
	})
	outside := write(t, map[string]string{"secret.png": png})
	for name, target := range map[string]string{"out.png": filepath.Join(outside, "secret.png"), "in.png": "good.png", "outdir": outside, "none.png": "gone.png"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	sink := importingtest.New(t)
	report := run(t, dir, sink, folder.Options{MaxBytes: 100, Exclude: []string{"skip/*"}})
	if len(sink.Order) != 1 {
		t.Errorf("saved %q, want good.png alone", sink.Order)
	}
	const types = "visual, tactile, auditory, proprioceptive, procedural, spatial"
	want := map[string]string{
		"empty.png": "empty", ".hidden.png": "hidden", ".git": "hidden",
		"what.bin":       "its type is unknown (application/octet-stream); give a sidecar with perception_type, or a type for all others (--type)",
		"large.png":      "it has 129 bytes; the limit is 100",
		"a/f.csv":        "bad sidecar f.csv.json: line 3: json: cannot unmarshal array into Go struct field sidecar.metadata of type map[string]interface {}",
		"b/f.csv":        `bad sidecar f.json: line 2: json: unknown field "descripton"`,
		"c/f.csv":        `bad sidecar f.json: perception_type is "smell"; give one of ` + types,
		"d/f.csv":        "bad sidecar f.json: description has 3 characters; give 5 up to 16384 bytes",
		"t/f.csv":        "bad sidecar f.json: observed_at is of the year 9999; give 1678 to 2261",
		"e/session.json": "outcome_score is 2; give 0 to 1",
		"e/f.png":        "its session.json is wrong",
		"skip/f.png":     "excluded",
		"out.png":        "a link, which is not followed", "outdir": "a link, which is not followed",
		"in.png": "a link, which is not followed", "none.png": "a link, which is not followed",
	}
	got := map[string]string{}
	for what, reasons := range report.Skipped {
		for reason := range reasons {
			got[what] = reason
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
}

func TestInclude(t *testing.T) {
	dir, sink := write(t, map[string]string{"a.png": png, "b/c.png": png, "b/d.csv": csv}), importingtest.New(t)
	run(t, dir, sink, folder.Options{Include: []string{"b/*"}, Exclude: []string{"*.csv"}})
	if len(sink.Order) != 1 || !strings.HasPrefix(sink.Order[0], "folder/bench/b/c.png@") {
		t.Errorf("saved %q", sink.Order)
	}
}

func TestOptionsThatAreWrong(t *testing.T) {
	for name, o := range map[string]folder.Options{
		"pattern": {Include: []string{"[a"}}, "type": {Other: "smell"}, "limit": {MaxBytes: -1},
	} {
		if _, err := folder.Import(t.Context(), t.TempDir(), importingtest.New(t), o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestFailureOfTheSinkEndsTheImport(t *testing.T) {
	dir, sink := write(t, map[string]string{"a.png": png}), importingtest.New(t)
	sink.Fail = fs.ErrPermission
	if _, err := folder.Import(t.Context(), dir, sink, folder.Options{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v, want the sink's", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := folder.Import(ctx, dir, importingtest.New(t), folder.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want cancellation", err)
	}
}
