package recording

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/foxglove/mcap/go/mcap"
)

// maxOpen bounds the chunks that are open at once because their times overlap.
// Where it does not suffice, messages come in nearly the order of their times.
const maxOpen = 512 << 20

// numbered is a message with the number of its channel.
type numbered struct {
	Message
	id uint16
}

// ref is a message within a chunk.
type ref struct {
	time uint64
	body []byte
}

// openChunk is a decompressed chunk and its messages by log time.
type openChunk struct {
	data  []byte
	refs  []ref
	next  int
	order int
}

// chunkHeap has the chunk with the earliest message on top.
type chunkHeap []*openChunk

func (h chunkHeap) Len() int { return len(h) }
func (h chunkHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	return cmp.Or(cmp.Compare(a.refs[a.next].time, b.refs[b.next].time), cmp.Compare(a.order, b.order)) < 0
}
func (h chunkHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *chunkHeap) Push(x any)   { *h = append(*h, x.(*openChunk)) }
func (h *chunkHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// indexed merges the chunks by log time.
func (m *mcapFile) indexed(ctx context.Context) iter.Seq2[*numbered, error] {
	return func(yield func(*numbered, error) bool) {
		var (
			open  chunkHeap
			spare []*openChunk
			msg   numbered
			last  uint64
			seen  uint64
			bytes int
			body  []byte
		)
		for at := 0; at < len(m.chunks) || len(open) > 0; {
			for at < len(m.chunks) && bytes < maxOpen && (len(open) == 0 || m.chunks[at].MessageStartTime <= open[0].refs[open[0].next].time) {
				if ctx.Err() != nil {
					yield(nil, ctx.Err())
					return
				}
				c := &openChunk{}
				if n := len(spare); n > 0 {
					c, spare = spare[n-1], spare[:n-1]
				}
				c.order = at
				var err error
				body, err = m.load(m.chunks[at], c, body)
				if err != nil && !yield(nil, &BreakError{Offset: int64(m.chunks[at].ChunkStartOffset), LastLogTime: last, Err: err}) {
					return
				}
				at++
				if len(c.refs) > 0 {
					bytes += len(c.data)
					heap.Push(&open, c)
				}
			}
			if len(open) == 0 {
				continue
			}
			c := open[0]
			err := m.message(&msg, c.refs[c.next].body)
			if c.next++; c.next == len(c.refs) {
				heap.Pop(&open)
				bytes -= len(c.data)
				spare = append(spare[:0], c)
			} else {
				heap.Fix(&open, 0)
			}
			if err != nil {
				if !yield(nil, &BreakError{Offset: int64(m.chunks[c.order].ChunkStartOffset), LastLogTime: last, Err: err}) {
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

// load reads and decompresses one chunk; what is whole of it is kept.
func (m *mcapFile) load(index *mcap.ChunkIndex, c *openChunk, buf []byte) ([]byte, error) {
	c.refs, c.next = c.refs[:0], 0
	if index.ChunkLength > maxRecord {
		return buf, fmt.Errorf("a chunk of %d bytes, at most %d are read", index.ChunkLength, maxRecord)
	}
	s := records{at: int64(index.ChunkStartOffset), end: int64(index.ChunkStartOffset + index.ChunkLength), buf: buf}
	s.r = newRecords(m.file, s.at, s.end).r
	op, body, _, err := s.next(anyRecord)
	if err == nil && op != mcap.OpChunk {
		err = fmt.Errorf("no chunk where the index says but a record of kind %d", op)
	}
	if err != nil {
		return s.buf, err
	}
	return s.buf, m.unfold(body, c)
}

// unfold lists a chunk's messages by log time, those of one time in the order
// they stand in.
func (m *mcapFile) unfold(body []byte, c *openChunk) error {
	c.refs, c.next = c.refs[:0], 0
	head, err := parseChunk(body)
	if err != nil {
		return err
	}
	if c.data, err = m.inflate.inflate(head, c.data); err != nil {
		return err
	}
	err = inner(c.data, func(op mcap.OpCode, body []byte) error {
		if op != mcap.OpMessage {
			return m.definition(nil, op, body)
		}
		var one mcap.Message
		if err := one.PopulateFrom(body, false); err != nil {
			return err
		}
		c.refs = append(c.refs, ref{one.LogTime, body})
		return nil
	})
	slices.SortStableFunc(c.refs, func(a, b ref) int { return cmp.Compare(a.time, b.time) })
	return err
}

func (m *mcapFile) message(out *numbered, body []byte) error {
	var one mcap.Message
	if err := one.PopulateFrom(body, false); err != nil {
		return err
	}
	c, ok := m.channels[one.ChannelID]
	if !ok {
		return fmt.Errorf("a message of channel %d, which is not there", one.ChannelID)
	}
	out.id = one.ChannelID
	out.Message = Message{Channel: c, Sequence: one.Sequence, LogTime: one.LogTime, PublishTime: one.PublishTime, Data: one.Data}
	return nil
}

// linear reads in the file's order, the messages of a chunk by log time. What
// describes the recording goes to info, when that is not nil.
func (m *mcapFile) linear(ctx context.Context, info *Info) iter.Seq2[*numbered, error] {
	return func(yield func(*numbered, error) bool) {
		var (
			msg  numbered
			c    openChunk
			last uint64
		)
		wanted := func(op mcap.OpCode) bool {
			return op <= mcap.OpChunk || op == mcap.OpMetadata
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
		for s := newRecords(m.file, int64(len(mcapMagic)), m.size); ; {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			op, body, at, err := s.next(wanted)
			if err == io.EOF {
				broken(at, errors.New("the file ends without the record that ends its data"))
				return
			}
			if err != nil {
				broken(at, err)
				return
			}
			switch op {
			case mcap.OpDataEnd, mcap.OpFooter:
				// Behind it is the summary, then the magic number again.
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
