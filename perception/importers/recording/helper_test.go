package recording_test

import (
	"bytes"
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
)

// rosbag2 is the folder of real recordings beside the repository.
func rosbag2(t testing.TB) string { return shared(t, "rosbag2") }

// shared is a folder of data beside the repository. Without it the test is skipped, in CI it fails.
func shared(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "shared", "data", name)
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the recordings of ../shared/data/%s are not there: %v", name, err)
		}
		t.Skipf("the recordings of ../shared/data/%s are not there: %v", name, err)
	}
	return dir
}

func open(t testing.TB, path string) recording.Source {
	t.Helper()
	src, err := recording.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	})
	return src
}

// row is a message that outlives its source.
type row struct {
	Topic, Schema, SchemaEncoding, SchemaText, Encoding string
	Metadata                                            map[string]string
	Sequence                                            uint32
	LogTime, PublishTime                                uint64
	Data                                                string
}

func rowOf(m *recording.Message) row {
	return row{m.Topic, m.SchemaName, m.SchemaEncoding, string(m.SchemaData), m.MessageEncoding, m.Metadata, m.Sequence, m.LogTime, m.PublishTime, string(m.Data)}
}

// read returns the messages and the errors of a recording.
func read(t testing.TB, src recording.Source) (rows []row, broken []error) {
	t.Helper()
	for m, err := range src.Messages(t.Context()) {
		if err != nil {
			broken = append(broken, err)
			continue
		}
		rows = append(rows, rowOf(m))
	}
	return rows, broken
}

// store is a sink in memory.
type store struct {
	sessions map[string]importers.Session
	saved    map[string]importers.Perception
	order    []string
	batches  []int
	ended    int
	fail     func(saved int) error
}

var _ importers.Sink = (*store)(nil)

func newStore() *store {
	return &store{sessions: map[string]importers.Session{}, saved: map[string]importers.Perception{}}
}

func (s *store) Start(_ context.Context, session importers.Session) (string, error) {
	s.sessions[session.Origin] = session
	return session.Origin, nil
}

func (s *store) Save(_ context.Context, _ string, ps []importers.Perception) (int, error) {
	n := 0
	s.batches = append(s.batches, len(ps))
	for _, p := range ps {
		if s.fail != nil {
			if err := s.fail(len(s.order)); err != nil {
				return n, err
			}
		}
		if _, known := s.saved[p.Origin]; known {
			continue
		}
		p.Data = bytes.Clone(p.Data) // Save keeps no reference
		s.saved[p.Origin] = p
		s.order = append(s.order, p.Origin)
		n++
	}
	return n, nil
}

func (s *store) Learn(_ context.Context, _ string, facts []importers.Fact) (int, error) {
	return len(facts), nil
}

func (s *store) End(context.Context, string, importers.Ending) error {
	s.ended++
	return nil
}

// items are the perceptions by time, the manifest first.
func (s *store) items() iter.Seq2[recording.Exported, error] {
	return func(yield func(recording.Exported, error) bool) {
		all := slices.Clone(s.order)
		slices.SortStableFunc(all, func(a, b string) int {
			pa, pb := s.saved[a], s.saved[b]
			if m := recording.ManifestType; (pa.MediaType == m) != (pb.MediaType == m) {
				if pa.MediaType == m {
					return -1
				}
				return 1
			}
			return pa.ObservedAt.Compare(pb.ObservedAt)
		})
		for _, origin := range all {
			if !yield(recording.Exported{UID: origin, Perception: s.saved[origin]}, nil) {
				return
			}
		}
	}
}

func importAll(t testing.TB, src recording.Source, o recording.Options, sink *store) *recording.Report {
	t.Helper()
	report, err := recording.Import(t.Context(), src, o, sink, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range report.Topics {
		skipped := uint64(0)
		for _, n := range topic.Skipped {
			skipped += n
		}
		if topic.Read != topic.Kept+skipped {
			t.Errorf("%s: %d messages read, %d kept and %d skipped", topic.Topic, topic.Read, topic.Kept, skipped)
		}
	}
	return report
}

// export writes the store's perceptions to a file.
func export(t testing.TB, s *store) (string, *recording.ExportReport) {
	t.Helper()
	var b bytes.Buffer
	report, err := recording.Export(t.Context(), &b, s.items())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "export.mcap")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, report
}
