package recording

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/perception/importing"
	"github.com/robotmem/robotmem-go/perception/message"
)

// ManifestType is the media type of a recording's manifest.
const ManifestType = "application/vnd.robotmem.recording+json"

// Manifest is what a recording was made of, so that it can be written again.
type Manifest struct {
	Version     int               `json:"version"`
	Recording   string            `json:"recording"` // its ID
	Name        string            `json:"name"`
	Format      string            `json:"format"`
	Profile     string            `json:"profile,omitempty"`
	Start       string            `json:"start"` // log times, ns
	End         string            `json:"end"`
	Messages    uint64            `json:"messages"`
	Channels    []ManifestChannel `json:"channels"`
	Metadata    []Metadata        `json:"metadata,omitempty"`
	Attachments []Attachment      `json:"attachments,omitempty"`
}

// ManifestChannel is a channel of a manifest.
type ManifestChannel struct {
	Topic           string            `json:"topic"`
	SchemaName      string            `json:"schema_name,omitempty"`
	SchemaEncoding  string            `json:"schema_encoding,omitempty"`
	Schema          []byte            `json:"schema_base64,omitempty"`
	MessageEncoding string            `json:"message_encoding"`
	Metadata        map[string]string `json:"metadata,omitempty"`
	Messages        uint64            `json:"messages"`
}

func (imp *importer) manifest() (importing.Perception, error) {
	m := Manifest{
		Version: 1, Recording: imp.id, Name: imp.name, Format: imp.info.Format, Profile: imp.info.Profile,
		Start: ns(imp.info.Start), End: ns(imp.info.End), Messages: imp.info.Messages,
		Channels: []ManifestChannel{}, Metadata: imp.info.Metadata, Attachments: imp.info.Attachments,
	}
	for _, c := range imp.info.Channels {
		m.Channels = append(m.Channels, ManifestChannel{c.Topic, c.SchemaName, c.SchemaEncoding, c.SchemaData, c.MessageEncoding, c.Metadata, c.Messages})
	}
	data, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return importing.Perception{}, err
	}
	duration := time.Duration(min(imp.info.End-imp.info.Start, math.MaxInt64)).Round(100 * time.Millisecond)
	return importing.Perception{
		Origin: imp.id[:32] + "#manifest", Type: "procedural", MediaType: ManifestType, Data: data,
		Description: fmt.Sprintf("recording %s: %d messages on %d topics over %s", imp.name, m.Messages, len(m.Channels), duration),
		Metadata:    map[string]any{"recording": imp.id, "format": m.Format},
		Context:     imp.context(nil, 0), ObservedAt: timeOf(imp.info.Start),
	}, nil
}

// ns writes a time in full: a JSON number would lose its last digits.
func ns(t uint64) string { return strconv.FormatUint(t, 10) }

// enveloped is the perception of one message with a payload.
func (imp *importer) enveloped(m *Message, v *message.Value, p payload, number uint64) importing.Perception {
	metadata := imp.metadata(m.Channel, m.Sequence, m.LogTime, m.PublishTime, 1)
	for key, value := range p.metadata {
		metadata[key] = value
	}
	metadata["envelope"] = p.envelope()
	return importing.Perception{
		Origin: imp.origin(m.Topic, number, m.LogTime, ""), Type: sense(m.SchemaName),
		Description: imp.describe(m.Channel, m.LogTime, 1),
		MediaType:   p.mediaType, Data: append([]byte(nil), p.data...),
		Metadata: metadata, Context: imp.context(v, m.LogTime), ObservedAt: observed(v, m.LogTime, m.PublishTime), Messages: 1,
	}
}

// segmented is the perception of a segment.
func (imp *importer) segmented(s *stream, g *segment, data []byte) importing.Perception {
	var v *message.Value
	if s.schema != nil {
		// An undecodable message has neither a frame nor a stamp; it is kept.
		v, _ = s.schema.Decode(g.head)
	}
	metadata := imp.metadata(s.Channel, g.sequence, g.first, g.published, g.count)
	metadata["last_log_time"] = ns(g.last)
	return importing.Perception{
		Origin: imp.origin(s.Topic, g.from, g.first, "-"+strconv.FormatUint(g.to, 10)+"/"+strconv.Itoa(g.count)), Type: sense(s.SchemaName),
		Description: imp.describe(s.Channel, g.first, g.count),
		MediaType:   SegmentType, Data: data,
		Metadata: metadata, Context: imp.context(v, g.first), ObservedAt: observed(v, g.first, g.published), Messages: g.count,
	}
}

// maxName bounds a name within the metadata.
const maxName = 4 << 10

func (imp *importer) metadata(c *Channel, sequence uint32, logTime, publishTime uint64, count int) map[string]any {
	return map[string]any{
		"recording": imp.id, "topic": importing.Cut(c.Topic, maxName), "schema": importing.Cut(c.SchemaName, maxName),
		"schema_encoding": importing.Cut(c.SchemaEncoding, maxTopic), "message_encoding": importing.Cut(c.MessageEncoding, maxTopic),
		"sequence": float64(sequence), "log_time": ns(logTime), "publish_time": ns(publishTime), "count": float64(count),
	}
}

// describe writes "/camera/front sensor_msgs/msg/CompressedImage at 12.3 s", the
// time since the recording began.
func (imp *importer) describe(c *Channel, logTime uint64, count int) string {
	name := c.SchemaName
	if name == "" {
		name = c.MessageEncoding + " messages"
	}
	at := (float64(logTime) - float64(imp.info.Start)) * 1e-9
	s := strings.ToValidUTF8(fmt.Sprintf("%.*s %.*s at %.1f s", maxTopic, c.Topic, maxTopic, name, at), "?")
	if count > 1 {
		s += fmt.Sprintf(", %d messages", count)
	}
	return s + " of " + imp.name
}

// context is where the robot was. v is the message, nil for none.
func (imp *importer) context(v *message.Value, logTime uint64) map[string]any {
	c := map[string]any{"source": map[string]any{"recording": imp.name, "recording_id": imp.id}}
	if imp.o.Robot != "" {
		c["robot"] = map[string]any{"id": imp.o.Robot}
	}
	if logTime == 0 {
		return c
	}
	if pose, ok := imp.poses.of(frameOf(v), stampOf(v, logTime)); ok {
		c["spatial"] = map[string]any{"pose": pose}
	}
	return c
}

func frameOf(v *message.Value) string {
	if f := v.At("header", "frame_id"); f.Text != "" {
		return f.Text
	}
	return v.At("frame_id").Text
}

// maxSkew is how far a header's stamp may be from the log's time and still be a
// time of the same clock; a simulator counts from 0.
const maxSkew = 24 * 60 * 60 * 1e9

// stampOf is the header's time, or the log's when there is none that is sane.
func stampOf(v *message.Value, logTime uint64) uint64 {
	stamp := v.At("header", "stamp")
	part := "nanosec"
	if stamp.Kind != message.Struct {
		stamp, part = v.At("timestamp"), "nsec"
	}
	sec, fraction := stamp.Field("sec"), stamp.Field(part)
	if !sec.IsNumber() || !fraction.IsNumber() || sec.Int <= 0 || fraction.Int < 0 || fraction.Int >= 1e9 || sec.Int > 1<<33 {
		return logTime
	}
	t := uint64(sec.Int)*1e9 + uint64(fraction.Int)
	if max(t, logTime)-min(t, logTime) > maxSkew {
		return logTime
	}
	return t
}

func observed(v *message.Value, logTime, publishTime uint64) time.Time {
	fallback := logTime
	if publishTime != 0 && max(publishTime, logTime)-min(publishTime, logTime) <= maxSkew {
		fallback = publishTime
	}
	if t := stampOf(v, logTime); t != logTime {
		return timeOf(t)
	}
	return timeOf(fallback)
}
