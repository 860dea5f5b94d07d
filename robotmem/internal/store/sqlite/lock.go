package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
)

// Locks on ranges of a file tell whether it is in use; they end with the process. While a program
// has the file open in WAL mode, SQLite holds sharedRange for reading. SQLite opens a file before
// it locks it: a restore could replace the file in between, and SQLite would read the new log into
// the old file. So a program that opens a memory holds enterRange for reading until SQLite has its
// lock. A restore or a recovery holds both for writing, a migration both and then enterRange.
var (
	sharedRange = lockRange{0x40000002, 510} // SHARED_FIRST and SHARED_SIZE of SQLite's os.h
	enterRange  = lockRange{0x40000200, 1}   // behind what SQLite locks
	queueRange  = lockRange{0x40000400, 1}   // of the write queue
	wholeRange  = lockRange{0, 1}            // of a file that is only a lock
)

// lockRange is a locked range of a file, in bytes. The file need not be that long.
type lockRange struct{ start, length int64 }

// ErrLocked says that another process holds a lock.
var ErrLocked = errors.New("another process holds the lock")

// errLogGone says that the log of a file in use is not beside it: SQLite would make
// another, and read the file as damaged.
var errLogGone = robotmem.Errorf(robotmem.Unavailable, "db",
	"another program has the file open, and its log (-wal) was moved or deleted; put the log back, or end that program as usual, which brings the log into the file; then try again")

// enter waits until no restore replaces the file, and prevents one until leave.
func enter(ctx context.Context, path string, wait time.Duration) (leave func(), err error) {
	for deadline := time.Now().Add(wait); ; time.Sleep(openRetry) {
		f, err := os.Open(path)
		if err != nil {
			return nil, robotmem.Errorf(robotmem.Unavailable, "db",
				"the file cannot be opened (%s); check who may read it, or pass another --db", robotmem.Reason(err))
		}
		err = lockPart(f, enterRange, false)

		// A restore may have replaced the file between the opening and the lock.
		if err == nil && !isAt(f, path) {
			err = ErrLocked
		}
		if err == nil {
			err = logThere(path)
		}
		// If locks do not work here, SQLite reports it.
		if !errors.Is(err, ErrLocked) && !errors.Is(err, errLogGone) {
			return func() { _ = f.Close() }, nil
		}
		_ = f.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if time.Now().After(deadline) {
			if errors.Is(err, errLogGone) {
				return nil, err
			}
			return nil, robotmem.Errorf(robotmem.Unavailable, "db",
				"the file is being restored from a backup, recovered or migrated (%w); try again when that has ended",
				err)
		}
	}
}

// logThere fails with errLogGone while a program uses the file and there is no log, as
// is so for a moment when it opens or closes the file.
func logThere(path string) error {
	if _, err := os.Stat(files.At(path).Log()); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil //nolint:nilerr // this user makes no log
	}
	defer f.Close()
	if errors.Is(lockPart(f, sharedRange, true), ErrLocked) {
		return errLogGone
	}

	return nil
}

// KeepOut makes the caller the only user of a file, until f is closed: f is a handle of its own
// on the file at path. once, unless nil, is called when no other program can open the file any
// more and SQLite can still lock it. KeepOut fails with ErrLocked while another has the file open
// or has replaced it, and with errors.ErrUnsupported where ranges of files cannot be locked.
func KeepOut(f *os.File, path string, once func() error) error {
	unsupported := lockPart(f, enterRange, true)
	if unsupported != nil && !errors.Is(unsupported, errors.ErrUnsupported) {
		return unsupported
	}

	if once != nil {
		if err := once(); err != nil {
			return err
		}
	}

	// SQLite holds this range while any program has the file open.
	if unsupported == nil {
		if err := lockPart(f, sharedRange, true); err != nil {
			return err
		}
	}

	if !isAt(f, path) { // another was faster
		return ErrLocked
	}

	return unsupported
}

// LetIn lets this process open the file that f keeps others out of.
func LetIn(f *os.File) { unlockPart(f, sharedRange) }

// isAt reports whether the open file is still the one of that name.
func isAt(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(open, now)
}

// LockFile locks a file that is made for it, until unlock. It fails with ErrLocked
// while another process holds the lock.
func LockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockPart(f, wholeRange, true); err != nil {
		_ = f.Close()
		return nil, err
	}

	return func() { _ = f.Close() }, nil
}

func inUse(err error) error {
	return robotmem.Errorf(robotmem.Unavailable, "db",
		"another process has the file open (%w); stop every robotmem that uses it, then try again", err)
}

// Damaged is a damaged file that is being read. No other program can open it
// meanwhile, and closing it leaves it and its log as they are.
type Damaged struct {
	*Conn
	lock *os.File // nil once closed
}

// OpenDamaged opens a file under the exclusive lock of the whole file. check is
// the first to read it.
func OpenDamaged(ctx context.Context, path string, o ConnOptions, check func(*Conn) error) (*Damaged, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "the damaged file cannot be opened (%s)",
			robotmem.Reason(err))
	}
	if err := lockPart(f, enterRange, true); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, errors.Join(inUse(err), f.Close())
	}

	d := &Damaged{lock: f}
	o.Exclusive = true
	if d.Conn, err = Open(ctx, path, o); err == nil {
		// The first read takes SQLite's lock, and keeps it.
		err = check(d.Conn)
	}

	if errors.Is(err, sqlite3.BUSY) {
		err = inUse(err)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}

	return d, nil
}

// Close closes the file. Closing twice is harmless.
func (d *Damaged) Close() error {
	if d.lock == nil {
		return nil
	}

	var err error

	// SQLite lets go first, so that no other program opens the file in between.
	if d.Conn != nil {
		err = d.Conn.Close()
	}
	err = errors.Join(err, d.lock.Close())
	d.Conn, d.lock = nil, nil

	return err
}

// writeQueue is the queue of processes that wait for the file's write lock. SQLite
// has none: waiting processes poll, and a process that commits again and again (an
// import) takes the lock back before they do, so that they may time out. Here a
// process that wants to write takes the front of the queue first and leaves it once
// it has the lock; the process that has just released the lock waits behind it.
//
// The front of the queue is a lock of one byte, in the page that SQLite reserves for locks. It is
// advisory: without it the only loss is fairness. Where there is no such lock, or it is not
// released in time (its holder may have been stopped), the process goes on without.
type writeQueue struct {
	file    *os.File // nil where there is no queue
	front   bool     // this process is at the front
	ignored bool     // the lock was not released in time, until it is free again
}

const (
	// queueLimit is longer than the queue of a busy robot, and shorter than the busy timeout.
	queueLimit = time.Second
	// queuePause is the mean time between two polls.
	queuePause = time.Millisecond
)

func openWriteQueue(path string) writeQueue {
	// Nil if it cannot be opened.
	f, _ := os.OpenFile(path, os.O_RDWR, 0)
	return writeQueue{file: f}
}

// take takes the front of the queue if it is free, and reports whether the caller
// may go on: it is at the front, or has waited for it long enough.
func (q *writeQueue) take(since time.Time) bool {
	if q.file == nil || q.front {
		return true
	}

	err := lockPart(q.file, queueRange, true)
	switch {
	case err == nil:
		q.front, q.ignored = true, false
	case !errors.Is(err, ErrLocked), q.ignored: // no such locks here, or not in time
	case time.Since(since) < queueLimit:
		return false
	default:
		q.ignored = true
	}

	return true
}

// pause waits a moment of random length.
func (q *writeQueue) pause() { time.Sleep(queuePause/2 + rand.N(queuePause)) }

// leave lets the next process to the front.
func (q *writeQueue) leave() {
	if q.front {
		q.front = false
		unlockPart(q.file, queueRange)
	}
}

func (q *writeQueue) close() {
	if q.file != nil {
		// Nothing was written; its lock goes with it.
		_ = q.file.Close()
		q.file = nil
	}
}
