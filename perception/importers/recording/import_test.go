package recording_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/importerstest"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/segment"
)

func topics(r *recording.Report) map[string]recording.TopicReport {
	out := map[string]recording.TopicReport{}
	for _, t := range r.Topics {
		out[t.Topic] = t
	}
	return out
}

func (s *store) of(topic string) (out []importers.Perception) {
	for _, origin := range s.order {
		if s.saved[origin].Metadata["topic"] == topic {
			out = append(out, s.saved[origin])
		}
	}
	return out
}

func TestPayloadsAreUnwrapped(t *testing.T) {
	s := newStore()
	path := synthetic(t, 4<<20)
	src := open(t, path)
	importAll(t, src, recording.Options{Robot: "arm-1", MapID: "hall"}, s)
	rows, _ := read(t, src)
	n := 0
	images := s.of("/camera/compressed")
	for _, r := range rows {
		if r.Topic != "/camera/compressed" {
			continue
		}
		p := images[n]
		n++
		envelope := p.Metadata["envelope"].(map[string]any)
		whole := ""
		for _, part := range []string{envelope["prefix"].(string), base64.StdEncoding.EncodeToString(p.Data), envelope["suffix"].(string)} {
			b, err := base64.StdEncoding.DecodeString(part)
			if err != nil {
				t.Fatal(err)
			}
			whole += string(b)
		}
		if whole != r.Data {
			t.Fatalf("image %d: prefix, payload and suffix are not the message", n)
		}
		if p.MediaType != "image/jpeg" || p.Type != "visual" || p.Metadata["log_time"] != fmt.Sprint(r.LogTime) || p.ObservedAt.UnixNano() != int64(r.LogTime) {
			t.Fatalf("got %s, %s, %v at %v", p.MediaType, p.Type, p.Metadata["log_time"], p.ObservedAt)
		}
	}
	if n == 0 || n != len(images) {
		t.Fatalf("got %d images, want %d", len(images), n)
	}
	if got, want := images[3].Description, "/camera/compressed sensor_msgs/msg/CompressedImage at 0.1 s of synthetic.mcap"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	wrench := s.of("/wrench")[0]
	seg, err := segment.Decode(wrench.Data)
	if err != nil {
		t.Fatal(err)
	}
	if seg.Topic != "/wrench" || len(seg.Messages) != wrench.Messages || wrench.Type != "tactile" {
		t.Errorf("got a segment of %s with %d messages, %s", seg.Topic, len(seg.Messages), wrench.Type)
	}
}

// The robot drives on a circle of two metres around odom, a turn in 20π s.
func TestPoses(t *testing.T) {
	s := newStore()
	importAll(t, open(t, synthetic(t, 4<<20)), recording.Options{Robot: "arm-1", MapID: "hall"}, s)
	images := s.of("/camera/compressed")
	p := images[len(images)-1]
	pose := p.Context["spatial"].(map[string]any)["pose"].(map[string]any)
	angle := p.ObservedAt.Sub(time.Unix(1_700_000_000, 0)).Seconds() / 10
	position := pose["position"].([]any)
	x, y := position[0].(float64), position[1].(float64)
	// The transform before may be 20 ms old, in which the robot drives 4 mm.
	if math.Hypot(x-2*math.Cos(angle), y-2*math.Sin(angle)) > 0.005 || pose["frame_id"] != "odom" || pose["map_id"] != nil {
		t.Errorf("got pose %v, want %.3f, %.3f in odom", pose, 2*math.Cos(angle), 2*math.Sin(angle))
	}
	if got := p.Context["robot"].(map[string]any)["id"]; got != "arm-1" {
		t.Errorf("got robot %v", got)
	}
}

// localized is a robot that drives before localization finds it 0.5 s later.
type localized struct{ made }

func (l *localized) Messages(context.Context) iter.Seq2[*recording.Message, error] {
	const pose = `{"header":{"frame_id":%q},"child_frame_id":"base_link","pose":{"pose":{"position":{"x":%d,"y":0,"z":0},"orientation":{"x":0,"y":0,"z":0,"w":1}}}}`
	return func(yield func(*recording.Message, error) bool) {
		for _, m := range []struct {
			channel int
			ms      uint64
			data    string
		}{
			{1, 0, `{"data":"ready"}`}, {0, 1, fmt.Sprintf(pose, "odom", 1)},
			{0, 500, fmt.Sprintf(pose, "odom", 2)}, {2, 500, fmt.Sprintf(pose, "map", 40)}, {1, 20_000, `{"data":"done"}`},
		} {
			if !yield(&recording.Message{Channel: l.channels[m.channel], Message: segment.Message{LogTime: 1_700_000_000e9 + m.ms*1e6, Data: []byte(m.data)}}, nil) {
				return
			}
		}
	}
}

// What was seen before the first pose in the map is placed in it; where the robot is much later is unknown.
func TestSegmentsBeforeTheFirstPose(t *testing.T) {
	src := &localized{}
	for topic, schema := range []string{"nav_msgs/msg/Odometry", "std_msgs/msg/String", "geometry_msgs/msg/PoseWithCovarianceStamped"} {
		src.channels = append(src.channels, &recording.Channel{Topic: []string{"/odom", "/state", "/amcl_pose"}[topic], SchemaName: schema, SchemaEncoding: "jsonschema", MessageEncoding: "json"})
	}
	s := newStore()
	importAll(t, src, recording.Options{}, s)
	place := func(topic string, i int) string {
		spatial, _ := s.of(topic)[i].Context["spatial"].(map[string]any)
		pose, _ := spatial["pose"].(map[string]any)
		return fmt.Sprint(pose["frame_id"], pose["position"])
	}
	if got := []string{place("/odom", 0), place("/state", 0), place("/amcl_pose", 0), place("/state", 1)}; !slices.Equal(got, []string{"map[40 0 0]", "map[40 0 0]", "map[40 0 0]", "<nil> <nil>"}) {
		t.Errorf("got %q", got)
	}
}

func TestChoices(t *testing.T) {
	path := synthetic(t, 4<<20)
	for name, test := range map[string]struct {
		o     recording.Options
		topic string
		want  func(recording.TopicReport) bool
	}{
		"all":      {recording.Options{}, "/wrench", func(r recording.TopicReport) bool { return r.Kept == r.Read && r.Read > 1000 }},
		"topics":   {recording.Options{Topics: []string{"/camera/*"}}, "/wrench", func(r recording.TopicReport) bool { return r.Kept == 0 && r.Skipped[recording.SkippedTopic] == r.Read }},
		"chosen":   {recording.Options{Topics: []string{"/camera/*"}}, "/camera/compressed", func(r recording.TopicReport) bool { return r.Kept == r.Read }},
		"slashes":  {recording.Options{Topics: []string{"/c*"}}, "/camera/compressed", func(r recording.TopicReport) bool { return r.Kept == r.Read }},
		"excluded": {recording.Options{Exclude: []string{"/wrench"}}, "/wrench", func(r recording.TopicReport) bool { return r.Kept == 0 }},
		"rate": {recording.Options{RateHz: map[string]float64{"*": 1, "/wrench": 10}}, "/wrench", func(r recording.TopicReport) bool {
			return r.Kept == (r.Read+99)/100 && r.Skipped[recording.SkippedRate] == r.Read-r.Kept
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := topics(importAll(t, open(t, path), test.o, newStore()))[test.topic]
			if !test.want(got) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestOptionsAreChecked(t *testing.T) {
	path := synthetic(t, 1<<20)
	for name, o := range map[string]recording.Options{
		"glob": {Topics: []string{"["}},
		"rate": {RateHz: map[string]float64{"*": -1}},
	} {
		if _, err := recording.Import(t.Context(), open(t, path), o, newStore(), nil); err == nil {
			t.Errorf("%s: %+v was taken", name, o)
		}
	}
}

func TestSegmentsAreBounded(t *testing.T) {
	for name, test := range map[string]struct {
		o     recording.Options
		src   recording.Source
		check func(importers.Perception) bool
	}{
		"messages": {recording.Options{}, &made{each: 30_000, data: []byte("{}")}, func(p importers.Perception) bool { return p.Messages <= 10_000 }},
		"bytes":    {recording.Options{}, &made{each: 300, data: make([]byte, 10_000)}, func(p importers.Perception) bool { return len(p.Data) <= 1<<20+10_000 }},
		"seconds":  {recording.Options{SegmentSeconds: 0.25}, open(t, synthetic(t, 4<<20)), func(p importers.Perception) bool { return p.Messages <= 250 }},
	} {
		t.Run(name, func(t *testing.T) {
			if m, ok := test.src.(*made); ok {
				m.channels = []*recording.Channel{{Topic: "/wrench", MessageEncoding: "x"}}
			}
			s := newStore()
			importAll(t, test.src, test.o, s)
			segments := s.of("/wrench")
			if len(segments) < 3 {
				t.Errorf("got %d segments", len(segments))
			}
			for _, p := range segments {
				if !test.check(p) {
					t.Errorf("got %d messages in %d bytes", p.Messages, len(p.Data))
				}
			}
		})
	}
}

func TestManifest(t *testing.T) {
	s := newStore()
	report := importAll(t, open(t, filepath.Join(rosbag2(t), "talker.mcap")), recording.Options{}, s)
	p := s.saved[s.order[0]]
	if p.MediaType != recording.ManifestType {
		t.Fatalf("the first perception is %s", p.MediaType)
	}
	var m recording.Manifest
	if err := json.Unmarshal(p.Data, &m); err != nil {
		t.Fatal(err)
	}
	if m.Recording != report.Recording || m.Messages != 20 || len(m.Channels) != 3 || m.Channels[2].SchemaName != "std_msgs/msg/String" || m.Channels[2].Messages != 10 || m.Start != 1585866235112411371 {
		t.Errorf("got %+v", m)
	}
	if got, want := p.Description, "recording talker.mcap: 20 messages on 3 topics over 4.5s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An import that is broken off leaves nothing that the next one stores again.
func TestImportGoesOn(t *testing.T) {
	path := synthetic(t, 12<<20)
	whole := newStore()
	importAll(t, open(t, path), recording.Options{SegmentSeconds: 0.2}, whole)
	full := errors.New("the disk is full")
	s := newStore()
	s.fail = func(saved int) error {
		if saved >= 70 {
			return full
		}
		return nil
	}
	report, err := recording.Import(t.Context(), open(t, path), recording.Options{SegmentSeconds: 0.2}, s, nil)
	if !errors.Is(err, full) || report == nil || report.Stored != 70 || s.ended != 0 {
		t.Fatalf("got %v, %+v, ended %d times", err, report, s.ended)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.fail = func(saved int) error {
		if saved >= 100 {
			cancel()
		}
		return nil
	}
	if _, err := recording.Import(ctx, open(t, path), recording.Options{SegmentSeconds: 0.2}, s, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v after cancelling", err)
	}
	s.fail = nil
	importAll(t, open(t, path), recording.Options{SegmentSeconds: 0.2}, s)
	if diff := cmp.Diff(whole.digests(), s.digests()); diff != "" {
		t.Errorf("(-at once +in three goes)\n%.2000s", diff)
	}
}

// digests stand for the perceptions, whose payloads are long to compare.
func (s *store) digests() map[string]string {
	out := map[string]string{}
	for origin, p := range s.saved {
		sum := sha256.Sum256(p.Data)
		p.Data = sum[:]
		out[origin] = fmt.Sprintf("%+v", p)
	}
	return out
}

// Memory does not grow with the recording.
func TestFlatMemory(t *testing.T) {
	size := int64(96 << 20)
	if testing.Short() {
		size = 48 << 20
	}
	if text := os.Getenv("ROBOTMEM_RECORDING_MIB"); text != "" {
		if _, err := fmt.Sscan(text, &size); err != nil {
			t.Fatal(err)
		}
		size <<= 20
	}
	src := open(t, synthetic(t, size))
	sink := &counter{}
	runtime.GC()
	start := time.Now()
	report, err := recording.Import(t.Context(), src, recording.Options{}, sink, nil)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	t.Logf("%d MiB, %d messages, %d perceptions in %v (%.0f MiB/s), live heap at most %d MiB", size>>20, report.Messages, report.Perceptions, took, float64(size>>20)/took.Seconds(), sink.heap>>20)
	if sink.heap > 64<<20 {
		t.Errorf("the heap grew to %d MiB", sink.heap>>20)
	}
	if sink.count > 64 || sink.bytes > 17<<20 {
		t.Errorf("got batches of up to %d perceptions and %d bytes", sink.count, sink.bytes)
	}
}

// counter keeps nothing but the largest heap and batch.
type counter struct {
	calls, count, bytes int
	heap                uint64
}

func (c *counter) Start(context.Context, importers.Session) (string, error) { return "s", nil }
func (*counter) Learn(_ context.Context, _ string, facts []importers.Fact) (int, error) {
	return len(facts), nil
}
func (c *counter) End(context.Context, string, importers.Ending) error { return nil }
func (c *counter) Save(_ context.Context, _ string, ps []importers.Perception) (int, error) {
	bytes := 0
	for _, p := range ps {
		bytes += len(p.Data)
	}
	c.count, c.bytes = max(c.count, len(ps)), max(c.bytes, bytes)
	if c.calls++; c.calls%8 == 0 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		c.heap = max(c.heap, m.HeapAlloc)
	}
	return len(ps), nil
}

// A manifest can be saved by anyone: entries without a channel are left out.
func TestExportOfAManifestWithoutChannels(t *testing.T) {
	items := func(yield func(recording.Exported, error) bool) {
		yield(recording.Exported{UID: "a", Perception: importers.Perception{
			MediaType: recording.ManifestType, Data: []byte(`{"channels":[{},null,{"messages":3},{"topic":"/a","message_encoding":"json"}]}`),
		}}, nil)
	}
	var out bytes.Buffer
	report, err := recording.Export(t.Context(), &out, items)
	if err != nil || report.Topics != 1 || !bytes.Contains(out.Bytes(), []byte("/a")) {
		t.Errorf("got %+v, %v", report, err)
	}
}

func TestJSONExport(t *testing.T) {
	at := time.Unix(1_700_000_000, 5)
	items := func(yield func(recording.Exported, error) bool) {
		_ = yield(recording.Exported{UID: "a", Fact: true, Category: "gotcha", Perception: importers.Perception{Description: "the drawer sticks", ObservedAt: at}}, nil) &&
			yield(recording.Exported{UID: "b", Perception: importers.Perception{Description: "a photo", MediaType: "image/png", Data: []byte("\x89PNG"), ObservedAt: at.Add(1)}}, nil) &&
			yield(recording.Exported{UID: "c", Perception: importers.Perception{Description: "a pull", MediaType: "text/csv", Data: []byte("Fx (N),Fy\n1,2\n3,\n"), Metadata: map[string]any{"rate_hz": 10.0}, ObservedAt: at.Add(2)}}, nil)
	}
	path := filepath.Join(t.TempDir(), "x.mcap")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	report, err := recording.Export(t.Context(), f, items)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if report.Messages != 5 || report.Originals != 0 {
		t.Errorf("got %+v", report)
	}
	rows, broken := read(t, open(t, path))
	if broken != nil {
		t.Fatal(broken)
	}
	var got []string
	for _, r := range rows {
		got = append(got, r.Topic+" "+r.Schema+" "+r.Data)
		if !json.Valid([]byte(r.SchemaText)) || !json.Valid([]byte(r.Data)) {
			t.Errorf("%s: schema or message is no JSON", r.Topic)
		}
	}
	want := []string{
		`/robotmem/facts foxglove.Log {"file":"a","level":2,"line":0,"message":"the drawer sticks","name":"gotcha","timestamp":{"nsec":5,"sec":1700000000}}`,
		`/robotmem/images foxglove.CompressedImage {"data":"iVBORw==","format":"png","frame_id":"","timestamp":{"nsec":6,"sec":1700000000}}`,
		`/robotmem/traces/c robotmem.Trace {"Fx":1,"Fy":2,"timestamp":{"nsec":7,"sec":1700000000}}`,
		`/robotmem/memories robotmem.Memory {"timestamp":{"nsec":7,"sec":1700000000},"uid":"c","type":"","description":"a pull","media_type":"text/csv","data":"RnggKE4pLEZ5CjEsMgozLAo=","metadata":{"rate_hz":10}}`,
		`/robotmem/traces/c robotmem.Trace {"Fx":3,"Fy":null,"timestamp":{"nsec":100000007,"sec":1700000000}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// made is a recording of channels that share the messages' payload.
type made struct {
	recording.Source
	channels []*recording.Channel
	each     int
	data     []byte
	times    []uint64 // of the messages; the first is 0, the second 1 and so on unless given
}

func (m *made) Name() string                       { return "made" }
func (m *made) ID(context.Context) (string, error) { return strings.Repeat("0", 64), nil }
func (m *made) Info(context.Context) (*recording.Info, error) {
	info := &recording.Info{}
	for _, t := range m.times {
		info.End = max(info.End, t)
	}
	for _, c := range m.channels {
		info.Channels = append(info.Channels, recording.ChannelInfo{Channel: c, Messages: uint64(m.each)})
	}
	return info, nil
}
func (m *made) Messages(context.Context) iter.Seq2[*recording.Message, error] {
	return func(yield func(*recording.Message, error) bool) {
		for i := range m.each {
			at := uint64(i)
			if m.times != nil {
				at = m.times[i]
			}
			for _, c := range m.channels {
				if !yield(&recording.Message{Channel: c, Message: segment.Message{LogTime: at, Data: m.data}}, nil) {
					return
				}
			}
		}
	}
}

// Segments that are open at once are closed before they fill the memory.
func TestOpenSegmentsAreBounded(t *testing.T) {
	src := &made{each: 4, data: make([]byte, 200<<10)}
	const topics = 120
	for i := range topics {
		src.channels = append(src.channels, &recording.Channel{Topic: fmt.Sprint("/", i), MessageEncoding: "x"})
	}
	s := newStore()
	report := importAll(t, src, recording.Options{}, s)
	if report.Messages != 4*topics || report.Perceptions <= 1+topics {
		t.Errorf("got %d messages in %d perceptions, want more than %d", report.Messages, report.Perceptions, 1+topics)
	}
	for _, topic := range report.Topics {
		if len(topic.Notes) != 1 {
			t.Errorf("%s: got notes %v, want why it is kept as bytes", topic.Topic, topic.Notes)
		}
	}
}

// What is handed over keeps the limits of the package importers, whatever the
// recording names its topics.
func TestContractOfImporting(t *testing.T) {
	src := &made{each: 2, data: []byte("{}")}
	for _, topic := range []string{"/" + strings.Repeat("long", 30_000), "/\xff", ""} {
		src.channels = append(src.channels, &recording.Channel{Topic: topic, SchemaName: topic, MessageEncoding: "json"})
	}
	for name, src := range map[string]recording.Source{"names": src, "synthetic": open(t, synthetic(t, 2<<20))} {
		report, err := recording.Import(t.Context(), src, recording.Options{Robot: "r"}, importerstest.New(t), nil)
		if err != nil || report.Stored < 4 {
			t.Errorf("%s: got %+v, %v", name, report, err)
		}
	}
	sink := importerstest.New(t)
	for _, want := range []error{nil, importers.ErrEnded} {
		if _, err := recording.Import(t.Context(), src, recording.Options{}, sink, nil); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

// MCAP's times reach beyond what can be stored; a clock that was never set must
// not end the import.
func TestTimesBeyondTheCalendar(t *testing.T) {
	src := &made{data: []byte("{}"), times: []uint64{0, 5, 1 << 62, math.MaxInt64, 1 << 63, math.MaxUint64}}
	src.each = len(src.times)
	src.channels = []*recording.Channel{{Topic: "/t", SchemaName: "T", MessageEncoding: "json"}}
	sink := importerstest.New(t)
	if _, err := recording.Import(t.Context(), src, recording.Options{}, sink, nil); err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, p := range sink.Saved {
		kept += p.Messages
		if strings.Contains(p.Description, "-") {
			t.Errorf("a time is below 0 in %q", p.Description)
		}
	}
	if kept != src.each {
		t.Errorf("got %d messages, want %d", kept, src.each)
	}
}
