// Package perception reads what a robot sensed: which format the bytes are in,
// what a person would say of them in one line, and which other perceptions are
// like them. It also keeps large payloads as files. It is a leaf: it knows no
// database and no network, and nothing else of this module.
//
// # Nouns
//
//   - An [Item] is one perception: bytes, their media type, and metadata.
//   - A [Trace] is a time series of several channels, such as the forces and
//     torques of a wrist sensor (a wrench), joint states or an IMU.
//   - A summary is one line made from the data: "6-axis wrench, 15 samples over
//     315 ms, Fz peak -62 N at 84 ms".
//   - Features are a short vector; the nearest vector of the same kind belongs
//     to the perception that is most alike.
//   - [Files] is a folder of payloads, each under the SHA-256 of its bytes.
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
//	kind, vector, ok := perception.Features(it) // "trace/6/15", 90 numbers
//
//	sum := sha256.Sum256(data)
//	files := perception.Files{Dir: "memory.db.payloads"}
//	if err := files.Put(sum, data); err != nil {
//		return err
//	}
//
// # Formats
//
//	             sniffed  summary                       features
//	CSV, text    yes      as a trace, or its beginning  of a trace
//	JSON         yes      as a trace, or its keys       of a trace
//	NumPy .npy   yes      as a trace, or its shape      of a trace
//	PNG, JPEG    yes      size                          8x8 grey, mean colour
//	WebP         yes      size                          none
//	WAV, FLAC    yes      length, rate, channels        none
//	PCD, PLY     yes      points, fields                none
//	others       many     number of bytes               none
//
// # Memory
//
// Every length that a file claims is checked against the bytes that are there
// before anything is allocated. Reading a trace takes at most some six times the
// room of its data; [DecodeTrace] adds a slice per sample, three times the
// readings if each sample is but one. An image takes at most 64 MiB or 64 times
// its data, whichever is more.
//
// # Caveats
//
//   - A unit is printed only if the data or the metadata names it. Nothing is
//     converted: readings in N and in mN are compared as they stand.
//   - Traces of different length or number of channels are not comparable, save
//     long ones of equally many channels; the time that a trace takes is not
//     part of its features, nor are the names of its channels.
//   - A trace with a missing reading has a summary and no features.
//   - A picture that is larger than the limits above has a summary and no
//     features: a blank one of many megapixels, for example.
//   - Numbers of 64 bits beyond 2^53 lose their last digits.
package perception
