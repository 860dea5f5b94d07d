//go:build unix

package importers

import "syscall"

// nonBlocking opens a pipe without waiting for its writer. It changes nothing for a regular file.
const nonBlocking = syscall.O_NONBLOCK
