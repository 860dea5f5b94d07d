//go:build !linux && !darwin

package bench

import "os/exec"

// runAs is for root, which there is not.
func runAs(*exec.Cmd, uint32, uint32) {}
