// Package perception reads what a robot sensed: which format the bytes are in,
// what a person would say of them in one line, which other perceptions are like
// them, and how they look in a picture. It is a leaf: it knows no database and no
// network; how payloads are kept is the package payload's, how a message is laid
// out the package message's.
//
// # Nouns
//
//   - An [Item] is one perception: bytes, their media type, and metadata.
//   - A [Trace] is a time series of several channels, such as the forces and
//     torques of a wrist sensor (a wrench), joint states or an IMU.
//   - A [Cloud] is a set of points, a [Trajectory] a sequence of poses.
//   - A [Segment] is a run of messages of one topic, as an MCAP file.
//   - A summary is one line made from the data: "6-axis wrench, 15 samples over
//     315 ms, Fz peak -62 N at 84 ms".
//   - Features are a short vector; of equal kinds, the nearer by [Distance] the
//     more alike.
//   - A [Preview] is a picture: a smaller copy, a plot, a spectrogram, a view from
//     above.
//   - [Samples] are its numbers, few enough to be drawn or turned in 3-D.
//   - A [Recorder] gathers the samples and frames of a control loop, which it
//     never makes wait, for a [Sink], which may take its time.
//
// # Example
//
//	mediaType, err := perception.Sniff(data, "") // "text/csv; charset=utf-8"
//	if err != nil {
//		return err // only a declared type can be wrong
//	}
//	it := perception.Item{
//		Type: "tactile", MediaType: mediaType, Data: data,
//		Metadata: map[string]any{"duration_s": 0.315, "units": map[string]any{"force": "N", "torque": "Nm"}},
//	}
//	line := perception.Summarize(it)
//	kind, vector, ok := perception.Features(it) // "trace/v2/6", 384 numbers
//	picture, err := perception.MakePreview(it, perception.PreviewOptions{}) // image/svg+xml
//
//	r := perception.NewRecorder(sink, perception.RecorderOptions{})
//	wrist, err := r.Trace("wrist/wrench", perception.TraceOptions{Channels: axes, RateHz: 1000, Kind: "wrench"})
//	if err != nil {
//		return err
//	}
//	wrist.Push(seq, stamp, readings) // from the control loop
//	return r.Close(ctx)
//
// # Formats
//
//	                       summary                       features              preview
//	PNG, JPEG, WebP        size, brightness or values    layout of light and   smaller copy
//	                                                     colour, or of depth
//	raw pixels, .npy of    likewise                      likewise              likewise
//	kind image or depth
//	WAV, FLAC              length, rate, channels,       pitch over time       spectrogram
//	                       level
//	PCD, PLY, PointCloud2, points, fields, size          shape                 from above
//	.npy of kind cloud
//	laser scan             rays, angle, nearest          72 sectors            from above
//	TUM, KITTI, table and  poses, path, extent           shape of the path     from above
//	JSON of poses
//	CSV, JSON, .npy, raw   as a trace, else keys, shape  course and            plot
//	samples                or beginning                  distribution
//	MCAP segment           topic, type, messages         as a trace            plot
//	other text             its beginning                 none                  none
//	others                 number of bytes               none                  none
//
// Raw pixels are image/x-raw, raw samples application/x-samples, the points of a
// ROS message application/x-pointcloud2; [Item] names the metadata that they
// need. [Sniff] knows the other formats by their bytes; scans and poses by what
// the text says.
//
// All but images and other text have samples. An MCAP segment of poses is a
// trajectory there, one of laser scans a scan, any other a trace.
//
// # Memory
//
// Every length that a file claims is checked against the bytes that are there
// before anything is allocated. Reading a trace takes at most some six times the
// room of its data; [DecodeTrace] adds a slice per sample, three times the
// readings if each sample is but one. An image takes at most 64 MiB or 64 times
// its data, whichever is more; a cloud 64 MiB; a sound 32 MiB. Samples take
// 32 MiB beside what their trace does; a sound is not held for them, of a FLAC
// file at most 32 Mi samples are unpacked. A recorder takes its QueueBytes and one
// batch.
//
// # Caveats
//
//   - A unit is printed only if the data or the metadata names it. Nothing is
//     converted; traces are alike by their course, whatever unit they are in.
//   - Lengths of clouds, scans and paths are metres (REP 103) unless metadata
//     units says otherwise.
//   - Traces of different numbers of channels are not comparable; the time that a
//     trace takes, its rate and the names of its channels are not part of its
//     features.
//   - A trace with a missing reading has a summary and no features.
//   - Raw pixels and raw samples have no features without their metadata.
//   - A picture that is larger than the limits above has a summary and no
//     features: a blank one of many megapixels, for example. So has an animated
//     WebP.
//   - A sound of more than 8 Mi samples is judged by up to 64 stretches.
//   - A mirrored path is like its original. Positions of clouds are 32-bit.
//   - Numbers of 64 bits beyond 2^53 lose their last digits.
//   - A recorder keeps the oldest: when the queue of a source is full, what comes
//     is dropped and counted. A crash loses the open chunk and what is queued. The
//     stamps of a trace are kept as start, end, rate, gaps and largest jitter.
package perception
