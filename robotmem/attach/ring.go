package attach

import (
	"cmp"
	"slices"
	"sync"

	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// ring holds the messages of the last seconds of all topics. If they take too many bytes, pictures and
// point clouds are thinned first: every second one is dropped, the oldest first.
type ring struct {
	seconds uint64 // ns
	limit   int    // bytes

	mu      sync.Mutex
	topics  map[*segment.Channel]*track
	bytes   int
	newest  uint64
	hold    uint64 // what is not older than this log time is kept for an incident; 0 is none
	thinned uint64 // messages that were dropped for want of memory
}

// track is the messages of one channel by their arrival.
type track struct {
	channel *segment.Channel
	bulky   bool // pictures or clouds
	entries []entry
	last    entry // kept for ever: a map that is sent once must be in each incident
}

// entry is a message.
type entry struct {
	logTime  uint64
	run      int // of the clock, see follower.run
	sequence uint32
	data     []byte
}

// overhead is the memory that a message takes beside its data, in bytes.
const overhead = 56

// maxLatched is the largest message that is kept although it is older than the ring, in bytes.
const maxLatched = 4 << 20

func newRing(seconds float64, limit int) *ring {
	return &ring{seconds: uint64(seconds * 1e9), limit: limit, topics: map[*segment.Channel]*track{}}
}

// bulkySchemas are the messages that are thinned first.
var bulkySchemas = []string{
	"sensor_msgs/Image", "sensor_msgs/CompressedImage", "sensor_msgs/PointCloud2", "sensor_msgs/PointCloud",
	"foxglove.CompressedImage", "foxglove.RawImage", "foxglove.PointCloud", "foxglove.CompressedVideo",
}

// add adds a message, whose data the ring keeps.
func (r *ring) add(c *segment.Channel, logTime uint64, run int, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()

	t := r.topics[c]
	if t == nil {
		t = &track{channel: c, bulky: isBulky(c)}
		r.topics[c] = t
	}

	sequence := t.last.sequence + 1
	t.entries = append(t.entries, entry{logTime, run, sequence, data})
	r.bytes += len(data) + overhead
	if t.last = t.entries[len(t.entries)-1]; len(data) > maxLatched {
		t.last.data = nil
	}

	// A clock that was set back begins a new minute.
	if logTime+r.seconds < r.newest {
		r.newest = logTime
	}
	r.newest = max(r.newest, logTime)

	r.expire(t)
	if r.bytes > r.limit {
		r.shrink()
	}
}

// keep has the ring keep what is not older than a log time, until it is called with 0.
func (r *ring) keep(since uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hold = since
}

// expire drops what is older than the ring is long.
func (r *ring) expire(t *track) {
	if r.newest < r.seconds {
		return
	}

	oldest, n := r.newest-r.seconds, 0
	if r.hold > 0 {
		oldest = min(oldest, r.hold)
	}

	for n < len(t.entries) && (t.entries[n].logTime < oldest || t.entries[n].logTime > r.newest+r.seconds) {
		r.bytes -= len(t.entries[n].data) + overhead
		n++
	}
	t.drop(n)
}

// drop drops the first n messages, and moves the others to the front now and then: a slice of a long
// array would keep all of it.
func (t *track) drop(n int) {
	clear(t.entries[:n])
	t.entries = t.entries[n:]
	if cap(t.entries) > 64 && len(t.entries) < cap(t.entries)/4 {
		t.entries = slices.Clone(t.entries)
	}
}

// shrink makes room: first it expires all topics, then it thins the bulky ones, then it drops the oldest.
func (r *ring) shrink() {
	for _, t := range r.topics {
		r.expire(t)
	}

	// One tenth below the limit, so that not every message costs a pass.
	want := r.limit - r.limit/10

	for r.bytes > want {
		t := r.largest(true)
		if t == nil || len(t.entries) < 4 {
			break
		}
		r.thin(t, want)
	}

	for r.bytes > want {
		t := r.largest(false)
		if t == nil || len(t.entries) == 0 {
			return
		}

		n := max(1, len(t.entries)/8)
		for _, e := range t.entries[:n] {
			r.bytes -= len(e.data) + overhead
		}
		r.thinned += uint64(n)
		t.drop(n)
	}
}

// largest returns the channel that takes most memory.
func (r *ring) largest(bulky bool) *track {
	var best *track
	most := 0

	for _, t := range r.topics {
		if bulky && !t.bulky {
			continue
		}

		size := 0
		for _, e := range t.entries {
			size += len(e.data) + overhead
		}
		if size > most {
			best, most = t, size
		}
	}

	return best
}

// thin drops every second message, the oldest first, until the ring is small enough. The newest stays.
func (r *ring) thin(t *track, want int) {
	kept := t.entries[:0]
	for i, e := range t.entries {
		if i%2 == 0 && i < len(t.entries)-1 && r.bytes > want {
			r.bytes -= len(e.data) + overhead
			r.thinned++
			continue
		}
		kept = append(kept, e)
	}
	clear(t.entries[len(kept):])
	t.entries = kept
}

// thinBefore leaves out pictures and clouds beyond a rate that are older than a log time. An incident holds no
// more of them, and the memory is needed for what comes after it.
func (r *ring) thinBefore(to uint64, hz float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if hz < 0 {
		return
	}

	for _, t := range r.topics {
		if !t.bulky {
			continue
		}

		kept, last := t.entries[:0], uint64(0)
		for i, e := range t.entries {
			if i > 0 && e.logTime < to && e.logTime >= last && float64(e.logTime-last)*1e-9 < 0.99/hz {
				r.bytes -= len(e.data) + overhead
				continue
			}
			last = e.logTime
			kept = append(kept, e)
		}
		clear(t.entries[len(kept):])
		t.entries = kept
	}
}

// held is a message of the ring.
type held struct {
	channel *segment.Channel
	entry
}

// between returns the messages of a span of log times in their order, and before them the last message of
// each channel that sent none in it: what was sent once holds until it is sent again.
func (r *ring) between(from, to uint64, run int) []held {
	r.mu.Lock()
	defer r.mu.Unlock()

	var out []held

	for _, t := range r.topics {
		found := false

		for _, e := range t.entries {
			if from <= e.logTime && e.logTime <= to && e.run == run {
				out = append(out, held{t.channel, e})
				found = true
			}
		}
		if !found && t.last.data != nil && t.last.logTime < from && t.last.run == run {
			out = append(out, held{t.channel, t.last})
		}
	}

	slices.SortFunc(out, func(a, b held) int {
		return cmp.Or(cmp.Compare(a.logTime, b.logTime), cmp.Compare(a.channel.Topic, b.channel.Topic),
			cmp.Compare(a.sequence, b.sequence))
	})

	return out
}

// sparse leaves out pictures and clouds beyond a rate, but for those between two log times. It returns how
// many it left out.
func sparse(all []held, hz float64, from, to uint64) (kept []held, left int) {
	if hz < 0 {
		return all, 0
	}

	last := map[*segment.Channel]uint64{}

	for _, h := range all {
		if isBulky(h.channel) && (h.logTime < from || h.logTime > to) {
			before, seen := last[h.channel]
			if seen && h.logTime >= before && float64(h.logTime-before)*1e-9 < 0.99/hz {
				left++
				continue
			}
			last[h.channel] = h.logTime
		}
		kept = append(kept, h)
	}

	return kept, left
}

func isBulky(c *segment.Channel) bool {
	return slices.Contains(bulkySchemas, message.ShortName(c.SchemaName))
}

// state is what the ring holds.
func (r *ring) state() (bytes int, thinned uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes, r.thinned
}
