// Package timeline reads a recording in the order of its time, as a player needs it.
package timeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// Timeline reads the messages of an MCAP file with an index in the order of their time, from any time on,
// as a player needs them. One goroutine uses it at a time.
type Timeline struct {
	file       *os.File
	reader     *mcap.Reader
	channels   map[uint16]*recording.Channel
	start, end uint64
	messages   uint64
}

// Open opens an MCAP file. A file without an index cannot be played in order; export its episode to get one.
func Open(path string) (*Timeline, error) {
	f, _, err := importers.Open(path)
	if err != nil {
		return nil, err
	}

	t := &Timeline{file: f, channels: map[uint16]*recording.Channel{}}
	if err := t.open(); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}

	return t, nil
}

func (t *Timeline) open() error {
	var err error
	if t.reader, err = mcap.NewReader(t.file); err != nil {
		return err
	}
	info, err := t.reader.Info()
	if err != nil {
		return err
	}
	if info.Statistics == nil || len(info.ChunkIndexes) == 0 && info.Statistics.MessageCount > 0 {
		return errors.New("it has no index; import it and play the episode")
	}

	t.start, t.end = info.Statistics.MessageStartTime, info.Statistics.MessageEndTime

	t.messages = info.Statistics.MessageCount
	for id, c := range info.Channels {
		one := &recording.Channel{Topic: c.Topic, MessageEncoding: c.MessageEncoding, Metadata: c.Metadata}
		if s := info.Schemas[c.SchemaID]; s != nil {
			one.SchemaName, one.SchemaEncoding, one.SchemaData = s.Name, s.Encoding, s.Data
		}
		t.channels[id] = one
	}

	return nil
}

// Span returns the log times of the first and the last message in ns, and how many there are.
func (t *Timeline) Span() (start, end, messages uint64) { return t.start, t.end, t.messages }

// Channels returns the channels by topic.
func (t *Timeline) Channels() []*recording.Channel {
	return slices.SortedFunc(maps.Values(t.channels), func(a, b *recording.Channel) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.SchemaName, b.SchemaName))
	})
}

// From yields the messages from a log time on. A message and its data are valid until the next one.
func (t *Timeline) From(ctx context.Context, from uint64) iter.Seq2[*recording.Message, error] {
	return func(yield func(*recording.Message, error) bool) {
		if t.messages == 0 || from > t.end {
			return
		}

		it, err := t.reader.Messages(mcap.UsingIndex(true), mcap.InOrder(mcap.LogTimeOrder), mcap.AfterNanos(from),
			mcap.BeforeNanos(min(t.end, math.MaxUint64-1)+1))
		if err != nil {
			yield(nil, err)
			return
		}

		var buffer mcap.Message
		for {
			_, c, m, err := it.NextInto(&buffer)
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			one := &recording.Message{Channel: t.channels[c.ID], Message: segment.Message{
				Sequence: m.Sequence, LogTime: m.LogTime, PublishTime: m.PublishTime, Data: m.Data,
			}}
			if one.Channel != nil && !yield(one, nil) {
				return
			}
		}
	}
}

// Close closes the file.
func (t *Timeline) Close() error {
	t.reader.Close()
	return t.file.Close()
}
