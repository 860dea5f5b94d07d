package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Two locks tell whether a file is in use. While a program has it open with its
// log, SQLite holds the second range for reading. SQLite opens a file before it
// locks it, and would go on with one that a restore has replaced in between, with
// the log of the one that took its place: so who opens a memory holds the first
// byte for reading until SQLite has its lock, and a restore or a
// recovery holds both ranges for writing. Locks end with the process.
var (
	enterRange  = lockRange{0x40000200, 1}   // just behind what SQLite locks
	sharedRange = lockRange{0x40000002, 510} // SHARED_FIRST and SHARED_SIZE of SQLite's os.h
	wholeRange  = lockRange{0, 1}            // of a file that has nothing else to lock
)

// lockRange is what is locked of a file, in bytes. It need not have them.
type lockRange struct{ start, length int64 }

// errLocked says that another process holds a lock.
var errLocked = errors.New("another process holds the lock")

// enter waits until no restore replaces the file, and keeps one from beginning
// until leave.
func enter(ctx context.Context, path string, wait time.Duration) (leave func(), err error) {
	for deadline := time.Now().Add(wait); ; time.Sleep(openRetry) {
		f, err := os.Open(path)
		if err != nil {
			return nil, robotmem.Errorf(robotmem.Unavailable, "db", "the file cannot be opened (%s); check who may read it, or pass another --db", reason(err))
		}
		if err = lockPart(f, enterRange, false); !errors.Is(err, errLocked) {
			if err != nil || isAt(f, path) { // where locks do not work SQLite says so
				return func() { _ = f.Close() }, nil
			}
			err = errLocked
		}
		_ = f.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if time.Now().After(deadline) {
			return nil, robotmem.Errorf(robotmem.Unavailable, "db", "the file is being restored from a backup or recovered (%w); try again when that has ended", err)
		}
	}
}

// keepOut makes the caller the only one who uses a file, until f is closed: f is
// a handle of its own on the file at path. once, unless nil, is done when nobody
// can enter any more and SQLite can still have its locks. It fails with errLocked
// while another has the file open or has replaced it, and with
// errors.ErrUnsupported where files cannot be locked like that.
func keepOut(f *os.File, path string, once func() error) error {
	unsupported := lockPart(f, enterRange, true)
	if unsupported != nil && !errors.Is(unsupported, errors.ErrUnsupported) {
		return unsupported
	}
	if once != nil {
		if err := once(); err != nil {
			return err
		}
	}
	if unsupported == nil {
		if err := lockPart(f, sharedRange, true); err != nil {
			return err
		}
	}
	if !isAt(f, path) { // another was faster
		return errLocked
	}
	return unsupported
}

// isAt reports whether the open file is still the one of that name.
func isAt(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(open, now)
}

// lockBackups makes the caller the only one who changes a folder of backups.
func lockBackups(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, backupLock), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, backupDisk(err)
	}
	if err := lockPart(f, wholeRange, true); err != nil {
		_ = f.Close()
		if errors.Is(err, errLocked) {
			return nil, robotmem.Errorf(robotmem.Unavailable, "dir", "another backup into this folder is being made; try again when it has ended")
		}
		return nil, robotmem.Errorf(robotmem.Unavailable, "dir", "cannot be locked (%s); name a folder on another disk", reason(err))
	}
	return func() { _ = f.Close() }, nil
}
