package message

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// ROS 1 writes the fields of a message one after the other, without padding, in little-endian byte order. A string
// or an array of no fixed length begins with its length in four bytes. An empty message takes no bytes.

// ros1Encoding is the encoding of schemas whose messages are in the serialization of ROS 1.
const ros1Encoding = "ros1msg"

// ros1Primitives are the names that mean something else in ROS 1: byte is the old name of int8.
var ros1Primitives = map[string]Kind{"byte": Int8}

// ros1Times are the built-in types of times. Their fields have the names that ROS 2 gives them, so that whoever reads
// a stamp need not know which of the two wrote it; rosbags names them so, too.
var ros1Times = map[string]*Type{
	"time": {
		Name:   "time",
		Fields: []Field{{Name: "sec", Kind: Uint32}, {Name: "nanosec", Kind: Uint32}},
		names:  []string{"sec", "nanosec"},
	},
	"duration": {
		Name:   "duration",
		Fields: []Field{{Name: "sec", Kind: Int32}, {Name: "nanosec", Kind: Int32}},
		names:  []string{"sec", "nanosec"},
	},
}

// ros1Texts are the types that a definition of ROS 1 may name without defining them. The built-in definitions of
// ROS 2 differ from those of ROS 1 under the same names, so none of them is used.
var ros1Texts = map[string]string{"std_msgs/Header": "uint32 seq\ntime stamp\nstring frame_id\n"}

// parseType reads the type of a field.
func (p *parser) parseType(name string) (Field, error) {
	f, err := parseType(name)
	if err != nil || !p.ros1 {
		return f, err
	}

	base, _, _ := strings.Cut(name, "[")
	if k, ok := ros1Primitives[base]; ok {
		f.Kind = k
	}
	f.Type = ros1Times[base]

	return f, nil
}

// newROS1Decoder returns a decoder of a message of ROS 1.
func newROS1Decoder(data []byte) *decoder {
	return &decoder{data: data, order: binary.LittleEndian, packed: true}
}

// end checks that nothing follows the message. ROS 1 has no padding, so what follows means that the definition is
// that of another message.
func (d *decoder) end() error {
	if left := len(d.data) - d.at; d.packed && left > 0 {
		return fmt.Errorf("the message ends at byte %d, and %d bytes follow", d.at, left)
	}
	return nil
}
