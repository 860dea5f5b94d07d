// Package message reads the messages that robots record: ROS 2 messages in CDR, by the
// definition in the recording or a built-in one, and JSON. It reads no files and imports no
// other package of this module.
//
// # Nouns
//
//   - A [Schema] is a parsed message definition: a root [Type] with its fields and their types.
//   - A [Value] is a decoded message, or a part of one.
//
// # Caveats
//
//   - Definitions in ros2idl, protobuf, flatbuffer and those of ROS 1 are not read: [Parse]
//     fails with [ErrEncoding].
//   - Numbers are float64: 64-bit integers beyond 2^53 lose their last digits.
//   - XCDR2, parameter lists and wide strings (wstring), which ROS 2 hardly ever writes, are not
//     read. The error names them.
package message
