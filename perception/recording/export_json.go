package recording

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/message"
)

// The schemas of what was no message when it was stored. The first two are
// Foxglove's well-known ones, which its viewers draw; the times are of seconds
// and nanoseconds.
const (
	timeSchema  = `{"type":"object","title":"time","properties":{"sec":{"type":"integer","minimum":0},"nsec":{"type":"integer","minimum":0,"maximum":999999999}}}`
	imageSchema = `{"title":"foxglove.CompressedImage","type":"object","properties":{"timestamp":` + timeSchema + `,"frame_id":{"type":"string"},"data":{"type":"string","contentEncoding":"base64"},"format":{"type":"string"}}}`
	logSchema   = `{"title":"foxglove.Log","type":"object","properties":{"timestamp":` + timeSchema + `,"level":{"title":"foxglove.LogLevel","oneOf":[{"title":"UNKNOWN","const":0},{"title":"DEBUG","const":1},{"title":"INFO","const":2},{"title":"WARNING","const":3},{"title":"ERROR","const":4},{"title":"FATAL","const":5}]},"message":{"type":"string"},"name":{"type":"string"},"file":{"type":"string"},"line":{"type":"integer","minimum":0}}}`
	memSchema   = `{"title":"robotmem.Memory","type":"object","properties":{"timestamp":` + timeSchema + `,"uid":{"type":"string"},"type":{"type":"string"},"description":{"type":"string"},"media_type":{"type":"string"},"data":{"type":"string","contentEncoding":"base64"},"metadata":{"type":"object"},"context":{"type":"object"}}}`
)

type jsonTime struct {
	Sec  uint64 `json:"sec"`
	Nsec uint64 `json:"nsec"`
}

func jsonTimeOf(t uint64) jsonTime { return jsonTime{t / 1e9, t % 1e9} }

type jsonImage struct {
	Timestamp jsonTime `json:"timestamp"`
	FrameID   string   `json:"frame_id"`
	Data      []byte   `json:"data"`
	Format    string   `json:"format"`
}

type jsonLog struct {
	Timestamp jsonTime `json:"timestamp"`
	Level     int      `json:"level"`
	Message   string   `json:"message"`
	Name      string   `json:"name"`
	File      string   `json:"file"`
	Line      int      `json:"line"`
}

type jsonMemory struct {
	Timestamp   jsonTime       `json:"timestamp"`
	UID         string         `json:"uid"`
	Type        string         `json:"type"`
	Description string         `json:"description"`
	MediaType   string         `json:"media_type,omitempty"`
	Data        []byte         `json:"data,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	Context     map[string]any `json:"context,omitempty"`
}

// Levels of foxglove.Log.
const (
	levelInfo    = 2
	levelWarning = 3
)

// plain writes what was no message as JSON.
func (e *exporter) plain(item *Exported) ([]*cursor, error) {
	at := uint64(max(item.ObservedAt.UnixNano(), 0))
	stamp := jsonTimeOf(at)
	if item.Fact {
		level := levelInfo
		switch item.Category {
		case "constraint", "postmortem", "gotcha":
			level = levelWarning
		}
		return e.one("/robotmem/facts", "foxglove.Log", logSchema, at, jsonLog{Timestamp: stamp, Level: level, Message: item.Description, Name: item.Category, File: item.UID})
	}
	if format, ok := strings.CutPrefix(item.MediaType, "image/"); ok && (format == "jpeg" || format == "png" || format == "webp") {
		return e.one("/robotmem/images", foxgloveImage, imageSchema, at, jsonImage{stamp, "", item.Data, format})
	}
	trace, err := perception.DecodeTrace(perception.Item{Type: item.Type, MediaType: item.MediaType, Data: item.Data, Metadata: item.Metadata})
	if err == nil && trace.RateHz > 0 && len(item.Data) > 0 {
		return e.trace(item, trace, at)
	}
	return e.memory(item, at)
}

func (e *exporter) memory(item *Exported, at uint64) ([]*cursor, error) {
	return e.one("/robotmem/memories", "robotmem.Memory", memSchema, at, jsonMemory{
		jsonTimeOf(at), item.UID, item.Type, item.Description, item.MediaType, item.Data, item.Metadata, item.Context,
	})
}

func (e *exporter) one(topic, name, schema string, at uint64, value any) ([]*cursor, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return e.cursor(topic, name, schema, []perception.SegmentMessage{{LogTime: at, PublishTime: at, Data: data}}, len(data))
}

func (e *exporter) cursor(topic, name, schema string, messages []perception.SegmentMessage, bytes int) ([]*cursor, error) {
	c := &Channel{Topic: topic, SchemaName: name, SchemaEncoding: "jsonschema", SchemaData: []byte(schema), MessageEncoding: "json"}
	id, err := e.channel(c)
	return []*cursor{{channel: c, id: id, messages: messages, bytes: bytes}}, err
}

// trace writes a message per sample, which a plot draws by the names of the
// channels, and the whole memory beside it. A missing reading is null.
func (e *exporter) trace(item *Exported, t *perception.Trace, at uint64) ([]*cursor, error) {
	names := traceNames(t)
	properties := make([]string, 0, len(names))
	for i, name := range names {
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		unit := ""
		if i < len(t.Units) && t.Units[i] != "" {
			text, err := json.Marshal(t.Units[i])
			if err != nil {
				return nil, err
			}
			unit = `,"description":` + string(text)
		}
		properties = append(properties, string(quoted)+`:{"type":"number"`+unit+`}`)
		names[i] = string(quoted)
	}
	schema := `{"title":"robotmem.Trace","type":"object","properties":{"timestamp":` + timeSchema + "," + strings.Join(properties, ",") + `}}`
	messages := make([]perception.SegmentMessage, 0, len(t.Samples))
	total := 0
	for i, row := range t.Samples {
		when := at + uint64(math.Round(float64(i)/t.RateHz*1e9))
		b := append([]byte(`{"timestamp":{"sec":`), strconv.FormatUint(when/1e9, 10)...)
		b = append(append(b, `,"nsec":`...), strconv.FormatUint(when%1e9, 10)...)
		b = append(b, '}')
		for c, v := range row {
			b = append(append(append(b, ','), names[c]...), ':')
			if math.IsNaN(v) || math.IsInf(v, 0) {
				b = append(b, "null"...)
			} else {
				b = strconv.AppendFloat(b, v, 'g', -1, 64)
			}
		}
		b = append(b, '}')
		total += len(b)
		messages = append(messages, perception.SegmentMessage{Sequence: uint32(i), LogTime: when, PublishTime: when, Data: b})
	}
	cursors, err := e.cursor("/robotmem/traces/"+item.UID, "robotmem.Trace", schema, messages, total)
	if err != nil {
		return nil, err
	}
	whole, err := e.memory(item, at)
	return append(cursors, whole...), err
}

// traceNames are the channels' names, each once.
func traceNames(t *perception.Trace) []string {
	names := make([]string, len(t.Samples[0]))
	seen := map[string]bool{"timestamp": true}
	for c := range names {
		if c < len(t.Channels) {
			names[c] = t.Channels[c]
		}
		if names[c] == "" || seen[names[c]] {
			names[c] = "channel_" + strconv.Itoa(c+1)
		}
		seen[names[c]] = true
	}
	return names
}

// builtIn is the channel of a message whose recording's manifest is not there.
func builtIn(topic, schema, encoding string) *Channel {
	c := &Channel{Topic: topic, SchemaName: schema, MessageEncoding: encoding}
	if text, ok := message.Definition(schema); ok && encoding == "cdr" {
		c.SchemaEncoding, c.SchemaData = "ros2msg", []byte(text)
	}
	return c
}
