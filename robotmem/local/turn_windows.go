package local

import (
	"os"

	"golang.org/x/sys/windows"
)

// unlockPart gives back what lockPart has locked.
func unlockPart(f *os.File, r lockRange) {
	at := &windows.Overlapped{Offset: uint32(r.start)}
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, uint32(r.length), 0, at) // held until the file is closed, then
}
