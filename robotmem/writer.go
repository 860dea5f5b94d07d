package robotmem

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"
)

// One writer owns the writing connection. Callers that wait at the same time
// share a commit: the writer takes what is queued, runs each job in one
// transaction, commits, and acknowledges them all.

// writeTx is what a job writes through. It is valid until the job returns.
type writeTx struct {
	*conn
	now      time.Time
	revision int64 // the change counter as of this job
	pending  pending
}

// nextRevision counts one change: of a memory, or of an episode's state.
func (tx *writeTx) nextRevision() int64 {
	tx.revision++
	return tx.revision
}

type writeJob struct {
	run     func(*writeTx) error
	alone   func(*conn) error // instead of run: outside a transaction
	done    chan error        // buffered, so that the writer never waits for a caller
	claimed atomic.Bool       // by the writer that runs it, or the caller that withdraws it
}

const (
	writeQueue    = 256 // callers that may wait before further ones block
	jobsPerCommit = 128 // bounds how long the first caller of a group waits
	// commitLimit bounds a commit that its caller has given up on.
	commitLimit = 10 * time.Minute
)

var errClosed = fail(Unavailable, "", "the memory is closed")

// write runs f in a transaction and returns once it is durable, or has failed
// and left no trace. A ctx that ends while the job waits withdraws it; once it
// runs it is carried through.
func (e *Engine) write(ctx context.Context, f func(*writeTx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return e.enqueue(ctx, &writeJob{run: f, done: make(chan error, 1)})
}

// enqueue gives the writer a job and waits for it.
func (e *Engine) enqueue(ctx context.Context, job *writeJob) error {
	if err := e.writable(); err != nil {
		return err
	}
	e.closing.RLock()
	if e.closed {
		e.closing.RUnlock()
		return errClosed
	}
	select {
	case e.jobs <- job:
		e.closing.RUnlock()
	case <-ctx.Done():
		e.closing.RUnlock()
		return ctx.Err()
	}
	select {
	case err := <-job.done:
		return err
	case <-ctx.Done():
	}
	if job.claimed.CompareAndSwap(false, true) {
		return ctx.Err() // withdrawn before the writer came to it
	}
	return <-job.done
}

// runWriter serves jobs until e.jobs is closed.
func (e *Engine) runWriter() {
	defer close(e.writerDone)
	for job := range e.jobs {
		group := []*writeJob{job}
	fill:
		for len(group) < jobsPerCommit {
			select {
			case next, ok := <-e.jobs:
				if !ok {
					break fill
				}
				group = append(group, next)
			default:
				break fill
			}
		}
		// What its caller has withdrawn is left out.
		group = slices.DeleteFunc(group, func(j *writeJob) bool { return !j.claimed.CompareAndSwap(false, true) })
		group = slices.DeleteFunc(group, func(j *writeJob) bool {
			if j.alone != nil {
				j.done <- j.alone(e.writer)
			}
			return j.alone != nil
		})
		if len(group) > 0 {
			e.commit(group)
		}
	}
}

// commit runs a group in one transaction. If that fails, it is undone and each
// job is tried alone, so that one that cannot be stored does not take the
// others with it; a job may therefore run twice, and commit once.
func (e *Engine) commit(group []*writeJob) {
	results, err := e.tryCommit(group)
	if err != nil {
		e.forgetUncommitted()
	}
	if begun := (*notBegun)(nil); err != nil && len(group) > 1 && !errors.As(err, &begun) {
		for _, job := range group {
			e.commit([]*writeJob{job})
		}
		return
	}
	for i, job := range group {
		if err != nil {
			job.done <- err
		} else {
			job.done <- results[i]
		}
	}
}

// notBegun is a transaction that could not begin: each job alone would wait
// for the same lock as long again.
type notBegun struct{ error }

func (n *notBegun) Unwrap() error { return n.error }

func (e *Engine) tryCommit(group []*writeJob) (results []error, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), commitLimit)
	defer cancel()
	c := e.writer
	c.SetInterrupt(ctx)
	defer c.SetInterrupt(context.Background())

	if err := c.Exec("BEGIN IMMEDIATE"); err != nil {
		return nil, &notBegun{err}
	}
	tx := &writeTx{conn: c, now: e.now()}
	defer func() {
		c.SetInterrupt(context.Background()) // a limit that has passed must not keep the lock
		if err != nil && !c.GetAutocommit() {
			err = errors.Join(err, c.Exec("ROLLBACK"))
		}
	}()
	if tx.revision, err = c.changes(); err != nil {
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
	tx.pending = pending{}
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
	c, err := e.reader(ctx)
	if err != nil {
		return err
	}
	defer func() { e.readers <- c }()
	c.SetInterrupt(ctx)
	defer func() {
		c.SetInterrupt(context.Background())
		c.admit = nil
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
