// Package segment reads and writes segments: runs of messages of one topic, each a small MCAP file
// of one channel with its schema and the messages, without chunks and without an index. A [Segment]
// makes a summary, features and samples of the numbers in the messages.
//
// The tests of this package are those of package perception, through its API.
package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/robotmem/robotmem-go/perception/media"
	"github.com/robotmem/robotmem-go/perception/message"
)

// Library stands in the header of files that this module writes. It names no version,
// so that the same messages always give the same bytes.
const Library = "robotmem"

// Channel is a topic as one program published it.
type Channel struct {
	Topic           string            `json:"topic"`
	SchemaName      string            `json:"schema_name,omitempty"`     // sensor_msgs/msg/Image
	SchemaEncoding  string            `json:"schema_encoding,omitempty"` // ros2msg, jsonschema, protobuf …; "" without a schema
	SchemaData      []byte            `json:"schema_base64,omitempty"`
	MessageEncoding string            `json:"message_encoding"`   // cdr, json, protobuf …
	Metadata        map[string]string `json:"metadata,omitempty"` // offered_qos_profiles …
}

// Schema parses the schema by which the messages are decoded.
func (c *Channel) Schema() (*message.Schema, error) {
	encoding := c.SchemaEncoding
	if c.MessageEncoding != "cdr" {
		encoding = c.MessageEncoding
	}
	return message.Parse(c.SchemaName, encoding, c.SchemaData)
}

// Write writes the channel and, unless it has none, its schema.
func (c *Channel) Write(w *mcap.Writer, id, schemaID uint16) error {
	if c.SchemaName == "" && c.SchemaEncoding == "" && len(c.SchemaData) == 0 {
		schemaID = 0
	}
	if schemaID != 0 {
		err := w.WriteSchema(&mcap.Schema{ID: schemaID, Name: c.SchemaName, Encoding: c.SchemaEncoding, Data: c.SchemaData})
		if err != nil {
			return err
		}
	}
	return w.WriteChannel(&mcap.Channel{ID: id, SchemaID: schemaID, Topic: c.Topic, MessageEncoding: c.MessageEncoding, Metadata: c.Metadata})
}

// Message is one message.
type Message struct {
	Sequence             uint32
	LogTime, PublishTime uint64 // ns since 1970
	Data                 []byte
}

// Segment is the messages of one channel.
type Segment struct {
	Channel
	Messages []Message
	about    media.Metadata // of the payload

	// Of the messages that the last pass could not decode: how many they are, and why the first.
	undecoded int
	reason    error
}

// RecordHead is the bytes of the kind and the length of an MCAP record.
const RecordHead = 1 + 8

// Decode reads a segment. The data of its messages are parts of the given data. The
// error says why the data is not a segment. Recordings with chunks or several channels are
// read by the package recording.
func Decode(data []byte) (*Segment, error) {
	if !bytes.HasPrefix(data, []byte(media.MCAPMagic)) {
		return nil, errors.New("the data does not begin as MCAP does")
	}
	s, defined := &Segment{}, NewDefinitions()
	err := EachRecord(data, len(media.MCAPMagic), func(op mcap.OpCode, body []byte) error {
		switch {
		case op == mcap.OpChannel && len(defined.Channels) > 0:
			return errors.New("the segment has several channels")
		case op == mcap.OpMessage && len(defined.Channels) == 0:
			return errors.New("a message comes before its channel")
		case op == mcap.OpMessage:
			var m mcap.Message
			if err := m.PopulateFrom(body, false); err != nil {
				return err
			}
			s.Messages = append(s.Messages, Message{m.Sequence, m.LogTime, m.PublishTime, m.Data})
		case op == mcap.OpChunk:
			return errors.New("the segment has chunks")
		case op == mcap.OpDataEnd || op == mcap.OpFooter:
			return errEnd
		}
		return defined.Add(op, body)
	})
	if err != nil && !errors.Is(err, errEnd) {
		return nil, err
	}
	for _, c := range defined.Channels {
		s.Channel = *c
		return s, nil
	}
	return nil, errors.New("the segment has no channel")
}

// Definitions are the channels of an MCAP file by their numbers, with their schemas.
type Definitions struct {
	Channels map[uint16]*Channel
	schemas  map[uint16]*mcap.Schema
}

// NewDefinitions returns definitions without a channel.
func NewDefinitions() *Definitions {
	return &Definitions{map[uint16]*Channel{}, map[uint16]*mcap.Schema{0: {}}} // 0 is no schema
}

// Add reads a record if it is a schema or a channel. The first of a number counts.
func (d *Definitions) Add(op mcap.OpCode, body []byte) error {
	switch op {
	case mcap.OpSchema:
		s, err := mcap.ParseSchema(body)
		if err != nil {
			return err
		}
		if _, known := d.schemas[s.ID]; !known {
			d.schemas[s.ID] = s // with a copy of its data
		}
	case mcap.OpChannel:
		c, err := mcap.ParseChannel(body)
		if err != nil || d.Channels[c.ID] != nil {
			return err
		}
		s, ok := d.schemas[c.SchemaID]
		if !ok {
			return fmt.Errorf("channel %d (%.80s) names schema %d, which the file does not have", c.ID, c.Topic, c.SchemaID)
		}
		d.Channels[c.ID] = &Channel{
			Topic: c.Topic, SchemaName: s.Name, SchemaEncoding: s.Encoding, SchemaData: s.Data, MessageEncoding: c.MessageEncoding, Metadata: c.Metadata,
		}
	}
	return nil
}

// errEnd means that only an index can follow.
var errEnd = errors.New("the data ends")

// EachRecord calls visit with the kind and the body of each MCAP record of data, from a byte on, until
// visit returns an error. It checks the lengths first, which the functions of the library do not.
func EachRecord(data []byte, from int, visit func(op mcap.OpCode, body []byte) error) error {
	for at := from; at < len(data); {
		if len(data)-at < RecordHead {
			return fmt.Errorf("the head of the record at byte %d takes %d bytes where %d are left", at, RecordHead, len(data)-at)
		}
		length, body := binary.LittleEndian.Uint64(data[at+1:]), data[at+RecordHead:]
		if length > uint64(len(body)) {
			return fmt.Errorf("the record at byte %d takes %d bytes where %d are left", at, length, len(body))
		}
		if err := visit(mcap.OpCode(data[at]), body[:length:length]); err != nil {
			return fmt.Errorf("the record at byte %d: %w", at, err)
		}
		at += RecordHead + int(length)
	}
	return nil
}

// Writer writes a segment in memory, which does not fail.
type Writer struct {
	buf bytes.Buffer
	w   *mcap.Writer
}

// NewWriter begins a segment.
func NewWriter(c *Channel) *Writer {
	s := &Writer{}
	w, err := mcap.NewWriter(&s.buf, &mcap.WriterOptions{
		SkipMessageIndexing: true, SkipStatistics: true, SkipRepeatedSchemas: true, SkipRepeatedChannelInfos: true,
		SkipAttachmentIndex: true, SkipMetadataIndex: true, SkipChunkIndex: true, SkipSummaryOffsets: true, OverrideLibrary: true,
	})
	must(err)
	s.w = w
	header := &mcap.Header{Library: Library}
	if c.MessageEncoding == "cdr" {
		header.Profile = "ros2"
	}
	must(w.WriteHeader(header))
	must(c.Write(w, 1, 1))
	return s
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Add writes a message.
func (s *Writer) Add(m Message) {
	must(s.w.WriteMessage(&mcap.Message{ChannelID: 1, Sequence: m.Sequence, LogTime: m.LogTime, PublishTime: m.PublishTime, Data: m.Data}))
}

// Len returns the bytes written so far.
func (s *Writer) Len() int { return s.buf.Len() }

// Close ends the segment and returns its bytes.
func (s *Writer) Close() []byte {
	must(s.w.Close())
	return s.buf.Bytes()
}
