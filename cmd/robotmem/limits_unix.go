//go:build linux || darwin

package main

import (
	"fmt"
	"syscall"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	// addressSpace is what the program reserves at most, in bytes: Go's runtime reserves
	// about 1 GiB and each of up to six connections to the file 256 MiB. It uses little
	// of that.
	addressSpace = 3 << 30
	// ownFiles is how many files a node has open beside connections and what they read:
	// three for each connection to the database, and those of the runtime.
	ownFiles = 24
	// leastConns lets a few callers in at a time, mostConns is the default of web.Options.
	leastConns, mostConns = 4, 512
)

// checkLimits fails if the program would be refused memory that it only reserves: Go
// would end it with a stack trace, at any point.
func checkLimits() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || limit.Cur >= addressSpace {
		return nil //nolint:nilerr // there is no such limit
	}
	return &robotmem.Error{Kind: robotmem.Unavailable, Err: fmt.Errorf("the address space is limited to %d MiB (ulimit -v), and the program reserves up to %d MiB, of which it uses little; raise that limit, and limit the memory in use instead: MemoryMax= of systemd, memory.max of a cgroup, or GOMEMLIMIT", limit.Cur>>20, addressSpace>>20)}
}

// maxConns is how many connections the limit of open files allows: half of them, because
// each may read a file of its own, and less the node's own files.
func maxConns() (int, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, nil //nolint:nilerr // there is no such limit
	}
	n := int(min(limit.Cur, 1<<20)-min(limit.Cur, ownFiles)) / 2
	if n < leastConns {
		return 0, &robotmem.Error{Kind: robotmem.Unavailable, Err: fmt.Errorf("the limit of open files is %d (ulimit -n), and a node needs %d", limit.Cur, ownFiles+2*leastConns)}
	}
	return min(n, mostConns), nil
}
