package message_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/perception/importers/message"
)

// A service or action event is the info, and at most one request and one response of the definition.
func TestEventsOfServicesAndActions(t *testing.T) {
	const srv = "int64 a\nint64 b # two\n---\nint64 sum\n"
	const action = "int32 order\n---\nint32[] sequence\n---\nint32[] partial\n"
	info := func() []byte {
		b := []byte{0, 1, 0, 0, 1, 0, 0, 0}                    // the encapsulation, event_type
		b = binary.LittleEndian.AppendUint32(b, 1_700_000_000) // stamp
		b = binary.LittleEndian.AppendUint32(b, 5)             // nanosec
		b = append(b, make([]byte, 16)...)                     // client_gid
		b = append(b, make([]byte, 4)...)                      // alignment: 28 bytes so far
		return binary.LittleEndian.AppendUint64(b, 42)         // sequence_number
	}
	for name, test := range map[string]struct {
		typ, text string
		data      []byte
		path      []string
		want      float64
	}{
		"a request": {"own/srv/Add_Event", srv, func() []byte {
			b := binary.LittleEndian.AppendUint32(info(), 1)
			b = append(b, 0, 0, 0, 0)
			b = binary.LittleEndian.AppendUint64(b, 7)
			b = binary.LittleEndian.AppendUint64(b, 8)
			return binary.LittleEndian.AppendUint32(b, 0)
		}(), []string{"info", "sequence_number"}, 42},
		"feedback": {"own/action/Fib_FeedbackMessage", action, func() []byte {
			b := append([]byte{0, 1, 0, 0}, make([]byte, 16)...)
			b = binary.LittleEndian.AppendUint32(b, 1)
			return binary.LittleEndian.AppendUint32(b, 9)
		}(), []string{"feedback", "partial"}, 9},
		"a goal": {"own/action/Fib_SendGoal_Event", action, func() []byte {
			b := binary.LittleEndian.AppendUint32(info(), 1)
			b = append(b, make([]byte, 16)...)
			b = binary.LittleEndian.AppendUint32(b, 11)
			return binary.LittleEndian.AppendUint32(b, 0)
		}(), []string{"request"}, 11},
	} {
		t.Run(name, func(t *testing.T) {
			schema, err := message.Parse(test.typ, "ros2msg", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			v, err := schema.Decode(test.data)
			if err != nil {
				t.Fatal(err)
			}
			got := v.At(test.path...)
			switch {
			case got.Kind == message.Numbers:
				got = &message.Value{Float: got.Numbers[0]}
			case got.Kind == message.List:
				got = got.List[0].At("goal", "order")
			}
			if got.Float != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	if _, err := message.Parse("own/msg/Add", "ros2msg", []byte(srv)); err == nil {
		t.Error("the separator of a service is read within a message")
	}
}

// The reason names what is missing, and what the encoding is.
func TestReasonsWithoutADefinition(t *testing.T) {
	for name, test := range map[string]struct{ typ, encoding, want string }{
		"no definition": {"test_msgs/msg/Arrays", "", "the definition of test_msgs/msg/Arrays is missing"},
		"IDL":           {"own/msg/X", "ros2idl", "the definition of own/msg/X is written in IDL (ros2idl)"},
		"ROS 1":         {"std_msgs/String", "ros1", "the definition of std_msgs/String is missing"},
		"protobuf":      {"foxglove.Log", "protobuf", "the definition of foxglove.Log is missing"},
		"flatbuffer":    {"foxglove.Log", "flatbuffer", `"flatbuffer"`},
	} {
		_, err := message.Parse(test.typ, test.encoding, nil)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
	// The definition of a built-in type does not have to be read.
	schema, err := message.Parse("geometry_msgs/msg/Vector3", "ros2idl", []byte("module geometry_msgs { … };"))
	if err != nil || len(schema.Root.Fields) != 3 {
		t.Errorf("got %v, %v", schema, err)
	}
}
