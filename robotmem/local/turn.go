package local

import (
	"errors"
	"math/rand/v2"
	"os"
	"time"
)

// A turn is a place in the line for the file's write lock. SQLite has no line:
// those who wait look now and then whether the lock is free, and a process that
// commits again and again (an import) has taken it by then, so that others may
// wait until their time is over. Here whoever wants to write takes the turn
// first and gives it back once the lock is his; while one waits so for the
// lock, the process that has just let go of it has to wait for the turn.
//
// The turn is a lock of one byte, in the page that SQLite keeps free of data
// for the locks of its own. It is manners, and SQLite's lock is the law: where
// there is none, or it does not come free in time (its holder may have been
// stopped), one goes on without.
type turn struct {
	file    *os.File // nil where there is no turn
	mine    bool
	ignored bool // it did not come free in time, until it is free again
}

const (
	// turnLimit is longer than the line of a busy robot, and shorter than the
	// time limit of the lock.
	turnLimit = time.Second
	// turnPause is how long to wait between two looks, on average.
	turnPause = time.Millisecond
)

// turnRange is behind what SQLite and a restore lock.
var turnRange = lockRange{0x40000400, 1}

// openTurn finds the turn of a file.
func openTurn(path string) turn {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return turn{}
	}
	return turn{file: f}
}

// take takes the turn if it is free, and reports whether the caller may go on:
// it has the turn, or has waited for it long enough.
func (t *turn) take(since time.Time) bool {
	if t.file == nil || t.mine {
		return true
	}
	err := lockPart(t.file, turnRange, true)
	switch {
	case err == nil:
		t.mine, t.ignored = true, false
	case !errors.Is(err, errLocked), t.ignored: // no such locks here, or not in time
	case time.Since(since) < turnLimit:
		return false
	default:
		t.ignored = true
	}
	return true
}

// pause waits a moment, unlike any other that waits.
func (t *turn) pause() { time.Sleep(turnPause/2 + rand.N(turnPause)) }

// pass gives the turn to whoever takes it next.
func (t *turn) pass() {
	if t.mine {
		t.mine = false
		unlockPart(t.file, turnRange)
	}
}

func (t *turn) close() {
	if t.file != nil {
		_ = t.file.Close() // nothing was written; its lock goes with it
		t.file = nil
	}
}
