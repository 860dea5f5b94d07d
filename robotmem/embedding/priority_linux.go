package embedding

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// nice is the nice value of threads that compute vectors of memories: programs that a person or a
// controller waits for come before them.
const nice = 10

// atLowPriority runs f on a thread of its own, which has a lower priority. On Linux the nice value is that of
// the thread, and 0 means the calling one (setpriority(2)). It cannot be raised again, so the thread
// ends with f: a goroutine that is locked to its thread takes it along.
func atLowPriority(f func() error) error {
	done := make(chan error)

	go func() {
		runtime.LockOSThread()
		// Else at the usual priority.
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, nice)
		done <- f()
	}()

	return <-done
}
