// Package recording reads what robots record, MCAP files, rosbag2 databases, bags of ROS 1 and logs of PX4 (ULog),
// stores it as perceptions, and writes perceptions as MCAP again.
//
// # Nouns
//
//   - A [Source] is an open recording. It yields each [Message] in turn.
//   - An [importers.Perception] is what is stored: the payload of one message (a picture,
//     a point cloud), or a segment, which is some seconds of one topic.
//   - An [importers.Sink] stores perceptions. Each has an origin, so that importing a
//     recording again stores nothing twice.
//   - The manifest is the first perception of a recording: its channels with their schemas.
//
// # What a message becomes
//
// A stored message can be restored byte for byte. A payload is stored as it is, under its own media
// type; the bytes before and after it in the message go to the metadata, envelope.prefix and
// envelope.suffix in base64. All other messages are copied into segments, see [segment.Segment].
//
//	sensor_msgs/CompressedImage  image/jpeg, image/png: as its bytes show
//	sensor_msgs/Image            image/x-raw; metadata width, height, encoding, step, is_bigendian
//	sensor_msgs/PointCloud2      application/x-pointcloud2; metadata fields (name, offset, datatype,
//	                             count), point_step, row_step, width, height, is_bigendian
//	others                       application/vnd.mcap: a segment
//
// # Memory
//
// A recording is never held in memory. Of MCAP and of a ROS 1 bag one chunk is open. The definitions of all files of a
// recording take at most 64 MiB ([segment.Budget]). An import holds a batch of 16 MiB,
// 64 MiB of open segments and five seconds of transforms. No length that a file claims is allocated
// before it is compared with the bytes that are there. A record or a decompressed chunk takes at most
// 256 MiB. A message that is larger than a segment is copied twice.
//
// # Caveats
//
//   - An MCAP file and a ROS 1 bag are read twice, and their messages come in the order of the file,
//     those of a chunk by log time.
//   - Attachments and metadata records are not stored.
//   - Of ROS 1 bags version 2.0 is read; older and encrypted ones are refused. They have no checksums
//     unless their chunks are compressed, so a changed byte within a message is not noticed.
//   - The times of a ULog count from the boot of the autopilot, as the clock of a simulator does. Its
//     messages are stored in the serialization of ROS 1, whose layout is the same, under the schema
//     ulog/NAME; the topic of a further instance ends in its number. Defaults of parameters and infos of
//     several parts are left out.
//   - A compressed database (.db3.zst) or ULog is unpacked into a temporary file, a compressed MCAP file or bag
//     is read as it is. Behind damage of a compressed bag nothing more is read, since its index is at its end.
//   - The pose of a perception is the one that is known when the message comes: later
//     transforms do not change it.
//   - Options that leave out other messages make other segments; the stored ones stay.
//   - An interrupted import must be continued with the same lengths of segments.
//     Otherwise it stores again what its segments held.
package recording
