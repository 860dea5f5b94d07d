package main

import "golang.org/x/sys/unix"

// threadWaits is how often the calling thread has given the processor away of itself:
// it waited for something.
func threadWaits() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return u.Nvcsw
}
