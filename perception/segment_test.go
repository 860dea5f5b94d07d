package perception_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// segmentOf writes messages at 100 Hz.
func segmentOf(t testing.TB, topic, schema, encoding string, messages ...[]byte) perception.Item {
	t.Helper()
	var b bytes.Buffer
	w, err := mcap.NewWriter(&b, &mcap.WriterOptions{SkipStatistics: true, SkipRepeatedSchemas: true, SkipRepeatedChannelInfos: true, SkipSummaryOffsets: true})
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	check(w.WriteHeader(&mcap.Header{Profile: "ros2"}))
	text, _ := message.Definition(schema)
	schemaEncoding := "ros2msg"
	if encoding == "json" {
		schemaEncoding, text = "jsonschema", "{}"
	}
	check(w.WriteSchema(&mcap.Schema{ID: 1, Name: schema, Encoding: schemaEncoding, Data: []byte(text)}))
	check(w.WriteChannel(&mcap.Channel{ID: 1, SchemaID: 1, Topic: topic, MessageEncoding: encoding}))
	for i, data := range messages {
		check(w.WriteMessage(&mcap.Message{ChannelID: 1, Sequence: uint32(i), LogTime: uint64(i) * 10e6, Data: data}))
	}
	check(w.Close())
	return perception.Item{MediaType: "application/vnd.mcap", Data: b.Bytes()}
}

func cdr(values ...any) []byte {
	b := []byte{0, 1, 0, 0}
	for _, v := range values {
		align := func(n int) {
			for (len(b)-4)%n != 0 {
				b = append(b, 0)
			}
		}
		switch v := v.(type) {
		case float64:
			align(8)
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		case uint32:
			align(4)
			b = binary.LittleEndian.AppendUint32(b, v)
		case string:
			align(4)
			b = binary.LittleEndian.AppendUint32(b, uint32(len(v)+1))
			b = append(append(b, v...), 0)
		}
	}
	return b
}

func wrenchSegment(t testing.TB, low float64) perception.Item {
	var all [][]byte
	for i := range 20 {
		fz := 0.0
		if i == 8 {
			fz = low
		}
		all = append(all, cdr(1.0, 2.0, fz, 0.1, 0.2, 0.3))
	}
	return segmentOf(t, "/wrist/wrench", "geometry_msgs/msg/Wrench", "cdr", all...)
}

func TestSegmentSummaries(t *testing.T) {
	joints := cdr(uint32(1), uint32(0), "", uint32(2), "elbow", "wrist", uint32(2), 0.5, 1.5, uint32(0), uint32(0))
	moved := cdr(uint32(1), uint32(5e8), "", uint32(2), "elbow", "wrist", uint32(2), 0.5, 2.5, uint32(0), uint32(0))
	for name, test := range map[string]struct {
		item perception.Item
		want string
	}{
		"wrench":    {wrenchSegment(t, -62), "20 messages of geometry_msgs/msg/Wrench on /wrist/wrench over 190 ms; Fz peak -62 N at 80 ms"},
		"joints":    {segmentOf(t, "/joint_states", "sensor_msgs/msg/JointState", "cdr", joints, moved), "2 messages of sensor_msgs/msg/JointState on /joint_states over 10 ms; wrist peak 2.5 rad at 0.50 s"},
		"text":      {segmentOf(t, "/chatter", "std_msgs/msg/String", "cdr", cdr("Hello, world!"), cdr("Bye")), "2 messages of std_msgs/msg/String on /chatter over 10 ms: Hello, world!"},
		"log":       {segmentOf(t, "/rosout", "rcl_interfaces/msg/Log", "cdr", cdr(uint32(1), uint32(0), uint32(20), "planner", "no path found", "plan.cpp", "plan", uint32(7))), "1 message of rcl_interfaces/msg/Log on /rosout: no path found"},
		"json":      {segmentOf(t, "/j", "any", "json", []byte(`{"v":1}`), []byte(`{"v":5}`)), "2 messages of any on /j over 10 ms; v peak 5 at 10 ms"},
		"opaque":    {segmentOf(t, "/p", "x.Proto", "protobuf", []byte("\x08\x01")), "1 message of x.Proto on /p"},
		"a cut one": {perception.Item{Data: []byte("\x89MCAP0\r\n\x05")}, "9 bytes of application/vnd.mcap, not read: the head of the record at byte 8 takes 9 bytes where 1 are left"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := perception.Summarize(test.item); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A segment is compared as the trace that its messages make.
func TestSegmentFeatures(t *testing.T) {
	kind, vector, ok := perception.Features(wrenchSegment(t, -62))
	if !ok || kind != "trace/v2/6" || len(vector) != 6*64 {
		t.Fatalf("got %q, %d numbers, %v", kind, len(vector), ok)
	}
	_, near, _ := perception.Features(wrenchSegment(t, -60))
	_, far, _ := perception.Features(wrenchSegment(t, -10))
	if a, b := perception.Distance(kind, vector, near), perception.Distance(kind, vector, far); a >= b {
		t.Errorf("-60 N is %g from -62 N and -10 N is %g", a, b)
	}
	if _, _, ok := perception.Features(segmentOf(t, "/chatter", "std_msgs/msg/String", "cdr", cdr("Hello"))); ok {
		t.Error("a text has features")
	}
}

func TestSegmentPreview(t *testing.T) {
	got, err := perception.MakePreview(wrenchSegment(t, -62), perception.PreviewOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Width == 0 || !bytes.Contains(got.Data, []byte("Fz")) {
		t.Errorf("got %s of %d bytes without the names of the channels", got.MediaType, len(got.Data))
	}
	if _, err := perception.MakePreview(segmentOf(t, "/chatter", "std_msgs/msg/String", "cdr", cdr("Hello")), perception.PreviewOptions{}); err == nil {
		t.Error("a text has a plot")
	}
}

func TestDecodeSegmentErrors(t *testing.T) {
	whole := wrenchSegment(t, -62).Data
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"other":    {[]byte("PNG"), "does not begin"},
		"empty":    {whole[:8], "no channel"},
		"cut":      {whole[:len(whole)/2], "where"},
		"lengths":  {append([]byte("\x89MCAP0\r\n\x05"), bytes.Repeat([]byte{0xff}, 8)...), "where 0 are left"},
		"chunks":   {append([]byte("\x89MCAP0\r\n\x06"), make([]byte, 8)...), "has chunks"},
		"too soon": {append([]byte("\x89MCAP0\r\n\x05"), make([]byte, 8)...), "before its channel"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := segment.Decode(test.data); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func FuzzSegment(f *testing.F) {
	f.Add(wrenchSegment(f, -62).Data)
	f.Add(segmentOf(f, "/chatter", "std_msgs/msg/String", "cdr", cdr("Hello")).Data)
	f.Add(segmentOf(f, "/j", "any", "json", []byte(`{"v":1}`)).Data)
	f.Fuzz(func(t *testing.T, data []byte) {
		item := perception.Item{Data: data}
		if _, err := segment.Decode(data); err != nil {
			return
		}
		if got := perception.Summarize(item); got == "" {
			t.Error("a segment has no summary")
		}
		if kind, vector, ok := perception.Features(item); ok != (kind != "") || ok != (len(vector) > 0) {
			t.Errorf("got features %q, %d, %v", kind, len(vector), ok)
		}
		_, _ = perception.MakePreview(item, perception.PreviewOptions{}) // must not crash
	})
}

// A scan of Foxglove is shown as one, where its sensor is.
func TestSamplesOfAFoxgloveScan(t *testing.T) {
	text := `{"timestamp":{"sec":%d,"nsec":0},"frame_id":"base_link","pose":{"position":{"x":10,"y":0,"z":1},
		"orientation":{"x":0,"y":0,"z":1,"w":0}},"start_angle":0,"end_angle":1.5707963267948966,"ranges":[1,2],"intensities":[]}`
	var messages [][]byte
	for i := range 3 {
		messages = append(messages, fmt.Appendf(nil, text, 1764000000+i))
	}
	got := samplesOf(t, segmentOf(t, "/scan", "foxglove.LaserScan", "json", messages...), perception.SamplesOptions{})
	want := perception.Samples{
		Kind: "scan", Total: 2, Unit: "m", FrameID: "base_link", X: []float64{9, 10}, Y: []float64{0, -2}, Z: []float64{1, 1},
		Time: []float64{0}, TimeUnit: "s", DurationS: 0.02, RateHz: 100,
	}
	if diff := cmp.Diff(*got, want, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}

// Samples have all numbers of a message: booleans, all quantities of joints, and those in lists of structures.
func TestSamplesOfDetails(t *testing.T) {
	for name, test := range map[string]struct {
		schema, text string
		want         map[string]float64
	}{
		"booleans":   {"own/Flags", `{"ok":true,"n":2}`, map[string]float64{"ok": 1, "n": 2}},
		"structures": {"own/List", `{"s":[{"a":1},{"a":2,"name":"x"}],"b":true}`, map[string]float64{"s[0].a": 1, "s[x].a": 2, "b": 1}},
		"joints": {
			"sensor_msgs/msg/JointState", `{"name":["a","b"],"position":[1,2],"velocity":[3,4],"effort":[5]}`,
			map[string]float64{"a": 1, "b": 2, "a.velocity": 3, "b.velocity": 4, "a.effort": 5},
		},
		"velocities": {"sensor_msgs/msg/JointState", `{"name":["a"],"position":[],"velocity":[3]}`, map[string]float64{"a": 3}},
		"foxglove":   {"foxglove.JointStates", `{"joints":[{"name":"a","position":1,"effort":5}]}`, map[string]float64{"a": 1, "a.effort": 5}},
	} {
		item := segmentOf(t, "/x", test.schema, "json", []byte(test.text), []byte(test.text))
		got := map[string]float64{}
		for _, c := range samplesOf(t, item, perception.SamplesOptions{}).Channels {
			got[c.Name] = c.Values[1]
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}
