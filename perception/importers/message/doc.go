// Package message reads the messages that robots record: ROS 2 messages in CDR, by the
// definition in the recording or a built-in one, ROS 1 messages and protobuf by the definition in the
// recording, and JSON. It reads no files and imports no other package of this module.
//
// # Nouns
//
//   - A [Schema] is a parsed message definition: a root [Type] with its fields and their types.
//   - A [Value] is a decoded message, or a part of one.
//
// # Caveats
//
//   - Definitions in ros2idl and flatbuffer are not read: [Parse] fails with [ErrEncoding].
//   - A time of ROS 1 has the fields of ROS 2, sec and nanosec.
//   - Of protobuf an enum is its number, a map a list of entries with a key and a value, and a field whose
//     absence means something is Null without it. A message that is nested more than 32 deep is refused.
//   - Numbers are float64: 64-bit integers beyond 2^53 lose their last digits.
//   - XCDR2, parameter lists and wide strings (wstring), which ROS 2 hardly ever writes, are not
//     read. The error names them.
package message
