package recording

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/media"
	"github.com/robotmem/robotmem-go/perception/segment"
	"github.com/robotmem/robotmem-go/perception/timeseries"
)

// Exported is a memory to write.
type Exported struct {
	UID      string // its name in JSON messages
	Fact     bool   // a fact; the Description is its text
	Category string // of a fact
	importers.Perception
}

// ExportReport counts what was exported.
type ExportReport struct {
	Messages  uint64            `json:"messages"`          // written
	Originals uint64            `json:"originals"`         // of them as they were recorded
	Topics    int               `json:"topics"`            // with at least one channel
	Skipped   map[string]uint64 `json:"skipped,omitempty"` // memories by reason
}

const (
	exportChunk  = 4 << 20 // bytes
	logLevelInfo = 2       // of foxglove.Log
)

// Export writes memories as an MCAP file with an index, in chunks of zstd. Items must come in the
// order of their ObservedAt, the manifest of a recording before its messages. Recorded messages are
// written byte for byte as they were, with their channels, schemas, times and sequence numbers. The
// segments of several topics overlap in time; the index has the order of all messages, by which
// readers play them. Without a manifest messages get the built-in schemas. Everything else becomes
// JSON: images foxglove.CompressedImage, facts foxglove.Log, traces one message per sample, other
// memories robotmem.Memory with all their bytes.
//
// Export holds one item in memory. An error of an item or of w ends it; the report is returned all the same.
func Export(ctx context.Context, w io.Writer, items iter.Seq2[Exported, error]) (*ExportReport, error) {
	out, err := mcap.NewWriter(w,
		&mcap.WriterOptions{
			Chunked: true, ChunkSize: exportChunk, Compression: mcap.CompressionZSTD, IncludeCRC: true,
			OverrideLibrary: true,
		})
	if err == nil {
		// The profile ros2 would promise that all messages are CDR; tools read the encoding of each channel.
		err = out.WriteHeader(&mcap.Header{Library: segment.Library})
	}

	if err != nil {
		return nil, err
	}

	e := &exporter{out: out, ids: map[string]uint16{}, known: map[[3]string]*Channel{}, topics: map[string]bool{},
		report: &ExportReport{Skipped: map[string]uint64{}}}

	for item, err := range items {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = e.item(&item)
		}
		if err != nil {
			return e.report, err
		}
	}

	e.report.Topics = len(e.topics)

	return e.report, e.out.Close()
}

type exporter struct {
	out    *mcap.Writer
	ids    map[string]uint16      // of channels by channelKey
	known  map[[3]string]*Channel // of manifests, by recording, topic and type
	topics map[string]bool
	report *ExportReport
}

func (e *exporter) item(item *Exported) error {
	if item.MediaType == ManifestType {
		return e.manifest(item.Data)
	}
	written, err := e.original(item)
	if err == nil && !written {
		err = e.asJSON(item)
	}

	return err
}

// add writes messages of a channel.
func (e *exporter) add(c *Channel, messages []segment.Message, original bool) error {
	id, err := e.channel(c)
	if err != nil {
		return err
	}

	for _, m := range messages {
		err := e.out.WriteMessage(&mcap.Message{ChannelID: id, Sequence: m.Sequence, LogTime: m.LogTime, PublishTime: m.PublishTime, Data: m.Data})
		if err != nil {
			return err
		}
		e.report.Messages++
		if original {
			e.report.Originals++
		}
	}

	return nil
}

// manifest writes a recording's channels, even those without messages, and remembers them
// for the messages that are perceptions of their own.
func (e *exporter) manifest(data []byte) error {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		e.report.Skipped["manifest that is not JSON"]++
		return nil
	}

	for _, c := range m.Channels {
		if c.Channel == nil {
			continue
		}
		e.known[[3]string{m.Recording, c.Topic, c.SchemaName}] = c.Channel
		if _, err := e.channel(c.Channel); err != nil {
			return err
		}
	}

	return nil
}

// original writes the messages that an item was made of. written is false if it was made of none.
func (e *exporter) original(item *Exported) (written bool, err error) {
	envelope, _ := item.Metadata["envelope"].(map[string]any)
	topic, _ := item.Metadata["topic"].(string)
	if envelope != nil && topic != "" {
		return e.enveloped(item, topic, envelope)
	}
	if item.MediaType != media.TypeMCAP {
		return false, nil
	}
	s, err := segment.Decode(item.Data)
	if err != nil {
		// It is another MCAP file that somebody saved, and no segment.
		return false, nil
	}

	return true, e.add(&s.Channel, s.Messages, true)
}

// enveloped writes a message of which only the payload was stored as an item. It puts back the bytes before and
// after the payload, which [unwrap] has moved into the metadata. written is false if the metadata is not as unwrap
// wrote it.
func (e *exporter) enveloped(item *Exported, topic string, envelope map[string]any) (written bool, err error) {
	text := func(m map[string]any, key string) string { s, _ := m[key].(string); return s }
	prefix, err1 := base64.StdEncoding.DecodeString(text(envelope, "prefix"))
	suffix, err2 := base64.StdEncoding.DecodeString(text(envelope, "suffix"))
	logTime, err3 := parseTime(text(item.Metadata, "log_time"))
	publishTime, err4 := parseTime(text(item.Metadata, "publish_time"))
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		// Somebody changed the metadata: the bytes are exported as they are.
		return false, nil
	}

	name := text(item.Metadata, "schema")
	c := e.known[[3]string{text(item.Metadata, "recording"), topic, name}]
	if c == nil {
		// The manifest was not among the items, so the type of the message has to suffice.
		c = &Channel{Topic: topic, SchemaName: name, MessageEncoding: text(item.Metadata, "message_encoding")}
		if definition, ok := message.Definition(name); ok && c.MessageEncoding == "cdr" {
			c.SchemaEncoding, c.SchemaData = "ros2msg", []byte(definition)
		}
	}

	data := prefix
	if envelope["payload"] == "base64" {
		// The payload was a base64 text within a JSON message.
		data = base64.StdEncoding.AppendEncode(data, item.Data)
	} else {
		data = append(data, item.Data...)
	}

	data = append(data, suffix...)
	sequence, _ := media.Integer(item.Metadata["sequence"], math.MaxUint32)
	m := segment.Message{Sequence: uint32(sequence), LogTime: logTime, PublishTime: publishTime, Data: data}

	return true, e.add(c, []segment.Message{m}, true)
}

// channel writes a channel once and returns its number.
func (e *exporter) channel(c *Channel) (uint16, error) {
	key := channelKey(c)
	if id, ok := e.ids[key]; ok {
		return id, nil
	}

	const most = 1<<16 - 1
	if len(e.ids) >= most {
		return 0, fmt.Errorf("more than %d channels do not fit into one MCAP file", most)
	}
	id := uint16(len(e.ids))
	e.ids[key] = id
	e.topics[c.Topic] = true

	// Schema 0 means "no schema" in MCAP, so the schema's number is one above the channel's.
	return id, c.Write(e.out, id, id+1)
}

// The schemas of memories that were no messages. Those of images and logs are Foxglove's,
// which its viewers draw. A time has seconds and nanoseconds.
const (
	timeSchema  = `{"type":"object","title":"time","properties":{"sec":{"type":"integer","minimum":0},"nsec":{"type":"integer","minimum":0,"maximum":999999999}}}`
	imageSchema = `{"title":"foxglove.CompressedImage","type":"object","properties":{"timestamp":` + timeSchema +
		`,"frame_id":{"type":"string"},"data":{"type":"string","contentEncoding":"base64"},"format":{"type":"string"}}}`
	logSchema = `{"title":"foxglove.Log","type":"object","properties":{"timestamp":` + timeSchema +
		`,"level":{"title":"foxglove.LogLevel","oneOf":[{"title":"UNKNOWN","const":0},{"title":"DEBUG","const":1},{"title":"INFO","const":2},{"title":"WARNING","const":3},{"title":"ERROR","const":4},{"title":"FATAL","const":5}]},"message":{"type":"string"},"name":{"type":"string"},"file":{"type":"string"},"line":{"type":"integer","minimum":0}}}`
	memSchema = `{"title":"robotmem.Memory","type":"object","properties":{"timestamp":` + timeSchema +
		`,"uid":{"type":"string"},"type":{"type":"string"},"description":{"type":"string"},"media_type":{"type":"string"},"data":{"type":"string","contentEncoding":"base64"},"metadata":{"type":"object"},"context":{"type":"object"}}}`
)

type object = map[string]any

func timestamp(at uint64) object { return object{"sec": at / 1e9, "nsec": at % 1e9} }

type jsonMemory struct {
	Timestamp   object         `json:"timestamp"`
	UID         string         `json:"uid"`
	Type        string         `json:"type"`
	Description string         `json:"description"`
	MediaType   string         `json:"media_type,omitempty"`
	Data        []byte         `json:"data,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	Context     map[string]any `json:"context,omitempty"`
}

// asJSON writes a memory that was no message.
func (e *exporter) asJSON(item *Exported) error {
	// MCAP has no times before 1970.
	at := uint64(max(item.ObservedAt.UnixNano(), 0))
	if item.Fact {
		return e.addJSON("/robotmem/facts", "foxglove.Log", logSchema, at, object{
			"timestamp": timestamp(at), "level": logLevelInfo, "message": item.Description, "name": item.Category, "file": item.UID, "line": 0,
		})
	}
	if format, ok := strings.CutPrefix(item.MediaType, "image/"); ok &&
		(format == "jpeg" || format == "png" || format == "webp") {
		return e.addJSON("/robotmem/images", "foxglove.CompressedImage", imageSchema, at,
			object{"timestamp": timestamp(at), "frame_id": "", "data": item.Data, "format": format})
	}
	trace, err := timeseries.Decode(perception.Item{Type: item.Type, MediaType: item.MediaType, Data: item.Data, Metadata: item.Metadata}.Payload())
	if err == nil && trace.RateHz > 0 && len(item.Data) > 0 {
		return e.trace(item, trace, at)
	}

	return e.memory(item, at)
}

func (e *exporter) memory(item *Exported, at uint64) error {
	return e.addJSON("/robotmem/memories", "robotmem.Memory", memSchema, at, jsonMemory{
		timestamp(at), item.UID, item.Type, item.Description, item.MediaType, item.Data, item.Metadata, item.Context,
	})
}

// addJSON writes one JSON message.
func (e *exporter) addJSON(topic, name, schema string, at uint64, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return e.add(jsonChannel(topic, name, schema), []segment.Message{{LogTime: at, PublishTime: at, Data: data}}, false)
}

func jsonChannel(topic, name, schema string) *Channel {
	return &Channel{
		Topic: topic, SchemaName: name, SchemaEncoding: "jsonschema", SchemaData: []byte(schema),
		MessageEncoding: "json",
	}
}

// trace writes one message per sample, with a field per channel, and the memory itself. A
// missing reading is null. A channel without a name of its own is channel_N.
func (e *exporter) trace(item *Exported, t *timeseries.Series, at uint64) error {
	names := make([]string, t.Width)
	properties := object{}

	for c := range names {
		if c < len(t.Channels) {
			names[c] = t.Channels[c]
		}
		// A JSON object has each key once: a repeated name, or a channel named timestamp, would overwrite a value.
		if _, taken := properties[names[c]]; taken || names[c] == "" || names[c] == "timestamp" {
			names[c] = "channel_" + strconv.Itoa(c+1)
		}
		properties[names[c]] = object{"type": "number"}
	}

	properties["timestamp"] = json.RawMessage(timeSchema)
	schema, err := json.Marshal(object{"title": "robotmem.Trace", "type": "object", "properties": properties})
	if err != nil {
		return err
	}

	messages := make([]segment.Message, 0, t.Len())
	for i := range t.Len() {
		when := at + uint64(math.Round(float64(i)/t.RateHz*1e9))

		sample := object{}
		for c, v := range t.Row(i) {
			// JSON has no NaN.
			sample[names[c]] = nil
			if media.Finite(v) {
				sample[names[c]] = v
			}
		}
		sample["timestamp"] = timestamp(when)
		data, err := json.Marshal(sample)
		if err != nil {
			return err
		}
		messages = append(messages, segment.Message{Sequence: uint32(i), LogTime: when, PublishTime: when, Data: data})
	}

	if err := e.add(jsonChannel("/robotmem/traces/"+item.UID, "robotmem.Trace", string(schema)), messages,
		false); err != nil {
		return err
	}

	return e.memory(item, at)
}

// parseTime reads a time of the metadata. A time before 1970 is negative there, and a number with the same
// bits in MCAP, which has no sign.
func parseTime(s string) (uint64, error) {
	if strings.HasPrefix(s, "-") {
		ns, err := strconv.ParseInt(s, 10, 64)
		return uint64(ns), err
	}
	return strconv.ParseUint(s, 10, 64)
}
