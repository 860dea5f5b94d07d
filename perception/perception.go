package perception

import (
	"bytes"
	"mime"
	"strings"
)

// Item is one perception with what is known of it.
type Item struct {
	// Type is the sense: visual, tactile, auditory, proprioceptive, procedural
	// or spatial. It is context for a reader; what the data is, the data says.
	Type string
	// MediaType says how Data is encoded; empty means as [Sniff] finds it.
	MediaType string
	// Data is the payload, or its beginning when Size is more than its length:
	// then only what a header says is told.
	Data []byte
	// Size is the bytes of the whole payload; 0 means that Data is all.
	Size int64
	// Metadata is the caller's JSON object; numbers are json.Number or float64.
	// The keys that are read here, by what they are of:
	//
	//	all          kind (wrench, imu, joint_state, image, depth, cloud, laser_scan,
	//	             trajectory)
	//	traces       channels, units, and the clock of data without stamps: one of
	//	             rate_hz, sample_interval_s, duration_s
	//	raw samples  dtype, shape, and those of traces
	//	raw pixels   width, height, encoding, step, is_bigendian; units of depth
	//	PointCloud2  fields, point_step, row_step, width, height, is_bigendian
	//	clouds       units of the lengths
	//	places       frame_id of clouds, trajectories and scans
	//	scans        angle_min, angle_max, angle_increment, range_min, range_max,
	//	             unless the data is JSON, which names them itself
	//	text poses   format: tum or kitti
	//
	// See [DecodeTrace], [DecodeCloud] and [DecodeTrajectory].
	Metadata map[string]any
}

// mediaType is the item's media type without parameters, in lower case.
func (it Item) mediaType() string {
	declared := it.MediaType
	if declared == "" {
		declared = sniff(it.Data)
	}
	base, _, err := mime.ParseMediaType(declared)
	if err != nil {
		base, _, _ = strings.Cut(declared, ";")
	}
	return strings.ToLower(strings.TrimSpace(base))
}

// encoding is the reader that fits an item.
type encoding int

const (
	opaque encoding = iota
	textTable
	freeText
	jsonText
	npyArray
)

// encoding goes by the bytes where they cannot be mistaken and by the media
// type elsewhere: a declared type may be any of several names for one format.
func (it Item) encoding() encoding {
	if bytes.HasPrefix(it.Data, []byte(npyMagic)) {
		return npyArray
	}
	switch t := it.mediaType(); {
	case t == "text/csv" || t == "text/tab-separated-values":
		return textTable
	case t == "application/json" || t == "text/json" || strings.HasSuffix(t, "+json"):
		return jsonText
	case strings.HasPrefix(t, "text/"):
		return freeText
	}
	return opaque
}
