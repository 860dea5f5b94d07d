package recording

import (
	"bytes"

	"github.com/foxglove/mcap/go/mcap"
)

// SegmentType is the media type of a segment: see [perception.Segment].
const SegmentType = "application/vnd.mcap"

// library stands in the header of what is written here. It names no version, so
// that the same messages give the same bytes tomorrow.
const library = "robotmem"

// segment is one that is being written.
type segment struct {
	channel     *Channel
	buf         bytes.Buffer
	w           *mcap.Writer
	count       int
	first, last uint64 // log times, ns
	sequence    uint32 // of the first message
	published   uint64 // likewise
	from, to    uint64 // numbers of the messages among their topic's, from 0
	head        []byte // the first message
}

func newSegment(c *Channel) (*segment, error) {
	s := &segment{channel: c}
	w, err := mcap.NewWriter(&s.buf, &mcap.WriterOptions{
		SkipMessageIndexing: true, SkipStatistics: true, SkipRepeatedSchemas: true, SkipRepeatedChannelInfos: true,
		SkipAttachmentIndex: true, SkipMetadataIndex: true, SkipChunkIndex: true, SkipSummaryOffsets: true, OverrideLibrary: true,
	})
	if err != nil {
		return nil, err
	}
	s.w = w
	if err := w.WriteHeader(&mcap.Header{Profile: profile([]*Channel{c}), Library: library}); err != nil {
		return nil, err
	}
	return s, writeChannel(w, c, 1, 1)
}

// writeChannel writes a channel and, unless schemaID is 0, its schema.
func writeChannel(w *mcap.Writer, c *Channel, id, schemaID uint16) error {
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

// profile is ros2 when all channels are what that profile asks for.
func profile(all []*Channel) string {
	for _, c := range all {
		if c.MessageEncoding != "cdr" {
			return ""
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "ros2"
}

func (s *segment) add(m *Message, number uint64) error {
	if s.count == 0 {
		s.first, s.from, s.sequence, s.published = m.LogTime, number, m.Sequence, m.PublishTime
		s.head = bytes.Clone(m.Data)
	}
	s.count++
	s.last, s.to = m.LogTime, number
	return s.w.WriteMessage(&mcap.Message{ChannelID: 1, Sequence: m.Sequence, LogTime: m.LogTime, PublishTime: m.PublishTime, Data: m.Data})
}

func (s *segment) close() ([]byte, error) {
	if err := s.w.Close(); err != nil {
		return nil, err
	}
	return s.buf.Bytes(), nil
}
