//go:build !linux && !darwin

package main

import "os/exec"

// maxConns is the default where there is no limit of open files.
func maxConns() (int, error) { return 0, nil }

// runAs is for root, which there is not.
func runAs(*exec.Cmd, uint32, uint32) {}
