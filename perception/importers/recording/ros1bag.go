package recording

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/perception/segment"
)

// ros1Bag is a bag of ROS 1. It is read from its beginning on, as an MCAP file is, so that one without an index,
// which a killed recorder leaves, is read as any other. The index is used to go on behind damage, and to count what
// is lost.
type ros1Bag struct {
	name string
	contents

	header      ros1Head
	budget      *segment.Budget
	connections map[uint32]*Channel
	inflate     ros1Inflater
	index       *ros1BagIndex // nil before it is needed
	// Buffers that are used again while the file is read: of a record, and of the messages of a chunk.
	body     []byte
	messages []ros1Entry
}

var _ Source = (*ros1Bag)(nil)

// ros1Entry is a message of a chunk.
type ros1Entry struct {
	conn uint32
	time uint64
	data []byte
}

// openROS1 opens a bag. It refuses other versions and encrypted bags.
func openROS1(name string, c contents, budget *segment.Budget) (Source, error) {
	b := &ros1Bag{name: name, contents: c, budget: budget, connections: map[uint32]*Channel{}}
	r, done, err := c.reader()
	if err != nil {
		return nil, err
	}
	defer done()

	line := make([]byte, len(ros1Line))
	if _, err := io.ReadFull(r, line); err != nil {
		return nil, fmt.Errorf("%s is a bag that ends within its first line", name)
	}
	if string(line) != ros1Line {
		return nil, fmt.Errorf("%s is a bag of version %.4q of the format; 2.0 is read, to which rosbag fix converts it",
			name, strings.TrimSpace(string(line[len(ros1Magic):])))
	}

	// Without its first record, the messages of a bag can still be read.
	h, _, _, err := newROS1Records(r, int64(len(ros1Line)), c.length(), nil).next()
	if err == nil && h.op == ros1BagHeader {
		b.header = h
	}
	if h.encryptor != "" {
		return nil, fmt.Errorf("%s is encrypted with %.60q; decrypt it first, with the key and rosbag decrypt", name,
			h.encryptor)
	}

	return b, nil
}

func (b *ros1Bag) Name() string { return b.name }

func (b *ros1Bag) Close() error { return b.file.Close() }

// release frees the buffers, see [mcapFile.release].
func (b *ros1Bag) release() { b.body, b.messages, b.inflate.buf = nil, nil, nil }

func (b *ros1Bag) ID(ctx context.Context) (string, error) { return b.id(ctx) }

// Info counts the messages. [ros1Bag.Messages] reports where the file breaks.
func (b *ros1Bag) Info(ctx context.Context) (*Info, error) {
	info, counts, err := countAll(ctx, b)
	if err != nil {
		return nil, err
	}
	info.Format = "rosbag"

	for _, id := range slices.Sorted(maps.Keys(b.connections)) {
		c := b.connections[id]
		info.Channels = append(info.Channels, ChannelInfo{Channel: c, Messages: counts[c]})
	}
	info.sort()

	return info, nil
}

// Messages reads in the order of the file, the messages of a chunk by time if that never steps back in a connection.
func (b *ros1Bag) Messages(ctx context.Context) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		r, done, err := b.reader()
		if err != nil {
			yield(nil, &BreakError{Offset: -1, Err: err})
			return
		}
		defer done()
		if _, err := io.CopyN(io.Discard, r, int64(len(ros1Line))); err != nil {
			yield(nil, &BreakError{Offset: 0, Err: err})
			return
		}

		pass := &ros1Pass{
			ros1Bag: b, records: newROS1Records(r, int64(len(ros1Line)), b.length(), b.body), yield: yield,
			chunks: map[int64]bool{}, newest: map[uint32]uint64{},
		}
		// The next pass uses the buffer again: an import counts the messages before it reads them.
		defer func() { b.body = pass.records.buf }()

		for pass.next(ctx) {
		}
	}
}

// ros1Pass is one reading of a bag.
type ros1Pass struct {
	*ros1Bag
	records *ros1Records
	yield   func(*Message, error) bool

	msg      Message
	last     uint64 // time of the last message
	read     uint64 // messages
	reported uint64 // messages that were reported as lost
	broken   bool
	chunk    ros1Account
	chunks   map[int64]bool    // the places of the chunks that were read
	newest   map[uint32]uint64 // the time of the last message by connection
	infos    []ros1ChunkPlace  // the chunk infos that were read
}

// ros1Account compares the messages of a chunk with its index, which follows it.
type ros1Account struct {
	at      int64
	err     error             // why it could not be read whole
	indexed uint64            // messages that its index counts
	read    uint64            // messages that were read from it
	counts  map[uint32]uint64 // those that were read, less those that the index counts, by connection
}

// next reads a record and delivers its messages. It returns false at the end.
func (p *ros1Pass) next(ctx context.Context) bool {
	if err := ctx.Err(); err != nil {
		p.yield(nil, err)
		return false
	}

	h, data, at, err := p.records.next()
	if err == nil && h.op == ros1Index {
		p.countIndex(&h, data)
		return true
	}
	if more, moved := p.endChunk(); !more || moved {
		return more
	}

	switch {
	case err == io.EOF:
		return p.end(at)
	case errors.Is(err, errROS1Cut) && h.op == ros1Chunk:
		// What comes before the cut is read, and no index follows.
		if !p.unfold(&h, data, at) {
			return false
		}
		p.chunk.err = err
		more, moved := p.endChunk()

		return more && (moved || p.endCounted(p.records.at, p.readIndex().chunks))
	case err != nil:
		return p.report(at, 0, err) && (p.skipDamage(at) || p.endCounted(at, p.readIndex().chunks))
	}

	switch h.op {
	case ros1Chunk:
		// A recorder writes the lengths of a chunk when it ends. The last chunk of a killed one has none, and reaches to
		// the end of the file. Without compression its records are read as if they stood in no chunk.
		if len(data) == 0 && h.size == 0 && h.compression != "none" {
			if data, err = p.records.rest(); err != nil {
				return p.report(at, 0, err)
			}
			if len(data) == 0 {
				return true
			}
		}

		return p.unfold(&h, data, at)
	case ros1Connection:
		err = p.connect(&h, data)
	case ros1Message:
		if err = h.checkMessage(); err == nil {
			return p.deliver(at, ros1Entry{h.conn, h.time, data})
		}
	case ros1ChunkInfo:
		p.infos = append(p.infos, ros1ChunkPlace{int64(h.chunkPos), ros1Counted(&h, data)})
	}

	return err == nil || p.report(at, 0, err)
}

func (h *ros1Head) checkMessage() error {
	if !h.hasConn || !h.hasTime {
		return errors.New("a message has no connection or no time")
	}
	return nil
}

// unfold delivers the messages of a chunk by time. Messages of one time stay in their order. If the time of a connection
// steps back, its clock was set back: only the order of the file says then what came first.
func (p *ros1Pass) unfold(h *ros1Head, packed []byte, at int64) bool {
	p.messages = p.messages[:0]
	p.chunk = ros1Account{at: at, counts: map[uint32]uint64{}}
	p.chunks[at] = true
	data, err := p.inflate.inflate(h, packed)

	// What was decompressed before the damage is read. One unreadable connection must not prevent the messages of others
	// from being read.
	var undefined error
	inOrder := true
	walked := eachROS1Record(data, func(h ros1Head, data []byte) error {
		switch h.op {
		case ros1Connection:
			undefined = cmp.Or(undefined, p.connect(&h, data))
		case ros1Message:
			if err := h.checkMessage(); err != nil {
				return err
			}
			p.messages = append(p.messages, ros1Entry{h.conn, h.time, data})
			inOrder = inOrder && h.time >= p.newest[h.conn]
			p.newest[h.conn] = h.time
		}

		return nil
	})
	p.chunk.err = cmp.Or(err, walked, undefined)
	if inOrder {
		slices.SortStableFunc(p.messages, func(a, b ros1Entry) int { return cmp.Compare(a.time, b.time) })
	}

	for _, m := range p.messages {
		p.chunk.read++
		p.chunk.counts[m.conn]++
		if !p.deliver(at, m) {
			return false
		}
	}

	return true
}

// countIndex adds an index record, which counts the messages of one connection in the chunk before it.
func (p *ros1Pass) countIndex(h *ros1Head, data []byte) {
	// The length of the data is known, but its count may be damaged.
	n := min(uint64(h.count), uint64(len(data)/ros1IndexEntry))
	p.chunk.indexed += n
	if p.chunk.counts == nil {
		p.chunk.counts = map[uint32]uint64{}
	}
	p.chunk.counts[h.conn] -= n
}

// endChunk reports a chunk that could not be read whole, after its index. Without an index behind it, where the chunk
// ends is unknown, too: moved reports that the next record is that of the next chunk, as the index of the bag has it.
func (p *ros1Pass) endChunk() (more, moved bool) {
	c := p.chunk
	p.chunk = ros1Account{}
	if c.err == nil && c.indexed > 0 {
		for _, n := range c.counts {
			if n != 0 {
				c.err = fmt.Errorf("the index of a chunk counts %d messages, and other ones were read than it lists",
					c.indexed)
			}
		}
	}
	if c.err == nil {
		return true, false
	}

	if c.indexed > 0 {
		return p.report(c.at, c.indexed-min(c.indexed, c.read), c.err), false
	}

	lost := uint64(0)

	if i, found := p.readIndex().find(c.at); found {
		known := p.readIndex().chunks[i].messages
		lost = known - min(known, c.read)
	}
	if !p.report(c.at, lost, c.err) {
		return false, false
	}

	return true, p.skipDamage(c.at)
}

// skipDamage goes on with the first chunk behind a place, as the index has it. It returns false if there is none.
func (p *ros1Pass) skipDamage(at int64) bool {
	chunks := p.readIndex().chunks
	next, _ := p.readIndex().find(at + 1)
	if next == len(chunks) {
		return false
	}
	from := chunks[next].at
	p.records = newROS1Records(io.NewSectionReader(p.file, from, p.size-from), from, p.size, p.records.buf)

	return true
}

// end compares what was read with the index at the end of the file. It returns false.
func (p *ros1Pass) end(at int64) bool {
	switch {
	case p.broken:
	case p.header.indexPos == 0:
		p.report(at, 0, errors.New("the bag was not closed: it has no index, and its last messages may be missing"))
		return false
	case uint64(len(p.infos)) < uint64(p.header.chunkCount):
		p.report(at, 0, fmt.Errorf("the bag ends before its index, which has %d chunks: its last messages are missing",
			p.header.chunkCount))
		return false
	}

	return p.endCounted(at, p.infos)
}

// endCounted reports the messages of the chunks that the index has and that were not read. It returns false.
func (p *ros1Pass) endCounted(at int64, chunks []ros1ChunkPlace) bool {
	counted, unread := uint64(0), uint64(0)
	for _, c := range chunks {
		counted += c.messages
		if !p.chunks[c.at] {
			unread += c.messages
		}
	}

	// A place or a number in the index may be the damaged one.
	if lost := min(unread, counted-min(counted, p.read+p.reported)); lost > 0 {
		p.report(at, lost, fmt.Errorf("the index counts %d messages; %d were read", counted, p.read))
	}

	return false
}

func (p *ros1Pass) report(at int64, lost uint64, err error) bool {
	p.broken = true
	p.reported += lost
	return p.yield(nil, &BreakError{Offset: at, LastLogTime: p.last, Lost: lost, Err: err})
}

func (p *ros1Pass) deliver(at int64, m ros1Entry) bool {
	c := p.channel(m.conn)
	if c == nil {
		return p.report(at, 1, fmt.Errorf("a message names connection %d, which the bag does not have", m.conn))
	}
	p.read++
	p.msg = Message{c, segment.Message{LogTime: m.time, PublishTime: m.time, Data: m.data}}
	p.last = m.time

	return p.yield(&p.msg, nil)
}

// channel returns the channel of a connection; nil if there is none. A chunk that was damaged may have had its
// record, which the index repeats.
func (b *ros1Bag) channel(conn uint32) *Channel {
	if c := b.connections[conn]; c != nil {
		return c
	}
	b.readIndex()

	return b.connections[conn]
}

// connect adds the connection of a record. The first of a number counts.
func (b *ros1Bag) connect(h *ros1Head, data []byte) error {
	if !h.hasConn {
		return errors.New("a connection has no number")
	}
	if b.connections[h.conn] != nil {
		return nil
	}

	c := &Channel{Topic: h.topic, SchemaEncoding: "ros1msg", MessageEncoding: "ros1", Metadata: map[string]string{}}
	err := eachROS1Field(data, func(name string, value []byte) error {
		switch name {
		case "topic":
			// The head has the topic under which the messages are stored.
			c.Topic = cmp.Or(c.Topic, string(value))
		case "type":
			c.SchemaName = string(value)
		case "message_definition":
			c.SchemaData = value
		case "callerid", "latching", "md5sum":
			c.Metadata[name] = string(value)
		}

		return nil
	})
	if err == nil {
		err = b.budget.Take(len(data) - len(c.SchemaData))
	}
	if err != nil {
		return fmt.Errorf("connection %d (%.80s): %w", h.conn, c.Topic, err)
	}

	if c.SchemaData, err = b.budget.Text(c.SchemaData); err != nil {
		c.SchemaEncoding = segment.LeftOut
	}
	b.connections[h.conn] = c

	return nil
}

// ros1BagIndex is what the end of a bag says of it.
type ros1BagIndex struct {
	chunks []ros1ChunkPlace // by their places
}

type ros1ChunkPlace struct {
	at       int64
	messages uint64
}

// find returns the first chunk at a place or behind it, and whether it is at the place.
func (x *ros1BagIndex) find(at int64) (i int, found bool) {
	return slices.BinarySearchFunc(x.chunks, at, func(c ros1ChunkPlace, at int64) int { return cmp.Compare(c.at, at) })
}

// readIndex reads the end of the file, which repeats the connections and has the places of the chunks. What cannot
// be read is left out; the index of a compressed file is not read, since it is reached only through all before it.
func (b *ros1Bag) readIndex() *ros1BagIndex {
	if b.index != nil {
		return b.index
	}

	b.index = &ros1BagIndex{}
	from := int64(min(b.header.indexPos, uint64(b.size)))
	if b.packed || from <= 0 {
		return b.index
	}

	records := newROS1Records(io.NewSectionReader(b.file, from, b.size-from), from, b.size, nil)

	for {
		h, data, _, err := records.next()
		if err != nil {
			break
		}

		switch h.op {
		case ros1Connection:
			// A connection that is damaged here may have stood whole in its chunk.
			_ = b.connect(&h, data)
		case ros1ChunkInfo:
			if h.chunkPos < b.header.indexPos {
				b.index.chunks = append(b.index.chunks, ros1ChunkPlace{int64(h.chunkPos), ros1Counted(&h, data)})
			}
		}
	}
	slices.SortFunc(b.index.chunks, func(x, y ros1ChunkPlace) int { return cmp.Compare(x.at, y.at) })

	return b.index
}

// ros1Counted returns the messages of all connections that a chunk info counts.
func ros1Counted(h *ros1Head, data []byte) (n uint64) {
	for entry := range slices.Chunk(data[:len(data)-len(data)%ros1CountEntry], ros1CountEntry) {
		n += uint64(binary.LittleEndian.Uint32(entry[4:]))
	}
	return n
}
