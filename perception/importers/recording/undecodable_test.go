package recording_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/klauspost/compress/zstd"
	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// vec is the channel of the messages that [vecMessage] writes.
func vec() *segment.Channel {
	return &segment.Channel{Topic: "/t", SchemaName: "own/msg/Vec", SchemaEncoding: "ros2msg", SchemaData: []byte("float64 x\nfloat64 y\n"), MessageEncoding: "cdr"}
}

func vecMessage(x float64) []byte {
	data := []byte{0, 1, 0, 0}
	data = binary.LittleEndian.AppendUint64(data, math.Float64bits(x))
	return binary.LittleEndian.AppendUint64(data, math.Float64bits(2))
}

// mcapOf writes messages of one channel, without chunks.
func mcapOf(t testing.TB, c *segment.Channel, messages []segment.Message) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := mcap.NewWriter(&b, &mcap.WriterOptions{OverrideLibrary: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteHeader(&mcap.Header{Profile: "ros2", Library: segment.Library}); err != nil {
		t.Fatal(err)
	}
	if err := c.Write(w, 1, 1); err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if err := w.WriteMessage(&mcap.Message{ChannelID: 1, Sequence: m.Sequence, LogTime: m.LogTime, PublishTime: m.PublishTime, Data: m.Data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// db3Of writes messages of one topic of own/msg/Vec, as rosbag2 does.
func db3Of(t testing.TB, times []int64, data [][]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db3")
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Exec(`CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL);
		CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL, encoding TEXT NOT NULL, encoded_message_definition TEXT NOT NULL, type_description_hash TEXT NOT NULL);
		CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, data BLOB NOT NULL);
		INSERT INTO topics VALUES (1, '/t', 'own/msg/Vec', 'cdr', '');
		INSERT INTO message_definitions VALUES (1, 'own/msg/Vec', 'ros2msg', 'float64 x' || char(10) || 'float64 y', '');`)
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := db.Prepare("INSERT INTO messages(topic_id, timestamp, data) VALUES (1, ?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range data {
		if err := s.BindInt64(1, times[i]); err != nil {
			t.Fatal(err)
		}
		if err := s.BindBlob(2, data[i]); err != nil {
			t.Fatal(err)
		}
		if s.Step(); s.Err() != nil {
			t.Fatal(s.Err())
		}
		if err := s.Reset(); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// A message that cannot be decoded is counted with its reason, and the others of its segment keep
// their numbers.
func TestUndecodableMessages(t *testing.T) {
	const n, bad, start = 200, 50, 1_700_000_000e9
	for name, test := range map[string]struct {
		data   []byte
		reason string
	}{
		"cut":             {vecMessage(50)[:13], "y at byte 12"},
		"empty":           {nil, "0 bytes"},
		"XCDR2":           {append([]byte{0, 7}, vecMessage(50)[2:]...), "0x0007"},
		"first of all":    {vecMessage(50)[:9], "x at byte 4"},
		"another program": {[]byte("hello, world"), "CDR representation"},
	} {
		t.Run(name, func(t *testing.T) {
			at := bad
			if name == "first of all" {
				at = 0
			}
			var messages []segment.Message
			for i := range n {
				m := segment.Message{LogTime: start + uint64(i)*1e7, PublishTime: start + uint64(i)*1e7, Data: vecMessage(float64(i))}
				if i == at {
					m.Data = test.data
				}
				messages = append(messages, m)
			}
			s := newStore()
			report := importAll(t, open(t, write(t, "a.mcap", mcapOf(t, vec(), messages))), recording.Options{}, s)
			if report.Undecoded != 1 || report.Messages != n {
				t.Errorf("the report counts %d of %d messages as not decoded, want 1 of %d", report.Undecoded, report.Messages, n)
			}
			if got := topics(report)["/t"]; got.Kept != n || len(got.Notes) != 1 {
				t.Errorf("got %d kept and notes %v", got.Kept, got.Notes)
			}
			for note, count := range topics(report)["/t"].Notes {
				if count != 1 || !strings.Contains(note, test.reason) || !strings.Contains(note, "kept as bytes") {
					t.Errorf("got note %q of %d, want %q", note, count, test.reason)
				}
			}
			p := s.of("/t")[0]
			item := perception.Item{MediaType: p.MediaType, Data: p.Data}
			if got := perception.Summarize(item); !strings.Contains(got, "x peak 199") || !strings.Contains(got, "1 message not decoded: ") {
				t.Errorf("got summary %q", got)
			}
			samples, err := perception.MakeSamples(item, perception.SamplesOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if samples.Total != n-1 || samples.Missing != 1 || len(samples.Channels) != 2 {
				t.Errorf("got %d samples, %d missing, of %d channels; want %d and 1", samples.Total, samples.Missing, len(samples.Channels), n-1)
			}
			if _, _, ok := perception.Features(item); !ok {
				t.Error("the other messages have no features")
			}
		})
	}
}

// Different reasons are bounded, and no message is uncounted.
func TestManyReasons(t *testing.T) {
	const n, start = 500, 1_700_000_000e9
	c := vec()
	c.SchemaData = []byte("uint8[] a\nfloat64 y\n")
	var messages []segment.Message
	for i := range n {
		data := binary.LittleEndian.AppendUint32([]byte{0, 1, 0, 0}, uint32(i))
		messages = append(messages, segment.Message{LogTime: start + uint64(i)*1e7, Data: append(data, make([]byte, i)...)})
	}
	report := importAll(t, open(t, write(t, "a.mcap", mcapOf(t, c, messages))), recording.Options{}, newStore())
	counted := uint64(0)
	for _, count := range topics(report)["/t"].Notes {
		counted += count
	}
	if got := len(topics(report)["/t"].Notes); counted != n || report.Undecoded != n || got < 2 || got > 20 {
		t.Errorf("%d of %d messages are counted, under %d reasons", counted, n, got)
	}
}

// The messages of a database that were compressed one by one are read, and one that is damaged is named.
func TestMessagesCompressedOneByOne(t *testing.T) {
	const n, bad, start = 100, 7, 1_700_000_000e9
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	var times []int64
	var data [][]byte
	for i := range n {
		one := enc.EncodeAll(vecMessage(float64(i)), nil)
		if i == bad {
			one = one[:len(one)-3]
		}
		times, data = append(times, start+int64(i)*1e7), append(data, one)
	}
	s := newStore()
	report := importAll(t, open(t, db3Of(t, times, data)), recording.Options{}, s)
	if report.Messages != n || report.Undecoded != 1 {
		t.Errorf("%d of %d messages are not decoded: %v", report.Undecoded, report.Messages, report.Topics)
	}
	for note := range topics(report)["/t"].Notes {
		if !strings.Contains(note, "zstd") {
			t.Errorf("got note %q", note)
		}
	}
	p := s.of("/t")[0]
	if got := perception.Summarize(perception.Item{MediaType: p.MediaType, Data: p.Data}); !strings.Contains(got, "x peak 99") {
		t.Errorf("got summary %q", got)
	}
}
