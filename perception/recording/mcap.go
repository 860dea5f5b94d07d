package recording

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/robotmem/robotmem-go/perception/media"
	"github.com/robotmem/robotmem-go/perception/segment"
)

type mcapFile struct {
	name string
	file *os.File
	size int64

	schemas  map[uint16]*mcap.Schema
	channels map[uint16]*Channel
	chunks   []*mcap.ChunkIndex // by log time; nil if the file has no index
	info     *Info
	counts   map[uint16]uint64
	inflate  inflater
	body     []byte // the buffer of linear, which may run twice
}

var _ Source = (*mcapFile)(nil)

func newMCAP(name string, f *os.File) (Source, error) {
	stat, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &mcapFile{
		name: name, file: f, size: stat.Size(),
		schemas: map[uint16]*mcap.Schema{}, channels: map[uint16]*Channel{}, counts: map[uint16]uint64{},
	}, nil
}

func (m *mcapFile) Name() string { return m.name }

func (m *mcapFile) Close() error {
	m.inflate.close()
	return m.file.Close()
}

func (m *mcapFile) ID(ctx context.Context) (string, error) {
	return hashReader(ctx, io.NewSectionReader(m.file, 0, m.size))
}

func (m *mcapFile) Info(ctx context.Context) (*Info, error) {
	if m.info != nil {
		return m.info, nil
	}
	info := &Info{Format: "mcap"}
	if !m.readSummary(info) {
		m.chunks = nil
		clear(m.counts)
		info = &Info{Format: "mcap"}
		if err := m.scan(ctx, info); err != nil {
			return nil, err
		}
	}
	for id, c := range m.channels {
		info.Channels = append(info.Channels, ChannelInfo{Channel: c, Messages: m.counts[id]})
	}
	info.sort()
	m.info = info
	return info, nil
}

const (
	magicSize  = int64(len(media.MCAPMagic))
	footerSize = recordHead + 8 + 8 + 4 + magicSize // with the magic number after it
)

// readSummary reads the index at the end of the file. It reports whether the index leads
// to all messages.
func (m *mcapFile) readSummary(info *Info) bool {
	if m.size < magicSize+footerSize {
		return false
	}
	op, head, _, err := newRecords(m.file, magicSize, m.size).next(nil)
	if err != nil {
		return false
	}
	if h, err := mcap.ParseHeader(head); err == nil && op == mcap.OpHeader {
		info.Profile = h.Profile
	}
	tail := make([]byte, magicSize)
	if _, err := m.file.ReadAt(tail, m.size-magicSize); err != nil || string(tail) != media.MCAPMagic {
		return false
	}
	at := m.size - footerSize
	op, body, _, err := newRecords(m.file, at, m.size-magicSize).next(nil)
	if err != nil || op != mcap.OpFooter {
		return false
	}
	footer, err := mcap.ParseFooter(body)
	if err != nil || footer.SummaryStart == 0 || footer.SummaryStart > uint64(at) {
		return false
	}
	var stats *mcap.Statistics
	for s := newRecords(m.file, int64(footer.SummaryStart), at); ; {
		op, body, _, err := s.next(nil)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = m.summaryRecord(info, op, body, &stats)
		}
		if err != nil {
			return false
		}
	}
	if stats == nil || len(m.chunks) == 0 || uint32(len(m.chunks)) != stats.ChunkCount || int(stats.ChannelCount) != len(m.channels) {
		return false
	}
	slices.SortFunc(m.chunks, func(a, b *mcap.ChunkIndex) int {
		return cmp.Or(cmp.Compare(a.MessageStartTime, b.MessageStartTime), cmp.Compare(a.ChunkStartOffset, b.ChunkStartOffset))
	})
	info.Start, info.End, info.Messages = stats.MessageStartTime, stats.MessageEndTime, stats.MessageCount
	m.counts = stats.ChannelMessageCounts
	return true
}

func (m *mcapFile) summaryRecord(info *Info, op mcap.OpCode, body []byte, stats **mcap.Statistics) error {
	outside := errors.New("the index points outside of the file")
	switch op {
	case mcap.OpChunkIndex:
		c, err := mcap.ParseChunkIndex(body)
		if err != nil {
			return err
		}
		if c.ChunkStartOffset > uint64(m.size) || c.ChunkLength > uint64(m.size)-c.ChunkStartOffset {
			return outside
		}
		c.MessageIndexOffsets = nil
		m.chunks = append(m.chunks, c)
	case mcap.OpStatistics:
		s, err := mcap.ParseStatistics(body)
		*stats = s
		return err
	case mcap.OpAttachmentIndex:
		a, err := mcap.ParseAttachmentIndex(body)
		if err != nil {
			return err
		}
		info.Attachments = append(info.Attachments, Attachment{Name: a.Name, MediaType: a.MediaType, Bytes: a.DataSize})
	case mcap.OpMetadataIndex:
		i, err := mcap.ParseMetadataIndex(body)
		if err != nil {
			return err
		}
		if i.Offset > uint64(m.size) {
			return outside
		}
		op, body, _, err := newRecords(m.file, int64(i.Offset), m.size).next(nil)
		if err != nil || op != mcap.OpMetadata {
			return fmt.Errorf("there is no metadata where the index points: %w", err)
		}
		return m.definition(info, op, body)
	default:
		return m.definition(info, op, body)
	}
	return nil
}

// definition reads a record that describes the messages.
func (m *mcapFile) definition(info *Info, op mcap.OpCode, body []byte) error {
	switch op {
	case mcap.OpHeader:
		h, err := mcap.ParseHeader(body)
		if err == nil && info != nil {
			info.Profile = h.Profile
		}
		return err
	case mcap.OpSchema:
		s, err := mcap.ParseSchema(body)
		if err != nil {
			return err
		}
		if _, known := m.schemas[s.ID]; !known {
			m.schemas[s.ID] = s // with a copy of its data
		}
	case mcap.OpChannel:
		c, err := mcap.ParseChannel(body)
		if err != nil {
			return err
		}
		return m.channel(c)
	case mcap.OpMetadata:
		d, err := mcap.ParseMetadata(body)
		if err == nil && info != nil {
			info.Metadata = append(info.Metadata, Metadata{Name: d.Name, Values: d.Metadata})
		}
		return err
	}
	return nil
}

func (m *mcapFile) channel(c *mcap.Channel) error {
	if _, known := m.channels[c.ID]; known {
		return nil
	}
	s, ok := m.schemas[c.SchemaID]
	if c.SchemaID == 0 {
		s, ok = &mcap.Schema{}, true
	}
	if !ok {
		return fmt.Errorf("channel %d (%.80s) names schema %d, which the file does not have", c.ID, c.Topic, c.SchemaID)
	}
	m.channels[c.ID] = &Channel{
		Topic: c.Topic, SchemaName: s.Name, SchemaEncoding: s.Encoding, SchemaData: s.Data, MessageEncoding: c.MessageEncoding, Metadata: c.Metadata,
	}
	return nil
}

// scan reads a file without an index. [mcapFile.Messages] reports where it breaks.
func (m *mcapFile) scan(ctx context.Context, info *Info) error {
	for msg, err := range m.linear(ctx, info) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			info.span(msg.LogTime, msg.LogTime, 1)
			m.counts[msg.id]++
		}
	}
	return nil
}

func (m *mcapFile) Messages(ctx context.Context) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		if _, err := m.Info(ctx); err != nil {
			yield(nil, err)
			return
		}
		all := m.linear(ctx, nil)
		if m.chunks != nil {
			all = m.indexed(ctx)
		}
		for msg, err := range all {
			if err == nil && !yield(&msg.Message, nil) || err != nil && !yield(nil, err) {
				return
			}
		}
	}
}

// maxOpen bounds the bytes of the chunks that are open at once because their times
// overlap. If it does not suffice, messages come nearly in the order of their times.
const maxOpen = 512 << 20

// numbered is a message with the number of its channel.
type numbered struct {
	Message
	id uint16
}

type messageRef struct {
	time uint64
	body []byte
}

// openChunk is a decompressed chunk and its messages by log time.
type openChunk struct {
	data  []byte // of buf, or of the chunk's body if that is not compressed
	buf   []byte
	refs  []messageRef
	next  int
	order int
}

func (c *openChunk) less(other *openChunk) bool {
	return cmp.Or(cmp.Compare(c.refs[c.next].time, other.refs[other.next].time), cmp.Compare(c.order, other.order)) < 0
}

// indexed merges the chunks by log time.
func (m *mcapFile) indexed(ctx context.Context) iter.Seq2[*numbered, error] {
	return func(yield func(*numbered, error) bool) {
		var (
			open  = queue[*openChunk]{less: (*openChunk).less} // the chunk with the earliest message first
			spare *openChunk                                   // for reuse
			msg   numbered
			last  uint64
			seen  uint64
			bytes int
			body  []byte
		)
		broken := func(chunk int, err error) bool {
			return yield(nil, &BreakError{Offset: int64(m.chunks[chunk].ChunkStartOffset), LastLogTime: last, Err: err})
		}
		for at := 0; at < len(m.chunks) || open.Len() > 0; {
			for at < len(m.chunks) && bytes < maxOpen && (open.Len() == 0 || m.chunks[at].MessageStartTime <= open.items[0].refs[open.items[0].next].time) {
				if ctx.Err() != nil {
					yield(nil, ctx.Err())
					return
				}
				c := spare
				if c == nil {
					c = &openChunk{}
				}
				c.order, spare = at, nil
				var err error
				body, err = m.load(m.chunks[at], c, body)
				if err != nil && !broken(at, err) {
					return
				}
				at++
				if len(c.refs) > 0 {
					bytes += len(c.data)
					heap.Push(&open, c)
				}
			}
			if open.Len() == 0 {
				continue
			}
			c := open.items[0]
			err := m.message(&msg, c.refs[c.next].body)
			if c.next++; c.next == len(c.refs) {
				heap.Pop(&open)
				bytes -= len(c.data)
				spare = c
			} else {
				heap.Fix(&open, 0)
			}
			if err != nil {
				if !broken(c.order, err) {
					return
				}
				continue
			}
			last, seen = msg.LogTime, seen+1
			if !yield(&msg, nil) {
				return
			}
		}
		if seen < m.info.Messages {
			yield(nil, &BreakError{Offset: -1, LastLogTime: last, Err: fmt.Errorf("%d of the %d messages that the file counts were found", seen, m.info.Messages)})
		}
	}
}

// load reads and decompresses one chunk. Of a damaged chunk it keeps the messages before
// the damage.
func (m *mcapFile) load(index *mcap.ChunkIndex, c *openChunk, buf []byte) ([]byte, error) {
	c.refs, c.next = c.refs[:0], 0
	if index.ChunkLength > maxRecord {
		return buf, fmt.Errorf("a chunk takes %d bytes; at most %d are read", index.ChunkLength, maxRecord)
	}
	s := newRecords(m.file, int64(index.ChunkStartOffset), int64(index.ChunkStartOffset+index.ChunkLength))
	s.buf = buf
	op, body, _, err := s.next(nil)
	if err == nil && op != mcap.OpChunk {
		err = fmt.Errorf("there is a record of kind %d where the index names a chunk", op)
	}
	if err != nil {
		return s.buf, err
	}
	err = m.unfold(body, c)
	if len(c.data) > 0 && len(c.buf) == 0 { // the chunk keeps the body
		c.buf, s.buf = s.buf, c.buf
	}
	return s.buf, err
}

// unfold lists a chunk's messages by log time. Messages of one time stay in their order.
func (m *mcapFile) unfold(body []byte, c *openChunk) error {
	c.refs, c.next, c.data = c.refs[:0], 0, nil
	head, err := parseChunk(body)
	if err != nil {
		return err
	}
	c.buf = c.buf[:0]
	if c.data, err = m.inflate.inflate(head, c.buf); err != nil {
		return err
	}
	if head.compression != "" {
		c.buf = c.data
	}
	err = segment.EachRecord(c.data, 0, func(op mcap.OpCode, body []byte) error {
		if op != mcap.OpMessage {
			return m.definition(nil, op, body)
		}
		var one mcap.Message
		if err := one.PopulateFrom(body, false); err != nil {
			return err
		}
		c.refs = append(c.refs, messageRef{one.LogTime, body})
		return nil
	})
	slices.SortStableFunc(c.refs, func(a, b messageRef) int { return cmp.Compare(a.time, b.time) })
	return err
}

func (m *mcapFile) message(out *numbered, body []byte) error {
	var one mcap.Message
	if err := one.PopulateFrom(body, false); err != nil {
		return err
	}
	c, ok := m.channels[one.ChannelID]
	if !ok {
		return fmt.Errorf("a message names channel %d, which the file does not have", one.ChannelID)
	}
	out.id = one.ChannelID
	out.Message = Message{c, segment.Message{Sequence: one.Sequence, LogTime: one.LogTime, PublishTime: one.PublishTime, Data: one.Data}}
	return nil
}

// linear reads in the order of the file, the messages of a chunk by log time. It writes
// what describes the recording to info, unless that is nil.
func (m *mcapFile) linear(ctx context.Context, info *Info) iter.Seq2[*numbered, error] {
	return func(yield func(*numbered, error) bool) {
		var (
			msg  numbered
			c    openChunk
			last uint64
		)
		wanted := func(op mcap.OpCode) bool { return op <= mcap.OpChunk || op == mcap.OpMetadata }
		broken := func(at int64, err error) bool {
			return yield(nil, &BreakError{Offset: at, LastLogTime: last, Err: err})
		}
		deliver := func(at int64, body []byte) bool {
			if err := m.message(&msg, body); err != nil {
				return broken(at, err)
			}
			last = msg.LogTime
			return yield(&msg, nil)
		}
		s := newRecords(m.file, magicSize, m.size)
		s.buf = m.body
		defer func() { m.body = s.buf }()
		for {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			op, body, at, err := s.next(wanted)
			if err == io.EOF {
				err = errors.New("the file ends without the record that ends its data")
			}
			if err != nil {
				broken(at, err)
				return
			}
			switch op {
			case mcap.OpDataEnd, mcap.OpFooter: // only the summary can follow
				return
			case mcap.OpMessage:
				if !deliver(at, body) {
					return
				}
			case mcap.OpChunk:
				err := m.unfold(body, &c)
				for _, r := range c.refs {
					if !deliver(at, r.body) {
						return
					}
				}
				if err != nil && !broken(at, err) {
					return
				}
			default:
				if err := m.definition(info, op, body); err != nil && !broken(at, err) {
					return
				}
			}
		}
	}
}
