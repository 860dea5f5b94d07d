//go:build unix

package main

import (
	"os"
	"syscall"
)

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// suspend stops a process where it stands, with whatever it holds.
func suspend(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func resume(p *os.Process) error { return p.Signal(syscall.SIGCONT) }

func inodeOf(path string) (uint64, error) {
	var info syscall.Stat_t
	err := syscall.Stat(path, &info)
	return uint64(info.Ino), err //nolint:unconvert // of other types on other systems
}
