package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockPart locks a range until the file is closed, or fails with ErrLocked.
func lockPart(f *os.File, r lockRange, exclusive bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	at := &windows.Overlapped{Offset: uint32(r.start)}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, uint32(r.length), 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

// unlockPart releases a lock of lockPart. If that fails, closing the file does.
func unlockPart(f *os.File, r lockRange) {
	at := &windows.Overlapped{Offset: uint32(r.start)}
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, uint32(r.length), 0, at)
}
