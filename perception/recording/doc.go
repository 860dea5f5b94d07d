// Package recording reads what robots record, MCAP files and rosbag2 databases,
// stores it as perceptions, and writes perceptions as MCAP again.
//
// # Nouns
//
//   - A [Source] is an open recording; it yields each [Message] in turn.
//   - An [importing.Perception] is what is stored: the payload of one message (a picture, a
//     point cloud) or a segment, which is some seconds of one topic.
//   - An [importing.Sink] stores perceptions. An Origin names each of them, so that
//     importing again stores nothing twice.
//   - The manifest is the first perception of a recording: its channels with
//     their schemas, and its metadata.
//
// # Example
//
//	src, err := recording.Open("run.mcap")
//	if err != nil {
//		return err
//	}
//	defer src.Close()
//	report, err := recording.Import(ctx, src, recording.Options{
//		Exclude:   []string{"/rosout"},
//		Keyframes: map[string]float64{"/camera/*": 0.02},
//	}, sink, nil)
//
// # What becomes of a message
//
// A stored message can be had back byte for byte. A payload is stored as it is,
// under its own media type; what stands before and behind it in the message goes
// to metadata, envelope.prefix and envelope.suffix in base64. All other messages
// are copied into segments: MCAP files of one channel, see
// [github.com/robotmem/robotmem-go/perception.Segment].
//
//	sensor_msgs/CompressedImage  image/jpeg, image/png: as its bytes show
//	sensor_msgs/Image            image/x-raw; metadata width, height, encoding,
//	                             step, is_bigendian
//	sensor_msgs/PointCloud2      application/x-pointcloud2; metadata fields (name,
//	                             offset, datatype, count), point_step, row_step,
//	                             width, height, is_bigendian
//	foxglove.CompressedImage     as above, out of the base64 of its JSON; then
//	                             envelope.payload is base64
//	others                       application/vnd.mcap: a segment
//
// # Memory
//
// A recording is never held. Of MCAP the chunks whose times overlap are open,
// at most 512 MiB of them; an import holds a batch of 16 MiB, 64 MiB of open
// segments and five seconds of transforms. No length that a file claims is
// allocated before it is compared with the bytes that are there; a record or a
// decompressed chunk takes at most 256 MiB.
//
// # Caveats
//
//   - A file without an index, as one that was cut, is read twice, and its
//     messages come in the order of the file.
//   - Attachments are not stored; a file with an index has them named in the
//     manifest.
//   - ROS 1 bags and rosbag2 files that are compressed message by message are
//     refused, with the command that converts them.
//   - The pose of a perception is the one that is known when the message comes:
//     transforms that arrive later do not change it.
//   - Options that leave out other messages make other segments: what was stored
//     with the old ones stays beside them.
//   - An interrupted import goes on with the same lengths of segments: with others
//     it stores once more what its segments held.
package recording
