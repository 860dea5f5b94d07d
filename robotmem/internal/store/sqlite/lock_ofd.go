//go:build linux || darwin

package sqlite

import (
	"errors"
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// setLockOFD is F_OFD_SETLK of the system's fcntl.h.
var setLockOFD = map[string]int{"linux": 37, "darwin": 90}[runtime.GOOS]

// lockPart locks a range until the file is closed, or fails with ErrLocked. The lock belongs to
// the open file, as SQLite's do: two within a process exclude each other too.
func lockPart(f *os.File, r lockRange, exclusive bool) error {
	lock := unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart, Start: r.start, Len: r.length}
	if exclusive {
		lock.Type = unix.F_WRLCK
	}

	for {
		err := unix.FcntlFlock(f.Fd(), setLockOFD, &lock)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
			return ErrLocked
		}

		return err
	}
}

// unlockPart releases a lock of lockPart. If that fails, closing the file does.
func unlockPart(f *os.File, r lockRange) {
	lock := unix.Flock_t{Type: unix.F_UNLCK, Whence: io.SeekStart, Start: r.start, Len: r.length}
	_ = unix.FcntlFlock(f.Fd(), setLockOFD, &lock)
}
