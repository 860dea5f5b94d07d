package recording_test

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
)

func byTime(rows []row) {
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.LogTime, b.LogTime), cmp.Compare(a.Topic, b.Topic))
	})
}

// What was imported and exported again is what was recorded.
func TestRoundTrip(t *testing.T) {
	counts := map[string]int{
		"cdr_test_0.db3": 7, "cdr_test_0.mcap": 7, "talker.db3": 20, "talker.mcap": 20, "test_bag_for_seek_0.db3": 5,
		"topics_and_services.db3": 13, "topics_and_services.mcap": 13, "wbag_0.db3": 1246, "wbag_0.mcap": 1246,
	}
	dir := rosbag2(t)
	for name, count := range counts {
		t.Run(name, func(t *testing.T) { roundTrip(t, filepath.Join(dir, name), count) })
	}
	t.Run("synthetic", func(t *testing.T) {
		roundTrip(t, synthetic(t, 8<<20), -1)
	})
	t.Run("folder", func(t *testing.T) {
		folder := t.TempDir()
		for from, to := range map[string]string{"talker.metadata.yaml": "metadata.yaml", "talker.db3": "talker.db3"} {
			data, err := os.ReadFile(filepath.Join(dir, from))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, to), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		roundTrip(t, folder, 20)
	})
}

func roundTrip(t *testing.T, path string, count int) {
	src := open(t, path)
	want, broken := read(t, src)
	if len(broken) > 0 {
		t.Fatal(broken)
	}
	if count >= 0 && len(want) != count {
		t.Fatalf("got %d messages, want %d", len(want), count)
	}
	info, err := src.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.Messages != uint64(len(want)) {
		t.Errorf("info counts %d messages, there are %d", info.Messages, len(want))
	}
	s := newStore()
	report := importAll(t, src, recording.Options{}, s)
	if report.Messages != uint64(len(want)) || report.Stored != len(s.order) || s.ended != 1 {
		t.Errorf("got report %+v, ended %d times", report, s.ended)
	}
	if again := importAll(t, src, recording.Options{}, s); again.Stored != 0 || again.Perceptions != report.Perceptions {
		t.Errorf("a second import stored %d of %d", again.Stored, again.Perceptions)
	}
	file, exported := export(t, s)
	if exported.Originals != uint64(len(want)) {
		t.Errorf("got %d messages exported, want %d", exported.Originals, len(want))
	}
	back := open(t, file)
	got, broken := read(t, back)
	if len(broken) > 0 {
		t.Fatal(broken)
	}
	byTime(want)
	byTime(got)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("messages differ (-recorded +exported)\n%.4000s", diff)
	}
	after, err := back.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(info.Channels, after.Channels, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("channels differ (-recorded +exported)\n%.4000s", diff)
	}
	twice, _ := export(t, s)
	a, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(twice)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Error("a second export gives other bytes")
	}
}

func synthetic(t testing.TB, size int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "synthetic.mcap")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeSynthetic(f, size, 1); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
