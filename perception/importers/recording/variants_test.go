package recording_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// The files of testdata hold the same messages: testdata/generate.py.
func TestVariantsOfMCAP(t *testing.T) {
	for _, name := range []string{"zstd", "lz4", "plain", "no-index", "no-chunks"} {
		t.Run(name, func(t *testing.T) {
			src := open(t, filepath.Join("testdata", name+".mcap"))
			info, err := src.Info(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if info.Messages != 60 || info.Start != 1e9 || info.End != 1e9+59 || len(info.Channels) != 2 || info.Channels[0].Messages != 30 {
				t.Errorf("got info %+v", info)
			}
			rows, broken := read(t, src)
			if len(broken) > 0 || len(rows) != 60 {
				t.Fatalf("got %d messages, %v", len(rows), broken)
			}
			byTime(rows) // the file has them in its own order
			for i, r := range rows {
				want := row{Topic: [2]string{"/a", "/b"}[i%2], Schema: "thing", SchemaEncoding: "jsonschema", SchemaText: `{"type":"object"}`, Encoding: "json",
					Metadata: map[string]string{"made": "up"}, Sequence: r.Sequence, LogTime: 1e9 + uint64(i), PublishTime: 1e9 + uint64(i), Data: fmt.Sprintf(`{"n": %d}`, i)}
				if diff := cmp.Diff(want, r); diff != "" {
					t.Fatalf("message %d (-want +got)\n%s", i, diff)
				}
			}
			roundTrip(t, filepath.Join("testdata", name+".mcap"), 60)
		})
	}
}

// The times of a segment never go back, whatever the file's order is.
func TestSegmentsAreInOrder(t *testing.T) {
	s := newStore()
	importAll(t, open(t, filepath.Join("testdata", "no-chunks.mcap")), recording.Options{}, s)
	if n := len(s.of("/a")); n < 2 {
		t.Errorf("got %d segments of shuffled messages", n)
	}
	for _, p := range s.of("/a") {
		seg, err := segment.Decode(p.Data)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range seg.Messages[1:] {
			if m.LogTime < seg.Messages[i].LogTime {
				t.Errorf("%d comes after %d", m.LogTime, seg.Messages[i].LogTime)
			}
		}
	}
}

func TestBagOfPicturesAndScans(t *testing.T) {
	bag := filepath.Join("testdata", "bag")
	roundTrip(t, bag, 8)
	s := newStore()
	report := topics(importAll(t, open(t, bag), recording.Options{}, s))
	for topic, want := range map[string]uint64{"/image": 4, "/scan": 3, "/points": 1} {
		if got := report[topic].Kept; got != want {
			t.Errorf("%s: got %d kept, want %d", topic, got, want)
		}
	}
	picture := s.of("/image")[2]
	if picture.MediaType != "image/x-raw" || len(picture.Data) != 24 || picture.Data[0] != 200 {
		t.Errorf("got %s of %d bytes", picture.MediaType, len(picture.Data))
	}
	for key, want := range map[string]any{"width": 6.0, "height": 4.0, "step": 6.0, "encoding": "mono8", "is_bigendian": 0.0, "message_encoding": "cdr", "log_time": "1700000000200000000"} {
		if got := picture.Metadata[key]; got != want {
			t.Errorf("%s: got %v, want %v", key, got, want)
		}
	}
	// The header's stamp, 5 ms before the log's time; the scans' are of a simulator that
	// counts from 0.
	if got := picture.ObservedAt.UnixNano(); got != 1_700_000_000_195_000_000 {
		t.Errorf("got time %d", got)
	}
	if got := s.of("/scan")[0].ObservedAt.UnixNano(); got != 1_700_000_000_000_000_000 {
		t.Errorf("got time %d of a message whose stamp is 100 s", got)
	}
	cloud := s.of("/points")[0]
	want := []any{
		map[string]any{"name": "x", "offset": 0.0, "datatype": 7.0, "count": 1.0},
		map[string]any{"name": "y", "offset": 4.0, "datatype": 7.0, "count": 1.0},
		map[string]any{"name": "z", "offset": 8.0, "datatype": 7.0, "count": 1.0},
	}
	if diff := cmp.Diff(want, cloud.Metadata["fields"]); diff != "" || cloud.MediaType != "application/x-pointcloud2" || len(cloud.Data) != 24 {
		t.Errorf("got %s of %d bytes, fields (-want +got)\n%s", cloud.MediaType, len(cloud.Data), diff)
	}
}
