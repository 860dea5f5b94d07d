package sqlite

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// One goroutine owns the writing connection. Callers that wait at the same time share a commit:
// the writer runs all queued jobs in one transaction, commits, and acknowledges them.
//
// While another process has the file's lock the jobs wait together, each until its
// own time limit, and new ones join them.

// Group holds the hooks of the layer above around the jobs that share a commit. The writer calls its methods.
type Group interface {
	// Begin is called once the transaction has begun.
	Begin(*Conn) error
	// Commit is called before the transaction is committed.
	Commit(*Conn) error
	// Committed is called after that, before callers are answered.
	Committed()
	// Undone is called when the transaction was undone.
	Undone()
}

type job = store.Job[*Conn]

const (
	// lockSlice is how often the writer looks for waiting jobs whose time is over,
	// while another process has the lock.
	lockSlice = 50 * time.Millisecond
	// commitLimit bounds a commit that its caller has given up on.
	commitLimit = 10 * time.Minute
)

// Write runs f in a transaction and returns once it is durable, or has failed and was rolled
// back. A ctx that ends while the job waits withdraws it; once it runs it is completed.
func (db *DB) Write(ctx context.Context, f func(*Conn) error) error {
	return db.submit(ctx, &job{Run: f})
}

// WriteInTime is Write for a caller that does not wait past the end of ctx for a
// disk that hangs: it then fails with [store.ErrUndecided], and f may run after that. What
// f fills in must not be read after an error.
func (db *DB) WriteInTime(ctx context.Context, f func(*Conn) error) error {
	return db.submit(ctx, &job{Run: f, InTime: true})
}

// WriteAlone runs f on the writing connection outside any transaction. It is
// completed once it runs, as Write is.
func (db *DB) WriteAlone(ctx context.Context, f func(*Conn) error) error {
	return db.submit(ctx, &job{Run: f, Alone: true})
}

// Written returns how many transactions this process has written to the log, and their bytes there.
func (db *DB) Written() (commits, bytes int64) { return db.commits.Load(), db.logged.Load() }

func (db *DB) submit(ctx context.Context, j *job) error {
	if db.readOnly != "" {
		return cmp.Or(ctx.Err(), db.Writable())
	}
	return db.Submit(ctx, j)
}

// runWriter serves jobs until there are no more.
func (db *DB) runWriter(jobs <-chan *job) {
	for j := range jobs {
		if j.Alone {
			db.lone = j
		} else if group, begun := db.begin(jobs, []*job{j}); begun {
			db.commit(group)
			db.callers = len(group) + len(jobs)
		}
		if j = db.lone; j != nil {
			db.lone = nil
			db.runAlone(j)
		}
	}
}

// runAlone waits for another process's lock in one piece.
func (db *DB) runAlone(j *job) {
	if !j.Claim() {
		return
	}
	err := errors.Join(db.InPlace(), db.writer.BusyTimeout(db.o.BusyTimeout))
	if err == nil {
		err = j.Run(db.writer)
	}
	j.Answer(errors.Join(err, db.writer.BusyTimeout(min(lockSlice, db.o.BusyTimeout))))
}

// begin begins a transaction for a group and for the jobs that join it while it waits for the
// lock. It returns the jobs to run; with begun false all were answered or withdrawn.
func (db *DB) begin(jobs <-chan *job, group []*job) (claimed []*job, begun bool) {
	defer db.queue.leave()
	// Callers that were answered together ask again at about the same time. Without this wait
	// the first of them would have a sync for itself, and the others the next one.
	company := time.NewTimer(min(db.syncTime/2, lockSlice))
	defer company.Stop()

	// Only the first round waits for company.
	for since, callers := time.Now(), db.callers; ; callers = 0 {
		group = db.gather(jobs, group, callers, company.C)
		if len(group) == 0 {
			return nil, false
		}
		if !db.queue.take(since) {
			db.queue.pause()
			continue
		}
		err := db.writer.Query("BEGIN IMMEDIATE", nil, nil)
		if err == nil {
			break
		}
		group = slices.DeleteFunc(group, func(j *job) bool {
			if errors.Is(err, sqlite3.BUSY) && time.Since(j.Queued) < db.o.BusyTimeout {
				return false
			}
			if j.Claim() {
				j.Answer(err)
			}

			return true
		})
	}

	// Callers may have withdrawn their jobs while the writer waited for the lock.
	claimed = slices.DeleteFunc(group, func(j *job) bool { return !j.Claim() })
	if len(claimed) == 0 {
		_ = db.writer.Exec("ROLLBACK") // of nothing
	}

	return claimed, len(claimed) > 0
}

// gather removes the jobs that their callers have withdrawn, and adds queued jobs, up
// to one that runs alone. It waits until late for a group of least jobs.
func (db *DB) gather(jobs <-chan *job, group []*job, least int, late <-chan time.Time) []*job {
	group = slices.DeleteFunc(group, func(j *job) bool { return j.Claimed() })
	for len(group) < store.JobsPerCommit && db.lone == nil && (len(group) < least || len(jobs) > 0) {
		select {
		case next, ok := <-jobs:
			if !ok {
				return group
			}
			if next.Alone {
				db.lone = next
			} else if !next.Claimed() {
				group = append(group, next)
			}
		case <-late:
			least = 0
		}
	}

	return group
}

// commit runs a group in the transaction that has begun. If that fails, it is rolled
// back and each job is tried alone, so that one that cannot be stored does not fail
// the others: a job may run twice, but commits once.
func (db *DB) commit(group []*job) {
	results, err := db.tryCommit(group)
	if err != nil {
		db.o.Group.Undone()
	}
	until := time.Now().Add(db.o.BusyTimeout)

	for i, j := range group {
		switch {
		case err == nil:
			j.Answer(results[i])
		case len(group) == 1:
			j.Answer(err)
		default:
			db.commitAlone(j, until)
		}
	}
}

// commitAlone runs a job again after its group has failed. It waits for the lock for
// as long as the whole group may.
func (db *DB) commitAlone(j *job, until time.Time) {
	for {
		err := db.writer.Exec("BEGIN IMMEDIATE")
		if err == nil {
			db.commit([]*job{j})
			return
		}
		if !errors.Is(err, sqlite3.BUSY) || time.Now().After(until) {
			j.Answer(err)
			return
		}
	}
}

// tryCommit runs the jobs and commits, or undoes them all.
func (db *DB) tryCommit(group []*job) (results []error, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), commitLimit)
	defer cancel()
	c := db.writer
	c.SetInterrupt(ctx)
	defer c.SetInterrupt(context.Background())

	// The count of pages starts anew with this transaction.
	c.pagesWritten()
	defer func() {
		if err != nil {
			err = db.fullDisk(err, db.writer.pagesWritten()*frameBytes)
		}
		// A limit that has passed must not keep the lock.
		c.SetInterrupt(context.Background())
		if err != nil && !c.GetAutocommit() {
			err = errors.Join(err, c.Exec("ROLLBACK"))
		}
		if errors.Is(err, errLogAway) { // what it holds shall outlive this process
			_ = c.Exec("PRAGMA wal_checkpoint(PASSIVE)") // Close tries again
		}
	}()
	// A job may remove payload files. That must not happen beside another file.
	if err := db.InPlace(); err != nil {
		return nil, err
	}
	if err := db.o.Group.Begin(c); err != nil {
		return nil, err
	}

	results = make([]error, len(group))
	for i, j := range group {
		if results[i], err = runJob(c, j); err != nil {
			return nil, err
		}
	}

	if err := db.o.Group.Commit(c); err != nil {
		return nil, err
	}

	// A file may have been moved while the jobs ran, and nobody would find what is committed to it.
	if err := db.InPlace(); err != nil {
		return nil, err
	}

	before := time.Now()
	// Query keeps the statement prepared, as it does for BEGIN.
	if err := c.Query("COMMIT", nil, nil); err != nil {
		return nil, err
	}

	db.syncTime = time.Since(before)
	pages := c.pagesWritten()
	// A transaction without changes is not synced.
	db.commits.Add(min(pages, 1))
	db.logged.Add(pages * frameBytes)
	db.o.Group.Committed()

	return results, nil
}

// runJob runs one job of a group. A job that fails before it has written anything does not affect
// the others; one that fails later ends the transaction (fatal). There is no savepoint between
// jobs: FTS5 flushes its buffer at every savepoint, which costs more than it saves.
func runJob(c *Conn, j *job) (refused, fatal error) {
	before := c.TotalChanges()
	c.inJob = true
	err := j.Run(c)
	c.inJob = false
	if err != nil && (c.TotalChanges() != before || c.GetAutocommit()) {
		return nil, err
	}

	return err, nil
}
