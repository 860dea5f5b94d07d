package perception

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// A recorder stands between a control loop, which must not wait, and a sink,
// which may. Each source has a queue of its own: a ring of bytes with one
// goroutine that writes it, the caller's, and one that reads it, the
// recorder's. They share two counters and no lock, so that a Push takes the
// time of a copy, however long the sink takes. Since no source can take
// another's room, a camera that floods its queue costs the force sensor nothing.

// Sink keeps what a [Recorder] gathered.
type Sink interface {
	// Keep stores the items and adds the counts, all or nothing. It may take
	// long; the recorder goes on gathering meanwhile. It is called by one
	// goroutine at a time and returns soon after ctx ends. After an error the
	// same items come again, save when the error wraps [ErrRefused]. The batch,
	// and the bytes of its items, are valid until Keep returns.
	Keep(ctx context.Context, b Batch) error
}

// ErrRefused is wrapped by a sink that will not take a batch however often it
// is asked: an item is too large, the session has ended. The recorder then
// offers the items of the batch one by one, and drops those that are refused
// again.
var ErrRefused = errors.New("refused for good")

// Batch is what a sink keeps at once.
type Batch struct {
	SessionID  string
	Collection string
	Items      []Recorded // in the order of each source; none if only counts changed
	Counts     []SourceCount
}

// Recorded is one item of a batch: a chunk of a trace, or a frame.
type Recorded struct {
	Item
	Description string
	Source      string
	Context     map[string]any // the source's, one for all its items: not to be changed
	ObservedAt  time.Time      // by the sensor's clock, of the first sample; UTC
}

// SourceCount is what happened to a source: in a [Batch] since the last batch
// that was kept, from [Recorder.Counts] since the source began. Samples and
// frames are counted, not items. At the end Received is Stored and Dropped
// together; before, the difference is on its way.
type SourceCount struct {
	Source   string
	Received uint64 // offered by the caller
	Stored   uint64 // kept by the sink; in a batch, those in its items
	Dropped  uint64 // offered and lost: the queue was full, the recorder closed, or the sink refused
	Missed   uint64 // never offered: gaps in the sequence numbers
	Bytes    uint64 // of what was stored
}

// RecorderOptions is how a [Recorder] works. The zero value works.
type RecorderOptions struct {
	SessionID  string // of the episode that is recorded
	Collection string
	// QueueBytes bounds the queues of all sources together; 0 is 32 MiB. It is
	// taken as sources are added and does not grow. Beside it stands the one
	// batch that the sink is at, of some 8 MiB or one frame.
	QueueBytes int
	// Chunk is how much of a trace makes an item; 0 is 1 s. A chunk also ends at
	// 64 KiB, where the stamps or the sequence numbers go back, where readings
	// change between 4 and 8 bytes, and when the source has been silent for so
	// long.
	Chunk time.Duration
	// BatchEvery is how often the queues are emptied into a batch, sooner when
	// one is half full; 0 is 250 ms.
	BatchEvery time.Duration
	Log        *slog.Logger // of what the sink refuses; nothing if nil
}

const (
	defaultQueueBytes = 32 << 20
	defaultChunk      = time.Second
	defaultBatchEvery = 250 * time.Millisecond
)

// Recorder gathers the traces and frames of a control loop for a [Sink]. Its
// methods may be called by several goroutines at a time; of Push see the
// sources. What does not fit into the queue of its source is dropped and
// counted, so that the oldest is kept and the newest is lost.
type Recorder struct {
	sink    Sink
	o       RecorderOptions
	cancel  context.CancelCauseFunc // makes the worker give up
	wake    chan struct{}           // a queue is half full; holds one
	woken   atomic.Bool             // wake has been told since the last drain
	flushes chan chan struct{}      // each is closed once flushed
	closing chan struct{}           // closed by the first Close
	done    chan struct{}           // closed when the worker has ended

	mu      sync.Mutex      // guards sources, free and closed
	sources []*recordSource // in the order they were added
	free    int             // bytes of QueueBytes that no source has
	closed  bool

	lastErr atomic.Pointer[error] // of the sink, for those who wait in vain
	err     error                 // of Close; written before done is closed
}

// NewRecorder starts a recorder; [Recorder.Close] ends it.
func NewRecorder(sink Sink, o RecorderOptions) *Recorder {
	if o.QueueBytes <= 0 {
		o.QueueBytes = defaultQueueBytes
	}
	if o.Chunk <= 0 {
		o.Chunk = defaultChunk
	}
	if o.BatchEvery <= 0 {
		o.BatchEvery = defaultBatchEvery
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	r := &Recorder{
		sink: sink, o: o, cancel: cancel, free: o.QueueBytes,
		wake: make(chan struct{}, 1), flushes: make(chan chan struct{}),
		closing: make(chan struct{}), done: make(chan struct{}),
	}
	w := &recordWorker{Recorder: r}
	go w.run(ctx)
	return r
}

// Counts returns the totals of each source, in the order they were added.
func (r *Recorder) Counts() []SourceCount {
	sources := r.all()
	counts := make([]SourceCount, len(sources))
	for i, s := range sources {
		counts[i] = s.total.read(s.name)
	}
	return counts
}

// Flush returns once everything that was offered before the call is kept or
// counted as dropped. Open chunks end. When ctx ends first the recorder goes
// on trying, and the error says what the sink said last.
func (r *Recorder) Flush(ctx context.Context) error {
	flushed := make(chan struct{})
	select {
	case r.flushes <- flushed:
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return r.late("flush the recorder", ctx.Err())
	}
	select {
	case <-flushed:
		return nil
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return r.late("flush the recorder", ctx.Err())
	}
}

// late is the error of a wait that has ended for this cause.
func (r *Recorder) late(what string, cause error) error {
	if last := r.lastErr.Load(); last != nil {
		return fmt.Errorf("%s: %w; the sink says: %w", what, cause, *last)
	}
	return fmt.Errorf("%s: %w", what, cause)
}

// Close flushes and stops. From its beginning Push returns false. A sink that
// fails is tried again until ctx ends: then what is left is counted as dropped
// and the error says why. A further Close returns the same.
func (r *Recorder) Close(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		for _, s := range r.sources {
			s.close()
		}
		close(r.closing)
	}
	r.mu.Unlock()
	select {
	case <-r.done:
	case <-ctx.Done():
		r.cancel(ctx.Err())
		<-r.done
	}
	return r.err
}

// all returns the sources there are.
func (r *Recorder) all() []*recordSource {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sources[:len(r.sources):len(r.sources)]
}
