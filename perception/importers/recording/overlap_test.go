package recording_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// Every message of chunks whose times overlap is imported, and a topic's order in each segment is that of time.
func TestOverlappingChunks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "overlap.mcap")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := mcap.NewWriter(f, &mcap.WriterOptions{Chunked: true, ChunkSize: 512, Compression: mcap.CompressionZSTD})
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.WriteHeader(&mcap.Header{}))
	must(w.WriteChannel(&mcap.Channel{ID: 1, Topic: "/late", MessageEncoding: "json"}))
	must(w.WriteChannel(&mcap.Channel{ID: 2, Topic: "/even", MessageEncoding: "json"}))
	const messages = 200
	for i := range uint64(messages) {
		must(w.WriteMessage(&mcap.Message{ChannelID: 1, LogTime: 1e9 + (i^16)*1e6, Data: []byte(`{"n": 1}`)}))
		must(w.WriteMessage(&mcap.Message{ChannelID: 2, LogTime: 1e9 + i*1e6, Data: []byte(`{"n": 2}`)}))
	}
	must(w.Close())
	must(f.Close())
	s := newStore()
	importAll(t, open(t, path), recording.Options{}, s)
	for _, topic := range []string{"/late", "/even"} {
		seen := map[uint64]bool{}
		for _, p := range s.of(topic) {
			seg, err := segment.Decode(p.Data)
			must(err)
			last := uint64(0)
			for _, m := range seg.Messages {
				if m.LogTime < last {
					t.Errorf("%s: %d comes after %d", topic, m.LogTime, last)
				}
				last, seen[m.LogTime] = m.LogTime, true
			}
		}
		if len(seen) != messages {
			t.Errorf("%s: got %d of %d messages", topic, len(seen), messages)
		}
		t.Logf("%s: %d segments", topic, len(s.of(topic)))
	}
}
