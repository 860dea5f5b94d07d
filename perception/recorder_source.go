package perception

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// recordSource is what traces and frames have in common.
//
// Sequence numbers: one that is not the last plus one tells of those between,
// which were missed. One that is not above the last, or more than maxMissed above
// it, tells that the driver began to number anew; nothing is known missed then.
type recordSource struct {
	name  string
	about sourceAbout
	queue recordRing
	state atomic.Int32 // sourceIdle, sourcePushing or sourceClosed
	total tally
	woken *atomic.Bool
	wake  chan<- struct{}

	// Of the caller that holds the state sourcePushing:
	last      uint64 // sequence number
	any       bool   // there is a last
	missed    uint64 // since the last record that found room
	restarted bool   // likewise

	// Of the worker:
	reported SourceCount  // what the sink knows
	chunk    *sampleChunk // of a trace; nil of frames
}

const (
	sourceIdle = iota
	sourcePushing
	sourceClosed
)

const (
	// maxMissed is 49 days at 1 kHz.
	maxMissed     = 1 << 32
	maxSourceName = 256
)

// tally is a SourceCount that several goroutines add to.
type tally struct {
	received, stored, dropped, missed, bytes atomic.Uint64
}

// read reads dropped and stored before received: what is read is never more
// than was offered.
func (t *tally) read(name string) SourceCount {
	c := SourceCount{Source: name, Stored: t.stored.Load(), Dropped: t.dropped.Load(), Missed: t.missed.Load(), Bytes: t.bytes.Load()}
	c.Received = t.received.Load()
	return c
}

// sourceAbout is what is said of every item of a source.
type sourceAbout struct {
	sense       string
	mediaType   string
	description string
	context     map[string]any
	metadata    map[string]any // never changed: each item gets a copy
}

// add makes a source with a queue of this many bytes.
func (r *Recorder) add(name string, bytes int, a sourceAbout, c *sampleChunk) (*recordSource, error) {
	if name == "" || len(name) > maxSourceName || !utf8.ValidString(name) {
		return nil, fmt.Errorf("the name of a source is 1 to %d bytes of UTF-8, such as wrist/wrench", maxSourceName)
	}
	if a.description == "" {
		a.description = "recording of " + name
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errors.New("the recorder is closed")
	}
	for _, s := range r.sources {
		if s.name == name {
			return nil, fmt.Errorf("the recorder has a source %q already", name)
		}
	}
	if bytes > r.free {
		return nil, fmt.Errorf("source %q asks for a queue of %d bytes, and %d of the recorder's %d are left; give the recorder or the source another QueueBytes", name, bytes, r.free, r.o.QueueBytes)
	}
	r.free -= bytes
	s := &recordSource{name: name, about: a, chunk: c, woken: &r.woken, wake: r.wake}
	s.queue.buf = make([]byte, bytes)
	s.reported.Source = name
	r.sources = append(r.sources, s)
	return s, nil
}

// close waits for the Push that is going on, which waits for nobody.
func (s *recordSource) close() {
	for !s.state.CompareAndSwap(sourceIdle, sourceClosed) {
		runtime.Gosched()
	}
}

// begin counts one that is offered and makes it the caller's turn. When it
// returns false the one has been dropped.
func (s *recordSource) begin() bool {
	s.total.received.Add(1)
	if s.state.CompareAndSwap(sourceIdle, sourcePushing) {
		return true
	}
	s.total.dropped.Add(1)
	return false
}

// number keeps the account of the sequence numbers.
func (s *recordSource) number(seq uint64) {
	switch gap := seq - s.last - 1; {
	case !s.any:
	case seq <= s.last || gap >= maxMissed:
		s.restarted, s.missed = true, 0
	case gap > 0:
		s.missed += gap
		s.total.missed.Add(gap)
	}
	s.last, s.any = seq, true
}

// admit returns where a record of this size may be written, if there is room
// and the stamp can be kept.
func (s *recordSource) admit(at time.Time, bytes int) (pos uint64, ok bool) {
	if t := at.Unix(); t < -maxUnix || t > maxUnix || !s.queue.room(bytes) {
		return 0, false
	}
	return s.queue.head.Load(), true
}

// maxUnix is the seconds whose nanoseconds an int64 holds, from the year 1678 to
// 2261.
const maxUnix = 9_190_000_000

// end ends the turn that begin gave. bytes is 0 when there was no room.
func (s *recordSource) end(bytes int) bool {
	kept := bytes > 0
	if kept {
		s.queue.head.Add(uint64(bytes))
		s.missed, s.restarted = 0, false
	} else {
		s.total.dropped.Add(1)
	}
	s.state.Store(sourceIdle)
	// Once for each drain: most pushes end here without touching the channel.
	if s.queue.halfFull() && !s.woken.Load() && s.woken.CompareAndSwap(false, true) {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	return kept
}

func (s *recordSource) header(seq uint64, at time.Time, size int) [headerBytes]byte {
	return recordHeader{seq: seq, at: at.UnixNano(), missed: s.missed, restart: s.restarted, size: size}.encode()
}
