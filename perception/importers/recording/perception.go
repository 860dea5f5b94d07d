package recording

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/media"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// ManifestType is the media type of a recording's manifest.
const ManifestType = "application/vnd.robotmem.recording+json"

// Manifest describes a recording so that it can be written again.
type Manifest struct {
	Version   int    `json:"version"`
	Recording string `json:"recording"` // its ID
	Name      string `json:"name"`
	Info
}

func (imp *importer) manifest() importers.Perception {
	m := Manifest{Version: 1, Recording: imp.id, Name: imp.name, Info: *imp.info}
	m.Channels = imp.listed()
	data, _ := json.MarshalIndent(m, "", " ") // of texts and whole numbers
	// The times of a damaged recording may be further apart than a Duration can hold.
	duration := time.Duration(min(m.End-m.Start, math.MaxInt64)).Round(100 * time.Millisecond)

	return importers.Perception{
		Origin: imp.id[:32] + "#manifest", Type: "procedural", MediaType: ManifestType, Data: data,
		Description: fmt.Sprintf("recording %s: %d messages on %d topics over %s", imp.name, m.Messages,
			len(m.Channels), duration),
		Metadata: map[string]any{"recording": imp.id, "format": m.Format},
		Context:  imp.context(nil, nil, 0), ObservedAt: imp.began(),
	}
}

// payloadPerception describes the payload that unwrap has found in a message, without its data.
func (imp *importer) payloadPerception(
	c *channel, m *Message, v *message.Value, p importers.Perception, number uint64,
) importers.Perception {
	metadata := imp.metadata(m.Channel, m.Message, 1)
	maps.Copy(metadata, p.Metadata)

	return importers.Perception{
		Origin: imp.origin(m.Topic, number, m.LogTime, ""), Type: perceptionType(m.SchemaName),
		Description: imp.describe(m.Channel, m.LogTime, 1),
		MediaType:   p.MediaType,
		Metadata:    metadata, Context: imp.context(c.robot, v, m.LogTime), ObservedAt: timeOf(observed(v, m.Message)), Messages: 1,
	}
}

// placed sets when and where the first message of a segment was observed, while that is known.
// A message that cannot be decoded, whose v is nil, has neither a frame nor a time stamp.
func (imp *importer) placed(s *openSegment, c *channel, m *Message, v *message.Value) *openSegment {
	s.observed, s.problem = imp.clock.observed(v, m)
	s.context = imp.context(c.robot, v, s.first.LogTime)
	imp.place(placement{
		context: s.context, segment: s, robot: c.robot, frame: frameOf(v), at: c.robot.placeTime(v, s.first.LogTime),
		logTime: s.first.LogTime,
	})

	return s
}

// placement is a context whose pose may become better: a later one lies on the other side of its time, or is the
// first in the map.
type placement struct {
	context map[string]any
	segment *openSegment // nil: the context is of a perception in the batch
	robot   *robot
	frame   string
	at      uint64 // on the clock of the poses
	logTime uint64
	next    uint64 // the log time at which it is tried again
}

// tryPlaceEvery is how often a pose is looked for again, in ns of log time.
const tryPlaceEvery = 1e8

// place notes that the pose of a context may become better.
func (imp *importer) place(one placement) {
	if _, isExact, _ := one.robot.poses.find(one.frame, one.at); !isExact || one.root() != "map" {
		imp.placements = append(imp.placements, one)
	}
}

func (p *placement) root() any {
	spatial, _ := p.context["spatial"].(map[string]any)
	pose, _ := spatial["pose"].(map[string]any)
	return pose["frame_id"]
}

// locate looks for better poses. Poses before the localization started are relative to odom, and a pose in the map is
// worth replacing them.
func (imp *importer) locate(now uint64) {
	left := imp.placements[:0]

	for _, one := range imp.placements {
		expired := now > one.logTime+poseStale*1e9
		if now < one.next && !expired {
			left = append(left, one)
			continue
		}

		pose, isExact, found := one.robot.poses.find(one.frame, one.at)
		better := found && (isExact || one.root() != "map") && (pose["frame_id"] == "map" || one.root() != "map")
		if better {
			spatial, _ := one.context["spatial"].(map[string]any)
			if spatial == nil {
				spatial = map[string]any{}
				one.context["spatial"] = spatial
			}
			spatial["pose"] = pose
		} else {
			one.next = now + tryPlaceEvery
		}

		if !expired && (!isExact || one.root() != "map") {
			left = append(left, one)
		}
	}

	clear(imp.placements[len(left):])
	imp.placements = left
}

// forgetPlacements forgets the contexts of perceptions that were saved.
func (imp *importer) forgetPlacements() {
	imp.placements = slices.DeleteFunc(imp.placements, func(one placement) bool {
		return !slices.ContainsFunc(imp.open, func(c *channel) bool { return c.segment == one.segment })
	})
}

func (imp *importer) segmentPerception(c *channel, s *openSegment, data []byte) importers.Perception {
	metadata := imp.metadata(c.Channel, s.first, s.count)
	metadata["last_log_time"] = imp.clock.decimal(s.last)
	if s.problem != "" {
		metadata["time_problem"] = s.problem
	}

	return importers.Perception{
		Origin: imp.origin(c.Topic, s.from, s.first.LogTime,
			"-"+strconv.FormatUint(s.to, 10)+"/"+strconv.Itoa(s.count)),
		Type:        perceptionType(c.SchemaName),
		Description: imp.describe(c.Channel, s.first.LogTime, s.count),
		MediaType:   media.TypeMCAP, Data: data,
		Metadata: metadata, Context: s.context, ObservedAt: s.observed, Messages: s.count,
	}
}

// origin is the recording, the topic, the number of the message within the topic and its
// time. The origin of a segment also has its last message and how many it holds, since a
// rate limit leaves some out.
func (imp *importer) origin(topic string, number, logTime uint64, rest string) string {
	return importers.Origin(imp.id[:32] + topic + "#" + strconv.FormatUint(number, 10) + "@" + imp.clock.decimal(logTime) + rest)
}

const (
	maxName  = 4 << 10 // bytes of a name within the metadata
	maxTopic = 255     // bytes of a topic within a description; the limit of ROS 2
)

func (imp *importer) metadata(c *Channel, first segment.Message, count int) map[string]any {
	return map[string]any{
		"recording": imp.id, "topic": importers.Cut(c.Topic, maxName), "schema": importers.Cut(c.SchemaName, maxName),
		"schema_encoding": importers.Cut(c.SchemaEncoding, maxTopic), "message_encoding": importers.Cut(c.MessageEncoding, maxTopic),
		"sequence": float64(first.Sequence), "log_time": imp.clock.decimal(first.LogTime), "publish_time": imp.clock.decimal(first.PublishTime), "count": float64(count),
	}
}

// describe writes "/camera/front sensor_msgs/msg/CompressedImage at 12.3 s", the time
// since the recording began.
func (imp *importer) describe(c *Channel, logTime uint64, count int) string {
	name := cmp.Or(c.SchemaName, c.MessageEncoding+" messages")
	at := imp.sinceStart(logTime)
	s := strings.ToValidUTF8(fmt.Sprintf("%.*s %.*s at %.1f s", maxTopic, c.Topic, maxTopic, name, at), "?")
	if count > 1 {
		s += fmt.Sprintf(", %d messages", count)
	}

	return s + " of " + imp.name
}

// context says where a robot was. v is nil if there is no message.
func (imp *importer) context(r *robot, v *message.Value, logTime uint64) map[string]any {
	c := map[string]any{"source": map[string]any{"recording": imp.name, "recording_id": imp.id}}
	if imp.o.Robot != "" {
		c["robot"] = map[string]any{"id": imp.o.Robot}
	}
	// A manifest or a session has no moment at which the robot could be located.
	if logTime == 0 {
		return c
	}

	spatial := map[string]any{}
	if pose, ok := r.poses.of(frameOf(v), r.placeTime(v, logTime)); ok {
		spatial["pose"] = pose
	}
	if lat, lon := v.At("latitude"), v.At("longitude"); lat.Kind == message.Float64 && media.Finite(lat.Float) &&
		media.Finite(lon.Float) {
		spatial["globe"] = map[string]any{"lat": lat.Float, "lon": lon.Float}
	}
	if len(spatial) > 0 {
		c["spatial"] = spatial
	}

	return c
}

// placeTime is the time at which the poses tell where a message was observed.
func (r *robot) placeTime(v *message.Value, logTime uint64) uint64 {
	return cmp.Or(stampOn(v, logTime), r.poses.logged(logTime))
}

func frameOf(v *message.Value) string {
	return cmp.Or(v.At("header", "frame_id").Text, v.At("frame_id").Text)
}

// observed returns the time of the header, or else of the publication, on the clock of the log.
func observed(v *message.Value, m segment.Message) uint64 {
	if t := stampOf(v, m.LogTime); t != m.LogTime || m.PublishTime == 0 || !sameClock(m.PublishTime, m.LogTime) {
		return t
	}
	return m.PublishTime
}

// maxEnvelope bounds the bytes around a payload, so that they fit into the metadata beside
// the fields of a cloud. A message with more goes to a segment.
const maxEnvelope = 8 << 10

// payloadTypes are the types of messages that [unwrap] finds a payload in.
var payloadTypes = []string{
	"sensor_msgs/CompressedImage", "sensor_msgs/Image", "sensor_msgs/PointCloud2",
	"foxglove.CompressedImage", "foxglove.RawImage", "foxglove.PointCloud",
}

// unwrap finds the payload of a decoded message, the part that other programs can open: the JPEG of a
// compressed image, the pixels of a raw one, the points of a cloud. The bytes before and after it go
// to the envelope, so that prefix, payload and suffix are the message, byte for byte. Of p the media
// type, the data and the metadata are set; ok is false if there is no payload or an empty one.
func unwrap(m *Message, v *message.Value) (p importers.Perception, ok bool) {
	data := v.At("data")
	if data.Kind != message.Bytes || len(data.Data) == 0 || len(m.Data)-len(data.Data) > maxEnvelope {
		return p, false
	}

	// Bytes of the data before the payload.
	head := 0

	switch message.ShortName(m.SchemaName) {
	case "sensor_msgs/CompressedImage", "foxglove.CompressedImage":
		p.Metadata = map[string]any{"format": v.At("format").Text}
		head = compressedDepth(v.At("format").Text, data.Data, p.Metadata)
		// Fails only for a declared type.
		p.MediaType, _ = perception.Sniff(data.Data[head:], "")
	case "sensor_msgs/Image", "foxglove.RawImage":
		p.MediaType = media.TypePixels
		p.Metadata = numbersOf(v, "width", "height", "step", "is_bigendian")
		p.Metadata["encoding"] = v.At("encoding").Text
	case "sensor_msgs/PointCloud2":
		p.MediaType = media.TypePointCloud2
		p.Metadata = numbersOf(v, "width", "height", "point_step", "row_step", "is_bigendian")
		fields := []any{}

		for i := range v.At("fields").List {
			f := &v.At("fields").List[i]
			one := numbersOf(f, "offset", "datatype", "count")
			one["name"] = f.At("name").Text
			fields = append(fields, one)
		}
		p.Metadata["fields"] = fields
	case "foxglove.PointCloud":
		p.MediaType = media.TypePointCloud2
		p.Metadata = foxgloveCloud(v, len(data.Data))
	}

	p.Data = data.Data[head:]
	p.Metadata["envelope"] = map[string]any{
		"prefix": base64.StdEncoding.EncodeToString(m.Data[:data.Offset+head]),
		"suffix": base64.StdEncoding.EncodeToString(m.Data[data.Offset+len(data.Data):]),
	}

	return p, true
}

// foxgloveTypes are the types of ROS, as sensor_msgs/PointField numbers them, by the numbers that Foxglove gives them.
var foxgloveTypes = map[float64]float64{1: 2, 2: 1, 3: 4, 4: 3, 5: 6, 6: 5, 7: 7, 8: 8}

// foxgloveCloud describes the points of a foxglove.PointCloud as those of a sensor_msgs/PointCloud2 of one row.
func foxgloveCloud(v *message.Value, size int) map[string]any {
	stride := v.At("point_stride").Float
	points := 0.0
	if stride > 0 {
		points = math.Floor(float64(size) / stride)
	}

	fields := []any{}

	for i := range v.At("fields").List {
		f := &v.At("fields").List[i]
		fields = append(fields, map[string]any{
			"name": f.At("name").Text, "offset": f.At("offset").Float, "datatype": foxgloveTypes[f.At("type").Float], "count": 1.0,
		})
	}

	return map[string]any{
		"width": points, "height": 1.0, "point_step": stride, "row_step": points * stride, "is_bigendian": 0.0, "fields": fields,
	}
}

// noPicture says that the bytes of a compressed picture are in no format that is recognised, such as
// the RVL of depth images. They are kept.
func noPicture(m *Message, p *importers.Perception) string {
	name := message.ShortName(m.SchemaName)
	if name != "sensor_msgs/CompressedImage" && name != "foxglove.CompressedImage" || strings.HasPrefix(p.MediaType, "image/") {
		return ""
	}
	format, _ := p.Metadata["format"].(string)
	return fmt.Sprintf("a picture in the format %q is not read; kept as bytes", media.Clean(format, media.MaxName))
}

// depthHead is the length of the head that compressed_depth_image_transport puts before a PNG: a
// format of 32 bits and two parameters of the quantization, as float32.
const depthHead = 12

// compressedDepth returns the bytes before the picture of a message in the format "16UC1;
// compressedDepth png", and says in the metadata what its pixels are: the distances in millimetres of
// 16UC1, or the quotients of 32FC1, in which a distance is a/(pixel-b). It returns 0 for any other format.
func compressedDepth(format string, data []byte, metadata map[string]any) int {
	if !strings.Contains(format, "compressedDepth") || len(data) <= depthHead ||
		!bytes.HasPrefix(data[depthHead:], []byte("\x89PNG")) {
		return 0
	}

	encoding, _, _ := strings.Cut(format, ";")
	switch encoding = strings.TrimSpace(encoding); encoding {
	case "32FC1":
		var quantization [2]float32
		if _, err := binary.Decode(data[4:depthHead], binary.LittleEndian, &quantization); err == nil {
			metadata["inverse_depth"] = map[string]any{"a": decimalOf(quantization[0]), "b": decimalOf(quantization[1])}
		}
	default:
		metadata["kind"], metadata["units"] = "depth", "mm"
	}
	metadata["encoding"] = encoding

	return depthHead
}

// decimalOf returns a number that JSON can hold; 0 for NaN and infinity.
func decimalOf(v float32) float64 {
	if !media.Finite(float64(v)) {
		return 0
	}
	return float64(v)
}

func numbersOf(v *message.Value, names ...string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		out[name] = v.At(name).Float
	}
	return out
}

// perceptionTypes are the types of perceptions by the beginning of a message type. A name
// that ends in a slash stands for a package.
var perceptionTypes = []struct{ prefix, perceptionType string }{
	{"sensor_msgs/CompressedImage", "visual"}, {"sensor_msgs/Image", "visual"}, {"sensor_msgs/CameraInfo", "visual"},
	{"foxglove.CompressedImage", "visual"}, {"foxglove.RawImage", "visual"}, {
		"foxglove.CompressedVideo", "visual",
	}, {"stereo_msgs/", "visual"}, {"vision_msgs/", "visual"},
	{"geometry_msgs/Wrench", "tactile"}, {"sensor_msgs/FluidPressure", "tactile"},
	{"sensor_msgs/JointState", "proprioceptive"}, {"sensor_msgs/Imu", "proprioceptive"}, {
		"sensor_msgs/BatteryState", "proprioceptive",
	},
	{"sensor_msgs/PointCloud", "spatial"}, {"sensor_msgs/LaserScan", "spatial"}, {
		"sensor_msgs/MultiEchoLaserScan", "spatial",
	}, {"sensor_msgs/Range", "spatial"}, {"sensor_msgs/NavSat", "spatial"},
	{"geometry_msgs/Twist", "proprioceptive"}, {"geometry_msgs/Accel", "proprioceptive"}, {
		"geometry_msgs/", "spatial",
	}, {"nav_msgs/", "spatial"}, {"tf2_msgs/", "spatial"}, {"foxglove.PointCloud", "spatial"}, {
		"foxglove.FrameTransform", "spatial",
	},
	{"foxglove.Pose", "spatial"}, {"foxglove.Odometry", "spatial"}, {"foxglove.LaserScan", "spatial"}, {
		"foxglove.Location", "spatial",
	}, {"foxglove.Grid", "spatial"}, {"foxglove.VoxelGrid", "spatial"},
	{"audio_common_msgs/", "auditory"}, {"foxglove.RawAudio", "auditory"},
	{"std_msgs/String", "procedural"}, {"rcl_interfaces/", "procedural"}, {"diagnostic_msgs/", "procedural"}, {
		"action_msgs/", "procedural",
	}, {"foxglove.Log", "procedural"},
}

// perceptionType returns the type of a perception by the type of its messages. Unknown
// messages are proprioceptive.
func perceptionType(schema string) string {
	name := message.ShortName(schema)
	for _, t := range perceptionTypes {
		if strings.HasPrefix(name, t.prefix) {
			return t.perceptionType
		}
	}

	return "proprioceptive"
}
