package recording

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/robotmem/robotmem-go/perception/media"
	"github.com/robotmem/robotmem-go/perception/segment"
)

type mcapFile struct {
	name string
	contents

	budget      *segment.Budget
	defined     *segment.Definitions
	inflate     inflater
	messageZstd unpacker
	// The counts are of the last pass over the file.
	attachments, metadata uint64
	// Buffers that are used again while the file is read: of a record, and of the messages of a chunk.
	body     []byte
	messages []mcap.Message
	// newest is the log time of the last message by channel, of this pass.
	newest map[uint16]uint64
}

var _ Source = (*mcapFile)(nil)

func newMCAP(name string, c contents, budget *segment.Budget) *mcapFile {
	return &mcapFile{
		name: name, contents: c, budget: budget, defined: segment.NewDefinitions(budget), inflate: newInflater(),
	}
}

func (m *mcapFile) Name() string { return m.name }

func (m *mcapFile) Close() error {
	m.inflate.zstd.Close()
	m.messageZstd.close()
	return m.file.Close()
}

// release frees the buffers. In a bag of many files each would otherwise keep buffers of its largest chunk.
func (m *mcapFile) release() { m.body, m.messages, m.inflate.buf = nil, nil, nil }

func (m *mcapFile) ID(ctx context.Context) (string, error) { return m.id(ctx) }

// Info counts the messages. [mcapFile.Messages] reports where the file breaks.
func (m *mcapFile) Info(ctx context.Context) (*Info, error) {
	m.attachments, m.metadata = 0, 0
	info, counts, err := countAll(ctx, m)
	if err != nil {
		return nil, err
	}

	info.Format = "mcap"
	for _, c := range m.defined.Channels {
		info.Channels = append(info.Channels, ChannelInfo{Channel: c, Messages: counts[c]})
	}
	info.sort()
	info.Attachments, info.MetadataRecords = m.attachments, m.metadata

	return info, nil
}

const magicSize = int64(len(media.MCAPMagic))

// unfold lists a chunk's messages by log time. Messages of one time stay in their order. If the time of a channel steps
// back, its clock was set back: only the order of the file says then what came first.
func (m *mcapFile) unfold(body []byte) error {
	m.messages = m.messages[:0]
	data, err := m.inflate.inflate(body)
	if err != nil {
		return err
	}

	// One unreadable definition must not prevent the messages of other channels from being read.
	var undefined error
	inOrder := true
	err = segment.EachRecord(data, 0, func(op mcap.OpCode, body []byte) error {
		if op != mcap.OpMessage {
			undefined = cmp.Or(undefined, m.defined.Add(op, body))
			return nil
		}

		var one mcap.Message
		if err := one.PopulateFrom(body, false); err != nil {
			return err
		}
		m.messages = append(m.messages, one)
		inOrder = inOrder && one.LogTime >= m.newest[one.ChannelID]
		m.newest[one.ChannelID] = one.LogTime

		return nil
	})
	if inOrder {
		slices.SortStableFunc(m.messages, func(a, b mcap.Message) int { return cmp.Compare(a.LogTime, b.LogTime) })
	}

	return cmp.Or(err, undefined)
}

// Messages reads in the order of the file, the messages of a chunk by log time if that never steps back in a channel.
func (m *mcapFile) Messages(ctx context.Context) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		r, done, err := m.reader()
		if err != nil {
			yield(nil, &BreakError{Offset: -1, Err: err})
			return
		}
		defer done()
		records := &records{r: bufio.NewReaderSize(r, 256<<10), end: m.length(), buf: m.body}
		if err := records.skip(magicSize); err != nil {
			yield(nil, &BreakError{Offset: 0, Err: err})
			return
		}
		// The next pass uses the buffer again: an import counts the messages before it reads them.
		defer func() { m.body = records.buf }()

		m.newest = map[uint16]uint64{}

		pass := &mcapPass{mcapFile: m, records: records, yield: yield}
		for pass.next(ctx) {
		}
	}
}

// mcapPass is one reading of a file.
type mcapPass struct {
	*mcapFile
	records *records
	yield   func(*Message, error) bool

	msg    Message
	last   uint64 // log time of the last message
	read   uint64 // messages
	broken bool
	ended  bool // the data has ended; only the summary follows
	// Of a chunk that could not be read: where it is, why, and how many messages its index counts.
	chunkAt   int64
	chunkErr  error
	chunkLost uint64
}

// next reads a record and delivers its messages. It returns false at the end.
func (p *mcapPass) next(ctx context.Context) bool {
	if err := ctx.Err(); err != nil {
		p.yield(nil, err)
		return false
	}

	op, body, at, err := p.records.next()
	// The indexes that follow a damaged chunk are the only record of how many messages it held.
	if op == mcap.OpMessageIndex && p.chunkErr != nil && err == nil {
		p.chunkLost += indexed(body)
		return true
	}

	if !p.endChunk() {
		return false
	}
	if err == io.EOF {
		err = errors.New("the file ends without the record that ends its data")
	}

	if err != nil {
		if !p.ended {
			p.report(at, 0, err)
		}
		return false
	}

	switch op {
	case mcap.OpDataEnd:
		p.ended = true
		return p.checkData(at, body)
	case mcap.OpFooter:
		return false
	case mcap.OpStatistics:
		return p.checkCount(at, body)
	case mcap.OpMessage:
		var one mcap.Message
		if err = one.PopulateFrom(body, false); err == nil {
			return p.deliver(at, &one)
		}
	case mcap.OpChunk:
		// Deliver what was read before the error: a chunk may be damaged only near its end.
		err = p.unfold(body)
		for i := range p.messages {
			if !p.deliver(at, &p.messages[i]) {
				return false
			}
		}
		// The report waits for the indexes after the chunk, which tell how many messages are lost.
		if err != nil {
			p.chunkAt, p.chunkErr, p.chunkLost = at, err, 0
			return true
		}
	case mcap.OpAttachment:
		p.attachments++
	case mcap.OpMetadata:
		p.metadata++
	default:
		if !p.ended {
			err = p.defined.Add(op, body)
		}
	}

	return err == nil || p.report(at, 0, err)
}

// endChunk reports a chunk that could not be read, after its index.
func (p *mcapPass) endChunk() bool {
	err := p.chunkErr
	if err == nil {
		return true
	}
	p.chunkErr = nil
	// The messages before the damage were delivered and are not lost.
	return p.report(p.chunkAt, p.chunkLost-min(p.chunkLost, uint64(len(p.messages))), err)
}

func (p *mcapPass) report(at int64, lost uint64, err error) bool {
	p.broken = true
	return p.yield(nil, &BreakError{Offset: at, LastLogTime: p.last, Lost: lost, Err: err})
}

func (p *mcapPass) deliver(at int64, one *mcap.Message) bool {
	p.read++
	c, ok := p.defined.Channels[one.ChannelID]
	if !ok {
		return p.report(at, 1, fmt.Errorf("a message names channel %d, which the file does not have", one.ChannelID))
	}
	p.msg = Message{c, segment.Message{
		Sequence: one.Sequence, LogTime: one.LogTime, PublishTime: one.PublishTime,
		Data: p.messageZstd.unpack(c, one.Data),
	}}
	p.last = p.msg.LogTime

	return p.yield(&p.msg, nil)
}

// checkData compares the checksum of the data, if the file has one. What a record without a chunk
// holds has no checksum of its own.
func (p *mcapPass) checkData(at int64, body []byte) bool {
	end, err := mcap.ParseDataEnd(body)
	if err != nil {
		return p.report(at, 0, err)
	}
	// After reported damage the checksum must differ and would only repeat the report.
	if sum := p.records.sumBefore; end.DataSectionCRC != 0 && end.DataSectionCRC != sum && !p.broken {
		return p.report(at, 0,
			fmt.Errorf("the checksum of the data is %08x; %08x is stored: a message or a definition may be damaged",
				sum, end.DataSectionCRC))
	}

	return true
}

// checkCount compares the number of messages with the summary. A message whose record kind is damaged is skipped as
// an unknown record, and only the summary still counts it.
func (p *mcapPass) checkCount(at int64, body []byte) bool {
	stats, err := mcap.ParseStatistics(body)
	if err != nil || p.broken || stats.MessageCount <= p.read {
		return true
	}
	return p.report(at, stats.MessageCount-p.read,
		fmt.Errorf("the summary counts %d messages; %d were read", stats.MessageCount, p.read))
}

// indexed returns how many messages the index of a chunk counts for one channel.
func indexed(body []byte) uint64 {
	const head, entry = 2 + 4, 16
	if len(body) < head {
		return 0
	}
	return uint64(len(body)-head) / entry
}
