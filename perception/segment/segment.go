// Package segment reads and writes segments: runs of messages of one topic, each a small MCAP file
// of one channel with its schema and the messages, without chunks and without an index. A [Segment]
// makes a summary, features and samples of the numbers in the messages.
//
// The tests of this package are those of package perception, through its API.
package segment

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/media"
)

// Library stands in the header of files that this module writes. It names no version,
// so that the same messages always give the same bytes.
const Library = "robotmem"

// Channel is a topic as one program published it.
type Channel struct {
	Topic           string            `json:"topic"`
	SchemaName      string            `json:"schema_name,omitempty"`     // sensor_msgs/msg/Image
	SchemaEncoding  string            `json:"schema_encoding,omitempty"` // ros2msg, ros1msg, protobuf …; "" without a schema
	SchemaData      []byte            `json:"schema_base64,omitempty"`
	MessageEncoding string            `json:"message_encoding"`   // cdr, ros1, protobuf, json …
	Metadata        map[string]string `json:"metadata,omitempty"` // offered_qos_profiles …
}

// Schema parses the schema by which the messages are decoded.
func (c *Channel) Schema() (*message.Schema, error) {
	if c.SchemaEncoding == LeftOut {
		return nil, fmt.Errorf("the definition of %.80s is left out, since those of the recording take more than %d bytes; its messages are kept as bytes", c.SchemaName, maxDefinitions)
	}
	encoding := c.SchemaEncoding
	// JSON describes itself, whatever its schema is, and Parse refuses unknown encodings of messages by their names.
	// An unknown definition of CDR is refused by its own name.
	described, known := describes[encoding]
	if described != c.MessageEncoding && (known || c.MessageEncoding != "cdr") {
		encoding = c.MessageEncoding
	}

	return message.Parse(c.SchemaName, encoding, c.SchemaData)
}

// describes is the encoding of messages that an encoding of schemas is for.
var describes = map[string]string{"ros2msg": "cdr", "ros2idl": "cdr", "ros1msg": "ros1", "protobuf": "protobuf"}

// Write writes the channel and, unless it has none, its schema.
func (c *Channel) Write(w *mcap.Writer, id, schemaID uint16) error {
	if c.SchemaName == "" && c.SchemaEncoding == "" && len(c.SchemaData) == 0 {
		schemaID = 0
	}
	if schemaID != 0 {
		encoding := c.SchemaEncoding
		if encoding == LeftOut {
			// A word of this program alone.
			encoding = ""
		}
		err := w.WriteSchema(&mcap.Schema{ID: schemaID, Name: c.SchemaName, Encoding: encoding, Data: c.SchemaData})
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

	s, defined := &Segment{}, NewDefinitions(NewBudget())
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

// Budget bounds the memory that the definitions of a whole recording take: of its channels and of the
// types of their messages, in all its files.
type Budget struct {
	left  int
	known map[[sha256.Size]byte]any // definitions that the files of a recording repeat, by their bytes
}

const (
	// maxDefinitions is some ten times what the definitions of a large robot take, in bytes.
	maxDefinitions = 64 << 20
	// definitionCost is the memory of a definition beside its text, and mapCost how much more memory the
	// metadata of a channel takes than bytes, both at most.
	definitionCost = 512
	mapCost        = 16
)

// LeftOut is the encoding of a schema that is over the budget. Its messages are kept as bytes.
const LeftOut = "left out"

// NewBudget returns the budget of one recording.
func NewBudget() *Budget {
	return &Budget{left: maxDefinitions, known: map[[sha256.Size]byte]any{}}
}

// Take takes the memory of a definition of n bytes, or fails if too little is left.
func (b *Budget) Take(n int) error {
	if n > b.left-definitionCost {
		return fmt.Errorf("the definitions of topics and types take more than %d bytes", maxDefinitions)
	}
	b.left -= n + definitionCost
	return nil
}

// Text returns a copy of a definition, the same one for equal definitions. It takes the memory of it, or fails if too
// little is left.
func (b *Budget) Text(definition []byte) ([]byte, error) {
	return intern(b, definition, func() ([]byte, error) {
		if err := b.Take(len(definition)); err != nil {
			return nil, err
		}
		return bytes.Clone(definition), nil
	})
}

// intern returns what make makes of the bytes, once for equal bytes.
func intern[T any](b *Budget, body []byte, make func() (T, error)) (T, error) {
	key := sha256.Sum256(body)
	if known, ok := b.known[key].(T); ok {
		return known, nil
	}
	made, err := make()
	if err == nil {
		b.known[key] = made
	}

	return made, err
}

// Definitions are the channels of an MCAP file by their numbers, with their schemas.
type Definitions struct {
	Channels map[uint16]*Channel
	schemas  map[uint16]*mcap.Schema
	budget   *Budget
}

// NewDefinitions returns definitions without a channel.
func NewDefinitions(budget *Budget) *Definitions {
	return &Definitions{map[uint16]*Channel{}, map[uint16]*mcap.Schema{0: {}}, budget} // 0 is no schema
}

// Add reads a record if it is a schema or a channel. The first of a number counts.
func (d *Definitions) Add(op mcap.OpCode, body []byte) error {
	if op != mcap.OpSchema && op != mcap.OpChannel {
		return nil
	}
	if len(body) < 2 {
		return errors.New("the record of a definition is cut")
	}
	id := binary.LittleEndian.Uint16(body)
	if op == mcap.OpSchema {
		if d.schemas[id] != nil {
			return nil
		}
		return d.addSchema(id, body)
	}
	if d.Channels[id] != nil {
		return nil
	}

	return d.addChannel(id, body)
}

func (d *Definitions) addSchema(id uint16, body []byte) error {
	s, err := intern(d.budget, body[2:], func() (*mcap.Schema, error) {
		if d.budget.Take(len(body)) == nil {
			// ParseSchema copies the data, so the schema does not keep the buffer of the record.
			return mcap.ParseSchema(body)
		}
		name, err := schemaName(body)
		return &mcap.Schema{Name: name, Encoding: LeftOut}, err
	})
	if err == nil {
		d.schemas[id] = s
	}

	return err
}

// schemaName reads the name of a schema whose data is not read.
func schemaName(body []byte) (string, error) {
	const maxName = 1 << 10
	if len(body) < 6 || uint64(binary.LittleEndian.Uint32(body[2:])) > uint64(min(len(body)-6, maxName)) {
		return "", errors.New("the record of a schema is cut")
	}
	return string(body[6:][:binary.LittleEndian.Uint32(body[2:])]), nil
}

func (d *Definitions) addChannel(id uint16, body []byte) error {
	if len(body) < 4 {
		return errors.New("the record of a channel is cut")
	}

	// The numbers of channel and schema differ between files, so the comparison leaves them out.
	c, err := intern(d.budget, body[4:], func() (*mcap.Channel, error) {
		if err := d.budget.Take(mapCost * len(body)); err != nil {
			return nil, err
		}
		return mcap.ParseChannel(body)
	})
	if err != nil {
		return err
	}

	schemaID := binary.LittleEndian.Uint16(body[2:])
	s, ok := d.schemas[schemaID]
	if !ok {
		return fmt.Errorf("channel %d (%.80s) names schema %d, which the file does not have", id, c.Topic, schemaID)
	}

	d.Channels[id] = &Channel{
		Topic: c.Topic, SchemaName: s.Name, SchemaEncoding: s.Encoding, SchemaData: s.Data, MessageEncoding: c.MessageEncoding, Metadata: c.Metadata,
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
			return fmt.Errorf("the head of the record at byte %d takes %d bytes where %d are left", at, RecordHead,
				len(data)-at)
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
	// No index and no statistics: a segment is read whole, and they would take more bytes than small messages.
	w, err := mcap.NewWriter(&s.buf, &mcap.WriterOptions{
		SkipMessageIndexing: true, SkipStatistics: true, SkipRepeatedSchemas: true, SkipRepeatedChannelInfos: true,
		SkipAttachmentIndex: true, SkipMetadataIndex: true, SkipChunkIndex: true, SkipSummaryOffsets: true, OverrideLibrary: true,
	})
	must(err)
	s.w = w
	header := &mcap.Header{Library: Library}

	switch c.MessageEncoding {
	case "cdr":
		header.Profile = "ros2"
	case "ros1":
		header.Profile = "ros1"
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
