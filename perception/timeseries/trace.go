// Package timeseries reads traces: time series of several channels, such as the
// forces and torques of a wrist sensor, joint states or an IMU. [Decode] returns a [Series],
// which makes a summary, features and samples.
//
// The tests of this package are those of package perception, through its API.
package timeseries

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/media"
)

// maxReadings bounds a trace: about 45 minutes of six channels at 1 kHz.
const maxReadings = 16 << 20

var errTooLong = fmt.Errorf("the trace holds more than %d readings; save it in parts", maxReadings)

var errEmpty = errors.New("the trace holds no samples")

// Series is a trace: a time series of several channels. Its readings are in one slice, since a
// slice for each sample would take more memory than the readings of a narrow trace.
type Series struct {
	Channels []string  // nil, or one name per channel
	Units    []string  // nil, or one per channel, "" if unknown
	RateHz   float64   // samples per second, the mean if they are uneven; 0 is unknown
	Width    int       // channels, at least 1
	Values   []float64 // sample after sample; a missing reading is NaN
	// Stamps are the times in seconds since the first sample, never falling; nil if the
	// data has none or the metadata gives the rate.
	Stamps []float64
	// Skipped counts the rows of a table that did not fit and were left out. Commented says that the
	// header was a comment.
	Skipped   int
	Commented bool
	stamped   int    // the column of a table that holds dates and times, from 1; 0 is none
	kind      string // the kind in the metadata: wrench, joint_state, imu
}

// MakeValues makes room for the readings of this many samples. It fails if they are more than
// the limit of a trace.
func (s *Series) MakeValues(samples int) error {
	if s.Width*samples > maxReadings {
		return errTooLong
	}
	s.Values = make([]float64, 0, s.Width*samples)
	return nil
}

// Len returns the number of samples.
func (s *Series) Len() int { return len(s.Values) / s.Width }

func (s *Series) at(i, c int) float64 { return s.Values[i*s.Width+c] }

// Row returns the readings of sample i.
func (s *Series) Row(i int) []float64 { return s.Values[i*s.Width : (i+1)*s.Width : (i+1)*s.Width] }

// seconds is the duration of all samples, each of which lasts for one interval; 0 is unknown.
func (s *Series) seconds() float64 {
	if s.RateHz == 0 {
		return 0
	}
	return float64(s.Len()) / s.RateHz
}

// SetRate sets the rate if it is a positive number.
func (s *Series) SetRate(hz float64) {
	if hz > 0 && !math.IsInf(hz, 1) {
		s.RateHz = hz
	}
}

func (s *Series) unit(c int) string { return clean(s.Units, c, media.MaxName) }

func (s *Series) name(c, limit int) string { return clean(s.Channels, c, limit) }

// clean returns entry c for people to read, "" if there is none.
func clean(list []string, c, limit int) string {
	if c < len(list) {
		return media.Clean(list[c], limit)
	}
	return ""
}

// label names a channel by its number if it has no name. The only channel of a trace needs no name.
func (s *Series) label(c int) string {
	if name := s.name(c, media.MaxName); name != "" || s.Width == 1 {
		return name
	}
	return "channel " + strconv.Itoa(c+1)
}

// Decode reads a payload as a trace of at most 16,777,216 readings. It accepts
//
//   - text (text/csv, text/tab-separated-values, text/plain): one sample per line, separated by
//     tabs, semicolons (both with a point or a comma for decimals), commas or spaces, with or without
//     a line of names, each of which may have its unit, "Fx (N)"; also as a comment, "#time [ns],Fx [N]";
//   - JSON: [[...], ...], a flat list (one channel), or an object with samples in
//     either form beside the keys below;
//   - NumPy .npy: booleans, integers and floats of at most 64 bits, of either byte order and in C or
//     Fortran order, with one dimension (one channel) or two (samples by channels);
//   - NumPy .npz: its only such array, or all those that are as long as the longest one, as channels
//     with their names;
//   - raw samples (application/x-samples, or a media type that says nothing) if metadata has dtype
//     ("<f4", "<f8", "<i2" or "float32" and the like) or shape, [samples, channels]. Without dtype
//     they are float32. Without shape there are as many channels as names, or one.
//
// A channel named t, time, stamp or timestamp, alone or with its unit (t_ms, "time
// (s)"), gives the times and the rate, and so do dates with times as ISO 8601 writes them. It is not a
// channel then. Without a unit, a time since 1970 is in s, ms, us or ns by its size.
//
// The metadata adds to and overrides what the data says: channels, units, and the first that is given
// of rate_hz, sample_interval_s and duration_s (the number of samples times their interval). A key that
// does not fit the data, such as five names for six channels, is ignored.
//
// The error says why the data is not a trace, and where.
func Decode(in media.Payload) (s *Series, err error) {
	if err := in.Whole(); err != nil {
		return nil, err
	}

	switch encoding := in.Encoding(); {
	case isRaw(in):
		s, err = readRaw(in)
	case encoding == media.Table || encoding == media.FreeText:
		s, err = ReadTable(in.WholeText())
		if err == nil && encoding == media.FreeText && s.Len() < 2 {
			err = errors.New("the text holds only one line of numbers, which may be a note; a trace in plain text has at least 2")
		}
		if err == nil {
			s.nameChannels()
		}
	case encoding == media.JSON:
		s, err = readJSON(in.Data)
	case encoding == media.NPY:
		s, err = readNPY(in.Data)
	case encoding == media.NPZ:
		s, err = readNPZ(in.Data)
	case in.Type == media.TypeSamples:
		return nil, errors.New("raw samples need metadata: dtype, such as \"<f4\", or shape, [samples, channels]")
	default:
		return nil, fmt.Errorf("%s is not read as a trace; give text/csv, application/json or a .npy or .npz file",
			media.Clean(in.Type, media.MaxName))
	}

	if err != nil {
		return nil, err
	}

	s.describe(in.Metadata)

	return s, nil
}

// describe takes over what fits of the metadata.
func (s *Series) describe(m media.Metadata) {
	if kind := m.Text("kind"); kind != "" {
		s.kind = strings.ToLower(kind)
	}
	if names, ok := media.Texts(m["channels"]); ok && len(names) == s.Width {
		s.Channels = names
	}
	if s.Channels == nil && s.isWrench() {
		s.Channels = slices.Clone(wrenchAxes)
	}
	s.describeUnits(m["units"])

	for i, key := range []string{"rate_hz", "sample_interval_s", "duration_s"} {
		if v, ok := media.Number(m[key]); ok && v > 0 && !math.IsInf(v, 1) {
			s.SetRate([]float64{v, 1 / v, float64(s.Len()) / v}[i])
			// The rate of the metadata wins. Keeping the stamps as well would give the trace two clocks.
			s.Stamps = nil
			return
		}
	}
}

func (s *Series) describeUnits(given any) {
	var units []string

	switch given := given.(type) {
	case string:
		units = slices.Repeat([]string{given}, s.Width)
	case map[string]any:
		if len(s.Channels) != s.Width {
			return
		}

		for c, name := range s.Channels {
			unit, ok := given[name].(string)
			// A wrench may give one unit for its forces and one for its torques.
			if !ok && s.isWrench() && c < wrenchForces {
				unit, _ = given["force"].(string)
			} else if !ok && s.isWrench() {
				unit, _ = given["torque"].(string)
			}
			units = append(units, unit)
		}
	default:
		units, _ = media.Texts(given)
	}

	s.setUnits(units)
}

// setUnits keeps one unit per channel, unless all are unknown.
func (s *Series) setUnits(units []string) {
	if len(units) == s.Width && strings.Join(units, "") != "" {
		s.Units = units
	}
}

// Accepts reports whether the payload is text, JSON, a .npy array or raw samples.
func Accepts(in media.Payload) bool { return isRaw(in) || in.Encoding() != media.Opaque }

// Samples cuts the readings to the part that is asked for and reduces them.
func (s *Series) Samples(o media.SamplesOptions) (*media.Samples, error) {
	out := &media.Samples{Kind: "trace", TimeUnit: "sample", RateHz: s.RateHz}
	if s.Stamps != nil || s.RateHz > 0 {
		out.TimeUnit = "s"
		if d := s.seconds(); media.Finite(d) {
			out.DurationS = d
		}
	}

	lo, hi := o.Cut(s.Len(), s.stamp)
	e, err := media.NewEnvelope(s.Width, int64(hi-lo), o)
	if err != nil {
		return nil, err
	}

	for i := lo; i < hi; i++ {
		e.Add(s.Row(i))
	}

	e.Fill(out, lo, s.stamp, func(c int) (name, unit string) {
		if name = s.name(c, 2*media.MaxName); name == "" {
			name = "channel " + strconv.Itoa(c+1)
		}
		return name, s.unit(c)
	})

	return out, nil
}

// stamp returns the time of sample i by its time stamp, in seconds since the first,
// and the number of the sample if the times are unknown.
func (s *Series) stamp(i int) float64 {
	switch {
	case s.Stamps != nil:
		return s.Stamps[i]
	case s.RateHz > 0:
		return float64(i) / s.RateHz
	}

	return float64(i)
}
