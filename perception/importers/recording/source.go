package recording

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/robotmem/robotmem-go/perception/media"
	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// Channel is a topic as one program published it.
type Channel = segment.Channel

// Message is one message of a recording. It and its Data are valid until the next one is read.
type Message struct {
	*Channel
	segment.Message
}

// Info describes a recording as a whole. The times are texts in JSON, whose numbers would lose
// their last digits.
type Info struct {
	Format   string        `json:"format"`       // mcap, rosbag2 sqlite3 or rosbag
	Start    uint64        `json:"start,string"` // log time of the first message, ns
	End      uint64        `json:"end,string"`   // of the last
	Messages uint64        `json:"messages"`
	Channels []ChannelInfo `json:"channels"` // by topic
	// Attachments and metadata records of MCAP, which are not imported.
	Attachments     uint64 `json:"attachments,omitempty"`
	MetadataRecords uint64 `json:"metadata_records,omitempty"`
	UnknownRecords  uint64 `json:"unknown_records,omitempty"` // of a ULog, of kinds that are not known

	places    map[*Channel]int // of the channels of a living source in Channels
	spanned   bool             // Start and End are set
	wallStart uint64           // the first log time of a wall clock; 0 is none
	unsetEnd  uint64           // the last log time before those of any wall clock; 0 is none
}

// formatDB3 is the format of a rosbag2 database, whose times are signed.
const formatDB3 = "rosbag2 sqlite3"

// ChannelInfo is a channel with the number of its messages.
type ChannelInfo struct {
	*Channel
	Messages uint64 `json:"messages"`
}

// sort orders the channels by topic and then by what tells them apart.
func (i *Info) sort() {
	slices.SortFunc(i.Channels, func(a, b ChannelInfo) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.SchemaName, b.SchemaName),
			cmp.Compare(a.Messages, b.Messages), compareChannels(a.Channel, b.Channel))
	})
}

// compareChannels orders channels by topic, and then by what tells them apart.
func compareChannels(a, b *Channel) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.SchemaName, b.SchemaName),
		cmp.Compare(a.Metadata["callerid"], b.Metadata["callerid"]))
}

// span extends the time of the recording by messages between two log times, if these can be times.
func (i *Info) span(start, end, messages uint64) {
	i.Messages += messages
	if messages == 0 || !possible(start) || !possible(end) {
		return
	}
	// 0 is a valid time of a simulator, so a flag says whether Start is set.
	if !i.spanned || start < i.Start {
		i.Start = start
	}
	i.End = max(i.End, end)
	i.spanned = true
	if start >= firstWall {
		i.startWall(start)
	}
	if end < firstWall {
		i.endUnset(end)
	}
}

// endUnset notes a log time that is none of a wall clock.
func (i *Info) endUnset(ns uint64) { i.unsetEnd = max(i.unsetEnd, ns) }

// startWall notes a log time of a wall clock.
func (i *Info) startWall(ns uint64) {
	if ns > 0 && (i.wallStart == 0 || ns < i.wallStart) {
		i.wallStart = ns
	}
}

// Source is an open recording. One goroutine uses it at a time.
type Source interface {
	// Name is the base name of the file or folder.
	Name() string
	// ID is the same for the same bytes: the hexadecimal SHA-256 of all of them.
	ID(ctx context.Context) (string, error)
	// Info reads the whole file.
	Info(ctx context.Context) (*Info, error)
	// Messages yields all messages in the order of the file. An error is a [*BreakError] or the
	// context's. After a BreakError there may be more messages.
	Messages(ctx context.Context) iter.Seq2[*Message, error]
	Close() error
}

// countAll reads a source once. It returns the number of its messages and their times, and the number of each
// channel. Damage is left out, since a later pass reports it.
func countAll(ctx context.Context, src Source) (*Info, map[*Channel]uint64, error) {
	info, counts := &Info{}, map[*Channel]uint64{}

	for msg, err := range src.Messages(ctx) {
		// Only a cancelled pass gives wrong counts.
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err == nil {
			info.span(msg.LogTime, msg.LogTime, 1)
			counts[msg.Channel]++
		}
	}

	return info, counts, nil
}

// BreakError says where a recording is damaged or cut.
type BreakError struct {
	File        string // of several; "" if the recording is one file
	Offset      int64  // byte in the file; -1 is unknown
	LastLogTime uint64 // of the message before, ns; 0 without
	Lost        uint64 // messages that are known to be there; 0 is unknown
	Err         error
}

func (e *BreakError) Error() string {
	s := "the recording breaks"
	if e.File != "" {
		s += " in " + e.File
	}
	if e.Offset >= 0 {
		s += fmt.Sprintf(" at byte %d", e.Offset)
	}
	if e.LastLogTime > 0 {
		s += fmt.Sprintf(", after log time %d.%09d s", e.LastLogTime/1e9, e.LastLogTime%1e9)
	}
	if e.Lost > 0 {
		s += ", " + media.Plural(int64(e.Lost), "message") + " lost"
	}

	return s + ": " + e.Err.Error()
}

func hashReader(ctx context.Context, r io.Reader) (string, error) {
	h := sha256.New()
	if n, err := io.Copy(h, payload.ReaderWith(ctx, r)); err != nil {
		return "", fmt.Errorf("hashing, after %d bytes: %w", n, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// channelKey is equal for channels that do not differ.
func channelKey(c *Channel) string { return channelKeyOf(c, map[*byte]string{}) }

// channelKeyOf is channelKey with the sums of the definitions that are known.
func channelKeyOf(c *Channel, sums map[*byte]string) string {
	sum := ""
	if len(c.SchemaData) > 0 {
		// Files of a bag share definitions. Keying by the address of the bytes avoids hashing one text for each
		// channel.
		first := &c.SchemaData[0]
		if sums[first] == "" {
			sums[first] = fmt.Sprintf("%x", sha256.Sum256(c.SchemaData))
		}
		sum = sums[first]
	}

	return fmt.Sprintf("%q %q %q %s %q %q", c.Topic, c.SchemaName, c.SchemaEncoding, sum, c.MessageEncoding, c.Metadata)
}
