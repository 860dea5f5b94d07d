package recording

import (
	"bufio"
	"cmp"
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

	defined *segment.Definitions
	info    *Info
	counts  map[*Channel]uint64
	inflate inflater
	body    []byte // the buffers of linear, which may run twice
	chunk   openChunk
}

var _ Source = (*mcapFile)(nil)

func newMCAP(name string, f *os.File) (Source, error) {
	stat, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &mcapFile{
		name: name, file: f, size: stat.Size(),
		defined: segment.NewDefinitions(), counts: map[*Channel]uint64{},
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
	if err := m.scan(ctx, info); err != nil {
		return nil, err
	}
	for _, c := range m.defined.Channels {
		info.Channels = append(info.Channels, ChannelInfo{Channel: c, Messages: m.counts[c]})
	}
	info.sort()
	m.info = info
	return info, nil
}

const magicSize = int64(len(media.MCAPMagic))

// definition reads a record that describes the messages.
func (m *mcapFile) definition(info *Info, op mcap.OpCode, body []byte) error {
	switch op {
	case mcap.OpHeader:
		h, err := mcap.ParseHeader(body)
		if err == nil && info != nil {
			info.Profile = h.Profile
		}
		return err
	case mcap.OpAttachmentIndex:
		a, err := mcap.ParseAttachmentIndex(body)
		if err == nil && info != nil {
			info.Attachments = append(info.Attachments, Attachment{Name: a.Name, MediaType: a.MediaType, Bytes: a.DataSize})
		}
		return err
	case mcap.OpMetadata:
		d, err := mcap.ParseMetadata(body)
		if err == nil && info != nil {
			info.Metadata = append(info.Metadata, Metadata{Name: d.Name, Values: d.Metadata})
		}
		return err
	}
	return m.defined.Add(op, body)
}

// scan counts the messages. [mcapFile.Messages] reports where the file breaks.
func (m *mcapFile) scan(ctx context.Context, info *Info) error {
	for msg, err := range m.linear(ctx, info) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			info.span(msg.LogTime, msg.LogTime, 1)
			m.counts[msg.Channel]++
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
		m.linear(ctx, nil)(yield)
	}
}

type messageRef struct {
	time uint64
	body []byte
}

// openChunk is a decompressed chunk and its messages by log time.
type openChunk struct {
	data []byte // of buf, or of the chunk's body if that is not compressed
	buf  []byte
	refs []messageRef
}

// unfold lists a chunk's messages by log time. Messages of one time stay in their order.
func (m *mcapFile) unfold(body []byte, c *openChunk) error {
	c.refs, c.data = c.refs[:0], nil
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

func (m *mcapFile) message(out *Message, body []byte) error {
	var one mcap.Message
	if err := one.PopulateFrom(body, false); err != nil {
		return err
	}
	c, ok := m.defined.Channels[one.ChannelID]
	if !ok {
		return fmt.Errorf("a message names channel %d, which the file does not have", one.ChannelID)
	}
	*out = Message{c, segment.Message{Sequence: one.Sequence, LogTime: one.LogTime, PublishTime: one.PublishTime, Data: one.Data}}
	return nil
}

// linear reads in the order of the file, the messages of a chunk by log time. It writes
// what describes the recording to info, unless that is nil.
func (m *mcapFile) linear(ctx context.Context, info *Info) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		var (
			msg  Message
			last uint64
		)
		wanted := func(op mcap.OpCode) bool {
			return op <= mcap.OpChunk || op == mcap.OpMetadata || op >= mcap.OpDataEnd || info != nil && op == mcap.OpAttachmentIndex
		}
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
		s := &records{r: bufio.NewReaderSize(io.NewSectionReader(m.file, magicSize, m.size-magicSize), 256<<10), at: magicSize, end: m.size, buf: m.body}
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
			case mcap.OpFooter:
				return
			case mcap.OpDataEnd: // only the summary can follow
				if info == nil {
					return
				}
			case mcap.OpMessage:
				if !deliver(at, body) {
					return
				}
			case mcap.OpChunk:
				err := m.unfold(body, &m.chunk)
				for _, r := range m.chunk.refs {
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
