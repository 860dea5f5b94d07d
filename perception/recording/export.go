package recording

import (
	"container/heap"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/importing"
)

// Exported is a stored memory that is written out.
type Exported struct {
	UID      string // names it in JSON messages
	Fact     bool   // something learnt; its text is the perception's Description
	Category string // of a fact
	importing.Perception
}

// ExportReport accounts for what was exported.
type ExportReport struct {
	Messages   uint64            // written
	Originals  uint64            // of them messages as they were recorded
	Topics     int               // with at least one channel
	Skipped    map[string]uint64 // memories by reason
	Start, End uint64            // log times, ns
}

const (
	// exportSlack is how much earlier than an item's time its messages may be, ns:
	// observed_at is when a sensor measured, the log's time when it was written.
	exportSlack = 2e9
	// maxExportOpen bounds the bytes of segments that are open because their
	// times overlap. Beyond it the earliest messages are written although an
	// earlier one might follow; a file's index puts that right.
	maxExportOpen = 256 << 20
	exportChunk   = 4 << 20
)

// Export writes memories as an MCAP file with an index, in chunks of zstd. Items
// come in the order of their ObservedAt. Messages that were recorded are written
// as they were, byte for byte, with their channels, schemas, times and sequence
// numbers, merged by log time; a recording's manifest comes before its messages,
// and without one the schemas are the built-in ones. Everything else becomes
// JSON: images foxglove.CompressedImage, facts foxglove.Log, traces a message
// per sample, other things robotmem.Memory with all their bytes.
//
// The memory it takes is that of the segments that overlap, at most 256 MiB and
// one item. The error of an item or of w ends the export, with the report so far.
func Export(ctx context.Context, w io.Writer, items iter.Seq2[Exported, error]) (*ExportReport, error) {
	e := &exporter{ids: map[string]uint16{}, schemas: map[string]uint16{}, known: map[string]*Channel{}, topics: map[string]bool{},
		report: &ExportReport{Skipped: map[string]uint64{}}}
	var err error
	e.out, err = mcap.NewWriter(w, &mcap.WriterOptions{Chunked: true, ChunkSize: exportChunk, Compression: mcap.CompressionZSTD, IncludeCRC: true, OverrideLibrary: true})
	if err != nil {
		return nil, err
	}
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
	if err := e.drain(0, true); err != nil {
		return e.report, err
	}
	if err := e.begin(); err != nil {
		return e.report, err
	}
	e.report.Topics = len(e.topics)
	return e.report, e.out.Close()
}

type exporter struct {
	out     *mcap.Writer
	begun   bool
	cursors cursorHeap
	open    int // bytes of the cursors
	opened  int
	ids     map[string]uint16   // channels by key
	schemas map[string]uint16   // likewise
	known   map[string]*Channel // of manifests, by recording and topic and type
	foreign bool                // a channel that is not ROS 2's
	topics  map[string]bool
	report  *ExportReport
}

// cursor stands at the next message of an item.
type cursor struct {
	channel  *Channel
	id       uint16
	messages []perception.SegmentMessage
	original bool
	bytes    int
	order    int
}

type cursorHeap []*cursor

func (h cursorHeap) Len() int { return len(h) }
func (h cursorHeap) Less(i, j int) bool {
	a, b := h[i].messages[0].LogTime, h[j].messages[0].LogTime
	return a < b || a == b && h[i].order < h[j].order
}
func (h cursorHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *cursorHeap) Push(x any)   { *h = append(*h, x.(*cursor)) }
func (h *cursorHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

func (e *exporter) item(item *Exported) error {
	if item.MediaType == ManifestType {
		return e.manifest(item.Data)
	}
	cursors, err := e.original(item)
	if err != nil {
		return err
	}
	if cursors == nil {
		if cursors, err = e.plain(item); err != nil {
			return err
		}
	}
	until := uint64(0)
	for _, c := range cursors {
		if len(c.messages) == 0 {
			continue
		}
		e.opened++
		c.order = e.opened
		e.open += c.bytes
		heap.Push(&e.cursors, c)
		until = max(until, c.messages[0].LogTime)
	}
	if until < exportSlack {
		return nil
	}
	return e.drain(until-exportSlack, false)
}

// manifest keeps a recording's channels, which segments bring along and
// enveloped messages do not. They are written even when no message follows.
func (e *exporter) manifest(data []byte) error {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		e.report.Skipped["manifest that is no JSON"]++
		return nil
	}
	// The header comes before the first channel and says what all are.
	for _, c := range m.Channels {
		e.foreign = e.foreign || c.MessageEncoding != "cdr"
	}
	for _, c := range m.Channels {
		own := &Channel{c.Topic, c.SchemaName, c.SchemaEncoding, c.Schema, c.MessageEncoding, c.Metadata}
		e.known[m.Recording+"\x00"+c.Topic+"\x00"+c.SchemaName] = own
		if _, err := e.channel(own); err != nil {
			return err
		}
	}
	for _, r := range m.Metadata {
		if err := e.begin(); err != nil {
			return err
		}
		if err := e.out.WriteMetadata(&mcap.Metadata{Name: r.Name, Metadata: r.Values}); err != nil {
			return err
		}
	}
	for range m.Attachments {
		e.report.Skipped["attachment: only its name is kept"]++
	}
	return nil
}

// original turns an item back into the messages it was made of, nil when it was
// made of none.
func (e *exporter) original(item *Exported) ([]*cursor, error) {
	envelope, _ := item.Metadata["envelope"].(map[string]any)
	topic, _ := item.Metadata["topic"].(string)
	if envelope != nil && topic != "" {
		return e.enveloped(item, topic, envelope)
	}
	if item.MediaType != SegmentType {
		return nil, nil
	}
	s, err := perception.DecodeSegment(item.Data)
	if err != nil {
		// Some other MCAP file that somebody saved.
		return nil, nil
	}
	c := &Channel{s.Topic, s.SchemaName, s.SchemaEncoding, s.SchemaData, s.MessageEncoding, s.Metadata}
	id, err := e.channel(c)
	return []*cursor{{channel: c, id: id, messages: s.Messages, original: true, bytes: len(item.Data)}}, err
}

func (e *exporter) enveloped(item *Exported, topic string, envelope map[string]any) ([]*cursor, error) {
	text := func(m map[string]any, key string) string { s, _ := m[key].(string); return s }
	prefix, err1 := base64.StdEncoding.DecodeString(text(envelope, "prefix"))
	suffix, err2 := base64.StdEncoding.DecodeString(text(envelope, "suffix"))
	logTime, err3 := strconv.ParseUint(text(item.Metadata, "log_time"), 10, 64)
	publishTime, err4 := strconv.ParseUint(text(item.Metadata, "publish_time"), 10, 64)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		return nil, nil // metadata that somebody changed: the bytes are exported as they are
	}
	name := text(item.Metadata, "schema")
	c := e.known[text(item.Metadata, "recording")+"\x00"+topic+"\x00"+name]
	if c == nil {
		c = builtIn(topic, name, text(item.Metadata, "message_encoding"))
	}
	id, err := e.channel(c)
	if err != nil {
		return nil, err
	}
	data := prefix
	if envelope["payload"] == "base64" {
		data = base64.StdEncoding.AppendEncode(data, item.Data)
	} else {
		data = append(data, item.Data...)
	}
	data = append(data, suffix...)
	m := perception.SegmentMessage{Sequence: uint32(integer(item.Metadata["sequence"])), LogTime: logTime, PublishTime: publishTime, Data: data}
	return []*cursor{{channel: c, id: id, messages: []perception.SegmentMessage{m}, original: true, bytes: len(data)}}, nil
}

func integer(v any) int64 {
	switch v := v.(type) {
	case float64:
		return int64(v)
	case json.Number:
		n, _ := v.Int64() // 0 for what is no number, as below
		return n
	}
	return 0
}

// channel writes a channel once and returns its number.
func (e *exporter) channel(c *Channel) (uint16, error) {
	key := channelKey(c)
	if id, ok := e.ids[key]; ok {
		return id, nil
	}
	e.foreign = e.foreign || c.MessageEncoding != "cdr"
	if err := e.begin(); err != nil {
		return 0, err
	}
	const most = 1<<16 - 1
	if len(e.ids) >= most {
		return 0, fmt.Errorf("more than %d channels do not fit into one MCAP file", most)
	}
	id := uint16(len(e.ids))
	schemaKey := channelKey(&Channel{SchemaName: c.SchemaName, SchemaEncoding: c.SchemaEncoding, SchemaData: c.SchemaData})
	schema, ok := e.schemas[schemaKey]
	if !ok {
		schema = uint16(len(e.schemas) + 1)
		e.schemas[schemaKey] = schema
	}
	e.ids[key] = id
	e.topics[c.Topic] = true
	return id, writeChannel(e.out, c, id, schema)
}

// begin writes the header. The profile goes by what the first item shows; a
// later JSON topic in a ros2 file is no fault, tools go by the channel.
func (e *exporter) begin() error {
	if e.begun {
		return nil
	}
	e.begun = true
	p := "ros2"
	if e.foreign {
		p = ""
	}
	return e.out.WriteHeader(&mcap.Header{Profile: p, Library: library})
}

// drain writes the messages before a time, or all.
func (e *exporter) drain(until uint64, all bool) error {
	for len(e.cursors) > 0 {
		c := e.cursors[0]
		m := c.messages[0]
		if !all && m.LogTime >= until && e.open <= maxExportOpen {
			return nil
		}
		err := e.out.WriteMessage(&mcap.Message{ChannelID: c.id, Sequence: m.Sequence, LogTime: m.LogTime, PublishTime: m.PublishTime, Data: m.Data})
		if err != nil {
			return err
		}
		e.count(c, m.LogTime)
		if c.messages = c.messages[1:]; len(c.messages) == 0 {
			e.open -= c.bytes
			heap.Pop(&e.cursors)
		} else {
			heap.Fix(&e.cursors, 0)
		}
	}
	return nil
}

func (e *exporter) count(c *cursor, logTime uint64) {
	if e.report.Messages == 0 || logTime < e.report.Start {
		e.report.Start = logTime
	}
	e.report.End = max(e.report.End, logTime)
	e.report.Messages++
	if c.original {
		e.report.Originals++
	}
}
