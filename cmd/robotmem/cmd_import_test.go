package main

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception/importers/recording"
)

// recorded is a message, as a file holds it.
type recorded struct {
	topic, schema, encoding, data string
	sequence                      uint32
	logTime, publishTime          uint64
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func messagesOf(t *testing.T, path string) (out []recorded) {
	t.Helper()
	src, err := recording.Open(t.Context(), path)
	must(t, err)
	defer src.Close()
	for m, err := range src.Messages(t.Context()) {
		must(t, err)
		out = append(out, recorded{m.Topic, m.SchemaName, m.MessageEncoding, string(m.Data), m.Sequence, m.LogTime, m.PublishTime})
	}
	// Messages of one time have no order among topics.
	slices.SortStableFunc(out, func(a, b recorded) int {
		return cmp.Or(cmp.Compare(a.logTime, b.logTime), cmp.Compare(a.topic, b.topic))
	})
	return out
}

// realRecordings are the files beside the repository.
func realRecordings(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"*.mcap", "*.db3"} {
		found, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "data", "rosbag2", pattern))
		must(t, err)
		files = append(files, found...)
	}
	if len(files) == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("the recordings of ../shared/data/rosbag2 are not there")
		}
		t.Skip("the recordings of ../shared/data/rosbag2 are not there")
	}
	return files
}

// command runs the program in this process and returns what it prints.
func command(t *testing.T, wantExit int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(args, strings.NewReader(""), &stdout, &stderr); code != wantExit {
		t.Fatalf("robotmem %s: exit %d, want %d\n%s%s", strings.Join(args, " "), code, wantExit, &stdout, &stderr)
	}
	return stdout.String()
}

// Every recording comes back from the memory as it went in.
func TestImportAndExportLoseNothing(t *testing.T) {
	t.Parallel()
	for _, path := range realRecordings(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			db, out := filepath.Join(dir, "memory.db"), filepath.Join(dir, "out.mcap")
			command(t, 0, "--db", db, "--embedder", "none", "import", path)
			if got := command(t, 0, "--db", db, "--embedder", "none", "import", path); !strings.Contains(got, "imported before") {
				t.Errorf("the second time: %s", got)
			}
			command(t, 0, "--db", db, "--embedder", "none", "export", "--mcap", out)
			if d := diff.Diff(messagesOf(t, path), messagesOf(t, out), diff.AllowUnexported(recorded{})); d != "" {
				t.Errorf("messages (-in +out):\n%s", d)
			}
			command(t, 0, "--db", db, "--embedder", "none", "doctor")
		})
	}
}

// What is whole of a cut recording is kept, and it is said where it broke.
func TestImportOfACutRecording(t *testing.T) {
	t.Parallel()
	path := realRecordings(t)[1]
	data, err := os.ReadFile(path)
	must(t, err)
	dir := t.TempDir()
	cut := filepath.Join(dir, "cut.mcap")
	must(t, os.WriteFile(cut, data[:len(data)/5], 0o600))
	got := command(t, 2, "--db", filepath.Join(dir, "memory.db"), "--embedder", "none", "import", cut)
	if !strings.Contains(got, "broken: the recording breaks at byte") {
		t.Errorf("got %s", got)
	}
}

// A pipe without a writer must not be waited for.
func TestImportRefusesWhatIsNoFile(t *testing.T) {
	if _, err := sourceOf(t.Context(), os.DevNull); err == nil || !strings.Contains(err.Error(), "is not a regular file; pass -") {
		t.Errorf("got %v", err)
	}
}
