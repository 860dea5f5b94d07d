package recording

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/message"
)

// The media types of what has none.
const (
	rawImageType   = "image/x-raw"
	pointCloudType = "application/x-pointcloud2"
)

// maxEnvelope is what stands around a payload at most, so that it fits into the
// metadata beside the fields of a cloud; with more the message goes to a segment.
const maxEnvelope = 8 << 10

const foxgloveImage = "foxglove.CompressedImage"

// payload is the part of a message that other programs can open: the JPEG of a
// compressed image, the pixels of a raw one, the points of a cloud. What stands
// before and behind it in the message goes to the envelope, so that prefix,
// payload and suffix are the message, byte for byte. In a JSON message the payload
// stands in base64, which the envelope says.
type payload struct {
	mediaType      string
	data           []byte
	prefix, suffix []byte
	base64         bool // the message holds the payload in base64
	metadata       map[string]any
}

// unwrap finds the payload of a decoded message; ok is false for types that have
// none, and for an empty one.
func unwrap(m *Message, v *message.Value) (p payload, ok bool) {
	data := v.At("data")
	if m.SchemaName == foxgloveImage {
		return unwrapJSON(m, v)
	}
	if data.Kind != message.Bytes || len(data.Data) == 0 {
		return p, false
	}
	switch typeName(m.SchemaName) {
	case "sensor_msgs/CompressedImage":
		sniffed, err := perception.Sniff(data.Data, "")
		if err != nil {
			return p, false
		}
		p.mediaType = sniffed
		p.metadata = map[string]any{"format": v.At("format").Text}
	case "sensor_msgs/Image":
		p.mediaType = rawImageType
		p.metadata = numbersOf(v, "width", "height", "step", "is_bigendian")
		p.metadata["encoding"] = v.At("encoding").Text
	case "sensor_msgs/PointCloud2":
		p.mediaType = pointCloudType
		p.metadata = numbersOf(v, "width", "height", "point_step", "row_step", "is_bigendian")
		fields := []any{}
		for i := range v.At("fields").List {
			f := &v.At("fields").List[i]
			one := numbersOf(f, "offset", "datatype", "count")
			one["name"] = f.At("name").Text
			fields = append(fields, one)
		}
		p.metadata["fields"] = fields
	default:
		return p, false
	}
	end := data.Offset + len(data.Data)
	if len(m.Data)-len(data.Data) > maxEnvelope {
		return p, false
	}
	p.data, p.prefix, p.suffix = data.Data, m.Data[:data.Offset], m.Data[end:]
	return p, true
}

// unwrapJSON takes a picture out of base64. It is left there when it is not
// spelt as it would be when it is put back.
func unwrapJSON(m *Message, v *message.Value) (p payload, ok bool) {
	text := v.At("data").Text
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(data) == 0 || m.MessageEncoding != "json" || base64.StdEncoding.EncodeToString(data) != text {
		return p, false
	}
	prefix, suffix, found := bytes.Cut(m.Data, []byte(`"`+text+`"`))
	if !found || len(m.Data)-len(text) > maxEnvelope {
		return p, false
	}
	mediaType, err := perception.Sniff(data, "")
	if err != nil {
		return p, false
	}
	end := len(m.Data) - len(suffix) - 1
	return payload{
		mediaType: mediaType, data: data, base64: true,
		prefix: m.Data[:len(prefix)+1], suffix: m.Data[end:],
		metadata: map[string]any{"format": v.At("format").Text},
	}, true
}

func numbersOf(v *message.Value, names ...string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		out[name] = v.At(name).Float
	}
	return out
}

// envelope is the form of prefix and suffix in a perception's metadata.
func (p payload) envelope() map[string]any {
	e := map[string]any{
		"prefix": base64.StdEncoding.EncodeToString(p.prefix),
		"suffix": base64.StdEncoding.EncodeToString(p.suffix),
	}
	if p.base64 {
		e["payload"] = "base64"
	}
	return e
}

// typeName is pkg/Type, however the recorder spells it.
func typeName(schema string) string {
	parts := strings.Split(schema, "/")
	if len(parts) == 3 {
		return parts[0] + "/" + parts[2]
	}
	return schema
}

// senses are the kinds of perception that types of messages are; a name that
// ends in a slash stands for a package.
var senses = []struct{ prefix, sense string }{
	{"sensor_msgs/CompressedImage", "visual"}, {"sensor_msgs/Image", "visual"}, {"sensor_msgs/CameraInfo", "visual"},
	{"foxglove.CompressedImage", "visual"}, {"foxglove.RawImage", "visual"}, {"foxglove.CompressedVideo", "visual"}, {"stereo_msgs/", "visual"}, {"vision_msgs/", "visual"},
	{"geometry_msgs/Wrench", "tactile"}, {"sensor_msgs/FluidPressure", "tactile"},
	{"sensor_msgs/JointState", "proprioceptive"}, {"sensor_msgs/Imu", "proprioceptive"}, {"sensor_msgs/BatteryState", "proprioceptive"},
	{"sensor_msgs/PointCloud", "spatial"}, {"sensor_msgs/LaserScan", "spatial"}, {"sensor_msgs/MultiEchoLaserScan", "spatial"}, {"sensor_msgs/Range", "spatial"}, {"sensor_msgs/NavSat", "spatial"},
	{"geometry_msgs/Twist", "proprioceptive"}, {"geometry_msgs/Accel", "proprioceptive"}, {"geometry_msgs/", "spatial"}, {"nav_msgs/", "spatial"}, {"tf2_msgs/", "spatial"}, {"foxglove.PointCloud", "spatial"}, {"foxglove.FrameTransform", "spatial"},
	{"audio_common_msgs/", "auditory"}, {"foxglove.RawAudio", "auditory"},
	{"std_msgs/String", "procedural"}, {"rcl_interfaces/", "procedural"}, {"diagnostic_msgs/", "procedural"}, {"action_msgs/", "procedural"}, {"foxglove.Log", "procedural"},
}

// sense is the kind of a perception by its messages' type; what is not known is
// of the robot itself.
func sense(schema string) string {
	name := typeName(schema)
	for _, s := range senses {
		if strings.HasPrefix(name, s.prefix) {
			return s.sense
		}
	}
	return "proprioceptive"
}
