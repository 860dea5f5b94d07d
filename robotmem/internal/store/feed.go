package store

import (
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem/archive"
)

// ChunkNumbers is how many numbers of a feed are a chunk, and MarkBytes the length of the mark of each.
const (
	ChunkNumbers = 100
	MarkBytes    = 8
)

// FeedHead is the end of a feed: its last number, and the marks of the chunk that it is in.
type FeedHead struct {
	Feed             string
	Last, Generation int64
	marks            []byte
}

// Mark returns the mark of the last number.
func (h *FeedHead) Mark() []byte { return h.marks[max(0, len(h.marks)-MarkBytes):] }

// FeedEntry is a change of a feed. Memory is nil for one that has left the feed or was purged.
type FeedEntry struct {
	Number      int64
	UID, Change string
	Memory      *archive.Memory
}

// FeedHeads returns the ends of the feeds with these names, given as a JSON array, and with all of every collection.
func (c *Conn) FeedHeads(names string, all bool) (heads []FeedHead, err error) {
	every := ""
	if all {
		every = "*"
	}
	err = c.Query(FeedHeads, []any{names, every}, func(s Row) error {
		heads = append(heads, FeedHead{s.ColumnText(0), s.ColumnInt64(1), s.ColumnInt64(2), s.ColumnBlob(3, nil)})
		return nil
	})

	return heads, err
}

// FeedMark returns the mark of a number of a feed, nil if the feed does not reach so far.
func (c *Conn) FeedMark(h *FeedHead, number int64) (mark []byte, err error) {
	if number < 1 || number > h.Last {
		return nil, nil
	}

	marks, chunk := h.marks, (number-1)/ChunkNumbers
	if chunk != (h.Last-1)/ChunkNumbers {
		_, err = c.One(FeedChunkMarks, []any{h.Feed, chunk}, func(s Row) { marks = s.ColumnBlob(0, nil) })
		if err != nil {
			return nil, err
		}
	}
	at := int((number-1)%ChunkNumbers) * MarkBytes
	if at+MarkBytes > len(marks) {
		return nil, nil
	}

	return marks[at : at+MarkBytes], nil
}

// EachFeedEntry visits the changes of a feed after a number, up to another.
func (c *Conn) EachFeedEntry(feed string, after, upto int64, visit func(*FeedEntry) error) error {
	at := len(memoryColumns)

	return c.Query(FeedEntries, []any{feed, after, upto}, func(s Row) error {
		e := &FeedEntry{Number: s.ColumnInt64(at + 4), UID: s.ColumnText(at + 5), Change: s.ColumnText(at + 6)}
		if e.Change != "changed" || s.ColumnInt64(at+1) == 0 {
			return visit(e)
		}

		m := &archive.Memory{}
		sum := readArchived(s, memoryColumns, m)
		m.SupersededBy = s.ColumnText(at + 2)
		if tags := s.ColumnText(at + 3); tags != "" {
			m.UserTags = strings.Split(tags, "\x1f")
		}

		// A damaged row is not passed on. Doctor reports it.
		if slices.Equal(sum.sum(m.UserTags), s.ColumnRawBlob(at)) {
			e.Memory = m
		}

		return visit(e)
	})
}
