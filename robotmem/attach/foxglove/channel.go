package foxglove

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/robotmem/robotmem-go/perception/segment"
)

const (
	// maxChannels is twice what the largest robots publish.
	maxChannels = 20_000

	// maxDefinitions bounds the topics, names and schemas of all channels of a peer, in bytes.
	maxDefinitions = 64 << 20
)

// Channel is a topic with the format of its messages. The protocol has no metadata of a channel, so a
// client receives none. A channel that was handed to a handler is not changed afterwards.
type Channel struct {
	segment.Channel
	ID uint64 `json:"id"` // chosen by the side that publishes; used again after the channel has ended
}

// size is what a channel takes of maxDefinitions.
func (c *Channel) size() int {
	return len(c.Topic) + len(c.SchemaName) + len(c.SchemaEncoding) + len(c.SchemaData) + len(c.MessageEncoding)
}

// wireChannel is a channel in an advertise message of either side.
type wireChannel struct {
	ID             *uint64 `json:"id"`
	Topic          string  `json:"topic"`
	Encoding       string  `json:"encoding"`
	SchemaName     string  `json:"schemaName"`
	SchemaEncoding string  `json:"schemaEncoding,omitempty"`
	Schema         string  `json:"schema"`
}

// derivedEncodings are the schema encodings that a message encoding implies. Servers of the older protocol
// do not send the schema's.
var derivedEncodings = map[string]string{
	"cdr": "ros2msg", "ros1": "ros1msg", "json": "jsonschema", "protobuf": "protobuf", "flatbuffer": "flatbuffer",
}

// isBinary is whether schemas of an encoding are sent as base64, and not as they are.
func isBinary(schemaEncoding string) bool {
	return schemaEncoding == "protobuf" || schemaEncoding == "flatbuffer"
}

// decode reads a channel as the other side sent it.
func (w *wireChannel) decode() (*Channel, Reason, error) {
	if w.ID == nil {
		return nil, BadChannel, fmt.Errorf("the channel of topic %.80q has no id", w.Topic)
	}
	if w.Topic == "" {
		return nil, BadChannel, fmt.Errorf("channel %d has no topic", *w.ID)
	}

	c := &Channel{ID: *w.ID}
	c.Topic, c.MessageEncoding = w.Topic, w.Encoding
	c.SchemaName, c.SchemaEncoding = w.SchemaName, w.SchemaEncoding
	if w.Schema == "" {
		return c, "", nil
	}
	if c.SchemaEncoding == "" {
		c.SchemaEncoding = derivedEncodings[c.MessageEncoding]
	}

	if !isBinary(c.SchemaEncoding) {
		c.SchemaData = []byte(w.Schema)
		return c, "", nil
	}

	// Some servers leave the padding out.
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(w.Schema, "="))
	if err != nil {
		return nil, BadSchema, fmt.Errorf("the %s schema of channel %d, topic %.80q, is not base64: %w", c.SchemaEncoding, c.ID, c.Topic, err)
	}
	c.SchemaData = data

	return c, "", nil
}

// encode makes the channel as it is sent.
func (c *Channel) encode() (*wireChannel, error) {
	if c.Topic == "" {
		return nil, fmt.Errorf("channel %d has no topic", c.ID)
	}

	w := &wireChannel{ID: &c.ID, Topic: c.Topic, Encoding: c.MessageEncoding, SchemaName: c.SchemaName, SchemaEncoding: c.SchemaEncoding}
	switch {
	case c.SchemaEncoding == segment.LeftOut:
		// A word of this module alone, for a schema that is not there.
		w.SchemaEncoding = ""
	case isBinary(c.SchemaEncoding):
		w.Schema = base64.StdEncoding.EncodeToString(c.SchemaData)
	case !utf8.Valid(c.SchemaData):
		return nil, fmt.Errorf("the %s schema of channel %d, topic %.80q, is not UTF-8, as the protocol has it", c.SchemaEncoding, c.ID, c.Topic)
	default:
		w.Schema = string(c.SchemaData)
	}

	return w, nil
}

// channelSet is the channels that a peer has advertised, within the limits of this package.
type channelSet struct {
	byID  map[uint64]*Channel
	bytes int
}

// add takes the channels of an advertise message. Channels whose ids were in use replace those, which
// are returned as well. Channels with a problem are left out.
func (s *channelSet) add(channels jsontext.Value, p *problems) (replaced, added []*Channel) {
	if s.byID == nil {
		s.byID = map[uint64]*Channel{}
	}
	now := map[uint64]int{} // the places of the channels in added

	err := eachElement(channels, func(v jsontext.Value) bool {
		var w wireChannel
		if err := unmarshal(v, &w); err != nil {
			p.add(BadChannel, "a channel of an advertise message: %v", err)
			return true
		}
		c, reason, err := w.decode()
		if err != nil {
			p.add(reason, "%v", err)
			return true
		}

		old := s.byID[c.ID]
		if old != nil {
			s.remove(c.ID)
		}
		full := len(s.byID) >= maxChannels
		if full || s.bytes+c.size() > maxDefinitions {
			if full {
				p.add(TooManyChannels, "channel %d, topic %.80q, is after the first %d", c.ID, c.Topic, maxChannels)
			} else {
				p.add(SchemasTooLarge, "with channel %d, topic %.80q, the definitions take more than %d bytes", c.ID, c.Topic, maxDefinitions)
			}
		} else {
			s.byID[c.ID] = c
			s.bytes += c.size()
		}

		// An id may be twice in one message: the later channel is meant.
		at, again := now[c.ID]
		switch {
		case again && s.byID[c.ID] != nil:
			added[at] = c
		case again:
			added[at] = nil
			delete(now, c.ID)
		default:
			if old != nil {
				replaced = append(replaced, old)
			}
			if s.byID[c.ID] != nil {
				now[c.ID] = len(added)
				added = append(added, c)
			}
		}

		// A message of nothing but channels that are too many is not read to its end.
		return !full
	})
	if err != nil {
		p.add(BadJSON, "the channels of an advertise message: %v", err)
	}

	kept := added[:0]
	for _, c := range added {
		if c != nil {
			kept = append(kept, c)
		}
	}

	return replaced, kept
}

// remove returns the channel that had the id, or nil.
func (s *channelSet) remove(id uint64) *Channel {
	c := s.byID[id]
	if c != nil {
		s.bytes -= c.size()
		delete(s.byID, id)
	}

	return c
}

// removeAll takes out the channels of an unadvertise message.
func (s *channelSet) removeAll(ids jsontext.Value, p *problems) (removed []*Channel) {
	err := eachElement(ids, func(v jsontext.Value) bool {
		var id uint64
		if err := unmarshal(v, &id); err != nil {
			p.add(BadChannel, "an id of an unadvertise message: %v", err)
			return true
		}
		c := s.remove(id)
		if c == nil {
			p.add(UnknownChannel, "channel %d ends, and was not there", id)
			return true
		}
		removed = append(removed, c)

		return true
	})
	if err != nil {
		p.add(BadJSON, "the ids of an unadvertise message: %v", err)
	}

	return removed
}

// encodeChannels makes an advertise message.
func encodeChannels(channels []*Channel) ([]byte, error) {
	message := struct {
		Op       string         `json:"op"`
		Channels []*wireChannel `json:"channels"`
	}{Op: "advertise", Channels: []*wireChannel{}}

	for _, c := range channels {
		w, err := c.encode()
		if err != nil {
			return nil, err
		}
		message.Channels = append(message.Channels, w)
	}

	text, err := json.Marshal(message, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("make an advertise message: %w", err)
	}

	return text, nil
}

// errNotArray is what an array has to be.
var errNotArray = errors.New("not an array")
