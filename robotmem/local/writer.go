package local

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
)

// One writer owns the writing connection. Callers that wait at the same time
// share a commit: the writer takes what is queued, runs each job in one
// transaction, commits, and acknowledges them all.
//
// While another process has the file's lock they wait together, each for as
// long as it may and no longer, and those that come meanwhile join them.

// writeTx is what a job writes through. It is valid until the job returns.
type writeTx struct {
	*conn
	now      time.Time
	revision int64           // the change counter as of this job
	caller   robotmem.Caller // whose job it is
	pending  pending
}

// nextRevision counts one change: of a memory, or of an episode's state.
func (tx *writeTx) nextRevision() int64 {
	tx.revision++
	return tx.revision
}

type writeJob struct {
	run     func(*writeTx) error
	alone   func(*conn) error // instead of run: outside any transaction, while nobody else writes
	caller  robotmem.Caller
	inTime  bool // its caller does not wait past the end of its time
	queued  time.Time
	done    chan error  // buffered, so that the writer never waits for a caller
	claimed atomic.Bool // by the writer that runs it, or the caller that withdraws it
}

const (
	writeQueue    = 256 // callers that may wait before further ones block
	jobsPerCommit = 128 // bounds how long the first caller of a group waits
	// lockSlice is how often those that wait for another process's lock are
	// looked through: for whose time is up, who has gone and who has come.
	lockSlice = 50 * time.Millisecond
	// commitLimit bounds a commit that its caller has given up on.
	commitLimit = 10 * time.Minute
)

var errClosed = robotmem.Errorf(robotmem.Unavailable, "", "the memory is closed")

// undecidedGrace is how long a commit that has begun may go on past the end of
// its caller's time: nearly all are done by then and have an answer.
const undecidedGrace = 100 * time.Millisecond

var errUndecided = robotmem.Errorf(robotmem.Unavailable, "", "the disk did not answer in time; what was asked may be stored yet, or not; look for it before you repeat it")

// write runs f in a transaction and returns once it is durable, or has failed
// and left no trace. A ctx that ends while the job waits withdraws it; once it
// runs it is carried through.
func (e *Engine) write(ctx context.Context, f func(*writeTx) error) error {
	return e.submit(ctx, &writeJob{run: f, caller: e.caller(ctx)})
}

// writeInTime is write for a caller who does not wait past the end of ctx for a
// disk that hangs: it then fails with errUndecided, and f may run after that. What
// f fills in is not to be read after an error.
func (e *Engine) writeInTime(ctx context.Context, f func(*writeTx) error) error {
	return e.submit(ctx, &writeJob{run: f, caller: e.caller(ctx), inTime: true})
}

// writeAlone runs f on the writing connection outside any transaction. It is
// carried through once it runs, as write is.
func (e *Engine) writeAlone(ctx context.Context, f func(*conn) error) error {
	return e.submit(ctx, &writeJob{alone: f})
}

func (e *Engine) submit(ctx context.Context, job *writeJob) error {
	e.closing.RLock()
	err := e.enqueue(ctx, job)
	e.closing.RUnlock()
	if err != nil {
		return err
	}
	return e.await(ctx, job)
}

// await returns what came of a job that the writer has.
func (e *Engine) await(ctx context.Context, job *writeJob) error {
	select {
	case err := <-job.done:
		return err
	case <-ctx.Done():
	}
	if job.claimed.CompareAndSwap(false, true) {
		return ctx.Err() // withdrawn before the writer had begun it
	}
	if !job.inTime {
		return <-job.done
	}
	grace := time.NewTimer(undecidedGrace)
	defer grace.Stop()
	select {
	case err := <-job.done:
		return err
	case <-grace.C:
		return errUndecided
	}
}

// enqueue gives a job to the writer. The caller holds e.closing.
func (e *Engine) enqueue(ctx context.Context, job *writeJob) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := e.writable(); err != nil {
		return err
	}
	if e.closed {
		return errClosed
	}
	job.queued, job.done = time.Now(), make(chan error, 1)
	select {
	case e.jobs <- job:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// runWriter serves jobs until e.jobs is closed.
func (e *Engine) runWriter() {
	defer close(e.writerDone)
	for job := range e.jobs {
		if job.alone != nil {
			e.lone = job
		} else if group, begun := e.begin([]*writeJob{job}); begun {
			e.commit(group)
		}
		if job = e.lone; job != nil {
			e.lone = nil
			e.runAlone(job)
		}
	}
}

// runAlone waits for another process's lock in one piece.
func (e *Engine) runAlone(job *writeJob) {
	if !job.claimed.CompareAndSwap(false, true) {
		return
	}
	err := e.writer.BusyTimeout(e.options.BusyTimeout)
	if err == nil {
		err = job.alone(e.writer)
	}
	job.done <- errors.Join(err, e.writer.BusyTimeout(min(lockSlice, e.options.BusyTimeout)))
}

// begin begins a transaction for a group and for all that join it while it
// waits for the lock. It returns those that are to be run, claimed; with begun
// false all have been answered, or have withdrawn.
func (e *Engine) begin(group []*writeJob) (claimed []*writeJob, begun bool) {
	defer e.turn.pass()
	for since := time.Now(); ; {
		group = e.gather(group)
		if len(group) == 0 {
			return nil, false
		}
		if !e.turn.take(since) {
			e.turn.pause()
			continue
		}
		err := e.writer.Exec("BEGIN IMMEDIATE")
		if err == nil {
			break
		}
		group = slices.DeleteFunc(group, func(j *writeJob) bool {
			if errors.Is(err, sqlite3.BUSY) && time.Since(j.queued) < e.options.BusyTimeout {
				return false
			}
			if j.claimed.CompareAndSwap(false, true) {
				j.done <- err
			}
			return true
		})
	}
	claimed = slices.DeleteFunc(group, func(j *writeJob) bool { return !j.claimed.CompareAndSwap(false, true) })
	if len(claimed) == 0 {
		_ = e.writer.Exec("ROLLBACK") // of nothing
	}
	return claimed, len(claimed) > 0
}

// gather leaves out what its caller has withdrawn, and adds what is queued, up
// to a job that runs alone.
func (e *Engine) gather(group []*writeJob) []*writeJob {
	group = slices.DeleteFunc(group, func(j *writeJob) bool { return j.claimed.Load() })
	for len(group) < jobsPerCommit && e.lone == nil {
		select {
		case next, ok := <-e.jobs:
			if !ok {
				return group
			}
			if next.alone != nil {
				e.lone = next
			} else if !next.claimed.Load() {
				group = append(group, next)
			}
		default:
			return group
		}
	}
	return group
}

// commit runs a group in the transaction that has begun. If that fails, it is
// undone and each job is tried alone, so that one that cannot be stored does
// not take the others with it; a job may therefore run twice, and commit once.
func (e *Engine) commit(group []*writeJob) {
	results, err := e.tryCommit(group)
	if err != nil {
		e.forgetUncommitted()
	}
	until := time.Now().Add(e.options.BusyTimeout)
	for i, job := range group {
		switch {
		case err == nil:
			job.done <- results[i]
		case len(group) == 1:
			job.done <- err
		default:
			e.commitAlone(job, until)
		}
	}
}

// commitAlone runs a job once more, after the group that it was in has failed.
// It waits for the lock until then, as all of the group do.
func (e *Engine) commitAlone(job *writeJob, until time.Time) {
	for {
		err := e.writer.Exec("BEGIN IMMEDIATE")
		if err == nil {
			e.commit([]*writeJob{job})
			return
		}
		if !errors.Is(err, sqlite3.BUSY) || time.Now().After(until) {
			job.done <- err
			return
		}
	}
}

// tryCommit runs the jobs and commits, or undoes them all.
func (e *Engine) tryCommit(group []*writeJob) (results []error, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), commitLimit)
	defer cancel()
	c := e.writer
	c.SetInterrupt(ctx)
	defer c.SetInterrupt(context.Background())

	tx := &writeTx{conn: c, now: e.now()}
	c.pagesWritten()
	defer func() {
		if err != nil {
			err = e.notWritten(err)
		}
		c.SetInterrupt(context.Background()) // a limit that has passed must not keep the lock
		if err != nil && !c.GetAutocommit() {
			err = errors.Join(err, c.Exec("ROLLBACK"))
		}
	}()
	if tx.revision, err = c.changes(); err != nil {
		return nil, err
	}
	if err := e.followPurges(c); err != nil {
		return nil, err
	}
	before := tx.revision
	results = make([]error, len(group))
	for i, job := range group {
		if results[i], err = e.runJob(tx, job); err != nil {
			return nil, err
		}
	}
	if tx.revision != before {
		if err := c.setChanges(tx.revision); err != nil {
			return nil, err
		}
	}
	if err := c.Exec("COMMIT"); err != nil {
		return nil, err
	}
	if tx.revision != before {
		e.watch.saw(tx.revision)
		e.meaning.rouse()
	}
	return results, nil
}

// forgetUncommitted drops what the writer remembers of the file, after
// something that it may have seen was undone.
func (e *Engine) forgetUncommitted() {
	e.groups.reset()
	clear(e.writer.paths)
}

// runJob runs one job of a group. A job that is refused before it has written
// anything leaves the others alone; one that fails later ends the transaction
// (the second error). There is no savepoint between jobs: FTS5 writes out all
// it has gathered at every savepoint, which costs more than it saves.
func (e *Engine) runJob(tx *writeTx, job *writeJob) (refused, fatal error) {
	before, revision := tx.TotalChanges(), tx.revision
	tx.pending, tx.caller = pending{}, job.caller
	err := job.run(tx)
	if err == nil {
		err = tx.flush()
	}
	if err != nil && (tx.TotalChanges() != before || tx.GetAutocommit()) {
		return nil, err
	}
	if err != nil {
		tx.revision = revision
	}
	return err, nil
}

// read runs f on a reading connection inside one snapshot.
func (e *Engine) read(ctx context.Context, f func(*conn) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	e.closing.RLock()
	defer e.closing.RUnlock()
	if e.closed {
		return errClosed
	}
	if err := e.unmoved(); err != nil {
		return err
	}
	c, err := e.reader(ctx)
	if err != nil {
		return err
	}
	defer func() { e.readers <- c }()
	c.SetInterrupt(ctx)
	defer func() {
		c.SetInterrupt(context.Background())
		if !c.GetAutocommit() {
			err = errors.Join(err, c.Exec("ROLLBACK"))
		}
	}()
	if err := c.Exec("BEGIN"); err != nil {
		return err
	}
	return f(c)
}

// reader takes a connection from the pool, opening it on first use.
func (e *Engine) reader(ctx context.Context) (*conn, error) {
	select {
	case c := <-e.readers:
		if c != nil {
			return c, nil
		}
		c, err := openConn(ctx, e.path, e.connOptions(readerCacheKiB))
		if err != nil {
			e.readers <- nil
		}
		return c, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
