package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// ErrClosed says that the memory was closed by this process.
var ErrClosed = robotmem.Errorf(robotmem.Unavailable, "", "the memory is closed")

// ErrUndecided says that a commit had begun when its caller's time was over.
var ErrUndecided = robotmem.Errorf(robotmem.Unavailable, "", "the disk did not answer in time; "+
	"what was asked may be stored yet, or not; look for it before you repeat it")

// Queue holds what callers want written, for one goroutine that writes it. C is its connection.
type Queue[C any] struct {
	jobs   chan *Job[C]
	served chan struct{} // closed when the goroutine has ended

	// closing is held for reading by every call, for writing by Close.
	closing sync.RWMutex
	closed  bool
}

// Job is what one caller wants written.
type Job[C any] struct {
	Run    func(C) error
	Alone  bool // Run is called outside any transaction
	InTime bool // the caller does not wait past the end of its context
	Queued time.Time

	done    chan error  // buffered, so that the writer never waits for a caller
	claimed atomic.Bool // by the writer that runs it, or the caller that withdraws it
}

const (
	writeQueueLength = 256 // callers that may wait before further ones block
	// JobsPerCommit bounds how long the first caller of a group waits.
	JobsPerCommit = 128
	// UndecidedGrace is how long a caller waits past the end of its time for a commit
	// that has begun: nearly all are done by then.
	UndecidedGrace = 100 * time.Millisecond
)

// NewQueue returns an empty queue. Close waits for what Serve begins.
func NewQueue[C any]() *Queue[C] {
	return &Queue[C]{jobs: make(chan *Job[C], writeQueueLength), served: make(chan struct{})}
}

// Serve begins to write: f empties the queue until there is nothing more to come.
func (q *Queue[C]) Serve(f func(<-chan *Job[C])) {
	go func() {
		defer close(q.served)
		f(q.jobs)
	}()
}

// Claim reports whether the job is the writer's to run. Its caller may have withdrawn it.
func (j *Job[C]) Claim() bool { return j.claimed.CompareAndSwap(false, true) }

// Claimed reports whether the job was claimed, by the writer or by a caller that has withdrawn it.
func (j *Job[C]) Claimed() bool { return j.claimed.Load() }

// Answer tells the caller what became of a job.
func (j *Job[C]) Answer(err error) { j.done <- err }

// Submit waits for a job. If ctx ends while it is queued it is withdrawn; once it runs it is
// completed. Submit fails with ErrUndecided if the caller does not wait for that.
func (q *Queue[C]) Submit(ctx context.Context, j *Job[C]) error {
	if err := q.enqueue(ctx, j); err != nil {
		return err
	}

	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
	}

	if j.Claim() {
		// The writer had not begun it.
		return ctx.Err()
	}

	if !j.InTime {
		return <-j.done
	}

	grace := time.NewTimer(UndecidedGrace)
	defer grace.Stop()

	select {
	case err := <-j.done:
		return err
	case <-grace.C:
		return ErrUndecided
	}
}

func (q *Queue[C]) enqueue(ctx context.Context, j *Job[C]) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	release, ok := q.Hold()
	if !ok {
		return ErrClosed
	}
	defer release()

	j.Queued, j.done = time.Now(), make(chan error, 1)
	select {
	case q.jobs <- j:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Waiting is how many jobs wait for the writer.
func (q *Queue[C]) Waiting() int { return len(q.jobs) }

// Hold keeps Close waiting until release is called. ok is false if the queue is closed.
func (q *Queue[C]) Hold() (release func(), ok bool) {
	q.closing.RLock()
	if q.closed {
		q.closing.RUnlock()
		return nil, false
	}
	return q.closing.RUnlock, true
}

// Close waits for the calls in flight, and for the writer to serve them. It reports whether the
// queue was open.
func (q *Queue[C]) Close() bool {
	q.closing.Lock()
	open := !q.closed
	if open {
		q.closed = true
		close(q.jobs)
	}
	q.closing.Unlock()
	<-q.served

	return open
}
