package perception

import (
	"errors"
	"fmt"
	"math"
)

// Trace is a time series of several channels.
type Trace struct {
	// Channels names the columns; nil when nothing does.
	Channels []string
	// Units holds one unit per channel, "" where unknown; nil when all are.
	Units []string
	// RateHz is samples per second, 0 when unknown; the mean where Times are given.
	RateHz float64
	// Times holds the seconds of each sample since the first, never falling;
	// nil when the samples are evenly spaced or nothing says when they were.
	Times []float64
	// Samples[i][c] is the reading of channel c at sample i. All rows are of
	// one length. A missing reading is NaN.
	Samples [][]float64
}

// maxReadings bounds a trace: at 1 kHz and six channels some 45 minutes.
const maxReadings = 16 << 20

var errTooLong = fmt.Errorf("the trace holds more than %d readings; save it in parts", maxReadings)

// DecodeTrace reads the item's data as a trace of at most 16,777,216 readings.
// It takes
//
//   - text (text/csv, text/tab-separated-values, text/plain): one sample per
//     line, divided by tabs, semicolons, commas or blanks, with or without a
//     line of names, each of which may carry its unit, "Fx (N)". Between tabs or
//     semicolons numbers may have a decimal comma;
//   - JSON: [[...], ...], a flat list (one channel), or an object with samples
//     in either form beside the keys below, or with columns, an object of one
//     list per channel: {"columns": {"Fx": [...], "Fy": [...]}};
//   - NumPy .npy: booleans, integers and floats of at most 64 bits and either
//     byte order, in C or Fortran order, 1-D (one channel) or 2-D (samples by
//     channels);
//   - raw samples (application/x-samples, or a media type that says nothing),
//     when metadata names dtype, "<f4", "<f8", "<i2", "<i4" or the like
//     ("float32"), or shape, [samples, channels]. Without dtype they are float32,
//     without shape as many channels as there are names, or one.
//
// A channel by the name of t, time, stamp or timestamp, alone or with its unit
// (t_ms, "time (s)"), gives the rate, and the times where they are uneven; it is
// no channel then.
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
	t := &Trace{Channels: s.channels, Units: s.units, RateHz: s.rate, Times: s.times, Samples: make([][]float64, s.len())}
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
	times    []float64
	stamps   []float64 // as the data has them, also where they are even; times is the same, or nil
	nested   bool      // JSON gave a list per sample
	kind     string    // what metadata says that it is: wrench, joint_state, imu
	width    int       // channels, at least 1
	values   []float64
}

func (s *series) len() int { return len(s.values) / s.width }

func (s *series) at(i, c int) float64 { return s.values[i*s.width+c] }

// seconds is how long the samples last, each for one interval; 0 unknown.
func (s *series) seconds() float64 {
	if n := float64(s.len()); s.times != nil {
		return s.times[s.len()-1] * n / (n - 1)
	} else if s.rate != 0 {
		return n / s.rate
	}
	return 0
}

// time is when sample i was taken, in seconds since the first, where seconds
// are known.
func (s *series) time(i int) float64 {
	if s.times != nil {
		return s.times[i]
	}
	return float64(i) / s.rate
}

func (s *series) setRate(hz float64) {
	if hz > 0 && !math.IsInf(hz, 1) {
		s.rate = hz
	}
}

var errEmptyTrace = errors.New("the trace holds no samples")

func decodeSeries(it Item) (s *series, err error) {
	if onlyHead(it) {
		return nil, fmt.Errorf("only the first %d of %d bytes of the trace are here", len(it.Data), it.Size)
	}
	if isSamples(it) {
		if s, err = decodeSamples(it); err != nil {
			return nil, err
		}
		s.describe(it.Metadata)
		return s, nil
	}
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
		if it.mediaType() == typeSamples {
			return nil, errors.New("raw samples need metadata: dtype, such as \"<f4\", or shape, [samples, channels]")
		}
		return nil, fmt.Errorf("%s is not read as a trace; give text/csv, application/json or a .npy array", clean(it.mediaType(), maxNameRunes))
	}
	if err != nil {
		return nil, err
	}
	s.describe(it.Metadata)
	return s, nil
}
