// Package perception reads what a robot sensed: it recognises the format of the bytes,
// summarises them in one line, computes a vector for finding similar perceptions, draws a
// picture, and reads the numbers. It chooses the format; the packages image, audio,
// pointcloud, trajectory, segment and timeseries read it. The packages recorder, recording
// and lerobot bring perceptions in, and payload stores their bytes.
//
// # Nouns
//
//   - An [Item] is one perception: bytes, their media type, and metadata.
//   - A summary is one line that is made from the data: "6-axis wrench, 15 samples over
//     315 ms, Fz peak -62 N at 84 ms".
//   - Features are a short vector. The smaller the [Distance] of two vectors of one kind,
//     the more alike are the items.
//   - A [Preview] is a picture: a smaller copy, a plot, a spectrogram, a view from above.
//   - [Samples] are the numbers of an item, few enough to draw, also in 3-D.
//
// # Formats
//
// docs/reference/perceptions.md has the table of formats with their summaries, features and pictures.
// Raw pixels are image/x-raw, raw samples application/x-samples, the points of a ROS message
// application/x-pointcloud2; the metadata that they need is listed there. [Sniff] recognises the
// other formats by their bytes, scans and poses by their text.
//
// Items of all formats have samples, except images and text that is neither a scan nor poses. The samples of
// an MCAP segment of poses are a trajectory, those of laser scans a scan, those of other messages a trace.
//
// # Memory
//
// Every length that a file claims is checked against the bytes that are there before anything
// is allocated. Reading a trace takes about six times the memory of its data at most; an image
// 64 MiB or 64 times its data, whichever is more; a cloud 64 MiB. Samples take 32 MiB more.
//
// # Caveats
//
//   - A unit is printed only if the data or the metadata names it. Nothing is converted;
//     traces are compared in the units that they have.
//   - Lengths of clouds, scans and paths are metres (REP 103) unless metadata units says otherwise.
//   - Traces with different numbers of channels are not comparable. The duration, the rate
//     and the names of the channels are not part of the features of a trace.
//   - A trace with a missing reading has a summary and no features.
//   - Raw pixels and raw samples have no features without their metadata.
//   - An image beyond the limits of memory and an animated WebP have a summary and no features.
//   - A mirrored path is like its original. Positions of clouds have 32 bits.
//   - 64-bit integers beyond 2^53 lose their last digits.
package perception
