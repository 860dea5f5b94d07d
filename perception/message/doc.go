// Package message reads the messages that robots record: ROS 2 messages in CDR,
// by the definition that comes with them or a built-in one, and JSON. It is a
// leaf: it knows no files and nothing else of this module.
//
// # Nouns
//
//   - A [Schema] is what a message definition says: a root [Type] with its
//     fields, and the types that those are made of.
//   - A [Value] is a decoded message, or a part of one.
//
// # Example
//
//	schema, err := message.Parse("geometry_msgs/msg/Wrench", "ros2msg", definition)
//	if err != nil {
//		return err
//	}
//	v, err := schema.Decode(data)
//	if err != nil {
//		return err
//	}
//	fz := v.At("force", "z").Float
//
// # Caveats
//
//   - ros2idl, protobuf, flatbuffer and ROS 1 definitions are not read; [Parse]
//     says so with [ErrEncoding].
//   - Arrays of numbers are float64: integers of 64 bits beyond 2^53 lose their
//     last digits there. Single fields keep them all.
//   - XCDR2 is read for plain types of the final kind. Parameter lists and
//     delimited encodings, which ROS 2 does not write for its own types, are
//     refused by name.
//   - How wide a wchar is differs from one DDS to the next. Four bytes are tried
//     first, as Fast DDS 2 writes them, then two.
package message
