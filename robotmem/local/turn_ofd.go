//go:build linux || darwin

package local

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// unlockPart gives back what lockPart has locked.
func unlockPart(f *os.File, r lockRange) {
	lock := unix.Flock_t{Type: unix.F_UNLCK, Whence: io.SeekStart, Start: r.start, Len: r.length}
	_ = unix.FcntlFlock(f.Fd(), setLockOFD, &lock) // held until the file is closed, then
}
