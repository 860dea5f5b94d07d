package recording_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/segment"
)

const ros1Odometry = `Header header
string child_frame_id
geometry_msgs/PoseWithCovariance pose
================================================================================
MSG: std_msgs/Header
uint32 seq
time stamp
string frame_id
================================================================================
MSG: geometry_msgs/PoseWithCovariance
Pose pose
float64[36] covariance
================================================================================
MSG: geometry_msgs/Pose
Point position
Quaternion orientation
================================================================================
MSG: geometry_msgs/Point
float64 x
float64 y
float64 z
================================================================================
MSG: geometry_msgs/Quaternion
float64 x
float64 y
float64 z
float64 w
`

// ros1Odom is a message of [ros1Odometry] at a time, whose x is given.
func ros1Odom(sec uint32, x float64) []byte {
	out := binary.LittleEndian.AppendUint32(nil, 1)
	out = binary.LittleEndian.AppendUint32(out, sec)
	out = binary.LittleEndian.AppendUint32(out, 0)
	for _, text := range []string{"/odom", "base_link"} {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(text))), text...)
	}
	for _, v := range []float64{x, 0, 0, 0, 0, 0, 1} {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return append(out, make([]byte, 36*8)...)
}

// Messages of ROS 1 in MCAP, as "mcap convert x.bag" writes them, give times, poses and traces as those in CDR.
func TestROS1InMCAP(t *testing.T) {
	const n, start = 20, 1_700_000_000
	c := &segment.Channel{Topic: "/odom", SchemaName: "nav_msgs/Odometry", SchemaEncoding: "ros1msg", SchemaData: []byte(ros1Odometry), MessageEncoding: "ros1"}
	var messages []segment.Message
	for i := range uint32(n) {
		at := uint64(start+i)*1e9 + 5e8
		messages = append(messages, segment.Message{LogTime: at, PublishTime: at, Data: ros1Odom(start+i, float64(i))})
	}
	s := newStore()
	report := importAll(t, open(t, write(t, "a.mcap", mcapOf(t, c, messages))), recording.Options{SegmentSeconds: 60}, s)
	if report.Messages != n || report.Undecoded != 0 {
		t.Errorf("%d of %d messages are not decoded: %v", report.Undecoded, report.Messages, report.Topics)
	}

	p := s.of("/odom")[0]
	if got := p.ObservedAt.Unix(); got != start || p.ObservedAt.Nanosecond() != 0 {
		t.Errorf("observed at %v, want the time of the header", p.ObservedAt)
	}
	pose, _ := p.Context["spatial"].(map[string]any)["pose"].(map[string]any)
	if pose["frame_id"] != "odom" {
		t.Errorf("got the pose %v", pose)
	}
	item := perception.Item{MediaType: p.MediaType, Data: p.Data}
	samples, err := perception.MakeSamples(item, perception.SamplesOptions{Trace: true})
	if err != nil || samples.Total != n || samples.Time[n-1] != n-1 {
		t.Fatalf("got %+v, %v", samples, err)
	}
	if got := perception.Summarize(item); !strings.Contains(got, "position.x peak 19 m") {
		t.Errorf("got %q", got)
	}

	// A definition of ROS 2 does not describe a message of ROS 1.
	c.SchemaEncoding = "ros2msg"
	report = importAll(t, open(t, write(t, "a.mcap", mcapOf(t, c, messages))), recording.Options{}, newStore())
	for note := range topics(report)["/odom"].Notes {
		if !strings.Contains(note, "the definition of nav_msgs/Odometry is missing") {
			t.Errorf("got the note %q", note)
		}
	}
}
