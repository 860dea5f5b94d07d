package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/foxglove/mcap/go/mcap"
)

// mcapFile reads an MCAP file.
type mcapFile struct {
	name string
	file *os.File
	size int64

	schemas  map[uint16]*mcap.Schema
	channels map[uint16]*Channel
	chunks   []*mcap.ChunkIndex // by log time; nil when the file has no index
	info     *Info
	counts   map[uint16]uint64
	inflate  inflater
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
	sortChannels(info.Channels)
	m.info = info
	return info, nil
}

func sortChannels(all []ChannelInfo) {
	slices.SortFunc(all, func(a, b ChannelInfo) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.SchemaName, b.SchemaName), cmp.Compare(a.Messages, b.Messages), cmp.Compare(a.Metadata["callerid"], b.Metadata["callerid"]))
	})
}

// footerSize is the footer record and the magic number at the end.
const footerSize = recordHead + 8 + 8 + 4 + int64(len(mcapMagic))

// readSummary reads the index at the end of the file, and says whether it leads
// to all messages.
func (m *mcapFile) readSummary(info *Info) bool {
	if m.size < int64(len(mcapMagic))+footerSize {
		return false
	}
	_, head, _, err := newRecords(m.file, int64(len(mcapMagic)), m.size).next(func(op mcap.OpCode) bool { return op == mcap.OpHeader })
	if err != nil {
		return false
	}
	if h, err := mcap.ParseHeader(head); err == nil {
		info.Profile = h.Profile
	}
	tail := make([]byte, len(mcapMagic))
	if _, err := m.file.ReadAt(tail, m.size-int64(len(tail))); err != nil || string(tail) != mcapMagic {
		return false
	}
	at := m.size - footerSize
	op, body, _, err := newRecords(m.file, at, m.size-int64(len(mcapMagic))).next(anyRecord)
	if err != nil || op != mcap.OpFooter {
		return false
	}
	footer, err := mcap.ParseFooter(body)
	if err != nil || footer.SummaryStart == 0 || footer.SummaryStart > uint64(at) {
		return false
	}
	var stats *mcap.Statistics
	for s := newRecords(m.file, int64(footer.SummaryStart), at); ; {
		op, body, _, err := s.next(anyRecord)
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

func anyRecord(mcap.OpCode) bool { return true }

func (m *mcapFile) summaryRecord(info *Info, op mcap.OpCode, body []byte, stats **mcap.Statistics) error {
	switch op {
	case mcap.OpChunkIndex:
		c, err := mcap.ParseChunkIndex(body)
		if err != nil {
			return err
		}
		if c.ChunkStartOffset > uint64(m.size) || c.ChunkLength > uint64(m.size)-c.ChunkStartOffset {
			return errors.New("the index leads out of the file")
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
			return errors.New("the index leads out of the file")
		}
		op, body, _, err := newRecords(m.file, int64(i.Offset), m.size).next(func(op mcap.OpCode) bool { return op == mcap.OpMetadata })
		if err != nil || op != mcap.OpMetadata {
			return fmt.Errorf("no metadata where the index says: %w", err)
		}
		return m.definition(info, op, body)
	default:
		return m.definition(info, op, body)
	}
	return nil
}

// definition keeps what describes the messages.
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
			s.Data = slices.Clone(s.Data)
			m.schemas[s.ID] = s
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
	own := &Channel{Topic: c.Topic, MessageEncoding: c.MessageEncoding, Metadata: c.Metadata}
	if c.SchemaID != 0 {
		s, ok := m.schemas[c.SchemaID]
		if !ok {
			return fmt.Errorf("channel %d (%.80s) names schema %d, which is not there", c.ID, c.Topic, c.SchemaID)
		}
		own.SchemaName, own.SchemaEncoding, own.SchemaData = s.Name, s.Encoding, s.Data
	}
	m.channels[c.ID] = own
	return nil
}

// scan reads a file without an index to its end, or to where it breaks, which
// [mcapFile.Messages] reports.
func (m *mcapFile) scan(ctx context.Context, info *Info) error {
	for msg, err := range m.linear(ctx, info) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		if info.Messages == 0 || msg.LogTime < info.Start {
			info.Start = msg.LogTime
		}
		info.Messages++
		info.End = max(info.End, msg.LogTime)
		m.counts[msg.id]++
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
