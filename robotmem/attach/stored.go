package attach

import (
	"context"
	"iter"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// minute is the messages of an incident as a recording, so that an import stores them.
type minute struct {
	name, id string
	messages []held
}

var _ recording.Source = (*minute)(nil)

func (m *minute) Name() string                       { return m.name }
func (m *minute) ID(context.Context) (string, error) { return m.id, nil }
func (m *minute) Close() error                       { return nil }

func (m *minute) Info(context.Context) (*recording.Info, error) {
	info, at := &recording.Info{Format: "live"}, map[*segment.Channel]int{}

	for _, h := range m.messages {
		i, known := at[h.channel]
		if !known {
			i = len(info.Channels)
			at[h.channel] = i
			info.Channels = append(info.Channels, recording.ChannelInfo{Channel: h.channel})
		}
		info.Channels[i].Messages++
		info.Messages++
	}
	if len(m.messages) > 0 {
		info.Start, info.End = m.messages[0].logTime, m.messages[len(m.messages)-1].logTime
	}

	return info, nil
}

func (m *minute) Messages(context.Context) iter.Seq2[*recording.Message, error] {
	return func(yield func(*recording.Message, error) bool) {
		for _, h := range m.messages {
			one := &recording.Message{Channel: h.channel, Message: segment.Message{
				Sequence: h.sequence, LogTime: h.logTime, PublishTime: h.logTime, Data: h.data,
			}}
			if !yield(one, nil) {
				return
			}
		}
	}
}

// into is a sink whose session is there already.
type into struct {
	importers.Sink
	session string
}

func (s into) Start(context.Context, importers.Session) (string, error) { return s.session, nil }
func (into) End(context.Context, string, importers.Ending) error        { return nil }
