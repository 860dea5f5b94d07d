package recorder

import (
	"encoding/binary"
	"maps"
	"math"
	"sync/atomic"
	"time"
)

// ring is a queue of records between one goroutine that writes and one that reads. A
// record is a header of headerBytes and a payload; at the end of buf it continues at the
// start of buf. head and tail count the bytes of all records that were ever written and read.
// head moves when a record is complete, tail when it has been read, so that neither side ever
// sees half a record.
type ring struct {
	buf  []byte
	head atomic.Uint64 // moved by the writer
	tail atomic.Uint64 // moved by the reader
}

type header struct {
	seq  uint64
	at   int64 // nanoseconds since 1970
	size int   // bytes of the payload
}

const headerBytes = 24

func (h header) encode() (b [headerBytes]byte) {
	binary.LittleEndian.PutUint64(b[0:], h.seq)
	binary.LittleEndian.PutUint64(b[8:], uint64(h.at))
	binary.LittleEndian.PutUint64(b[16:], uint64(h.size))
	return b
}

func (q *ring) room(n int) bool {
	return uint64(n) <= uint64(len(q.buf))-(q.head.Load()-q.tail.Load())
}

// put copies b to the place of the byte at pos.
func (q *ring) put(pos uint64, b []byte) {
	n := copy(q.buf[pos%uint64(len(q.buf)):], b)
	copy(q.buf, b[n:])
}

// next returns the header at the tail if it lies before end.
func (q *ring) next(end uint64) (header, bool) {
	tail := q.tail.Load()
	if tail == end {
		return header{}, false
	}

	var b [headerBytes]byte
	n := copy(b[:], q.buf[tail%uint64(len(q.buf)):])
	copy(b[n:], q.buf)

	return header{
		seq:  binary.LittleEndian.Uint64(b[0:]),
		at:   int64(binary.LittleEndian.Uint64(b[8:])),
		size: int(binary.LittleEndian.Uint64(b[16:])),
	}, true
}

// take appends the payload of the record at the tail to dst and frees its room.
func (q *ring) take(dst []byte, h header) []byte {
	pos := q.tail.Load() + headerBytes
	from := pos % uint64(len(q.buf))
	first := min(uint64(h.size), uint64(len(q.buf))-from)
	dst = append(dst, q.buf[from:from+first]...)
	dst = append(dst, q.buf[:uint64(h.size)-first]...)
	// Only after the copy: the writer may overwrite the bytes from now on.
	q.tail.Store(pos + uint64(h.size))

	return dst
}

// chunk gathers the samples of a trace that become one item.
type chunk struct {
	width int           // channels
	rate  float64       // Hz as given; 0 is unknown
	limit time.Duration // from the first stamp

	data    []byte
	stamps  []int64 // nanoseconds since 1970, one a sample; never falling
	first   uint64  // sequence numbers
	last    uint64
	touched time.Time // when the last sample was added, by the recorder's clock
}

// maxChunkBytes bounds the samples of a chunk.
const maxChunkBytes = 64 << 10

func (c *chunk) len() int { return len(c.stamps) }

// fits reports whether a sample belongs to this chunk.
func (c *chunk) fits(h header) bool {
	if c.len() == 0 {
		return true
	}
	// The difference of the stamps is unsigned, since it may overflow an int64.
	return follows(h.seq, c.last) && h.at >= c.stamps[c.len()-1] && uint64(h.at)-uint64(c.stamps[0]) < uint64(c.limit) &&
		len(c.data)+h.size <= maxChunkBytes
}

// add takes the sample at the tail of the queue.
func (c *chunk) add(q *ring, h header, now time.Time) {
	if c.len() == 0 {
		c.first = h.seq
	}
	c.data = q.take(c.data, h)
	c.stamps = append(c.stamps, h.at)
	c.last, c.touched = h.seq, now
}

func (c *chunk) reset() { c.data, c.stamps = c.data[:0], c.stamps[:0] }

// describe adds what is known of this chunk to a copy of the source's metadata.
func (c *chunk) describe(source map[string]any) map[string]any {
	m := maps.Clone(source)
	n := c.len()
	m["dtype"] = "<f8"
	// The shape has the type that a decoder of JSON gives it.
	m["shape"] = []any{n, c.width}
	m["first_seq"], m["last_seq"] = c.first, c.last
	m["start"] = time.Unix(0, c.stamps[0]).UTC().Format(time.RFC3339Nano)
	m["end"] = time.Unix(0, c.stamps[n-1]).UTC().Format(time.RFC3339Nano)
	rate := c.rate
	// n samples have n-1 intervals.
	if span := c.seconds(0, n-1); rate == 0 && span > 0 {
		rate = float64(n-1) / span
	}
	if rate > 0 {
		m["rate_hz"] = rate
		c.describeTimes(m, 1/rate)
	}

	return m
}

// seconds is the time from sample i to sample j.
func (c *chunk) seconds(i, j int) float64 {
	return float64(uint64(c.stamps[j])-uint64(c.stamps[i])) / 1e9
}

const (
	maxJitter = 0.1 // of the period
	gapAbove  = 1.5 // periods: half a sample is missing
	// maxTimes and maxGaps keep the metadata short beside the samples.
	maxTimes = 64
	maxGaps  = 64
)

type gap struct {
	AfterIndex int     `json:"after_index"`
	Seconds    float64 `json:"seconds"`
}

// describeTimes adds the times of the samples if they do not follow from the rate. For a long chunk it adds the gaps
// and the jitter instead.
func (c *chunk) describeTimes(m map[string]any, period float64) {
	var gaps []gap
	total, jitter := 0, 0.0

	for i := 1; i < c.len(); i++ {
		interval := c.seconds(i-1, i)
		// Gaps do not count as jitter, which would otherwise be the length of the longest gap.
		if interval <= gapAbove*period {
			jitter = max(jitter, math.Abs(interval-period))
			continue
		}
		if total++; total <= maxGaps {
			gaps = append(gaps, gap{i - 1, interval})
		}
	}

	if total == 0 && jitter <= maxJitter*period {
		return
	}

	if c.len() <= maxTimes {
		times := make([]float64, c.len())
		for i := range times {
			times[i] = c.seconds(0, i)
		}
		m["times_s"] = times
		return
	}

	m["gaps"], m["gaps_total"], m["jitter_s"] = gaps, total, jitter
}
