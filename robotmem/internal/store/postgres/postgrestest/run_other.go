//go:build !linux

package postgrestest

import "os/exec"

// runAs does nothing: the tests with a server run as the user of the test, who is not root there.
func runAs(*exec.Cmd, uint32, uint32) {}
