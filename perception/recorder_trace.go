package perception

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"
)

// TraceOptions is what is known of a source of samples. Channels must be given.
type TraceOptions struct {
	Channels    []string // one for each value of a sample, 1 to 1024
	Units       []string // one for each channel, or none
	RateHz      float64  // samples per second as the sensor means them; 0 unknown
	Kind        string   // wrench, imu, joint_state and the like
	Float32     bool     // keep 4 bytes of what Push gives: about 7 digits
	Type        string   // the sense; tactile for a wrench, else proprioceptive, if empty
	Description string   // in words; "recording of" the source if empty
	Context     map[string]any
	// Metadata goes with every chunk, beside what is said at [TraceSource].
	Metadata map[string]any
	// QueueBytes is the room for samples that wait: 32 bytes and 4 or 8 for each
	// value; 0 is 10 s, or 2,000 samples when the rate is not known.
	QueueBytes int
}

// TraceSource takes the samples of a sensor. They are kept as chunks of the
// media type application/x-samples: the values as they were given, little-endian,
// sample by sample. The metadata of a chunk says how to read it: dtype ("<f8" or
// "<f4"), shape (samples, channels), channels, units, kind, rate_hz (as given,
// else as the stamps show), source, first_seq and last_seq, missed and dropped
// (between those two: never offered, and offered in vain), start and end (stamps
// of the first and last sample, RFC 3339).
//
// When an interval differs by more than 10 % from the period, a chunk of at most
// 64 samples has times_s, the offset of each sample from start. A longer one has
// gaps, the first 64 intervals above 1.5 periods ({after_index, seconds}),
// gaps_total, and jitter_s, by which the other intervals differ at most.
type TraceSource struct {
	s      *recordSource
	width  int
	narrow bool // Push keeps 4 bytes of a value
}

const (
	typeChunk     = "application/x-samples"
	maxChannels   = 1024
	traceSeconds  = 10
	unknownNumber = 2000 // samples that wait at an unknown rate
	maxRateHz     = 1e6
)

// Trace adds a source of samples. The error says which option does not fit, that
// the name is taken or no name, or that QueueBytes is not to be had.
func (r *Recorder) Trace(name string, o TraceOptions) (*TraceSource, error) {
	width := len(o.Channels)
	switch {
	case width == 0 || width > maxChannels:
		return nil, fmt.Errorf("source %q has %d channels; 1 to %d can be recorded", name, width, maxChannels)
	case len(o.Units) != 0 && len(o.Units) != width:
		return nil, fmt.Errorf("source %q has %d units for %d channels; give one each, or none", name, len(o.Units), width)
	case !(o.RateHz >= 0 && o.RateHz <= maxRateHz):
		return nil, fmt.Errorf("source %q has a rate of %g Hz; it is above 0 and at most %g, or 0 when unknown", name, o.RateHz, maxRateHz)
	}
	if o.Type == "" {
		o.Type = "proprioceptive"
		if o.Kind == "wrench" {
			o.Type = "tactile"
		}
	}
	bytes, err := o.queueBytes()
	if err != nil {
		return nil, fmt.Errorf("source %q: %w", name, err)
	}
	s, err := r.add(name, bytes, sourceAbout{
		sense: o.Type, mediaType: typeChunk, description: o.Description,
		context: maps.Clone(o.Context), metadata: o.metadata(name),
	}, &sampleChunk{width: width, rate: o.RateHz, limit: r.o.Chunk})
	if err != nil {
		return nil, err
	}
	return &TraceSource{s: s, width: width, narrow: o.Float32}, nil
}

func (o *TraceOptions) queueBytes() (int, error) {
	sample := headerBytes + 8*len(o.Channels)
	if o.Float32 {
		sample = headerBytes + 4*len(o.Channels)
	}
	switch {
	case o.QueueBytes == 0 && o.RateHz == 0:
		return unknownNumber * sample, nil
	case o.QueueBytes == 0:
		// Clamped, for an int of 32 bits; no recorder grants so much.
		return int(min(max(math.Ceil(o.RateHz*traceSeconds), 1)*float64(sample), math.MaxInt32)), nil
	case o.QueueBytes < sample:
		return 0, errors.New("QueueBytes has no room for one sample")
	}
	return o.QueueBytes, nil
}

func (o *TraceOptions) metadata(name string) map[string]any {
	m := maps.Clone(o.Metadata)
	if m == nil {
		m = map[string]any{}
	}
	m["source"], m["channels"] = name, append([]string(nil), o.Channels...)
	if len(o.Units) > 0 {
		m["units"] = append([]string(nil), o.Units...)
	}
	if o.Kind != "" {
		m["kind"] = o.Kind
	}
	return m
}

// Push takes a copy of a sample: one value for each channel, kept bit for bit
// unless TraceOptions.Float32 is set; at is by the sensor's clock, in the years
// 1678 to 2261. It never waits and allocates nothing. False says that the sample
// was dropped, for want of room or because it has another number of values, and
// that is counted.
//
// One goroutine pushes at a time; what a second one pushes meanwhile is dropped.
func (t *TraceSource) Push(seq uint64, at time.Time, values []float64) bool {
	size := 8
	if t.narrow {
		size = 4
	}
	pos, ok := t.begin(seq, at, len(values), size)
	if !ok {
		return false
	}
	for _, v := range values {
		var b [8]byte
		if t.narrow {
			binary.LittleEndian.PutUint32(b[:], math.Float32bits(float32(v)))
		} else {
			binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
		}
		t.s.queue.put(pos, b[:size])
		pos += uint64(size)
	}
	return t.s.end(headerBytes + size*t.width)
}

// Push32 is Push for a sensor that gives 4 bytes a value; they are kept so.
func (t *TraceSource) Push32(seq uint64, at time.Time, values []float32) bool {
	pos, ok := t.begin(seq, at, len(values), 4)
	if !ok {
		return false
	}
	for _, v := range values {
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], math.Float32bits(v))
		t.s.queue.put(pos, b[:])
		pos += 4
	}
	return t.s.end(headerBytes + 4*t.width)
}

// begin writes the header of a sample whose readings are of size bytes, and
// returns where they go.
func (t *TraceSource) begin(seq uint64, at time.Time, values, size int) (pos uint64, ok bool) {
	s := t.s
	if !s.begin() {
		return 0, false
	}
	s.number(seq)
	pos, ok = s.admit(at, headerBytes+size*t.width)
	if !ok || values != t.width {
		s.end(0)
		return 0, false
	}
	h := s.header(seq, at, size*t.width)
	s.queue.put(pos, h[:])
	return pos + headerBytes, true
}
