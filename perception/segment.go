package perception

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/robotmem/robotmem-go/perception/message"
)

// Segment is a run of messages of one topic: a small MCAP file of one channel,
// its schema and the messages, without chunks and without an index.
type Segment struct {
	Topic           string
	SchemaName      string // sensor_msgs/msg/Imu
	SchemaEncoding  string // "" without a schema
	SchemaData      []byte
	MessageEncoding string
	Metadata        map[string]string
	Messages        []SegmentMessage
}

// SegmentMessage is one message; its data is a part of the segment's.
type SegmentMessage struct {
	Sequence             uint32
	LogTime, PublishTime uint64 // ns since 1970
	Data                 []byte
}

var segmentFormat = format{
	name:      "segment",
	accepts:   func(it Item) bool { return bytes.HasPrefix(it.Data, []byte(mcapMagic)) },
	summarize: summarizeSegment,
	features: func(it Item) (string, []float32, bool) {
		_, s, err := segmentSeries(it.Data)
		if err != nil {
			return "", nil, false
		}
		return traceFormat.features(s.item())
	},
	preview: func(it Item, o PreviewOptions) (*Preview, error) {
		_, s, err := segmentSeries(it.Data)
		if err != nil {
			return nil, err
		}
		if traceFormat.preview == nil {
			return nil, ErrNoPreview
		}
		return traceFormat.preview(s.item(), o)
	},
	samples: segmentSamples,
}

// recordHead is the kind and the length of an MCAP record.
const recordHead = 1 + 8

// DecodeSegment reads a segment. The error says why the data is none: a whole
// recording with chunks or several channels is read by the package recording.
func DecodeSegment(data []byte) (*Segment, error) {
	if !bytes.HasPrefix(data, []byte(mcapMagic)) {
		return nil, errors.New("the data does not begin as MCAP does")
	}
	s := &Segment{}
	channels := 0
	for at := len(mcapMagic); at < len(data); {
		if len(data)-at < recordHead {
			return nil, fmt.Errorf("the segment is cut at byte %d", at)
		}
		op, length := mcap.OpCode(data[at]), binary.LittleEndian.Uint64(data[at+1:])
		rest := data[at+recordHead:]
		if length > uint64(len(rest)) {
			return nil, fmt.Errorf("the record at byte %d takes %d bytes where %d are left", at, length, len(rest))
		}
		var err error
		switch body := rest[:length:length]; op {
		case mcap.OpSchema:
			err = s.schema(body)
		case mcap.OpChannel:
			if channels++; channels > 1 {
				err = errors.New("it has several channels")
				break
			}
			err = s.channel(body)
		case mcap.OpMessage:
			err = s.message(body, channels)
		case mcap.OpChunk:
			err = errors.New("it has chunks")
		case mcap.OpDataEnd, mcap.OpFooter:
			at = len(data) // only an index can follow
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("the record at byte %d: %w", at, err)
		}
		at += recordHead + int(length)
	}
	if channels == 0 {
		return nil, errors.New("the segment has no channel")
	}
	return s, nil
}

func (s *Segment) schema(body []byte) error {
	read, err := mcap.ParseSchema(body)
	if err == nil {
		s.SchemaName, s.SchemaEncoding, s.SchemaData = read.Name, read.Encoding, read.Data
	}
	return err
}

func (s *Segment) channel(body []byte) error {
	read, err := mcap.ParseChannel(body)
	if err == nil {
		s.Topic, s.MessageEncoding, s.Metadata = read.Topic, read.MessageEncoding, read.Metadata
	}
	return err
}

func (s *Segment) message(body []byte, channels int) error {
	if channels == 0 {
		return errors.New("a message comes before its channel")
	}
	var m mcap.Message
	if err := m.PopulateFrom(body, false); err != nil {
		return err
	}
	s.Messages = append(s.Messages, SegmentMessage{Sequence: m.Sequence, LogTime: m.LogTime, PublishTime: m.PublishTime, Data: m.Data})
	return nil
}

// summarizeSegment writes "42 messages of geometry_msgs/msg/WrenchStamped on
// /wrist/wrench over 10.00 s; Fz peak -62 N at 0.08 s", or quotes how the text
// of the first message begins.
func summarizeSegment(it Item) string {
	seg, s, err := segmentSeries(it.Data)
	if seg == nil {
		return ""
	}
	line := plural(uint64(len(seg.Messages)), "message")
	if seg.SchemaName != "" {
		line += " of " + clean(seg.SchemaName, 2*maxNameRunes)
	}
	line += " on " + clean(seg.Topic, 2*maxNameRunes)
	if n := len(seg.Messages); n > 1 {
		duration := float64(int64(seg.Messages[n-1].LogTime-seg.Messages[0].LogTime)) * 1e-9
		if c := newClock(duration); c.unit != "" {
			line += " over " + c.at(duration)
		}
	}
	if err != nil {
		if text := seg.firstText(); text != "" {
			line += ": " + text
		}
		return line
	}
	_, channels := s.whatItIs()
	if p, ok := s.peak(channels); ok {
		line += ";" + s.peakText(p, newClock(s.seconds()))
	}
	return line
}

// firstText is how the text of the first message begins that has one.
func (s *Segment) firstText() string {
	schema, err := s.parseSchema()
	if err != nil {
		return ""
	}
	for _, m := range s.Messages {
		v, err := schema.Decode(m.Data)
		if err != nil {
			return ""
		}
		if text := textOf(v); text != "" {
			return clean(text[:min(len(text), 4*maxSummary)], 200)
		}
	}
	return ""
}

// textOf is what a message says in words. Beside them its numbers, such as the
// line of a program in a log, are no readings.
func textOf(v *message.Value) string {
	for _, name := range []string{"data", "msg", "message", "text"} {
		if f := v.At(name); f.Kind == message.String && f.Text != "" {
			return f.Text
		}
	}
	return ""
}

func (s *Segment) parseSchema() (*message.Schema, error) {
	encoding := s.SchemaEncoding
	if s.MessageEncoding == "json" {
		encoding = "jsonschema"
	}
	return message.Parse(s.SchemaName, encoding, s.SchemaData)
}

var errNoNumbers = fmt.Errorf("%w in the messages", ErrNoSamples)

// segmentSeries turns the numbers of the messages into a series. The segment is
// nil only when the data is none.
func segmentSeries(data []byte) (*Segment, *series, error) {
	seg, err := DecodeSegment(data)
	if err != nil {
		return nil, nil, err
	}
	schema, err := seg.parseSchema()
	if err != nil {
		return seg, nil, err
	}
	s := &series{}
	stamps := make([]uint64, 0, len(seg.Messages))
	for i, m := range seg.Messages {
		v, err := schema.Decode(m.Data)
		if err != nil {
			return seg, nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		if textOf(v) != "" {
			return seg, nil, errNoNumbers
		}
		stamps = append(stamps, stampOf(v, m.LogTime))
		row := leavesOf(v)
		if i == 0 {
			s.width, s.channels, s.units = len(row), nil, nil
			for _, l := range row {
				s.channels, s.units = append(s.channels, l.name), append(s.units, l.unit)
			}
			if s.width*len(seg.Messages) > maxReadings {
				return seg, nil, errTooLong
			}
			s.values = make([]float64, 0, s.width*len(seg.Messages))
		}
		s.values = row.appendTo(s.values, s.channels)
	}
	if s.width == 0 {
		return seg, nil, errNoNumbers
	}
	if s.stamps = seg.times(stamps); s.stamps != nil {
		last := len(s.stamps) - 1
		s.setRate(float64(last) / s.stamps[last])
	}
	return seg, s, nil
}

// stampOf is the header's time when there is one, else the log's, in ns.
func stampOf(v *message.Value, logTime uint64) uint64 {
	stamp := v.At("header", "stamp")
	sec, nanosec := stamp.Field("sec"), stamp.Field("nanosec")
	if !sec.IsNumber() || !nanosec.IsNumber() || sec.Int <= 0 {
		return logTime
	}
	return uint64(sec.Int)*1e9 + uint64(nanosec.Int)
}

// item is the series as a trace that any reader of traces takes.
func (s *series) item() Item {
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", s.len(), s.width)
	// The array begins at a multiple of 64 bytes, as the format wants it.
	const align, prefix = 64, len(npyMagic) + 4
	header += strings.Repeat(" ", align-(prefix+len(header)+1)%align) + "\n"
	data := make([]byte, 0, prefix+len(header)+8*len(s.values))
	data = append(data, npyMagic+"\x01\x00"...)
	data = binary.LittleEndian.AppendUint16(data, uint16(len(header)))
	data = append(data, header...)
	for _, v := range s.values {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	metadata := map[string]any{"channels": s.channels, "units": s.units}
	if s.rate > 0 {
		metadata["rate_hz"] = s.rate
	}
	return Item{MediaType: typeNPY, Data: data, Metadata: metadata}
}

// leaf is one number of a message.
type leaf struct {
	name, unit string
	value      float64
}

type leaves []leaf

// appendTo adds the values by the order of names. What is missing is NaN.
func (l leaves) appendTo(values []float64, names []string) []float64 {
	for c, name := range names {
		v := math.NaN()
		if c < len(l) && l[c].name == name {
			v = l[c].value
		} else {
			for _, other := range l {
				if other.name == name {
					v = other.value
					break
				}
			}
		}
		values = append(values, v)
	}
	return values
}

const (
	// maxLeaves is how many channels a plot can tell apart, and then some.
	maxLeaves = 64
	// maxArray is the longest array that is a set of channels; a longer one is a
	// scan or a picture.
	maxArray = 16
)

// leavesOf lists the numbers of a message, but neither its header nor
// covariances, which tell how sure it is, not what it measures. Of joint states
// they are the positions by the joints' names.
func leavesOf(v *message.Value) leaves {
	var out leaves
	if joints := v.At("name"); joints.Kind == message.List {
		for _, q := range []struct{ name, unit string }{{"position", "rad"}, {"velocity", "rad/s"}, {"effort", "Nm"}} {
			values := v.At(q.name).Numbers
			for i := range joints.List {
				if i < len(values) && len(out) < maxLeaves {
					out = append(out, leaf{joints.List[i].Text, q.unit, values[i]})
				}
			}
			if len(out) > 0 {
				return out
			}
		}
	}
	out.walk(v, nil)
	return out
}

func (l *leaves) walk(v *message.Value, path []string) {
	for i := range v.List {
		if i >= len(v.Names) || len(*l) >= maxLeaves {
			return
		}
		name, child := v.Names[i], &v.List[i]
		if name == "header" || name == "stamp" || name == "timestamp" || strings.HasSuffix(name, "covariance") {
			continue
		}
		at := append(path[:len(path):len(path)], name)
		switch {
		case child.Kind == message.Struct:
			l.walk(child, at)
		case child.IsNumber() && child.Kind != message.Bool:
			*l = append(*l, leaf{leafName(at), leafUnit(at), child.Float})
		case child.Kind == message.Numbers && len(child.Numbers) <= maxArray:
			for j, n := range child.Numbers {
				if len(*l) < maxLeaves {
					*l = append(*l, leaf{leafName(at) + "[" + strconv.Itoa(j) + "]", leafUnit(at), n})
				}
			}
		}
	}
}

// leafName joins the path without what every message of a kind has: Fz of
// wrench.force.z, position.x of pose.pose.position.x.
func leafName(path []string) string {
	if n := len(path); n > 1 && len(path[n-1]) == 1 {
		switch path[n-2] {
		case "force":
			return "F" + path[n-1]
		case "torque":
			return "T" + path[n-1]
		}
	}
	for len(path) > 1 && (path[0] == "pose" || path[0] == "twist" || path[0] == "transform" || path[0] == "accel") {
		path = path[1:]
	}
	return strings.Join(path, ".")
}

// leafUnits are the units that the ROS interfaces (REP 103) lay down for a field
// of this name; in a twist linear is a velocity, in an accel an acceleration.
var leafUnits = map[string]string{
	"force": "N", "torque": "Nm", "position": "m", "translation": "m", "point": "m",
	"linear": "m/s", "angular": "rad/s", "angular_velocity": "rad/s", "linear_acceleration": "m/s²",
	"temperature": "°C", "fluid_pressure": "Pa", "voltage": "V", "current": "A", "range": "m",
	"min_range": "m", "max_range": "m", "field_of_view": "rad", "magnetic_field": "T", "latitude": "°",
	"longitude": "°", "altitude": "m", "illuminance": "lx", "charge": "Ah", "capacity": "Ah", "design_capacity": "Ah",
}

func leafUnit(path []string) string {
	for i := len(path) - 1; i >= 0; i-- {
		unit, ok := leafUnits[path[i]]
		if ok && i > 0 && path[i-1] == "accel" {
			return unit + "²"
		}
		if ok {
			return unit
		}
	}
	return ""
}
