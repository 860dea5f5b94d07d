package robotmem

import (
	"os"

	"golang.org/x/sys/windows"
)

func lockByte(f *os.File, at int64) bool {
	o := windows.Overlapped{Offset: uint32(at), OffsetHigh: uint32(at >> 32)}
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &o) == nil
}

func unlockByte(f *os.File, at int64) {
	o := windows.Overlapped{Offset: uint32(at), OffsetHigh: uint32(at >> 32)}
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &o) // held until the file is closed, then
}
