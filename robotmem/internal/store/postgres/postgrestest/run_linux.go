package postgrestest

import (
	"os/exec"
	"syscall"
)

// runAs makes a program run as another user, unless that is 0, and end with the test.
func runAs(cmd *exec.Cmd, user, group uint32) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if user != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: user, Gid: group}
	}
}
