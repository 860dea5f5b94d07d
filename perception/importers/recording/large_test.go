package recording_test

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/segment"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// discarding reads what it is given and keeps none of it.
type discarding struct{ bytes int64 }

func (*discarding) Start(context.Context, importers.Session) (string, error) { return "s", nil }
func (*discarding) Learn(_ context.Context, _ string, facts []importers.Fact) (int, error) {
	return len(facts), nil
}
func (*discarding) End(context.Context, string, importers.Ending) error { return nil }
func (d *discarding) Save(_ context.Context, _ string, ps []importers.Perception) (int, error) {
	for _, p := range ps {
		d.bytes += int64(len(p.Data))
	}
	return len(ps), nil
}

// largeMCAP writes a recording of one message of size bytes.
func largeMCAP(t *testing.T, c *segment.Channel, o mcap.WriterOptions, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "large.mcap")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := mcap.NewWriter(f, &o)
	if err != nil {
		t.Fatal(err)
	}
	err = w.WriteHeader(&mcap.Header{})
	if err == nil {
		err = c.Write(w, 1, 1)
	}
	if err == nil {
		err = w.WriteMessage(&mcap.Message{ChannelID: 1, LogTime: 1, PublishTime: 1, Data: data})
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestALargeMessageIsCopiedFewTimes(t *testing.T) {
	size := rounds.Of(16, 64) << 20
	raw := &segment.Channel{Topic: "/raw", MessageEncoding: "x"}
	text, _ := message.Definition("sensor_msgs/msg/CompressedImage")
	image := &segment.Channel{Topic: "/c", SchemaName: "sensor_msgs/msg/CompressedImage", SchemaEncoding: "ros2msg", SchemaData: []byte(text), MessageEncoding: "cdr"}
	head := []byte("\x00\x01\x00\x00" + "\x01\x00\x00\x00\x00\x00\x00\x00" + "\x01\x00\x00\x00\x00\x00\x00\x00" + "\x04\x00\x00\x00png\x00")
	head = append(binary.LittleEndian.AppendUint32(head, uint32(size)), make([]byte, size)...)
	for name, test := range map[string]struct {
		channel *segment.Channel
		data    []byte
		options mcap.WriterOptions
	}{
		"without chunks":      {raw, make([]byte, size), mcap.WriterOptions{}},
		"in a chunk":          {raw, make([]byte, size), mcap.WriterOptions{Chunked: true, ChunkSize: 1 << 20}},
		"in a zstd chunk":     {raw, make([]byte, size), mcap.WriterOptions{Chunked: true, ChunkSize: 1 << 20, Compression: mcap.CompressionZSTD}},
		"with a payload":      {image, head, mcap.WriterOptions{}},
		"a payload in chunks": {image, head, mcap.WriterOptions{Chunked: true, ChunkSize: 1 << 20}},
	} {
		t.Run(name, func(t *testing.T) {
			path := largeMCAP(t, test.channel, test.options, test.data)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			src, sink := open(t, path), &discarding{}
			if _, err := recording.Import(t.Context(), src, recording.Options{}, sink, nil); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if sink.bytes < int64(size) {
				t.Errorf("stored %d bytes", sink.bytes)
			}
			most := 1.5
			if test.channel == raw { // the segment is another copy, and its writer makes one
				most = 4.5
			}
			if got := float64(after.TotalAlloc-before.TotalAlloc) / float64(size); got > most {
				t.Errorf("allocated %.2f times the size of the message", got)
			}
		})
	}
}

// A name of megabytes stays out of the report, whose rows are printed.
func TestLongNamesAreShown(t *testing.T) {
	long := strings.Repeat("x", 6<<20)
	c := &segment.Channel{Topic: "/" + long, SchemaName: long, SchemaEncoding: long, MessageEncoding: long}
	src := open(t, largeMCAP(t, c, mcap.WriterOptions{}, []byte("x")))
	s := newStore()
	report := importAll(t, src, recording.Options{}, s)
	for _, topic := range report.Topics {
		if n := len(topic.Topic) + len(topic.SchemaName); n > 1000 {
			t.Errorf("the names have %d bytes", n)
		}
		for note := range topic.Notes {
			if len(note) > 1000 {
				t.Errorf("a note has %d bytes: %.200s", len(note), note)
			}
		}
	}
	for _, p := range s.saved {
		if n := len(p.Description) + len(p.Origin); n > 2000 {
			t.Errorf("%.100s: description and origin have %d bytes", p.Origin, n)
		}
	}
}
