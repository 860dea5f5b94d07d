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

	defined     *segment.Definitions
	inflate     inflater
	messageZstd unpacker
	// Buffers that are used again: of a record, and of the messages of a chunk.
	body     []byte
	messages []mcap.Message
}

var _ Source = (*mcapFile)(nil)

func (m *mcapFile) Name() string { return m.name }

func (m *mcapFile) Close() error {
	m.inflate.zstd.Close()
	m.messageZstd.close()
	return m.file.Close()
}

func (m *mcapFile) ID(ctx context.Context) (string, error) {
	return hashReader(ctx, io.NewSectionReader(m.file, 0, m.size))
}

// Info counts the messages. [mcapFile.Messages] reports where the file breaks.
func (m *mcapFile) Info(ctx context.Context) (*Info, error) {
	info, counts := &Info{Format: "mcap"}, map[*Channel]uint64{}
	for msg, err := range m.Messages(ctx) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			info.span(msg.LogTime, msg.LogTime, 1)
			counts[msg.Channel]++
		}
	}
	for _, c := range m.defined.Channels {
		info.Channels = append(info.Channels, ChannelInfo{Channel: c, Messages: counts[c]})
	}
	info.sort()
	return info, nil
}

const magicSize = int64(len(media.MCAPMagic))

// unfold lists a chunk's messages by log time. Messages of one time stay in their order.
func (m *mcapFile) unfold(body []byte) error {
	m.messages = m.messages[:0]
	data, err := m.inflate.inflate(body)
	if err != nil {
		return err
	}
	err = segment.EachRecord(data, 0, func(op mcap.OpCode, body []byte) error {
		if op != mcap.OpMessage {
			return m.defined.Add(op, body)
		}
		var one mcap.Message
		if err := one.PopulateFrom(body, false); err != nil {
			return err
		}
		m.messages = append(m.messages, one)
		return nil
	})
	slices.SortStableFunc(m.messages, func(a, b mcap.Message) int { return cmp.Compare(a.LogTime, b.LogTime) })
	return err
}

// Messages reads in the order of the file, the messages of a chunk by log time.
func (m *mcapFile) Messages(ctx context.Context) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		var (
			msg  Message
			one  mcap.Message
			last uint64
		)
		broken := func(at int64, err error) bool {
			return yield(nil, &BreakError{Offset: at, LastLogTime: last, Err: err})
		}
		deliver := func(at int64, one *mcap.Message) bool {
			c, ok := m.defined.Channels[one.ChannelID]
			if !ok {
				return broken(at, fmt.Errorf("a message names channel %d, which the file does not have", one.ChannelID))
			}
			msg = Message{c, segment.Message{Sequence: one.Sequence, LogTime: one.LogTime, PublishTime: one.PublishTime, Data: m.messageZstd.unpack(c, one.Data)}}
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
			op, body, at, err := s.next()
			if err == io.EOF {
				err = errors.New("the file ends without the record that ends its data")
			}
			if err != nil {
				broken(at, err)
				return
			}
			switch op {
			case mcap.OpFooter, mcap.OpDataEnd: // only the summary can follow
				return
			case mcap.OpMessage:
				if err = one.PopulateFrom(body, false); err == nil && !deliver(at, &one) {
					return
				}
			case mcap.OpChunk:
				err = m.unfold(body)
				for i := range m.messages {
					if !deliver(at, &m.messages[i]) {
						return
					}
				}
			default:
				err = m.defined.Add(op, body)
			}
			if err != nil && !broken(at, err) {
				return
			}
		}
	}
}
