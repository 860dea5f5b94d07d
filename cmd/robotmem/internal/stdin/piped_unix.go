//go:build linux || darwin

package stdin

import (
	"os"

	"golang.org/x/sys/unix"
)

// isReadable reports whether a pipe has bytes now.
func isReadable(pipe *os.File) bool {
	asked := []unix.PollFd{{Fd: int32(pipe.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(asked, 0)

	return err == nil && n == 1 && asked[0].Revents&unix.POLLIN != 0
}
