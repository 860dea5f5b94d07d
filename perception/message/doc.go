// Package message reads the messages that robots record: ROS 2 messages in CDR, by the
// definition in the recording or a built-in one, and JSON. It reads no files and imports no
// other package of this module.
//
// # Nouns
//
//   - A [Schema] is a parsed message definition: a root [Type] with its fields and their types.
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
//   - Definitions in ros2idl, protobuf, flatbuffer and those of ROS 1 are not read: [Parse]
//     fails with [ErrEncoding].
//   - Arrays of numbers are float64: 64-bit integers beyond 2^53 lose their last digits.
//     Single fields keep them.
//   - XCDR2 is read for final types. Parameter lists and delimited encodings, which ROS 2
//     does not write for its own types, are refused with an error that names them.
//   - The width of a wchar depends on the DDS implementation. Four bytes are tried first, as
//     Fast DDS 2 writes them, then two.
package message
