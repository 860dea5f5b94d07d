// Package recorder gathers the samples and frames of a control loop, which must never
// wait, for a sink, which may take its time.
//
// Each source has its own queue: a ring of bytes with one goroutine that writes it, the caller's,
// and one that reads it, the recorder's. They share two counters and no lock, so that a Push takes
// the time of a copy, however long the sink takes. Since no source can use the queue of another, a
// camera that floods its queue costs the force sensor nothing. What does not fit is dropped and
// counted: the oldest is kept and the newest is lost.
//
// # Example
//
//	r := recorder.New(sink, recorder.Options{})
//	wrist, err := r.Trace("wrist/wrench", recorder.TraceOptions{Channels: axes, RateHz: 1000, Kind: "wrench"})
//	if err != nil {
//		return err
//	}
//	wrist.Push(seq, stamp, readings) // from the control loop
//	return r.Close(ctx)
//
// # Caveats
//
// A crash loses the open chunk and what is in the queues. The time stamps of a trace are
// kept as start, end, rate, gaps and largest jitter.
package recorder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotmem/robotmem-go/perception"
)

// Sink stores what a [Recorder] gathered.
type Sink interface {
	// Keep stores the items and adds the counts, all or nothing. It may take long, and the recorder
	// goes on gathering meanwhile. It is called by one goroutine at a time and returns soon after
	// ctx ends. After an error the same items are offered again, unless the error wraps
	// [ErrRefused]. The batch, and the bytes of its items, are valid until Keep returns.
	Keep(ctx context.Context, b Batch) error
}

// ErrRefused is wrapped by a sink that will never store a batch: an item is too large,
// or the session has ended. The recorder then offers the items of the batch one by one,
// and drops those that are refused again.
var ErrRefused = errors.New("refused for good")

// Batch holds the items and counts that a sink stores at once.
type Batch struct {
	SessionID  string
	Collection string
	Items      []Recorded // in the order of each source; none if only counts changed
	Counts     []SourceCount
}

// Recorded is one item of a batch: a chunk of a trace, or a frame.
type Recorded struct {
	perception.Item
	Description string
	Source      string
	Context     map[string]any // shared by all items of the source; must not be changed
	ObservedAt  time.Time      // by the sensor's clock, of the first sample; UTC
}

// SourceCount counts the samples or frames of a source: in a [Batch] since the last batch that was stored, from
// [Recorder.Counts] since the source began. Samples and frames are counted, not items. At the end
// Received is the sum of Stored and Dropped; before, the difference is in the queue or on its way.
type SourceCount struct {
	Source   string
	Received uint64 // offered by the caller
	Stored   uint64 // stored by the sink; in a batch, those in its items
	Dropped  uint64 // offered and lost: the queue was full, the recorder closed, or the sink refused
	Missed   uint64 // never offered: gaps in the sequence numbers
	Bytes    uint64 // of what was stored
}

// Options is how a [Recorder] works. The zero value works.
type Options struct {
	SessionID  string // of the episode that is recorded
	Collection string
	// QueueBytes bounds the queues of all sources together; 0 is 32 MiB. It is allotted
	// as sources are added and does not grow. In addition there is the batch that the
	// sink is storing, of about 8 MiB or one frame.
	QueueBytes int
	// Chunk is the time of a trace that makes an item; 0 is 1 s. A chunk also ends at 64
	// KiB, where the stamps or the sequence numbers go back, and when the source has been
	// silent for this time.
	Chunk time.Duration
	// BatchEvery is how often the queues are emptied into a batch, sooner when one is
	// half full; 0 is 250 ms.
	BatchEvery time.Duration
	Log        *slog.Logger // of what the sink refuses; nothing if nil
}

const (
	defaultQueueBytes = 32 << 20
	defaultChunk      = time.Second
	defaultBatchEvery = 250 * time.Millisecond
)

// Recorder gathers traces and frames for a [Sink]. Its methods may be called by several
// goroutines at a time; for Push see the sources.
type Recorder struct {
	sink    Sink
	o       Options
	cancel  context.CancelCauseFunc // makes the worker give up
	wake    chan struct{}           // a queue is half full; holds one
	flushes chan chan struct{}      // each is closed once flushed
	closing chan struct{}           // closed by the first Close
	done    chan struct{}           // closed when the worker has ended

	mu      sync.Mutex // guards sources, free and closed
	sources []*source  // in the order in which they were added
	free    int        // bytes of QueueBytes that no source has
	closed  bool

	lastErr atomic.Pointer[error] // of the sink, for the error of a wait that timed out
	err     error                 // of Close; written before done is closed
}

// New starts a recorder. [Recorder.Close] ends it.
func New(sink Sink, o Options) *Recorder {
	o.QueueBytes = cmp.Or(max(o.QueueBytes, 0), defaultQueueBytes)
	o.Chunk = cmp.Or(max(o.Chunk, 0), defaultChunk)
	o.BatchEvery = cmp.Or(max(o.BatchEvery, 0), defaultBatchEvery)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	r := &Recorder{
		sink: sink, o: o, cancel: cancel, free: o.QueueBytes,
		wake: make(chan struct{}, 1), flushes: make(chan chan struct{}),
		closing: make(chan struct{}), done: make(chan struct{}),
	}

	w := &worker{Recorder: r}
	go w.run(ctx)

	return r
}

// Counts returns the totals of each source, in the order in which they were added.
func (r *Recorder) Counts() []SourceCount {
	sources := r.all()

	counts := make([]SourceCount, len(sources))
	for i, s := range sources {
		counts[i] = s.counts.read(s.name)
	}

	return counts
}

// Flush returns once everything that was offered before the call is stored or counted as
// dropped. It ends open chunks. If ctx ends first, the recorder goes on trying and the
// error includes the last error of the sink.
func (r *Recorder) Flush(ctx context.Context) error {
	flushed := make(chan struct{})

	// The worker may be busy with a failing sink, so handing over the request and waiting for it both end with ctx.
	for offer := r.flushes; ; {
		select {
		case offer <- flushed:
			offer = nil // it is taken
		case <-flushed:
			return nil
		case <-r.done:
			return r.err
		case <-ctx.Done():
			return r.timeout("flush the recorder", ctx.Err())
		}
	}
}

// timeout is the error of a wait that ended for this cause.
func (r *Recorder) timeout(what string, cause error) error {
	if last := r.lastErr.Load(); last != nil {
		return fmt.Errorf("%s: %w; the sink says: %w", what, cause, *last)
	}
	return fmt.Errorf("%s: %w", what, cause)
}

// Close flushes and stops. From its beginning on, Push returns false. A sink that fails
// is tried again until ctx ends: then the rest is counted as dropped and the error says
// why. A further Close returns the same.
func (r *Recorder) Close(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		for _, s := range r.sources {
			s.close()
		}
		// Only after the sources are closed: the worker's last pass must find everything that was accepted.
		close(r.closing)
	}
	r.mu.Unlock()

	select {
	case <-r.done:
	case <-ctx.Done():
		// The worker still counts what it drops. Wait for it, or the counts would change after Close.
		r.cancel(ctx.Err())
		<-r.done
	}

	return r.err
}

func (r *Recorder) all() []*source {
	r.mu.Lock()
	defer r.mu.Unlock()
	// The capacity is cut, so that adding a source copies the slice instead of writing behind the caller's.
	return r.sources[:len(r.sources):len(r.sources)]
}
