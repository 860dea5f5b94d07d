//go:build linux || darwin

package bench

import (
	"os/exec"
	"syscall"
)

// runAs lets root start a program as another user.
func runAs(cmd *exec.Cmd, uid, gid uint32) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
}
