package perception

import (
	"errors"
	"fmt"
	"math"
)

// Trace is a time series of several channels at a regular rate.
type Trace struct {
	// Channels names the columns; nil when nothing does.
	Channels []string
	// Units holds one unit per channel, "" where unknown; nil when all are.
	Units []string
	// RateHz is samples per second, 0 when unknown.
	RateHz float64
	// Samples[i][c] is the reading of channel c at sample i. All rows are of
	// one length. A missing reading is NaN.
	Samples [][]float64
}

// DecodeTrace reads the item's data as a trace. It takes
//
//   - text (text/csv, text/tab-separated-values, text/plain): one sample per
//     line, divided by tabs, semicolons, commas or blanks, with or without a
//     line of names, each of which may carry its unit, "Fx (N)". A first column
//     by the name of t, time or timestamp gives the rate and is no channel;
//   - JSON: [[...], ...], a flat list (one channel), or an object with samples
//     in either form beside the keys below;
//   - NumPy .npy: float32, float64, int16, int32 and int64 of either byte order,
//     in C order, 1-D (one channel) or 2-D (samples by channels).
//
// The item's metadata adds to and overrides what the data says of itself:
// channels (a list of names), units (a list, one string for all channels, or an
// object by channel name, or by force and torque for a wrench), and the first
// that is given of rate_hz, sample_interval_s and duration_s (the samples times
// their interval). What does not fit the data, such as five names for six
// channels, is ignored.
//
// The error says why the data is no trace, and where.
func DecodeTrace(it Item) (*Trace, error) {
	s, err := decodeSeries(it)
	if err != nil {
		return nil, err
	}
	t := &Trace{Channels: s.channels, Units: s.units, RateHz: s.rate, Samples: make([][]float64, s.len())}
	for i := range t.Samples {
		t.Samples[i] = s.values[i*s.width : (i+1)*s.width : (i+1)*s.width]
	}
	return t, nil
}

// series is a trace as it is worked on here: one slice for all readings, since
// a header per row would cost more than the readings of a narrow trace.
type series struct {
	channels []string // nil or one per channel
	units    []string // nil or one per channel
	rate     float64  // Hz, 0 unknown
	wrench   bool     // metadata says that the six channels are a wrench
	width    int      // channels, at least 1
	values   []float64
}

func (s *series) len() int { return len(s.values) / s.width }

func (s *series) at(i, c int) float64 { return s.values[i*s.width+c] }

// seconds is how long the samples last, each for one interval; 0 unknown.
func (s *series) seconds() float64 {
	if s.rate == 0 {
		return 0
	}
	return float64(s.len()) / s.rate
}

func (s *series) setRate(hz float64) {
	if hz > 0 && !math.IsInf(hz, 1) {
		s.rate = hz
	}
}

var errEmptyTrace = errors.New("the trace holds no samples")

func decodeSeries(it Item) (s *series, err error) {
	switch it.encoding() {
	case textTable:
		s, err = decodeText(it.Data, 1)
	case freeText:
		// One number on a line is a remark, not a recording.
		s, err = decodeText(it.Data, 2)
	case jsonText:
		s, err = decodeJSON(it.Data)
	case npyArray:
		s, err = decodeNPY(it.Data)
	default:
		return nil, fmt.Errorf("%s is not read as a trace; give text/csv, application/json or a .npy array", clean(it.mediaType(), maxNameRunes))
	}
	if err != nil {
		return nil, err
	}
	s.describe(it.Metadata)
	return s, nil
}
