package recorder

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/media"
)

// source is the common part of the sources of samples and of frames.
//
// A sequence number that is not the last one plus one shows that those between were
// missed. A number that is not above the last one, or more than maxMissed above it, shows
// that the driver restarted its numbers; then it is not known what was missed.
type source struct {
	name   string
	item   Recorded // what every item has; its metadata is never changed: each item gets a copy
	queue  ring
	state  atomic.Int32 // idle, pushing or closed
	counts counters
	wake   chan<- struct{}

	// These fields belong to the caller that has set the state pushing.
	last    uint64 // sequence number
	hasLast bool

	// These fields belong to the worker.
	reported SourceCount // the counts that the sink has
	chunk    *chunk      // of a trace; nil for frames
}

// The states of a source.
const (
	idle = iota
	pushing
	closed
)

const (
	// maxMissed is 49 days at 1 kHz.
	maxMissed     = 1 << 32
	maxSourceName = 256
)

// counters are the numbers of a SourceCount, to which several goroutines add.
type counters struct {
	received, stored, dropped, missed, bytes atomic.Uint64
}

// read reads dropped and stored before received, so that their sum is never larger.
func (c *counters) read(name string) SourceCount {
	out := SourceCount{
		Source: name, Stored: c.stored.Load(), Dropped: c.dropped.Load(), Missed: c.missed.Load(),
		Bytes: c.bytes.Load(),
	}
	out.Received = c.received.Load()
	return out
}

// extended returns a copy that can be added to.
func extended(metadata map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, metadata)
	return out
}

// add makes a source with a queue of this many bytes.
func (r *Recorder) add(name string, bytes int, item Recorded, c *chunk) (*source, error) {
	if name == "" || len(name) > maxSourceName || !utf8.ValidString(name) {
		return nil, fmt.Errorf("the name of a source is 1 to %d bytes of UTF-8, such as wrist/wrench", maxSourceName)
	}

	item.Source, item.Description = name, cmp.Or(item.Description, "recording of "+name)
	// The caller may change its maps while the worker reads these.
	item.Context, item.Metadata = maps.Clone(item.Context), extended(item.Metadata)
	item.Metadata["source"] = name
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errors.New("the recorder is closed")
	}
	if slices.ContainsFunc(r.sources, func(s *source) bool { return s.name == name }) {
		return nil, fmt.Errorf("the recorder has a source %q already", name)
	}
	if bytes > r.free {
		return nil, fmt.Errorf("source %q asks for a queue of %d bytes, and %d of the recorder's %d are left; give the recorder or the source another QueueBytes", name, bytes, r.free, r.o.QueueBytes)
	}

	r.free -= bytes
	s := &source{name: name, item: item, chunk: c, wake: r.wake}
	s.queue.buf = make([]byte, bytes)
	s.reported.Source = name
	r.sources = append(r.sources, s)

	return s, nil
}

// close waits for a Push in progress, which never blocks.
func (s *source) close() {
	for !s.state.CompareAndSwap(idle, closed) {
		runtime.Gosched()
	}
}

// push writes one record: a header and a payload of size bytes, which write puts into the
// queue from pos on. It returns false if the record was dropped, because there is no room
// or the stamp cannot be stored, because valid is false, or because another Push is in
// progress or the source is closed.
func (s *source) push(seq uint64, at time.Time, size int, valid bool, write func(pos uint64)) bool {
	s.counts.received.Add(1)
	// Push must not wait in a control loop, so a second caller loses its sample rather than time.
	if !s.state.CompareAndSwap(idle, pushing) {
		s.counts.dropped.Add(1)
		return false
	}

	if s.hasLast && follows(seq, s.last) {
		s.counts.missed.Add(seq - s.last - 1)
	}

	s.last, s.hasLast = seq, true
	kept := valid && canStore(at) && s.queue.room(headerBytes+size)
	if kept {
		pos := s.queue.head.Load()
		h := header{seq: seq, at: at.UnixNano(), size: size}.encode()
		s.queue.put(pos, h[:])
		write(pos + headerBytes)
		// The head moves last: it publishes the record to the worker.
		s.queue.head.Add(uint64(headerBytes + size))
	} else {
		s.counts.dropped.Add(1)
	}

	s.state.Store(idle)
	// At half full there is still room while the worker wakes up. One pending signal is enough.
	if q := &s.queue; q.head.Load()-q.tail.Load() > uint64(len(q.buf)/2) {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}

	return kept
}

// follows reports whether a sequence number belongs to the same run of the driver as one before it.
func follows(seq, last uint64) bool { return seq > last && seq-last <= maxMissed }

// canStore reports whether the nanoseconds of a time fit an int64: the years 1678 to 2261.
func canStore(at time.Time) bool {
	const maxUnix = 9_190_000_000
	t := at.Unix()
	return -maxUnix <= t && t <= maxUnix
}

func (s *source) recorded(at int64, data []byte, metadata map[string]any) Recorded {
	item := s.item
	item.Data, item.Metadata, item.ObservedAt = data, metadata, time.Unix(0, at).UTC()
	return item
}

// TraceOptions describes a source of samples. Channels must be given.
type TraceOptions struct {
	Channels    []string // one for each value of a sample, 1 to 1024
	Units       []string // one for each channel, or none
	RateHz      float64  // nominal samples per second; 0 is unknown
	Kind        string   // wrench, imu, joint_state and the like
	Type        string   // the sense; if empty, tactile for a wrench and otherwise proprioceptive
	Description string   // in words; "recording of" the source if empty
	Context     map[string]any
	// Metadata goes with every chunk, beside what is listed at [TraceSource].
	Metadata map[string]any
	// QueueBytes is the room for samples in the queue: 24 bytes and 8 for each value per
	// sample. 0 is 10 s, or 2,000 samples if the rate is not known.
	QueueBytes int
}

// TraceSource takes the samples of a sensor. They are stored as chunks of the media type
// application/x-samples: the values as they were given, little-endian, sample by sample.
// The metadata of a chunk says how to read it: dtype ("<f8"), shape (samples,
// channels), channels, units, kind, rate_hz (as given, or by the stamps), source,
// first_seq and last_seq, start and end (stamps of the first and last sample, RFC 3339).
//
// If an interval differs by more than 10 % from the period, a chunk of at most 64 samples
// has times_s, the offset of each sample from start. A longer one has gaps, the first 64
// intervals above 1.5 periods ({after_index, seconds}), gaps_total, and jitter_s, the
// largest difference of the other intervals.
type TraceSource struct {
	s     *source
	width int
}

const (
	valueBytes         = 8
	maxChannels        = 1024
	queueSeconds       = 10
	queueOfUnknownRate = 2000 // samples
	maxRateHz          = 1e6
)

// Trace adds a source of samples. The error says which option is wrong, that the name is
// taken or no name, or that QueueBytes is not available.
func (r *Recorder) Trace(name string, o TraceOptions) (*TraceSource, error) {
	width := len(o.Channels)
	switch {
	case width == 0 || width > maxChannels:
		return nil, fmt.Errorf("source %q has %d channels; 1 to %d can be recorded", name, width, maxChannels)
	case len(o.Units) != 0 && len(o.Units) != width:
		return nil, fmt.Errorf("source %q has %d units for %d channels; give one each, or none", name, len(o.Units),
			width)
	case !(o.RateHz >= 0 && o.RateHz <= maxRateHz):
		return nil, fmt.Errorf("source %q has a rate of %g Hz; give a rate above 0 and at most %g, or 0 if it is unknown", name, o.RateHz, maxRateHz)
	}

	if o.Type == "" && o.Kind == "wrench" {
		o.Type = "tactile"
	}

	o.Type = cmp.Or(o.Type, "proprioceptive")
	bytes, err := o.queueBytes()
	if err != nil {
		return nil, fmt.Errorf("source %q: %w", name, err)
	}

	metadata := extended(o.Metadata)
	// The caller may change its slices later, while the worker reads these.
	metadata["channels"] = slices.Clone(o.Channels)
	if len(o.Units) > 0 {
		metadata["units"] = slices.Clone(o.Units)
	}
	if o.Kind != "" {
		metadata["kind"] = o.Kind
	}

	item := perception.Item{Type: o.Type, MediaType: media.TypeSamples, Metadata: metadata}
	s, err := r.add(name, bytes, Recorded{Item: item, Description: o.Description, Context: o.Context},
		&chunk{width: width, rate: o.RateHz, limit: r.o.Chunk})
	if err != nil {
		return nil, err
	}

	return &TraceSource{s: s, width: width}, nil
}

func (o *TraceOptions) queueBytes() (int, error) {
	sample := headerBytes + valueBytes*len(o.Channels)
	switch {
	case o.QueueBytes == 0 && o.RateHz == 0:
		return queueOfUnknownRate * sample, nil
	case o.QueueBytes == 0:
		// Clamped for an int of 32 bits; no recorder has so much.
		return int(min(max(math.Ceil(o.RateHz*queueSeconds), 1)*float64(sample), math.MaxInt32)), nil
	case o.QueueBytes < sample:
		return 0, errors.New("QueueBytes has no room for one sample")
	}

	return o.QueueBytes, nil
}

// Push takes a copy of a sample: one value for each channel, stored bit for bit. at is by the
// sensor's clock, in the years 1678 to 2261. Push never waits and allocates nothing. It returns
// false if the sample was dropped, because there is no room or because it has another number of
// values; dropped samples are counted.
//
// One goroutine pushes at a time. A sample that another one pushes meanwhile is dropped.
func (t *TraceSource) Push(seq uint64, at time.Time, values []float64) bool {
	return t.s.push(seq, at, valueBytes*t.width, len(values) == t.width, func(pos uint64) {
		var b [valueBytes]byte
		for _, v := range values {
			binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
			t.s.queue.put(pos, b[:])
			pos += valueBytes
		}
	})
}

// FrameOptions describes a source of frames. The zero value works.
type FrameOptions struct {
	MediaType   string // of every frame; decided by the bytes if it is empty
	Type        string // the sense, visual if empty
	Description string // in words; "recording of" the source if empty
	Context     map[string]any
	// Metadata goes with every frame, beside source and seq.
	Metadata map[string]any
	// QueueBytes is the room for frames in the queue, each with 24 bytes more; 0 is a
	// quarter of the recorder's. A larger frame is always dropped.
	QueueBytes int
}

// FrameSource takes images or other payloads that come one by one, each an item.
type FrameSource struct{ s *source }

// Frames adds a source of frames. The error says that the name is taken or no name, or
// that QueueBytes is not available.
func (r *Recorder) Frames(name string, o FrameOptions) (*FrameSource, error) {
	bytes := cmp.Or(max(o.QueueBytes, 0), max(r.o.QueueBytes/4, headerBytes))
	item := perception.Item{Type: cmp.Or(o.Type, "visual"), MediaType: o.MediaType, Metadata: o.Metadata}
	s, err := r.add(name, bytes, Recorded{Item: item, Description: o.Description, Context: o.Context}, nil)
	if err != nil {
		return nil, err
	}

	return &FrameSource{s}, nil
}

// Push takes a copy of a frame. at is by the sensor's clock, in the years 1678 to 2261. Push never
// waits and allocates nothing. It returns false if the frame was dropped, which is counted.
//
// One goroutine pushes at a time. A frame that another one pushes meanwhile is dropped.
func (f *FrameSource) Push(seq uint64, at time.Time, data []byte) bool {
	return f.s.push(seq, at, len(data), true, func(pos uint64) { f.s.queue.put(pos, data) })
}
