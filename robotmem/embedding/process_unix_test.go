//go:build unix

package embedding_test

import (
	"os/exec"
	"syscall"
)

// ownGroup makes cmd the head of a process group. Ollama runs each model in a child
// process, which would otherwise outlive it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
