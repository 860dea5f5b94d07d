package message_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception/importers/message"
)

// ros1Sample is a message of ROS 1 that the rosbags package wrote: testdata/ros1.py.
type ros1Sample struct {
	Type       string          `json:"type"`
	Definition string          `json:"definition"`
	Data       string          `json:"data"`
	Value      json.RawMessage `json:"value"`
}

func ros1Samples(t testing.TB) []ros1Sample {
	t.Helper()
	data, err := os.ReadFile("testdata/ros1.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []ros1Sample
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func (s *ros1Sample) schema(t testing.TB) *message.Schema {
	t.Helper()
	schema, err := message.Parse(s.Type, "ros1msg", []byte(s.Definition))
	if err != nil {
		t.Fatalf("%s: %v", s.Type, err)
	}
	return schema
}

func TestDecodesROS1(t *testing.T) {
	all := ros1Samples(t)
	if len(all) < 100 {
		t.Fatalf("got %d samples, want all of the common packages", len(all))
	}
	for _, s := range all {
		var want any
		if err := json.Unmarshal(s.Value, &want); err != nil {
			t.Fatal(err)
		}
		v, err := s.schema(t).Decode(unbase64(t, s.Data))
		if err != nil {
			t.Errorf("%s: %v", s.Type, err)
			continue
		}
		if diff := cmp.Diff(want, plain(v, want)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", s.Type, diff)
		}
	}
}

// A message of ROS 1 has no padding: each that is cut or followed by a byte is an error.
func TestCutROS1Messages(t *testing.T) {
	for _, s := range ros1Samples(t) {
		schema, whole := s.schema(t), unbase64(t, s.Data)
		for n := range whole {
			if v, err := schema.Decode(whole[:n]); err == nil {
				t.Fatalf("%s: %d of %d bytes were read as %v", s.Type, n, len(whole), v)
			}
		}
		if v, err := schema.Decode(append(whole, 0)); err == nil || !strings.Contains(err.Error(), "1 bytes follow") {
			t.Fatalf("%s: with a byte more got %v, %v", s.Type, v, err)
		}
	}
}

func TestROS1Reasons(t *testing.T) {
	for name, test := range map[string]struct{ text, data, want string }{
		"sequence": {"int8 a\nfloat64[] x", "\x00\xff\xff\xff\xff\x00", "x at byte 5: a length of 4294967295 where 1 bytes are left"},
		"string":   {"string x", "\x05\x00\x00\x00ab", "x at byte 4: a length of 5"},
		"fixed":    {"float64[3] x", "\x00\x01", "3 elements in 2 bytes"},
		"time":     {"time at", "\x00\x00\x00\x00\x00", "at at byte 4: nanosec at byte 4"},
		"values":   {"string[] x", "\x00\x00\x20\x00" + strings.Repeat("\x00", 8<<20), "more than 524288 values"},
		"itself":   {"a/B x", "\x00", "nested more than 32 deep"},
	} {
		t.Run(name, func(t *testing.T) {
			schema, err := message.Parse("a/B", "ros1msg", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := schema.Decode([]byte(test.data)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	// The built-in types are those of ROS 2, whose messages differ.
	if _, err := message.Parse("a/B", "ros1msg", []byte("sensor_msgs/Imu x")); err == nil {
		t.Error("a type of ROS 2 is used in a message of ROS 1")
	}
	schema, err := message.Parse("a/B", "ros1msg", []byte("Header header\nbyte level"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := schema.Decode([]byte("\x07\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00map\xff"))
	if err != nil || v.At("header", "seq").Float != 7 || v.At("header", "frame_id").Text != "map" || v.At("level").Float != -1 {
		t.Errorf("got %v, %v", v, err)
	}
	if ns, ok := message.Time(v.At("header", "stamp"), "nanosec"); !ok || ns != 1_000_000_002 {
		t.Errorf("got the time %d, %v", ns, ok)
	}
}

func FuzzROS1(f *testing.F) {
	for i, s := range ros1Samples(f) {
		if i%3 == 0 {
			f.Add(s.Definition, unbase64(f, s.Data))
		}
	}
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		schema, err := message.Parse("a/B", "ros1msg", []byte(text))
		if err != nil {
			return
		}
		v, err := schema.Decode(data)
		if (err == nil) != (v != nil) {
			t.Fatalf("got %v, %v", v, err)
		}
	})
}
