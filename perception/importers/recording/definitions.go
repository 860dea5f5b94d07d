package recording

import (
	"errors"
	"fmt"

	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// What a recording defines is repeated: by its files, by its channels, in the manifest and in each
// segment. These limits keep a small file with large definitions from taking much memory or disk.
const (
	// maxParsed bounds the fields of all parsed definitions together, of some 100 bytes each.
	maxParsed = 1 << 20
	// maxManifest bounds the definitions within the manifest, in bytes.
	maxManifest = 16 << 20
	// maxRepeated bounds the heads of all segments, in bytes, beside the messages themselves.
	maxRepeated = 1 << 30
)

// parsed is a definition that was read, or why it cannot be.
type parsed struct {
	schema *message.Schema
	err    error
}

// definitionKey is equal for channels of one definition: the files of a recording share its text.
type definitionKey struct {
	name, encoding, messages string
	length                   int
	text                     *byte
}

// schemas parses each definition of a recording once.
type schemas struct {
	known  map[definitionKey]parsed
	fields int
}

func (s *schemas) of(c *Channel) (*message.Schema, error) {
	key := definitionKey{c.SchemaName, c.SchemaEncoding, c.MessageEncoding, len(c.SchemaData), nil}
	if len(c.SchemaData) > 0 {
		key.text = &c.SchemaData[0]
	}
	if known, ok := s.known[key]; ok {
		return known.schema, known.err
	}

	var p parsed
	p.schema, p.err = c.Schema()
	if p.err == nil {
		if s.fields += p.schema.Fields; s.fields > maxParsed {
			p = parsed{err: fmt.Errorf("the definitions of the recording have more than %d fields; the messages of %.80s are kept as bytes", maxParsed, c.SchemaName)}
		}
	}
	s.known[key] = p

	return p.schema, p.err
}

// withoutDefinition returns the channel without its definition and its metadata.
func withoutDefinition(c *Channel) *Channel {
	short := *c
	short.SchemaEncoding, short.SchemaData, short.Metadata = segment.LeftOut, nil, nil
	return &short
}

// written returns the channel as segments have it. A definition that is too long to be read is not
// repeated, and none is once the heads of the segments take too much.
func (imp *importer) written(c *channel) *Channel {
	if len(c.SchemaData) > message.MaxDefinition || imp.repeated > maxRepeated {
		return withoutDefinition(c.Channel)
	}
	return c.Channel
}

var errLongManifest = errors.New("the definition is too long for the manifest; a message that is exported again has none")

// listed returns the channels as the manifest has them, and notes the topics whose definitions it
// leaves out.
func (imp *importer) listed() []ChannelInfo {
	out := make([]ChannelInfo, 0, len(imp.info.Channels))

	left := maxManifest
	for _, c := range imp.info.Channels {
		if len(c.SchemaData) > min(left, message.MaxDefinition) {
			imp.channel(c.Channel).topic.note(errLongManifest.Error())
			c.Channel = withoutDefinition(c.Channel)
		}
		left -= len(c.SchemaData)
		out = append(out, c)
	}

	return out
}
