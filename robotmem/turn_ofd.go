//go:build linux || darwin

package robotmem

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// The locks belong to the open file and not to the process, as SQLite's do
// here: closing it lets go of nobody else's.

func lockByte(f *os.File, at int64) bool { return setLock(f, at, unix.F_WRLCK) }

func unlockByte(f *os.File, at int64) { setLock(f, at, unix.F_UNLCK) }

func setLock(f *os.File, at int64, kind int16) bool {
	lock := unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: at, Len: 1}
	return unix.FcntlFlock(f.Fd(), setLockOFD, &lock) == nil
}
