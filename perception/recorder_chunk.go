package perception

import (
	"maps"
	"math"
	"time"
)

// sampleChunk gathers the samples of a trace that become one item.
type sampleChunk struct {
	width int           // channels
	rate  float64       // Hz as given, 0 unknown
	limit time.Duration // from the first stamp

	data    []byte
	stamps  []int64 // nanoseconds since 1970, one a sample; never going back
	size    int     // bytes of a reading
	first   uint64  // sequence numbers
	last    uint64
	missed  uint64
	dropped uint64
	touched time.Time // when the last sample was added, by the recorder's clock
}

// maxChunkBytes is of the samples of a chunk.
const maxChunkBytes = 64 << 10

func (c *sampleChunk) len() int { return len(c.stamps) }

// fits reports whether a sample belongs to this chunk.
func (c *sampleChunk) fits(h recordHeader) bool {
	if c.len() == 0 {
		return true
	}
	begun := c.stamps[0]
	// The difference as unsigned: it may be more than an int64 holds.
	return !h.restart && h.at >= c.stamps[c.len()-1] && uint64(h.at)-uint64(begun) < uint64(c.limit) &&
		h.size == c.size*c.width && len(c.data)+h.size <= maxChunkBytes
}

// add takes the sample at the tail of the queue.
func (c *sampleChunk) add(q *recordRing, h recordHeader, now time.Time) {
	if c.len() == 0 {
		c.first, c.size = h.seq, h.size/c.width
	} else {
		c.missed += h.missed
		c.dropped += h.seq - c.last - 1 - h.missed
	}
	c.data = q.take(c.data, h)
	c.stamps = append(c.stamps, h.at)
	c.last, c.touched = h.seq, now
}

func (c *sampleChunk) reset() {
	c.data, c.stamps = c.data[:0], c.stamps[:0]
	c.missed, c.dropped = 0, 0
}

// describe adds what is known of this chunk to a copy of the source's metadata.
func (c *sampleChunk) describe(source map[string]any) map[string]any {
	m := maps.Clone(source)
	n := c.len()
	m["dtype"] = "<f8"
	if c.size == 4 {
		m["dtype"] = "<f4"
	}
	m["shape"] = []any{n, c.width} // as JSON would give it
	m["first_seq"], m["last_seq"] = c.first, c.last
	m["missed"], m["dropped"] = c.missed, c.dropped
	m["start"] = time.Unix(0, c.stamps[0]).UTC().Format(time.RFC3339Nano)
	m["end"] = time.Unix(0, c.stamps[n-1]).UTC().Format(time.RFC3339Nano)
	rate := c.rate
	if span := c.offset(n - 1); rate == 0 && span > 0 {
		rate = float64(n-1) / span
	}
	if rate > 0 {
		m["rate_hz"] = rate
		c.describeTimes(m, 1/rate)
	}
	return m
}

// offset is the time from the first sample to sample i in seconds.
func (c *sampleChunk) offset(i int) float64 {
	return float64(uint64(c.stamps[i])-uint64(c.stamps[0])) / 1e9
}

const (
	maxJitter = 0.1 // of the period
	gapAbove  = 1.5 // periods: half a sample is lacking
	// maxTimes and maxGaps keep metadata short beside the samples.
	maxTimes = 64
	maxGaps  = 64
)

// traceGap is an interval that is too long.
type traceGap struct {
	AfterIndex int     `json:"after_index"`
	Seconds    float64 `json:"seconds"`
}

// describeTimes adds the stamps that the rate does not tell.
func (c *sampleChunk) describeTimes(m map[string]any, period float64) {
	var gaps []traceGap
	total, jitter := 0, 0.0
	for i := 1; i < c.len(); i++ {
		interval := float64(uint64(c.stamps[i])-uint64(c.stamps[i-1])) / 1e9
		if interval <= gapAbove*period {
			jitter = max(jitter, math.Abs(interval-period))
			continue
		}
		if total++; total <= maxGaps {
			gaps = append(gaps, traceGap{i - 1, interval})
		}
	}
	if total == 0 && jitter <= maxJitter*period {
		return
	}
	if c.len() <= maxTimes {
		times := make([]float64, c.len())
		for i := range times {
			times[i] = c.offset(i)
		}
		m["times_s"] = times
		return
	}
	m["gaps"], m["gaps_total"], m["jitter_s"] = gaps, total, jitter
}
