//go:build linux || darwin

// Package limits reads what the system allows this process.
package limits

import (
	"fmt"
	"syscall"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	// ownFiles is the number of files that a node has open beside connections and the files that they read:
	// three for each connection to the database, and those of the runtime.
	ownFiles = 24
	// leastConns lets a few callers in at a time, mostConns is the default of web.Options.
	leastConns, mostConns = 4, 512
)

// MaxConns returns the number of connections that the limit of open files allows: half of it, because
// each may read a file of its own, and less the node's own files.
func MaxConns() (int, error) {
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
